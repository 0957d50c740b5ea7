"""Explain errors about what a value is: a list for a tensor, words for numbers, a class for its
object, a name without a value.

The messages are those of TensorFlow 2.15 to 2.21, Keras 2 and 3, and Python 3.10 to 3.13.
"""

from __future__ import annotations

import ast
import re

from ....text.names import called_name, dotted
from ....text.trees import lines_of
from ..case import Case
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
