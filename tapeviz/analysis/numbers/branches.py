"""Find the branch of a conditional that takes a source and did not run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Set
from itertools import chain
from typing import NamedTuple

from ...trace.compiled.model import Conditional
from ...trace.ids import TensorId, VariableId
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ..call_facts import CallFacts, name_of
from ..flow.ancestry import Ancestry, Position

_BRANCHES = ops_with("branch")
_SWITCHES = ops_with("switch")


class SkippedUse(NamedTuple):
    """A use of a value in a branch that did not run. ``op``: the conditional; ``was``: its
    predicate, of a ``Case`` the number of the branch that ran, or "not 2" where only one that did
    not is known; ``line``: where the branch that did not run takes the source; ``writes``: the
    variable that it would have written to, if it counts."""

    op: Op
    was: bool | int | str
    line: int
    writes: str = ""


def skipped_use(
    facts: CallFacts, source: TensorId, starts: Set[Position], used: Collection[TensorId]
) -> SkippedUse | None:
    """A conditional of an opened call, on the way to the target, whose other branch takes the
    source. ``used``: what the target was made from.

    TensorFlow gives zeros for what the branch that ran does not take (``_IfGrad`` in cond_v2.py,
    2.15-2.21).
    """
    trace = facts.trace
    for conditional in trace.conditionals.values():
        op = trace.ops[conditional.op]
        if op.when > facts.call.when:
            continue
        is_used = any(output in used for output in op.outputs)
        written = {} if is_used else _written(facts, conditional, used)
        for tensor, line in conditional.skipped.items():
            if not (is_used or line in written):
                continue
            if tensor == source or tensor in facts.flow.ancestry([tensor]).leads_from(starts):
                was = conditional.taken if "Case" in op.type else conditional.taken == 0
                return SkippedUse(op, was, line, written.get(line, ""))
    return None


def _written(
    facts: CallFacts, conditional: Conditional, used: Collection[TensorId]
) -> dict[int, str]:
    """The variables among ``used`` that the branch that did not run takes: line → name."""
    trace = facts.trace
    return {
        line: name_of(trace, VariableId(tensor))
        for tensor, line in reversed([*conditional.skipped.items()])
        if tensor in used and VariableId(tensor) in trace.variables
    }


def only_use(facts: CallFacts, op: Op, starts: Set[Position]) -> SkippedUse | None:
    """The use of the source in a conditional of a graph, if one branch alone takes it.

    Which branch a session ran is not recorded. A branch that did not run gives zeros: ``_IfGrad``
    in cond_v2.py, ``_SwitchGrad`` in control_flow_grad.py (2.15-2.21).
    """
    if op.id in facts.trace.conditionals:
        return None
    ancestry = facts.paths.ancestry_from(starts)
    reached = ancestry.leads_from(starts)
    uses = _uses_by_switch if op.type in _SWITCHES else _uses_in_branches
    found = [*uses(facts, op, ancestry, reached)]
    if len({branch for branch, _ in found}) != 1:
        return None
    branch, taker = min(found, key=lambda use: use[1].id)
    return SkippedUse(op, f"not {branch}" if "Case" in op.type else branch != 0, taker.line)


_Use = tuple[int, Op]
"""The number of a branch (of ``If`` 0 where the predicate is true), and an op in it that is made
from the source."""


def _uses_in_branches(
    facts: CallFacts, op: Op, ancestry: Ancestry, reached: Set[Position]
) -> Iterator[_Use]:
    """An op of a conditional is drawn once for each output, with an input from each branch."""
    if op.type not in _BRANCHES or op.within is None:
        return
    for edge in chain.from_iterable(ancestry.into[end] for end in reached):
        drawn = facts.op(edge)
        if drawn is None or edge.start not in reached or len(drawn.inputs) < 2:
            continue
        if drawn.type == op.type and drawn.within == op.within:
            inside = facts.trace.maker(edge.tensor) if edge.tensor is not None else None
            yield edge.input_index, inside or op


def _uses_by_switch(
    facts: CallFacts, op: Op, ancestry: Ancestry, reached: Set[Position]
) -> Iterator[_Use]:
    """``Switch`` of TF1 hands its input to its first output if the predicate is false, else to its
    second."""
    for number, output in enumerate(op.outputs[:2]):
        if output in reached:
            takers = facts.flow.takers.get(output, ())
            inside = next((taker for taker in takers if taker.call is None and taker.line), op)
            yield 1 - number, inside
