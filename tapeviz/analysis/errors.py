"""The exception that ended a snippet in, at most three plain sentences about it out.

:data:`EXPLANATIONS` is the table: a pattern of ``Type: message`` as TensorFlow 2.15 to 2.21 and
Python 3.10 to 3.13 word it, and a function that tells what happened, why, and what to do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from ..trace.expressions import SourceText
from ..trace.model import Call, Failure, Trace
from .old_names import NEW_NAMES


@dataclass(frozen=True, slots=True)
class Case:
    """An exception and the recording that it ended; ``match``: of the pattern."""

    trace: Trace
    failure: Failure
    text: SourceText
    match: re.Match[str]

    @property
    def code(self) -> str:
        return self.text.code(self.failure.line)

    @property
    def call(self) -> Call | None:
        """The gradient call that raised it."""
        calls = self.trace.calls
        return calls[-1] if calls and not calls[-1].ended else None

    @property
    def tape(self) -> str:
        call = self.call
        tape = self.trace.tapes.get(call.tape) if call and call.tape is not None else None
        return tape.name if tape and tape.name else "the tape"

    def argument(self, position: int, *methods: str) -> str:
        """What was given to the call of such a method on the line, as it is written there."""
        statement = self.text.statement(self.failure.line)
        for node in ast.walk(statement) if statement else ():
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in methods and position < len(node.args):
                return self.text.segment(node.args[position])
        return ""


Explain = Callable[[Case], str]


def explain_error(trace: Trace) -> str:
    """What happened, why, and what to do; empty if the exception's own words must do."""
    failure = trace.failure
    if failure is None:
        return ""
    said = f"{failure.type}: {failure.message}"
    text = SourceText(trace.source)
    for pattern, explain in EXPLANATIONS:
        match = re.search(pattern, said, re.IGNORECASE | re.DOTALL)
        words = explain(Case(trace, failure, text, match)) if match else ""
        if words:
            return words
    return ""


def _second_use(case: Case) -> str:
    call, tape = case.call, case.tape
    before = [
        one
        for one in case.trace.calls
        if call is not None and one.id != call.id and one.tape == call.tape
    ]
    if not before:
        return (
            f"{tape} was asked for a gradient before it had recorded anything. "
            f"A tape records what runs inside its with block, and no such block was entered. "
            f"Put the computation into with tf.GradientTape() as tape:, and ask when it is done."
        )
    where = f"line {before[-1].line}"
    where = "this same line" if before[-1].line == case.failure.line else where
    return (
        f"{tape} was asked for a second gradient, after the one on {where}. "
        f"A tape forgets what it recorded as soon as it has answered once. "
        f"Ask for all sources in one call, as in tape.gradient(y, [a, b]), or make the tape with "
        f"tf.GradientTape(persistent=True)."
    )


def _no_tensor(case: Case) -> str:
    call = case.call
    if call is None:
        return ""
    kind = {"float": "a Python number", "int": "a Python number"}.get(case.match[1], "")
    kind = kind or ("a NumPy value" if "numpy" in case.match[1] else f"a {case.match[1]}")
    target, source = case.argument(0, call.method), case.argument(1, call.method)
    is_source = case.match[2] == "_id" and not any(
        one.kind == "other" for one in call.targets if one.text
    )
    which, name = ("source", source) if is_source else ("target", target)
    verb = "contains" if name.startswith(("[", "(")) else "is"
    return (
        f"The {which} {name or 'given'} {verb} {kind}, no tensor. "
        f"When a value is turned into a number, by .numpy() or float(), it no longer says how it "
        f"was computed. Give the tape the tensor itself, and take its number only to show it."
    )


def _no_registry(case: Case) -> str:
    op = case.match[1]
    ran = [one for one in case.trace.ops.values() if one.type == op and one.line]
    where = f"line {ran[-1].line}" if ran else "an earlier line"
    return (
        f"{where[0].upper()}{where[1:]} runs the operation {op}, and the way of the gradient leads "
        f"through it. TensorFlow has no gradient function for {op}, so it cannot go on. "
        f"Use other operations there, wrap that line in tf.custom_gradient, or put "
        f"tf.stop_gradient around it if its gradient is not needed."
    )


def _symbolic_watch(case: Case) -> str:
    given = case.argument(0, "watch") or "what was given"
    return (
        f"{given} is the model's symbolic input: it describes what will be fed, and holds no "
        f"numbers. A tape can only watch tensors with values. "
        f"Watch the tensor that you call the model with: tape.watch(x), then model(x)."
    )


def _keras_watch(case: Case) -> str:
    given = case.argument(0, "watch") or "what was given"
    return (
        f"{given} is a Keras variable, an object around TensorFlow's own variable, which watch "
        f"does not know. A trainable one needs no watch: the tape follows it by itself. "
        f"For others write tape.watch(v.value)."
    )


