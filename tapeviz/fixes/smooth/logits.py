"""Compute a cross-entropy of a saturated sigmoid or softmax from the logits."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..forms import matches
from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, dotted, is_call_to
from ..plan import Plan
from ..source import ParsedSource

_SQUASHING = ("sigmoid", "softmax")
_LOSSES = (
    *("BinaryCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy"),
    *("binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy"),
)


def from_logits(case: FixCase) -> Iterator[Edit]:
    """``loss = bce(y, tf.sigmoid(z))`` → ``loss = bce(y, z)`` with ``from_logits=True``.

    Keras clips probabilities to a small distance from 0 and 1, beyond which the loss is flat. Also
    of a model whose last activation is a sigmoid or softmax, and of a cross-entropy by hand.
    """
    source = case.source
    for call in all_of(source.module, cst.Call):
        given = argument(call, 1, "y_pred")
        maker = _maker(source, call)
        if given is None or maker is None or argument(maker, 99, "from_logits") is not None:
            continue
        plan = Plan(source)
        made = source.value_of(given)
        if not isinstance(made, cst.Call):
            continue
        if called_name(made) in _SQUASHING and made.args:
            plan.replace(given, made.args[0].value)
        elif (activation := _last_activation(source)) is not None:
            plan.replace(activation, "None")
        else:
            continue
        if maker is call:
            plan.replace(call, lambda old: cst.parse_expression(_with_flag(source, old)))
        else:
            plan.replace(maker, _with_flag(source, maker))
        title = "Give the loss the logits: from_logits=True does not saturate"
        yield from plan.edits(title, has_other_value=True)
    plan = Plan(source)
    for node, parts in matches(all_of(source.module, cst.BinaryOperation), *_BY_HAND):
        *_, p, y = parts
        p = source.value_of(p)
        while is_call_to(p, "clip_by_value", "cast", "maximum", "minimum") and p.args:
            p = source.value_of(p.args[0].value)
        if is_call_to(p, "sigmoid") and p.args:
            both = f"labels={source.code(y)}, logits={source.code(p.args[0].value)}"
            plan.replace(node, f"-{source.tf}.nn.sigmoid_cross_entropy_with_logits({both})")
    title = "Compute the cross-entropy from the logits, which does not saturate"
    yield from plan.edits(title, has_other_value=True)


_BY_HAND = (
    "_y * log(_p) + (1 - _y) * log(1 - _p)",
    "_y * log(_p + _e) + (1 - _y) * log(1 - _p + _e)",
)


def _with_flag(source: ParsedSource, call: cst.Call) -> str:
    given = f"{source.further_arguments(call)}, from_logits=True".removeprefix(", ")
    return f"{source.code(call.func)}({given})"


def _maker(source: ParsedSource, call: cst.Call) -> cst.Call | None:
    """The call that says what the loss is: of ``bce`` where the name was bound, or itself."""
    if called_name(call) in _LOSSES and len(call.args) >= 2:
        return call
    made: cst.BaseExpression | None = call.func
    if isinstance(made, (cst.Name, cst.Attribute)):
        made = source.bound_to(dotted(made))
    return made if is_call_to(made, *_LOSSES) else None


def _last_activation(source: ParsedSource) -> cst.BaseExpression | None:
    """The only sigmoid or softmax that is given to a layer as its activation."""
    found = [
        arg.value
        for arg in all_of(source.module, cst.Arg)
        if arg.keyword is not None
        and arg.keyword.value == "activation"
        and isinstance(arg.value, cst.SimpleString)
        and arg.value.evaluated_value in _SQUASHING
    ]
    return found[0] if len(found) == 1 else None
