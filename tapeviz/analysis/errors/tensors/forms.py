"""Explain what single functions of TensorFlow and Keras say of the form of their arguments: the
number of axes, of inputs, of ids. The messages are those of TensorFlow 2.15 to 2.21, Keras 2 and 3.
"""

from __future__ import annotations

import ast
import re
from math import prod

from ....text.names import dotted
from ....text.trees import lines_of
from ..case import Case
from ..python.results import several_returned
from .arguments import LONG_NAMES


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
