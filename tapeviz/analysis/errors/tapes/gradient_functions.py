"""Explain exceptions of the backward pass: gradient functions that are missing or that raise."""

from __future__ import annotations

from ....text.messages import first_words
from ..case import Case


def output_gradients(case: Case) -> str:
    """Output gradients of another shape than the target, which the backward pass multiplies."""
    call, trace = case.call, case.trace
    if call is None or call.ended:
        return ""
    for target, given in zip(call.target_tensors, call.output_gradients, strict=False):
        known = [trace.tensors.get(each) for each in (target, given.tensor) if each is not None]
        shapes = [each.shape for each in known if each is not None and each.shape is not None]
        if len(shapes) == 2 and shapes[0] != shapes[1]:
            wanted, got = (str(list(shape)) for shape in shapes)
            return (
                f"The output_gradients that line {case.line} gives have shape {got}, and the "
                f"target has shape {wanted}. There has to be one number for each element of the "
                f"target: the gradient is that of their weighed sum. "
                f"Give a tensor of the target's shape, as in tf.ones_like(y)."
            )
    return ""


def no_registry(case: Case) -> str:
    """An op without gradient function, run eagerly, or inside of a compiled function, as is the
    model by ``predict`` of Keras 2 (TensorFlow 2.15)."""
    op, asked = case.match[case.match.lastindex or 0], case.op_differentiated
    ran = [found for found in case.trace.ops.values() if found.type == op and found.line]
    found = asked if asked is not None and asked.type == op and asked.line else None
    found = found or (ran[-1] if ran else None)
    where = f"line {found.line}" if found is not None else "an earlier line"
    predict = case.calling("predict", line=found.line) if found is not None else None
    if predict is not None and predict.args and op == "IteratorGetNext":
        given = case.text.segment(predict.args[0])
        model = case.text.segment(predict.func).rpartition(".")[0]
        return (
            f"predict on {where} runs the model over a dataset that it makes of {given}, and no "
            f"gradient passes a dataset. Call the model itself in its place: {model}({given})."
        )
    return (
        f"{where[0].upper()}{where[1:]} runs the operation {op}, and the gradient has to pass "
        f"through it. TensorFlow has no gradient function for {op}, so it cannot go on. "
        f"Use other operations there, wrap that line in tf.custom_gradient, or put "
        f"tf.stop_gradient around it if its gradient is not needed."
    )


def custom_pair(case: Case) -> str:
    if "custom_gradient" not in case.trace.source:
        return ""
    return (
        "A function under tf.custom_gradient has to return two things: its value, and a function "
        "that computes the gradient. This one returned something else. "
        "End it with return value, grad, where grad takes the upstream gradient dy."
    )


def inside_gradient(case: Case) -> str:
    """An exception of a gradient function, the snippet's own or TensorFlow's; only where nothing
    else is known."""
    call, op = case.call, case.op_differentiated
    if call is None or not case.line:  # no line: the process ended
        return ""
    if call.line == case.line:
        said = first_words(case.failure.message).partition(". ")[0]
        return (
            f"{case.words_of(op)} on line {op.line} gave its value, and now its gradient function "
            f"raised this, while {call.method} on line {call.line} went back through it: {said}. "
            f"TensorFlow's function for the gradient of {op.type} cannot work with what the op was "
            f"given there. Give it another form or dtype, or compute the same by other operations."
            if op is not None and op.line and said
            else ""
        )
    return (
        f"Line {case.line} raised this while the backward pass ran that {call.method} on line "
        f"{call.line} asked for. TensorFlow runs a custom gradient function only then, not when "
        f"the value is computed. Call it by hand, with a tensor of ones, to try it."
    )