def _no_tensor_watch(case: Case) -> str:
    given = case.argument(0, "watch") or "what was given"
    return (
        f"{given} is of the Python type {case.match[1]}, and a tape can only watch tensors. "
        f"A plain number or array takes no part in TensorFlow's operations until it is converted. "
        f"Make it a tensor first, as in x = tf.constant(3.0), then watch x."
    )


def _no_pairs(case: Case) -> str:
    if "apply_gradients" not in case.code:
        return ""
    return (
        "apply_gradients was not given pairs of a gradient and its variable. "
        "An optimizer has to know which gradient belongs to which variable. "
        "Write optimizer.apply_gradients(zip(gradients, variables))."
    )


def _no_gradients(case: Case) -> str:
    return (
        "Every gradient that the optimizer was given is None, so there is nothing to apply. "
        "The loss is not connected to these variables on the tape. "
        "Look at the gradients above: each None is explained with the line that cuts it."
    )


def _none_used(case: Case) -> str:
    nones = [call for call in case.trace.calls if call.ended and None in call.results]
    if not nones:
        return ""
    call = nones[-1]
    missing = [s.text for s, r in zip(call.sources, call.results, strict=False) if r is None]
    return (
        f"Line {case.failure.line} uses a gradient that is None: line {call.line} gave none for "
        f"{', '.join(missing[:3]) or 'its source'}. "
        f"None means that the tape found no way from the target back to the source. "
        f"The explanation of that gradient names the line where the way is cut."
    )


def _shapes(case: Case) -> str:
    one, other = (shape.replace(",", ", ").replace("  ", " ") for shape in case.match.groups()[:2])
    op = re.search(r"\[Op:(\w+)\]", case.failure.message)
    name = op[1] if op else "the operation"
    rule = "each axis must be equal in both, or 1 in one of them"
    if "matmul" in name.lower() or "Matrix size" in case.failure.message:
        rule = "the last axis of the first must be as long as the first axis of the second"
    return (
        f"On line {case.failure.line} {name} got the shapes {one} and {other}, which do not fit. "
        f"For {name}, {rule}. "
        f"Print the shapes just before, and use tf.reshape, tf.transpose or tf.expand_dims on one."
    )


def _dtypes(case: Case) -> str:
    return (
        f"Line {case.failure.line} combines a {case.match[1]} tensor with a {case.match[2]} one. "
        f"TensorFlow never converts dtypes by itself. "
        f"Make both of one dtype: tf.cast(x, tf.float32), or dtype=tf.float32 where they are made."
    )


def _literal_dtype(case: Case) -> str:
    return (
        f"Line {case.failure.line} combines {case.match[1]} with a tensor of dtype "
        f"{case.match[2]}, which cannot hold it. A tensor made from whole numbers is an integer "
        f"one, and those have no gradients either. "
        f"Write the numbers with a decimal point, as in tf.Variable(3.0)."
    )


def _undefined(case: Case) -> str:
    name = case.match[1]
    known = {"tf": "import tensorflow as tf", "np": "import numpy as np"}
    known["keras"] = "from tensorflow import keras"
    remedy = known.get(name, "")
    what = f"Add {remedy}." if remedy else "Add its definition above this line, or paste that too."
    return (
        f"Line {case.failure.line} uses the name {name}, which nothing before it defines. "
        f"Such a name often stands in another cell or another part of the page. {what}"
    )


def _keyboard(case: Case) -> str:
    return (
        f"Line {case.failure.line} waits for something to be typed, and a snippet runs without a "
        f"keyboard here. Put the value into the text in place of the call of input()."
    )


def _no_module(case: Case) -> str:
    name = case.match[1]
    if name.startswith("tensorflow."):
        return (
            f"This TensorFlow ({case.trace.tensorflow}) has no module {name}. "
            f"It was part of an older version, or it has moved. "
            f"Look for its present name, or leave the line out if the gradient does not need it."
        )
    root = name.split(".")[0]
    return (
        f"The module {name} is not installed in the Python that runs the snippet. "
        f"Install it there (pip install {root}), choose another interpreter, or leave line "
        f"{case.failure.line} out if the gradient does not need it."
    )


def _graph_gradients(case: Case) -> str:
    return (
        "tf.gradients works on graphs only, and TensorFlow 2 runs each operation at once. "
        "There is no graph here that it could walk back. "
        "Compute inside with tf.GradientTape() as tape:, then call tape.gradient(y, x)."
    )


def _no_numpy(case: Case) -> str:
    return (
        f"Line {case.failure.line} asks a symbolic tensor for its numbers, and it has none yet. "
        f"Inside tf.function or a graph, Python runs once, before any value is there. "
        f"Stay with tf operations there; use tf.print to look at values, and .numpy() outside."
    )


def _old_name(case: Case) -> str:
    name = case.match[1]
    advice = NEW_NAMES.get(name)
    if advice is None:
        return ""
    return (
        f"tf.{name} belongs to TensorFlow 1; version {case.trace.tensorflow} does not have it. "
        f"{advice} "
        f"Old programs as a whole can run with import tensorflow.compat.v1 as tf and "
        f"tf.disable_v2_behavior()."
    )


