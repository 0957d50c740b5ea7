"""Explain what single functions of TensorFlow and Keras say of the form of their arguments: the
number of axes, of inputs, of ids. The messages are those of TensorFlow 2.15 to 2.21, Keras 2 and 3.
"""

from __future__ import annotations

import ast
import re
from math import prod

from ....text.names import dotted
from ....text.trees import lines_of
from ..case import Case, Explain
from ..python.results import several_returned
from .arguments import LONG_NAMES

_SHAPE = r"(\[[\d,? ]*\])"
_TUPLE = r"(\([\d, None]*\))"


def structures(case: Case) -> str:
    """A function of ``tf.map_fn`` that gives something else than its input, or two structures that
    have to be alike."""
    if case.calling("map_fn", line=case.line) is not None:
        return (
            f"The function of tf.map_fn on line {case.line} gives another number of tensors than "
            f"it takes, or tensors of other dtypes, and tf.map_fn has to be told of it. "
            f"Say what one call gives, as in fn_output_signature=(tf.float32, tf.float32)."
        )
    if case.calling("while_loop", line=case.line) is not None:
        return (
            f"The body of tf.while_loop on line {case.line} gives other values than it takes. It "
            f"has to return each loop variable, in the order of the list that the loop begins "
            f"with, as in lambda i, s: (i + 1, s + x)."
        )
    if "'retval_'" in case.failure.message:
        return (
            f"The if on line {case.line} depends on a tensor, so a compiled function holds both of "
            f"its branches, and they return different things, such as a tensor in the one and a "
            f"tuple in the other. Return as many tensors in both."
        )
    return (
        f"Line {case.line} gives two structures of tensors that have to be alike, and are not: one "
        f"of them has a tensor, a tuple or a dict where the other has something else. "
        f"Compare what both sides give, as the two branches of a condition or the state of a loop "
        f"before and after a turn."
    )


def loop_dtype(case: Case) -> str:
    """``tf.map_fn``, ``tf.scan`` or a TensorArray that gets values of another dtype than it was
    made for."""
    has, given = (LONG_NAMES.get(each, each) for each in case.match.groups())
    call = case.calling("map_fn", line=case.line)
    if call is not None:
        is_told = any(each.arg in ("fn_output_signature", "dtype") for each in call.keywords)
        expected = (
            f"and the call says that they are {has}"
            if is_told
            else f"and without a word about it they are expected to be {has}, as its input"
        )
        return (
            f"The function of tf.map_fn on line {case.line} gives tensors of dtype {given}, "
            f"{expected}. Say what it gives: fn_output_signature=tf.{given}."
        )
    return (
        f"Line {case.line} puts a value of dtype {given} where those of a tf.TensorArray or of the "
        f"state of a loop are {has}. Cast it, as in tf.cast(x, tf.{has}), or make the array or the "
        f"first state with that dtype."
    )


def without_parentheses(case: Case) -> str:
    """``with tf.GradientTape as tape:`` or ``with tape.stop_recording:``, the class or method in
    place of what a call of it gives. Python 3.10 does not say what was entered: there only what
    has a dot, which no value of the snippet has."""
    statement = case.statement
    for item in statement.items if isinstance(statement, ast.With) else ():
        name = dotted(item.context_expr)
        if "." in name or (name and "'type'" in case.failure.message):
            return (
                f"Line {case.line} enters {name} itself, and a with statement needs what a call of "
                f"it gives. Add the parentheses: with {name}():"
            )
    return ""


def endless(case: Case) -> str:
    """A function that calls itself, directly or by others, without an end or too often."""
    lines = sorted({line for line in case.failure.lines if case.failure.lines.count(line) > 1})
    if not lines:
        return ""
    where = ", ".join(map(str, lines[:3]))
    return (
        f"A function calls itself through line{'s' * (len(lines) > 1)} {where} without an end, or "
        f"more often than Python allows (about 1,000 times). It needs a case in which it returns "
        f"without a further call, as if n == 0: return x; a long repetition is a loop."
    )


def no_list(case: Case) -> str:
    """A single tensor, or number, where a function of TensorFlow takes a list of them."""
    if case.calling("py_function", "numpy_function", line=case.line) is not None:
        return (
            f"Line {case.line} hands a single tensor to tf.py_function or tf.numpy_function, which "
            f"take a list of the function's arguments. Write [x] in place of x."
        )
    if case.calling("while_loop", line=case.line) is not None:
        return (
            f"The body of tf.while_loop on line {case.line} returns a single value, and it has to "
            f"return a value for each loop variable. Return all of them, as in lambda i, s: "
            f"(i + 1, s)."
        )
    return ""


_STEPS = ("train_step", "test_step", "predict_step")
"""Methods of a Keras model that get a batch as its dataset gives it."""


