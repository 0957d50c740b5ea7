"""``outside-tape``: what links source and target ran where the tape did not record."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from ....trace.ids import TensorId, VersionId
from ....trace.model import Tape, Trace
from ....trace.ops import Op
from ....trace.sites import Site
from ...call_facts import CallFacts
from ...findings import Cause, Evidence
from ...flow.ancestry import DataEdge
from ...flow.ends import last_made_from
from ...python.blocks import MAKERS, line_that_kept, line_to_move
from ..questions import EdgeUnderTest
from .replaced_source import ReplacedSource

_MOST_HANDED = 20
_MOST_MAKERS = 200
"""Ops of two computations that are compared."""
Where = Literal["before", "after", "stop_recording", "paused", "thread", "reset"]
RecorderKind = Literal["tape", "accumulator"]
_WHERE: dict[Where, str] = {
    "before": "before the {recorder}'s block began",
    "after": "after the {recorder}'s block had ended",
    "stop_recording": "while the {recorder} did not record (stop_recording)",
    "paused": "while recording was stopped",
    "thread": "on another thread",
    "reset": "before the {recorder} was reset",
}


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A value that was computed twice: as ``instead_of``, which the tape did not record, and on
    ``line`` as ``name``, which it recorded."""

    name: str
    line: int
    instead_of: str


@dataclass(frozen=True, slots=True)
class OutsideTape(Evidence):
    """The value was computed while the tape did not record. ``where``: relative to the tape's
    intervals; ``ran``: before a reset the line that ran; ``inside``: the line of the op in a
    function that the line of the cause calls, else 0; ``maker``: the method with this line that
    makes an object, as ``build``, else empty; ``again``: where the tape recorded the same
    computation, and nothing uses what it gave; ``is_at_call``: the target is computed on the line
    that asks for its gradient; ``recorder``: what did not record it."""

    kind: ClassVar[str] = "outside-tape"
    where: Where
    ran: int = 0
    again: Recomputed | None = None
    is_at_call: bool = False
    recorder: RecorderKind = "tape"
    inside: int = 0
    maker: str = ""

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.ran:
            return (
                f"Line {cause.line} resets the tape, which then forgets all that it has recorded, "
                f"line {self.ran} included. So this step between {source} and {target} is "
                f"missing. Remove the reset, or do it before line {self.ran}."
            )
        if self.where == "thread":
            return (
                f"Line {cause.line} ran on another thread. {self._one} records only what runs on "
                f"the thread that opened it, so this step between {source} and {target} is "
                f"missing. Call the function on the {self.recorder}'s thread, or open one "
                f"in the function."
            )
        called = f", which calls line {self.inside}," if self.inside else ""
        return (
            f"Line {cause.line}{called} ran {_WHERE[self.where].format(recorder=self.recorder)}. "
            f"{self._one} knows only operations that run while it records, so this step between "
            f"{source} and {target} is missing. {self._way_out()}"
        )

    @property
    def _one(self) -> str:
        return "A tape" if self.recorder == "tape" else "An accumulator"

    def _way_out(self) -> str:
        again = self.again
        if again is None and self.is_at_call:
            return (
                f"Compute the target in the {self.recorder}'s block, and ask for its gradient "
                f"after that."
            )
        if again is None and self.maker:
            when = "at the first call" if self.maker == "build" else "when the object is made"
            return (
                f"{self.maker} runs once, {when}: compute this in the method that "
                f"uses it, such as call, which runs in the block."
            )
        if again is None and self.where == "stop_recording":
            return "Take the line out of stop_recording."
        if again is None:
            return f"Move the line into the {self.recorder}'s block."
        return (
            f"Line {again.line} makes {again.name} in the same way while the {self.recorder} "
            f"records, and nothing uses it: use it in place of {again.instead_of}, if that was "
            f"meant."
        )


def ran_outside(asked: EdgeUnderTest) -> Cause | None:
    """The op ran where the tape did not record: outside its block, paused, before a reset.

    If an earlier tape of the same ``with`` statement has it, its result was kept since then.
    """
    edge, facts, op, tape = asked.edge, asked.facts, asked.op, asked.facts.tape
    if op is None or tape is None or edge.kind not in ("op", "read"):
        return None
    if not (_shares_time(facts, op) and asked.is_from_real):
        return None
    if "Dataset" in op.type and facts.dtype(edge.end) == "variant":
        return None  # a tape could not follow it either: what fills the dataset is the cut
    # TensorFlow itself pauses around calls of functions, while it traces them, and where
    # tf.stop_gradient reads a variable (array_ops.py, 2.15-2.21).
    takers = [taker.type for made in op.outputs for taker in facts.flow.takers.get(made, ())]
    is_of_stop = bool(takers) and {*takers} == {"StopGradient"}
    is_paused = op.paused and op.within is None and not (op.is_compiled_call or is_of_stop)
    where = where_outside(tape, op.when, facts.call.when) or ("paused" if is_paused else None)
    recorder: RecorderKind = "accumulator" if facts.call.is_forward else "tape"
    is_elsewhere = op.thread != tape.thread and op.within is None and tape.id not in op.tapes
    if where is None and is_elsewhere:
        line = op.line or _first_seen_on(facts, edge)
        return facts.cause(OutsideTape("thread", recorder=recorder), line, edge)
    if where is None:
        return None
    earlier = _earlier_tape(facts, op, tape) if where == "before" else None
    if earlier is not None:
        line = line_that_kept(op.site, earlier, facts.ran)
        return facts.cause(ReplacedSource("kept"), line, edge)
    border = _border_of(tape, where, op.when)
    if where == "reset" and border.line:
        ran = line_to_move(facts.text, op.site, tape.site, facts.call.site)
        return facts.cause(OutsideTape(where, ran, recorder=recorder), border.line, edge)
    line = line_to_move(facts.text, op.site, border, facts.call.site)
    is_at_call = where == "after" and line == facts.call.line
    inside = op.line if op.line != line else 0
    in_makers = (f.function for f in op.site.frames if f.line == line and f.function in MAKERS)
    maker = next(in_makers, "")
    evidence = OutsideTape(where, 0, None, is_at_call, recorder, inside, maker)
    return facts.cause(evidence, line, edge)


