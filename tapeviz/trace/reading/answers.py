"""Add to a gradient call what was asked about it afterwards: replays, estimates, differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
from msgspec import structs

from .. import events as e
from ..calls import Call, Check, Replay, Step
from ..compiled.rerun_ops import RerunOps
from ..ids import OpId, TensorId
from ..ops import Op
from .nouns import IdTuples


class Replayed(msgspec.Struct, frozen=True, gc=False):
    """A replay through all that a gradient call was made from.

    The event itself (:class:`~tapeviz.trace.events.ReplayRan`) takes several times as much memory.
    ``replay``: without steps where the gradients alone count.
    """

    within: int
    how: str
    share: tuple[int, ...]
    replay: Replay


Answer = Replayed | e.ReplayRan | e.Checked
"""A replay of a whole gradient call, one of the inside of an op, or a check."""


def answer_of(event: e.ReplayRan | e.Checked, ids: IdTuples, ops: Mapping[OpId, Op]) -> Answer:
    """The answer that an event tells. ``ops``: those known so far."""
    if isinstance(event, e.Checked) or event.inner >= 0:
        return event
    steps = (
        ()
        if event.share or event.how
        else tuple(
            [
                Step(
                    index,
                    OpId(step.op),
                    _type_of(ops, OpId(step.op)),
                    ids.or_none(step.upstream),
                    ids.or_none(step.downstream),
                    step.error,
                )
                for index, step in enumerate(event.steps)
            ]
        )
    )
    results = {key: TensorId(tensor) for key, tensor in event.results.items()}
    return Replayed(event.within, event.how, tuple(event.share), Replay(steps, results))


def _type_of(ops: Mapping[OpId, Op], op: OpId | None) -> str:
    known = ops.get(op) if op is not None else None
    return known.type if known is not None else ""


@dataclass(frozen=True, slots=True)
class AnswerReader:
    """Adds answers to calls. ``ops``: those of the trace; ``reruns``: of calls that ran again,
    those that ran."""

    ids: IdTuples
    ops: Mapping[OpId, Op]
    reruns: Mapping[OpId, RerunOps]

    def with_answers(
        self,
        call: Call,
        steps: Sequence[Step],
        answers: Iterable[Answer],
        within: int,
    ) -> Call:
        """The call with what was asked about it. ``steps``: of its own backward pass; ``within``:
        of one made in a function the eager call of that whose values it has. Answers about other
        calls of the function are left out."""
        for answer in answers:
            if answer.within and answer.within != within:
                continue
            if isinstance(answer, e.Checked):
                call = _checked(call, answer)
            elif isinstance(answer, e.ReplayRan):
                call = self._entered(call, steps, answer)
            else:
                call = self._replayed(call, answer)
        return call

    def _entered(self, call: Call, whole: Sequence[Step], event: e.ReplayRan) -> Call:
        """The call with a replay of the inside of one step's op."""
        results = {key: TensorId(tensor) for key, tensor in event.results.items()}
        replay = Replay(self._inner_steps(whole[event.inner : event.inner + 1], event), results)
        return replace(call, inner={**call.inner, event.inner: replay})

    def _replayed(self, call: Call, answer: Replayed) -> Call:
        replay = answer.replay
        if answer.share:
            return replace(call, shares={**call.shares, answer.share: replay.results})
        if answer.how == "beyond":
            return replace(call, beyond=replay.results)
        if answer.how:
            return replace(call, estimates=replay.results)
        if not all(step.type for step in replay.steps):  # ops of calls that were opened later
            typed = (structs.replace(s, type=_type_of(self.ops, s.op)) for s in replay.steps)
            replay = replace(replay, steps=tuple(typed))
        return replace(call, replay=replay)

    def _inner_steps(self, whole: Sequence[Step], event: e.ReplayRan) -> tuple[Step, ...]:
        """The steps inside of an op, with the drawn ops and the turns of the loops they are in."""
        entered = self.ops.get(whole[0].op) if whole and whole[0].op is not None else None
        if entered is None:
            return ()
        rerun = self.reruns.get(entered.within or entered.id)
        ran = {op.number: op for op in rerun.all()} if rerun is not None else {}
        steps: list[Step] = []
        for step in event.steps:
            known = ran.get(step.op)
            if known is None:
                continue
            op = self.ops.get(known.op) if known.op is not None else None
            if op is not None or step.error:
                given = self.ids.or_none(step.upstream), self.ids.or_none(step.downstream)
                kind = op.type if op is not None else ""
                steps.append(Step(len(steps), known.op, kind, *given, step.error, known.turns))
        return tuple(steps)


def _checked(call: Call, event: e.Checked) -> Call:
    """The call with a result that was compared with finite differences."""
    check, source = Check(event.error, event.agrees, event.words), TensorId(event.source)
    if event.op is None:
        return replace(call, checks={**call.checks, source: check})
    return replace(call, doubts={**call.doubts, (OpId(event.op), source): check})