def number_of_inputs(case: Case) -> str:
    """A list or tuple of tensors where a layer takes one, or another number of them.

    The message lists what it got; Keras 2 makes a tensor of each number
    (``_convert_numpy_or_python_types`` in keras/src/engine/base_layer.py, 2.15).
    """
    layer, takes, given = case.match.groups()
    _, _, received = case.failure.message.partition("Inputs received: ")
    if takes == "1" and received.partition("\n")[0].count("shape=(),") == int(given):
        return (
            f"The model or layer {layer} that line {case.line} calls was given {given} numbers in "
            f"a list or tuple, and Keras takes each of them as an input of its own. Make one "
            f"tensor of the list: tf.constant([…])."
        )
    raised = case.raised_at
    argument = raised.args[0] if isinstance(raised, ast.Call) and raised.args else None
    if argument is not None and (words := several_returned(case, ast.unparse(argument))):
        return (
            f"The model or layer {layer} that line {case.line} calls takes {takes} and got "
            f"{given} tensors. {words}"
        )
    steps = [each for each in case.nodes(ast.FunctionDef) if case.line in lines_of(each)]
    name = ast.unparse(argument) if argument is not None else ""
    if steps and steps[-1].name in _STEPS and name in [e.arg for e in steps[-1].args.args]:
        return (
            f"The model or layer {layer} that line {case.line} calls takes {takes} and got "
            f"{given} tensors: {name} is all that fit was given, the inputs and the labels. Take "
            f"them apart first: x, y = {name}."
        )
    if takes == "1":
        return (
            f"The model or layer {layer} that line {case.line} calls takes one tensor and got "
            f"{given}, in a list or tuple. An element of a dataset of inputs and labels is such a "
            f"tuple: unpack it, as in for x, y in dataset:, and give x alone. Tensors that belong "
            f"together are joined first, by tf.concat."
        )
    return (
        f"The model or layer {layer} that line {case.line} calls takes {takes} inputs and got "
        f"{given}. Give them as one list, in the order of the inputs that it was made with, or as "
        f"a dict by their names."
    )


def reshaped_samples(case: Case) -> str:
    """A Reshape layer whose samples have another number of elements than its shape."""
    given, wanted = (re.findall(r"-?\d+", shape) for shape in case.match.groups())
    sizes = [prod(map(int, shape)) for shape in (given, wanted)]
    is_known = all(size > 0 for size in sizes)
    words = f"{sizes[1]} elements, not {sizes[0]}" if is_known else "another number of elements"
    return (
        f"The Reshape layer on line {case.line} gets samples of shape {case.match[1]}, and the "
        f"shape {case.match[2]} that it is to give them has {words}. A reshape keeps every "
        f"element; the axis of the batch is not part of either shape. Make what comes before it "
        f"that large, or write -1 for the axis that follows from the others."
    )


