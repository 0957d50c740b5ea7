"""``stop-gradient``: ``tf.stop_gradient`` stands between source and target, or ``tf.gradients`` was
given a tensor there as ``stop_gradients``."""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import dataclass
from typing import ClassVar

from ....text.names import calls_in, dotted
from ....trace.ids import TensorId
from ....trace.model import Trace
from ....trace.ops import Op
from ...findings import Cause, Evidence
from ..questions import EdgeUnderTest


@dataclass(frozen=True, slots=True)
class StopGradient(Evidence):
    """The value went through ``tf.stop_gradient``. ``is_around_sum``: what it is given is ``h - z +
    z``, so that not even z gets a gradient.

    ``is_hidden``: the line calls a function that calls it: a loop with ``back_prop=False``
    (``while_v2.while_loop``), ``tf.compat.v1.nn.softmax_cross_entropy_with_logits`` for its labels
    (``nn_ops``; both TensorFlow 2.15 to 2.21), a layer. ``is_asked_for``: by ``back_prop=False``.
    ``listed``: the snippet's words for the tensor that the gradient call itself was given as
    ``stop_gradients``.
    """

    kind: ClassVar[str] = "stop-gradient"
    is_around_sum: bool = False
    is_hidden: bool = False
    is_asked_for: bool = False
    listed: str = ""

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.listed:
            paths = "every path" if cause.is_alone else "one path"
            return (
                f"Line {cause.line} gives {self.listed} as stop_gradients, and {paths} from "
                f"{target} back to {source} goes through it. tf.gradients takes such a tensor for "
                f"a constant. Leave it out of that list."
            )
        if self.is_around_sum and cause.is_alone:
            return (
                f"Line {cause.line} puts tf.stop_gradient around a value that is subtracted and "
                f"added again, so every gradient from {target} back to {source} ends there. "
                f"A straight-through estimate stops the difference alone: close the parenthesis "
                f"after the difference, and add the value outside."
            )
        if self.is_hidden:
            paths = "every path" if cause.is_alone else "one path"
            goes_through = f"and {paths} from {target} back to {source} goes through it"
            if self.is_asked_for:
                return (
                    f"back_prop=False on line {cause.line} puts tf.stop_gradient around what the "
                    f"loop gives, {goes_through}. Leave that argument out."
                )
            return (
                f"{cause.words or 'A function'} called on line {cause.line} applies "
                f"tf.stop_gradient, {goes_through}. Use a function that passes gradients on, or "
                f"remove tf.stop_gradient in it."
            )
        if not cause.is_alone:
            return (
                f"Line {cause.line} calls tf.stop_gradient on one path from {target} back to "
                f"{source}, and the other paths are cut, too. "
                f"It passes the value on but no gradient: remove it, or open another path."
            )
        return (
            f"Line {cause.line} calls tf.stop_gradient, and every path from {target} back to "
            f"{source} goes through it. It passes the value on and blocks every gradient. "
            f"Remove it, or call it only on the part that {source} should not learn from."
        )


def asked_to_stop(asked: EdgeUnderTest) -> Cause | None:
    """``stop_gradients`` of ``tf.gradients``: the ops that made such tensors are not differentiated
    (``_StopOps`` in gradients_util.py, 2.15-2.21)."""
    op, facts = asked.op, asked.facts
    if op is None:
        return None
    for tensor in set(facts.call.stops).intersection(op.outputs):
        name = next(iter(facts.trace.names.get(tensor, ())), "") or facts.words_of(op)
        return facts.cause(StopGradient(listed=name), facts.call.line, asked.edge)
    return None


def stopped(asked: EdgeUnderTest) -> Cause | None:
    """``tf.stop_gradient``."""
    op = asked.op
    if op is None or op.type not in ("StopGradient", "PreventGradient"):
        return None
    text = asked.facts.text
    calls = list(calls_in(text.statement(op.line)))
    names = {*_NAMES, *text.aliases.get("stop_gradient", ())}
    evidence = StopGradient(
        is_around_sum=_adds_again(asked, op),
        is_hidden=bool(calls) and not any(_is_written(call, names) for call in calls),
        is_asked_for=any(_is_back_prop_off(each) for call in calls for each in call.keywords),
    )
    return asked.facts.cause(evidence, op.line, asked.edge)


_NAMES = ("stop_gradient", "StopGradient", "PreventGradient")
"""``tf.stop_gradient``, and the ops themselves in ``tf.raw_ops``."""


def _is_written(call: ast.Call, names: Set[str]) -> bool:
    """Whether a call is one of ``tf.stop_gradient``, or is given it, by one of these names."""
    given = (call.func, *call.args, *(keyword.value for keyword in call.keywords))
    return any(dotted(node).rpartition(".")[2] in names for node in given)


def _is_back_prop_off(keyword: ast.keyword) -> bool:
    is_on = isinstance(keyword.value, ast.Constant) and keyword.value.value is True
    return keyword.arg == "back_prop" and not is_on


def _adds_again(asked: EdgeUnderTest, op: Op) -> bool:
    """Whether the op is given ``h - z + z`` or ``z + (h - z)``."""
    trace = asked.facts.trace
    added = trace.maker(op.inputs[0]) if op.inputs else None
    if added is None or added.type != "AddV2" or len(added.inputs) != 2:
        return False
    for difference, other in (added.inputs, added.inputs[::-1]):
        made = trace.maker(difference)
        if made is not None and made.type == "Sub" and _is_same(trace, made.inputs[1], other):
            return True
    return False


def _is_same(trace: Trace, tensor: TensorId, other: TensorId) -> bool:
    """Whether they are one tensor, or two reads of the same state of a variable."""
    version = trace.reads.get(tensor)
    return tensor == other or (version is not None and version == trace.reads.get(other))