def _first_seen_on(facts: CallFacts, edge: DataEdge) -> int:
    """Where the snippet first had what an op gave that a thread ran without any code of the
    snippet: ``executor.submit(tf.square, w)``."""
    flow, waiting = facts.flow, [edge.end]
    for position in waiting:
        seen = flow.first_seen.get(position) if isinstance(position, int) else None
        if seen is not None and seen[0].line:
            return seen[0].line
        takers = flow.takers.get(position, ()) if isinstance(position, int) else ()
        if len(waiting) < _MOST_HANDED:
            waiting += [output for taker in takers for output in taker.outputs]
    return 0


def _shares_time(facts: CallFacts, op: Op) -> bool:
    """Whether the op ran while the tape stood where it stands in the recording.

    An op in a graph was put there at its time, and runs at others. It shares the time of a tape
    that followed the same graph, which is known for a target of an unfinished trace.
    """
    makers = (facts.trace.maker(target.tensor) for target in facts.call.targets)
    return not op.graph or any(maker is not None and maker.graph == op.graph for maker in makers)


def with_computed_again(facts: CallFacts, source: TensorId, cause: Cause) -> Cause:
    """The cause, with what the tape recorded from the source in place of what ran before it.

    That is the last tensor made from the source while the tape recorded, if no op takes it, and
    the target was made from an older tensor that was made by the same ops.
    """
    evidence = cause.evidence
    if not isinstance(evidence, OutsideTape) or evidence.where != "before":
        return cause
    end = last_made_from(facts, source)
    if end is None or not end.name.isidentifier():
        return cause
    before = _named_before(facts, end.op)
    if before is None:
        return cause
    return replace(cause, evidence=replace(evidence, again=Recomputed(end.name, end.line, before)))


def _named_before(facts: CallFacts, again: Op) -> str | None:
    """The name of a tensor that the targets are made from, that is older than the tape, and that
    the same ops made as the output of ``again``."""
    return facts.once(_older_names).get(_making(facts.trace, again.outputs[0]))


def _older_names(facts: CallFacts) -> Mapping[str, str]:
    """How each named tensor was made that the targets are made from and that is older than the
    tape → its name."""
    trace, found = facts.trace, dict[str, str]()
    for position in facts.paths.whole.into:
        maker = None if isinstance(position, VersionId) else trace.maker(position)
        if isinstance(position, VersionId) or maker is None or maker.when >= facts.paths.begin:
            continue
        if names := trace.names.get(position):
            found.setdefault(_making(trace, position), names[0])
    return found


def _making(trace: Trace, tensor: TensorId) -> str:
    """The types and attributes of the ops that made a tensor, back to the variables, which stand by
    their ids, and to single numbers; equal texts for tensors that were made alike."""
    found, waiting = list[object](), deque([tensor])
    while waiting and len(found) < _MOST_MAKERS:
        tensor = waiting.popleft()
        version, maker = trace.reads.get(tensor), trace.maker(tensor)
        if version is not None:
            found.append(version.variable)
        elif maker is not None:
            found += [maker.type, dict(maker.attrs)]
            waiting.extend(maker.inputs)
        elif (value := trace.value(tensor)) is not None and value.size == 1:
            found.append(value.item())
    return repr(found)


def where_outside(tape: Tape, when: int, asked: int) -> Where | None:
    """Why the tape had nothing of this moment when it was asked; None if it recorded it."""
    resets = [i.start for i in tape.intervals if i.why_start == "reset" and i.start < asked]
    if resets and when < resets[-1]:
        return "reset"
    if tape.is_recording(when):
        return None
    if not tape.intervals or when < tape.intervals[0].start:
        return "before"
    before = [interval for interval in tape.intervals if interval.end <= when]
    return "stop_recording" if before and before[-1].why_end == "stop_recording" else "after"


def _border_of(tape: Tape, where: Where, when: int) -> Site:
    """Where the tape was opened, where it was paused, or where it was reset."""
    resets = [i.start_site for i in tape.intervals if i.why_start == "reset" and i.start > when]
    if where == "reset":
        return resets[0] if resets else tape.site
    pauses = [i.end_site for i in tape.intervals if i.end <= when and i.end_site.frames]
    return pauses[-1] if where == "stop_recording" and pauses else tape.site


def _earlier_tape(facts: CallFacts, op: Op, tape: Tape) -> Tape | None:
    """The tape of the same ``with`` statement that has the op: its result was kept since."""
    tapes = (facts.trace.tapes[tape] for tape in op.tapes if tape in facts.trace.tapes)
    same = (other for other in tapes if other.id != tape.id and other.site.line == tape.site.line)
    return next(same, None)
