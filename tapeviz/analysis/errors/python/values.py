"""Explain errors about what a value is: a list for a tensor, words for numbers, a class for its
object, a name without a value.

The messages are those of TensorFlow 2.15 to 2.21, Keras 2 and 3, and Python 3.10 to 3.13.
"""

from __future__ import annotations

import ast
import re

from ....text.names import called_name, dotted
from ....text.trees import lines_of
from ..case import Case, Explain
from ..tensors.operands import given_words


def truth_of_several(case: Case) -> str:
    """A tensor of several elements where Python takes true or false: by the snippet, or by a loss
    of Keras or another function that was given tensors as its settings."""
    if words := loss_given_tensors(case):
        return words
    raised = case.raised_at
    if isinstance(raised, ast.Call) and case.failure.span.column >= 0 and len(raised.args) > 1:
        code = ", ".join(map(case.text.segment, raised.args))
        if called_name(raised) == "from_tensor_slices":
            code = f"({code})"
            return (
                f"Line {case.line} gives from_tensor_slices several arguments, and it takes one: "
                f"the others are settings. Put them into a tuple: from_tensor_slices({code})."
            )
        if dotted(raised.func) not in _ASKING:
            given = ", ".join(given_words(case)) or code
            return (
                f"{dotted(raised.func)}, which line {case.line} calls with {given}, asks one of "
                f"them whether it is true, and a tensor of several elements has no such answer. "
                f"Look which of its parameters is not meant for a tensor."
            )
    return (
        f"Line {case.line} asks a tensor of several elements whether it is true, and each element "
        f"has an answer of its own. "
        f"Use tf.where to choose element by element, or tf.reduce_all or tf.reduce_any to get "
        f"one answer."
    )


_ASKING = ("bool", "any", "all", "max", "min", "sorted", "filter")
"""Functions of Python that ask their arguments whether they are true."""


def loss_given_tensors(case: Case) -> str:
    """``tf.keras.losses.MeanSquaredError(y, p)``, which makes a loss; empty if the line calls no
    such class with more than one argument."""
    calls = case.calls
    for path, given in ((_class_called(case, call), call.args) for call in calls):
        owner, _, name = path.rpartition(".")
        if owner.endswith("losses") and name[:1].isupper() and len(given) > 1:
            return (
                f"Line {case.line} gives tensors to {path}, which is a class: what it is given are "
                f"the settings of a loss. Make the loss first and then call it, as in "
                f"{path}()(labels, predictions)."
            )
    return ""


def _class_called(case: Case, call: ast.Call) -> str:
    """The path of what is called; of a name that the text gives to a path, that path."""
    path = dotted(call.func)
    for node in case.nodes(ast.Assign):
        if path and node.lineno < case.line and path in map(dotted, node.targets):
            path = dotted(node.value) or path
    return path


_OF_MATH = frozenset(
    (
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "erf", "erfc"),
        *("exp", "expm1", "lgamma", "log", "log1p", "pow", "sin", "sinh", "sqrt", "tan", "tanh"),
    )
)
"""Functions that ``math`` and ``tf.math`` both have, with a gradient (Python 3.10, TensorFlow
2.15)."""


def number_of_several(case: Case) -> str:
    """A tensor or array with several elements where Python wants a number."""
    return given_to_math(case) or (
        f"Line {case.line} makes a Python number of a tensor that has several elements, or of an "
        f"array that has axes. Take one element, as x[0], or reduce it first, as by "
        f"tf.reduce_mean(x)."
    )


def given_to_math(case: Case) -> str:
    """Words for the only call of a function of ``math`` on the line; empty if something else there
    makes a number of a value, too, or the call was given plain numbers."""
    nodes = [node for node in case.nodes_here(ast.AST) if case.line in lines_of(node)]
    calls = {node: dotted(node.func) for node in nodes if isinstance(node, ast.Call)}
    of_math = [call for call, path in calls.items() if path.startswith("math.")]
    is_in_text = any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in nodes)
    if len(of_math) != 1 or is_in_text or not {"float", "int", "range"}.isdisjoint(calls.values()):
        return ""
    given = [node for argument in of_math[0].args for node in ast.walk(argument)]
    function = calls[of_math[0]].removeprefix("math.")
    is_number = not any(
        isinstance(node, (ast.Name, ast.List, ast.Tuple, ast.Dict)) for node in given
    )
    if function not in _OF_MATH or is_number:
        return ""
    return (
        f"math.{function} on line {case.line} takes a single number. tf.math.{function} takes "
        f"tensors, arrays and lists of numbers with a decimal point, works on each element, and "
        f"passes the gradient on."
    )