FORM_ERRORS: tuple[tuple[str, str | Explain], ...] = (
    (
        r"Cannot convert a partially known TensorShape (\(.*?\)) to a Tensor",
        "Line {line} needs a whole shape while a function is traced, and {0} is all that is known "
        "then: None is an axis whose length may differ from call to call. Write tf.shape(x) in "
        "place of x.shape, which gives the lengths of each call.",
    ),
    (
        rf"paddings must be a matrix with 2 columns: {_SHAPE}"
        rf"|first dimension of paddings must be the rank of inputs{_SHAPE}",
        "The paddings on line {line} do not have two numbers for each axis of the tensor: how much "
        "is added before it, and how much behind. Write [[before, after], …] with a pair for each "
        "axis, [0, 0] where nothing is added.",
    ),
    (
        r"Inner dimensions of output shape must match inner dimensions of updates shape\. "
        rf"Output: {_SHAPE} updates: {_SHAPE}"
        r"|(?:Outer d|D)imensions .*of indices.* must match .*dimensions .*of updates"
        r"|Outer dimensions of indices and update must match",
        "The indices and the updates on line {line} do not fit. The last axis of the indices has "
        "the coordinates of one place, so elements 1 and 2 of a vector are [[1], [2]]; and there "
        "is one update for each place, a whole row where a place names a row.",
    ),
    (
        r"missing a required argument: 'value'",
        "Line {line} calls a layer or function without its argument value, which it needs. A "
        "MultiHeadAttention takes query and value; for attention of a sequence to itself give it "
        "twice, as in layer(x, x).",
    ),
    (
        r"Binding inputs to tf\.function failed due to `Can not cast TensorSpec\(shape="
        rf"{_TUPLE}, dtype=tf\.(\w+).*? to TensorSpec\(shape={_TUPLE}, dtype=tf\.(\w+)",
        "Line {line} gives a tf.function a tensor of shape {0} and dtype {1}, and its "
        "input_signature has one of shape {2} and dtype {3}. Give it such a tensor, or write None "
        "in the signature for an axis whose length may vary.",
    ),
    (
        r"Layer \"([\w.]+)\" expects (\d+) (?:named )?input\(s\).*?received (\d+) input tensors",
        number_of_inputs,
    ),
    (
        r"Output with path `.*?` is not connected to `inputs`"
        r"|Graph disconnected: cannot obtain value",
        "An output of the model on line {line} is computed from a tf.keras.Input that is not among "
        "the inputs given, or not by layers at all. Name each Input that the outputs come from: "
        "tf.keras.Model([a, b], output).",
    ),
    (
        r"Only instances of `?keras\.Layer`? can be added to a Sequential"
        r"|The added layer must be an instance of class Layer",
        "Line {line} puts something into a Sequential model that is no layer. A function becomes "
        "one by tf.keras.layers.Lambda(f), an activation by tf.keras.layers.Activation('relu'); a "
        "class of layers needs its parentheses.",
    ),
    (
        r"The last dimension of the inputs to a Dense layer should be defined\. Found None",
        "The Dense layer on line {line} has a weight for each element of the last axis, and the "
        "length of that axis is not known, as of a ragged tensor or of None in a shape. Give the "
        "length where the input is made, as in tf.keras.Input((4,)), or pad: x.to_tensor(shape=…).",
    ),
    (
        r"total size of (?:the tensor|new array) must be unchanged[.,] (?:Received: )?"
        r"input_shape ?= ?([(\[].*?[)\]]), (?:target|output)_shape ?= ?([(\[].*?[)\]])",
        reshaped_samples,
    ),
    (
        r"Only input tensors may be passed as positional arguments.*?argument value should be "
        r"passed as a keyword argument: (\S+) \(of type",
        "Line {line} calls a layer or model of Keras 3 with {0}, a Python value, as a positional "
        "argument, and these are for tensors. Make it a tensor by tf.constant(value), a list as "
        "a whole; or give it by its name, as in layer(x, scale=2.0).",
    ),
    (
        r"Layer (\S+) weight shape (\(.*?\)) is not compatible with provided weight shape "
        r"(\(.*?\))",
        "Line {line} gives the layer {0} weights of shape {2}, and its own have shape {1}. They "
        "come from a layer of another size, or stand in another order. Compare them with what "
        "get_weights() gives.",
    ),
    (
        r"Shapes used to initialize variables must be fully-defined",
        "A layer that line {line} calls makes its weights by the length of the last axis of its "
        "input, and that is not known: the input is ragged, or has None there. Give a tensor whose "
        "last axis has a length, as by x.to_tensor(shape=[None, 3]) or tf.ensure_shape.",
    ),
    (
        r"a return statement cannot be placed inside this TensorFlow loop",
        "The loop on line {line} goes over a tensor, so a compiled function holds it as one "
        "operation, and a return cannot leave that early where the function has no value for the "
        "other case. Give the result a name before the loop, change it in the loop, break there, "
        "and return it behind the loop.",
    ),
    (
        r"'(true_fn|false_fn)' must be callable",
        "Line {line} gives tf.cond values, and it takes two functions without arguments, of which "
        "it runs one. Write lambda: in front of each, or choose among values by "
        "tf.where(condition, a, b).",
    ),
    (
        r"TensorArray dtype is (\w+) but Op is trying to write dtype (\w+)",
        loop_dtype,
    ),
    (
        r"input_signature missing type constraint for (\w+)",
        "The input_signature on line {line} says nothing of the argument {0}. It needs a "
        "tf.TensorSpec for each argument of the function that has no default. Add one, or give "
        "{0} a default.",
    ),
    (
        r"condition of while loop started as non-Tensor, then changed to Tensor",
        "The loop on line {line} begins as a loop of Python, and a break or return in it then "
        "depends on a tensor. Make it a loop of TensorFlow from the start: while "
        "tf.constant(True):, or for i in tf.range(n):.",
    ),
    (
        r"'(?:type|method|function)' object does not support the context manager protocol"
        r"|AttributeError: __enter__",
        without_parentheses,
    ),
    (r"^RecursionError", endless),
    (
        r"'_UserObject' object is not callable",
        "Line {line} calls what tf.saved_model.load gave. It can be called if __call__ had "
        "@tf.function above it and an input_signature, or had been called, when it was saved: only "
        "such methods are kept. Else call one that was kept by its name, as in loaded.f(x) or "
        "loaded.signatures['serving_default'](x).",
    ),
    (
        r"TypeError: Cannot iterate over a scalar tensor|TypeError: '(?:int|float)' object is not "
        r"iterable",
        no_list,
    ),
    (
        r"`tape` is required when a `Tensor` loss is passed",
        "minimize on line {line} was given the loss as a tensor, and cannot see how it was "
        "computed. Give it a function that computes the loss, minimize(lambda: …, variables), or "
        "the tape that recorded it, tape=tape.",
    ),
    (r"two structures don't have the same nested structure", structures),
    (
        r"true_fn and false_fn arguments to tf\.cond must have the same number, type.*"
        r"true_fn output: .*?dtype=(\w+).*false_fn output: .*?dtype=(\w+)",
        "The branches of tf.cond on line {line} give different things: their first results are of "
        "dtype {0} and {1}. In a compiled function both give the same number of tensors, of the "
        "same dtypes. Cast one, or write 1.0 in place of 1.",
    ),
    (
        r"'SymbolicTensor' object cannot be interpreted as an integer",
        "Line {line} gives Python a number of a compiled function, which has no value while the "
        "function is traced: range and indices of lists need one. Loop by tf.range, pick by "
        "tf.gather, or hand the number to the function as a Python number.",
    ),
)
"""In the order in which they are asked: the first that has words is shown."""
