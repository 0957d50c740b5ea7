"""Give sums whose parts cancel each other a slope."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.values.cancelled import FUSED, Cancelled
from ..blocks import gradient_call
from ..forms import match, matches
from ..model import Edit, FixCase
from ..nodes import all_of, argument, bare, called_name, dotted, with_arguments
from ..plan import Plan
from .zeros import made_by

_SUMS = ("reduce_sum", "reduce_mean")


def one_unit(case: FixCase) -> Iterator[Edit]:
    """A softmax over a single unit is always 1 → a sigmoid, and its cross-entropy."""
    source, tf = case.source, case.source.tf
    if case.cause.evidence != Cancelled("softmax-of-one"):
        return
    plan = Plan(source)
    for text in all_of(source.module, cst.SimpleString):
        instead = _OF_ONE_UNIT.get(str(text.evaluated_value))
        if instead is not None:
            plan.replace(text, f"{text.quote}{instead}{text.quote}")
    for call in all_of(source.module, cst.Call):
        path, _, name = dotted(call.func).rpartition(".")
        if path.endswith("losses") and name in _OF_ONE_UNIT:
            plan.replace(call.func, f"{path}.{_OF_ONE_UNIT[name]}")
    layers = [
        call
        for call in all_of(source.module, cst.Call)
        if dotted(call.func).endswith("layers.Softmax")
    ]
    if len(layers) == 1:  # another one may be over an axis that is long
        path = dotted(layers[0].func).rpartition(".")[0]
        plan.replace(layers[0], f'{path}.Activation("sigmoid")')
    for call in case.calls("softmax"):
        plan.replace(call, f"{tf}.sigmoid({source.code(call.args[0].value)})")
    losses = case.calls(*_LOSSES_OF_LOGITS)
    for call, (labels, logits) in with_arguments(losses, "labels", "logits"):
        given = f"{tf}.cast({source.code(labels)}, {tf}.float32)"
        if not called_name(call).startswith("sparse"):
            given = f"{tf}.squeeze({given}, -1)"
        rest = f"labels={given}, logits={tf}.squeeze({source.code(logits)}, -1)"
        plan.replace(call, f"{tf}.nn.sigmoid_cross_entropy_with_logits({rest})")
    yield from plan.edits("Use a sigmoid: a softmax of one unit is always 1", is_estimate=True)


_LOSSES_OF_LOGITS = (
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
)
_OF_ONE_UNIT = {
    "softmax": "sigmoid",
    "categorical_crossentropy": "binary_crossentropy",
    "sparse_categorical_crossentropy": "binary_crossentropy",
    "CategoricalCrossentropy": "BinaryCrossentropy",
    "SparseCategoricalCrossentropy": "BinaryCrossentropy",
}
"""Activations and losses of Keras, and those for a single unit."""


def normalise_by_kept(case: FixCase) -> Iterator[Edit]:
    """``bn(x, training=True)`` of a batch of one → with the statistics that the layer keeps."""
    source = case.source
    plan = Plan(source)
    for call in case.nodes(cst.Call) if case.cause.evidence == Cancelled("mean-of-one") else ():
        for arg in call.args:
            if arg.keyword is not None and arg.keyword.value == "training":
                plan.replace(arg.value, "False")
    title = "Estimate: normalise by the statistics that the layer keeps, not by those of one"
    yield from plan.edits(title)


def sum_of_squares(case: FixCase) -> Iterator[Edit]:
    """``tf.reduce_sum(p)`` of what always has the same sum → the sum of its squares.

    What was brought to a deviation (by a ``Mul``, as a layer does) has the same sum of squares.
    """
    op = case.trace.op(case.cause.op_id)
    if op is not None and op.type in {"Mul", *FUSED}:
        return
    form = "{tf}.square({x})"
    yield from _summed(case, form, "sum the squares, for the plain sum is always the same")


def first_of_sum(case: FixCase) -> Iterator[Edit]:
    """``tf.reduce_sum(h)`` of what always has the same sum → the first column alone, or row."""
    words = "take the first {part} alone, for the sum of all is always the same"
    yield from _summed(case, "{operand}[..., 0]", words.format(part="column"))
    yield from _summed(case, "{operand}[0]", words.format(part="row"))


OTHER_SUMS = (sum_of_squares, first_of_sum)


def _summed(case: FixCase, form: str, what: str) -> Iterator[Edit]:
    """The first sum on the way whose parts always have that sum, of ``form`` in their place."""
    source = case.source
    if case.cause.evidence != Cancelled("sum"):
        return
    for line in dict.fromkeys((*_lines_of_sums(case), *case.lines())):
        for call in source.calls(line, *_SUMS):
            given = argument(call, 0, "input_tensor")
            if given is None:
                continue
            x, operand = source.code(given), source.operand(given)
            plan = Plan(source, {given: form.format(tf=source.tf, x=x, operand=operand)})
            yield from plan.edits(f"Estimate: {what}")
            return


def stop_difference(case: FixCase) -> Iterator[Edit]:
    """``h - z + z`` and ``z + (h - z)`` → with ``tf.stop_gradient(h - z)``: straight-through. So
    ``z + h - z``, where the parentheses around the difference were forgotten."""
    source = case.source
    if case.cause.evidence != Cancelled("subtracted"):
        return
    plan = Plan(source)
    for node in case.nodes(cst.BinaryOperation):
        if parts := match(node, SUBTRACTED_AND_ADDED):
            stopped = f"{source.tf}.stop_gradient({source.code(bare(parts[0]))})"
            plan.replace(parts[0], stopped)
        elif parts := match(node, "_z + stop_gradient(_h, *_) - _z", "_z + _h - _z"):
            value, z = map(source.code, parts)
            plan.replace(node, f"{z} + {source.tf}.stop_gradient({value} - {z})")
    title = "Straight-through: keep the gradient out of the difference"
    yield from plan.edits(title, is_estimate=True)


SUBTRACTED_AND_ADDED = "(_d := _h - _z) + _z"
"""The form of ``h - z + z`` and of ``z + (h - z)``."""


def stop_second(case: FixCase) -> Iterator[Edit]:
    """``new - old`` or ``new / old`` of two results of one computation → with
    ``tf.stop_gradient(old)``: what was there before, to compare with."""
    source = case.source
    if case.cause.evidence == Cancelled("compared"):
        for _, (_, old) in matches(case.nodes(cst.BinaryOperation), "_a - _b", "_a / _b"):
            plan = Plan(source, {old: f"{source.tf}.stop_gradient({source.code(old)})"})
            title = f"Keep the gradient out of {source.code(old)}, which is there to compare with"
            yield from plan.edits(title, has_other_slope=True)


def _lines_of_sums(case: FixCase) -> Iterator[int]:
    """The lines of the ``Sum`` and ``Mean`` that the target was made by, the last first."""
    trace = case.trace
    tensor = case.call.targets[0].tensor if case.call.targets else None
    for _ in range(20):
        op = trace.maker(tensor)
        if op is None:
            return
        if op.type in ("Sum", "Mean"):
            yield op.line
        tensor = op.inputs[0] if op.inputs else None


def ask_for_element(case: FixCase) -> Iterator[Edit]:
    """A vector as target is summed: weigh its first element alone by ``output_gradients``."""
    source = case.source
    call = gradient_call(source, case.call)
    target = case.call.targets[0].tensor if len(case.call.targets) == 1 else None
    known = case.trace.tensors.get(target) if target is not None else None
    if call is None or known is None or case.call.output_gradients or not known.shape:
        return
    if len(known.shape) > 1 or case.call.method != "gradient":
        return
    given = "".join(f"{source.code(arg).rstrip(', ')}, " for arg in call.args)
    picked = f"{source.tf}.one_hot(0, {known.shape[0]})"
    plan = Plan(source, {call: f"{source.code(call.func)}({given}output_gradients={picked})"})
    title = "Ask for the gradient of the first element: a vector as target is summed"
    yield from plan.edits(title, is_estimate=True)


def leave_layer_out(case: FixCase) -> Iterator[Edit]:
    """``norm(x)`` → ``x``, of a layer that normalises single elements: nothing is left of them."""
    source = case.source
    for call in case.nodes(cst.Call) if case.cause.evidence == Cancelled("mean-of-one") else ():
        if "Normalization" in made_by(source, call.func) and call.args:
            plan = Plan(source, {call: source.operand(call.args[0].value)})
            name = source.code(call.func)
            title = f"Leave {name} out, which gives 0 for whatever it gets"
            yield from plan.edits(title, is_estimate=True)


CANCELLING = (
    one_unit,
    normalise_by_kept,
    leave_layer_out,
    ask_for_element,
    stop_difference,
    stop_second,
)
"""The fixes to try first where contributions cancel, before other weights and other sums."""