def text_among_numbers(case: Case) -> str:
    """A Python text that is combined with a tensor of numbers; in Keras 2 also the settings of a
    loss, in place of which tensors were given (``'auto'``)."""
    if "'auto'" in case.failure.message and (words := loss_given_tensors(case)):
        return words
    text = (case.match[1] or case.match[2] or "").strip("'")
    try:
        float(text)
    except ValueError:
        return (
            f"Line {case.line} combines the text {text!r} with a tensor of numbers. To print both "
            f"give them apart, as in print({text!r}, x), or write an f-string."
        )
    return (
        f"Line {case.line} computes with {text!r}, which is a text and no number. Leave out its "
        f"quotes, or make a number of it: float(…)."
    )


def joined_shapes(case: Case) -> str:
    """Shapes that cannot be joined; of pictures one may be a pixel too small."""
    found = re.findall(r"(?<=[(\[])(?:None|\d+),[^)\]]*", case.match[0])
    shapes = [[*map(int, re.findall(r"\d+", sizes))] for sizes in found]
    words = " and ".join(f"({', '.join(map(str.strip, sizes.split(',')))})" for sizes in found)
    said = (
        f"Line {case.line} joins tensors of the shapes {words}, and only "
        f"the axis that they are joined along may differ: the one that axis= says, else the "
        f"function's own. "
    )
    has_batch = "None" not in words
    apart = [max(sizes) - min(sizes) for sizes in zip(*shapes, strict=False)]
    if {*map(len, shapes)} == {3 + has_batch} and 0 < max(apart[:-1]) <= _FEW_PIXELS:
        return (
            f"{said}An odd size that is halved by pooling or strides and doubled again is one "
            f"less: use a size that can be halved as often, or pad or crop one of them "
            f"(tf.keras.layers.ZeroPadding2D, Cropping2D)."
        )
    axes = [axis for axis, difference in enumerate(apart) if difference]
    if has_batch and len(axes) == 1:
        return f"{said}These two differ on axis {axes[0]} alone, and fit along it: axis={axes[0]}."
    return f"{said}Give another axis, or tf.reshape one."


_FEW_PIXELS = 3


