"""Add to a gradient call what was asked about it afterwards: replays, estimates, differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from .. import events as e
from ..compiled.rerun_ops import RerunOps
from ..model import Call, Check, Op, OpId, Replay, Step, TensorId
from .nouns import IdTuples


@dataclass(frozen=True, slots=True)
class AnswerReader:
    """Reads answers. ``ops``: those of the trace; ``reruns``: of calls that ran again, those that
    ran."""

    ids: IdTuples
    ops: Mapping[OpId, Op]
    reruns: Mapping[OpId, RerunOps]

    def with_answers(
        self,
        call: Call,
        steps: Sequence[Step],
        answers: Iterable[e.ReplayRan | e.Checked],
        within: int,
    ) -> Call:
        """The call with what was asked about it. ``steps``: of its own backward pass; ``within``:
        of one made in a function the eager call of that whose values it has. Answers about other
        calls of the function are left out."""
        for event in answers:
            if event.within and event.within != within:
                continue
            if isinstance(event, e.Checked):
                call = _checked(call, event)
            else:
                call = self._replayed(call, steps, event)
        return call

    def _replayed(self, call: Call, whole: Sequence[Step], event: e.ReplayRan) -> Call:
        results = {key: TensorId(tensor) for key, tensor in event.results.items()}
        if event.inner >= 0:
            replay = Replay(self._inner_steps(whole[event.inner : event.inner + 1], event), results)
            return replace(call, inner={**call.inner, event.inner: replay})
        if event.share:
            return replace(call, shares={**call.shares, tuple(event.share): results})
        if event.how == "beyond":
            return replace(call, beyond=results)
        if event.how:
            return replace(call, estimates=results)
        steps = tuple(
            Step(
                index,
                OpId(step.op),
                self.ops[OpId(step.op)].type if OpId(step.op) in self.ops else "",
                self.ids.or_none(step.upstream),
                self.ids.or_none(step.downstream),
                step.error,
            )
            for index, step in enumerate(event.steps)
        )
        return replace(call, replay=Replay(steps, results))

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