def _assigned_tensor(case: Case) -> str:
    return (
        f"Line {case.failure.line} tries to change a tensor, and tensors never change. "
        f"Only a tf.Variable has a state that can be assigned. "
        f"Compute a new tensor (tf.tensor_scatter_nd_update changes single elements), which also "
        f"keeps the gradient."
    )


def _never_entered(case: Case) -> str:
    return (
        f"Line {case.failure.line} uses a tape that is not recording. "
        f"A tape starts with its block, as in with tf.GradientTape() as tape:. "
        f"Move the line into the block."
    )


def _batch_jacobian(case: Case) -> str:
    return (
        "batch_jacobian needs a target and a source whose first axis counts the samples of a "
        f"batch, and one of them has the shape {case.match[1]}. "
        "Use tape.jacobian, which asks nothing of the shapes."
    )


def _custom_count(case: Case) -> str:
    return (
        f"The gradient function of a tf.custom_gradient returned {case.match[2]} gradients, and "
        f"its function took {case.match[1]} tensors. "
        f"TensorFlow hands them out by position. Return one for each argument, in their order."
    )


def _custom_pair(case: Case) -> str:
    if "custom_gradient" not in case.trace.source:
        return ""
    return (
        "A function under tf.custom_gradient has to return two things: its value, and a function "
        "that computes the gradient. This one returned something else. "
        "End it with return value, grad, where grad takes the upstream gradient dy."
    )


def _output_gradients(case: Case) -> str:
    call = case.call
    if call is None or not call.output_gradients:
        return ""
    return (
        f"The output_gradients of {case.tape}.{call.method} do not have the shape of the target. "
        f"There has to be one number for each element of the target. "
        f"Give a tensor of the target's shape, as in tf.ones_like(y)."
    )


def _no_source(case: Case) -> str:
    return (
        f"Line {case.failure.line} asks a layer or model for something that it gets only when it "
        f"is first called with data. Call it once on an input, or give it tf.keras.Input(shape) "
        f"first."
    )


_SHAPE = r"(\[[\d,? ]*\]|\([\d,None ]*\))"

EXPLANATIONS: tuple[tuple[str, Explain], ...] = (
    (r"non-persistent GradientTape", _second_use),
    (r"gradient registry has no entry for: (\w+)", _no_registry),
    (r"KerasTensor.*not tf\.Tensor|symbolic.*watch", _symbolic_watch),
    (r"Passed in object <(?:Keras)?Variable path=|of type 'Variable', not tf", _keras_watch),
    (r"Passed in object .* of type '(\w+)', not tf\.Tensor", _no_tensor_watch),
    (r"'NoneType' object has no attribute '_tape'", _never_entered),
    (r"No gradients provided for any variable", _no_gradients),
    (
        r"_unique_id|takes 2 positional arguments but 3|not enough values to unpack|zip argument"
        r"|cannot iterate over a scalar|iterating over a symbolic",
        _no_pairs,
    ),
    (r"AttributeError: '([\w.]+)' object has no attribute '(_id|dtype|shape|_tape)'", _no_tensor),
    (r"NoneType|None values not supported", _none_used),
    (r"Incompatible shapes: *" + _SHAPE + r" vs\.? *" + _SHAPE, _shapes),
    (r"Matrix size-incompatible: In\[0\]: " + _SHAPE + r", In\[1\]: " + _SHAPE, _shapes),
    (r"(?:Shapes|Dimensions) " + _SHAPE + r" and " + _SHAPE, _shapes),
    (r"expected to be an? (\w+) tensor but is an? (\w+) tensor", _dtypes),
    (r"Cannot convert ([\d.e+-]+) to EagerTensor of dtype (\w+)", _literal_dtype),
    (r"NameError: name '(\w+)' is not defined", _undefined),
    (r"EOFError|StdinNotImplementedError|raw_input was called", _keyboard),
    (r"(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'", _no_module),
    (r"tf\.gradients is not supported when eager", _graph_gradients),
    (r"Tensor'? object has no attribute '(?:numpy|eval)'|numpy\(\) is only available", _no_numpy),
    (r"module 'tensorflow[\w.]*' has no attribute '(\w+)'", _old_name),
    (r"Tensor' object has no attribute 'assign|does not support item assignment", _assigned_tensor),
    (r"Shape (\([\d, ]*\)) must have rank at least 2", _batch_jacobian),
    (r"expected to return (\d+) gradients,? but returned (\d+)", _custom_count),
    (r"TypeError: (?:unsupported callable|.*cannot unpack|.*is not callable)", _custom_pair),
    (r"\[Op:(?:Reshape|Mul|BroadcastGradientArgs)\]|output_gradients", _output_gradients),
    (r"has not yet been built|has never been called|has no defined (?:input|output)", _no_source),
)
"""In the order in which they are asked; the first that has words is taken."""