WRONG_VALUES: tuple[tuple[str, str | Explain], ...] = (
    (
        r"property '(\w+)' of '(\w+)' object has no setter|can't set attribute '(\w+)'",
        "Line {line} writes {0}{2} anew by =, an attribute that can only be read. A variable is "
        "changed in place, as by layer.{0}{2}.assign(value), or assign_sub(value) for -=; for "
        "others change what the attribute is computed from.",
    ),
    (r"truth value of an array with more than one element", truth_of_several),
    (
        r"Invalid dtype: (str|object|bytes)\d*",
        "Line {line} gives Keras an array of dtype {0}, whose elements are no numbers: words, or "
        "numbers mixed with None. Put numbers in their place, then make the array by "
        "np.asarray(x, 'float32').",
    ),
    (
        r"(?:dictionary|[Ss]et|dictionary keys) changed (?:size )?during iteration",
        "The loop on line {line} goes over a dict or set that its body adds elements to or takes "
        "them from. Let it go over a copy: for key in list(values):.",
    ),
    (
        r"(min|max)\(\) (?:arg|iterable argument) is (?:an )?empty"
        r"|zero-size array to reduction operation (\w+) which has no identity",
        "Line {line} asks for the {0}{1} of nothing: the list or array has no elements. Look why "
        "nothing was put into it, or say what an empty one gives, as in max(values, default=0) or "
        "np.max(values, initial=0).",
    ),
    (
        r"'(tuple|str|range|bytes)' object does not support item assignment",
        "Line {line} changes an element of a {0}, and a {0} never changes. Make a list of it "
        "first, values = list(values), or build a new one.",
    ),
    (
        r"Failed to convert elements of <[\w.]*losses\.(\w+) object",
        "Keras, which line {line} runs, was given the class {0} as the loss, and made an object of "
        "it in place of a number. Give compile an object: tf.keras.losses.{0}().",
    ),
    (
        r"Expected \w+ passed to parameter '\w+' of op '\w+', got (.*?) of type 'str'"
        r"|Cannot convert (\'.*?\') to EagerTensor of dtype \w+",
        text_among_numbers,
    ),
    (
        r"Expected (\w+) passed to parameter '\w+' of op '(\w+)', got (\S+) of type '(\w+)'",
        "Line {line} combines {2} with a tensor of dtype {0}, which cannot hold it. TensorFlow "
        "never converts dtypes by itself. Cast the tensor first, as in tf.cast(x, tf.float32).",
    ),
    (
        r"unsupported format string passed to (?:numpy\.(ndarray)|(\w*Variable|list|tuple))\.__",
        "Line {line} writes a {0}{1} as one number. Take a number of it first: float(v) of one "
        "element, x[0], or tf.reduce_mean(x); or leave the format out.",
    ),
    (
        r"unsupported format string passed to \w*(?:SymbolicTensor|Tensor|Placeholder)\.__format__",
        "Line {line} writes a symbolic tensor as a number, and it has none yet: Python runs once, "
        "while a compiled function is traced. tf.print shows values at each call; or return the "
        "tensor and write its number outside.",
    ),
    (
        r"Cast string to (\w+) is not supported",
        "Line {line} casts a tensor of texts to {0}. Texts become numbers by "
        "tf.strings.to_number(x, tf.float32).",
    ),
    (
        r"only (?:0-dimensional|length-1|size-1) arrays can be converted to Python scalars",
        number_of_several,
    ),
    (
        r"must be real number, not (list|tuple|dict)",
        given_to_math,
    ),
    (
        r"Model (\w+) does not have a `call\(\)` method implemented"
        r"|Layer (\w+) does not have a `call\(\)` method implemented"
        r"|Unimplemented `tf\.keras\.Model\.call\(\)`",
        "The class of the model or layer that line {line} calls has no method named call, which "
        "is the one that Keras runs then. Give the method that computes the output this name: "
        "def call(self, x):.",
    ),
    (
        r"can only concatenate str \(not \"([\w.]+)\"\) to str",
        "Line {line} adds a text and a value of type {0}. Let print write both, as in "
        "print('loss:', loss), or put the value into an f-string: f'loss: {{loss}}'.",
    ),
    (
        r"list assignment index out of range",
        "Line {line} gives a list an element at a place that it does not have yet. Write "
        "values.append(x), or make the list as long as it will be.",
    ),
    (
        r"A `Concatenate` layer requires inputs with matching shapes.*Received: input_shape=(.*?)$"
        r"|Dimension \d+ in both shapes must be equal: shape\[\d+\] = \[\d[\d, ]*\] vs\.? shape"
        r"\[\d+\] = \[\d[\d, ]*\]",
        joined_shapes,
    ),
    (
        r"`initial_value` arg to `tf\.Variable` must be specified",
        "Line {line} makes a tf.Variable without a value. Give it one, which says its shape and "
        "dtype, too: tf.Variable(0.0), tf.Variable(tf.random.normal([3, 2])).",
    ),
    (
        r"could not convert string to float: (.{1,40})$",
        "Line {line} makes a number of the text {0}, which is none. Data read from a file often "
        "has a heading, an empty field or a unit: leave that row or column out before.",
    ),
    (
        r"FailedPreconditionError.*Table not initialized",
        "Line {line} uses a layer or table of words that knows none yet. Call layer.adapt(texts) "
        "first, or give it the words by vocabulary=.",
    ),
    (
        r"object of type '\w*Variable' has no len\(\)",
        "Line {line} asks a tf.Variable for its length, and it has none. The length of its first "
        "axis is v.shape[0].",
    ),
    (
        r"Integers to negative integer powers are not allowed",
        "Line {line} takes a negative power of whole numbers, which would be fractions. Write the "
        "numbers with a decimal point, as in tf.Variable([1.0, 2.0]); whole numbers have no "
        "gradients either.",
    ),
    (
        r"UnboundLocalError: (?:cannot access )?local variable '(\w+)'",
        "Line {line} reads {0} before its function has given it a value. A name that a function "
        "gives a value anywhere is its own in all of its lines, so one of that name outside is "
        "not meant. Give it a value before, hand it in as an argument, or write global {0}.",
    ),
)
"""In the order in which they are asked."""
