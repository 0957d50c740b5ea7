"""Ask the process of a run that ended for what it still knows, request by request.

Answers are events like those of the run: they go into its recording, and so into its file.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any

import msgspec

from ..analysis.flow.dataflow import DataFlow
from ..analysis.requests.checks import checks
from ..analysis.requests.doubts import doubts
from ..analysis.requests.inside import check_answer, function_of, inner_request, lacks_turns
from ..analysis.requests.looks import (
    call_before,
    calls_to_look_into,
    calls_without_branch,
    standing_calls,
)
from ..analysis.requests.loops import loops_to_complete
from ..analysis.requests.program import ReplayMode
from ..analysis.requests.replays import (
    calls_to_replay,
    further_calls,
    further_modes,
    request,
    rows_of_jacobian,
)
from ..errors import TapevizError
from ..kernel import Run
from ..trace.calls import Call
from ..trace.events import Event, Noted, ReplayRan, TensorSeen, decode
from ..trace.growing import GrowingTrace
from ..trace.ids import CallId, OpId, TensorId
from ..trace.model import Trace
from ..trace.stats import Array
from ..trace.values import TensorPart, array_of, stats_from

_ANSWER_SECONDS = 60.0
_TENSOR_SECONDS = 30.0
_MOST_OF_PART = 4_000_000
"""Elements of a slice of a large tensor that travel to be looked at,"""
_MOST_SPREAD = 200_000
"""and of all of it, for a histogram."""
_LOOK_SECONDS = 20.0
_PASS = "The pass across the cut"
_INSIDE = "The inside of a compiled function"


@dataclass(frozen=True, slots=True)
class Request:
    """A question for the recorder's ``answer``, by ``name``; ``trouble``: why it has no
    arguments and cannot be asked."""

    name: str
    arguments: Mapping[str, Any]
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Requests that a trace gives rise to, ``most`` of them.

    One that gets no answer ends its follow-up, and where that ``is_needed`` all after it. Nothing
    is asked after ``seconds``.
    """

    requests: Callable[[DataFlow, bool], Iterable[Request]]
    """The second argument: whether NumPy values are followed, so that the tape's own gradients are
    in question, too."""
    most: int
    is_needed: bool = False
    seconds: float = math.inf


def _turns_of_loops(flow: DataFlow, is_following: bool) -> Iterator[Request]:
    for call in loops_to_complete(flow):
        yield Request("inside", {"op": call, "all_turns": True})


def _across_cuts(flow: DataFlow, is_following: bool) -> Iterator[Request]:
    return (_replay(flow, call, "") for call in calls_to_replay(flow, also_flowing=is_following))


def _rows_of_jacobians(flow: DataFlow, is_following: bool) -> Iterator[Request]:
    for call in flow.trace.calls:
        yield from (Request("replay", asked) for asked in rows_of_jacobian(flow, call))


def _beyond_and_estimates(flow: DataFlow, is_following: bool) -> Iterator[Request]:
    for call in further_calls(flow.trace):
        yield from (_replay(flow, call, how) for how in further_modes(flow, call))


def _finite_differences(flow: DataFlow, is_following: bool) -> Iterator[Request]:
    return (Request("check", asked) for asked in checks(flow, also_flowing=is_following))


def _custom_gradients(flow: DataFlow, is_following: bool) -> Iterator[Request]:
    return (Request("check", asked) for asked in doubts(flow.trace))


def _replay(flow: DataFlow, call: Call, how: ReplayMode) -> Request:
    try:
        return Request("replay", request(flow, call, how))
    except TapevizError as error:
        return Request("replay", {}, str(error))


FOLLOW_UPS = (
    FollowUp(_turns_of_loops, 20),
    FollowUp(_across_cuts, 50, is_needed=True),
    FollowUp(_rows_of_jacobians, 3_200),
    FollowUp(_beyond_and_estimates, 40, is_needed=True),
    FollowUp(_finite_differences, 12, seconds=1.0),
    FollowUp(_custom_gradients, 8),
)
"""In this order: each is asked about the trace with the answers to those before."""


class ProcessRequests:
    """Asks the process of one run. Every method blocks, and raises :class:`TapevizError` when there
    is no process, it does not answer, or it cannot say."""

    def __init__(self, growing: GrowingTrace, is_following: bool) -> None:
        self.run: Run | None = None
        self._growing = growing
        self._is_following = is_following
        self._lock = threading.Lock()
        self._answered: set[bytes] = set()
        """Digests: a request may be as long as the recording."""

    def _fetch(
        self, name: str, arguments: Mapping[str, Any], seconds: float
    ) -> tuple[dict[str, Any], list[bytes]]:
        if self.run is None:
            raise TapevizError("no process ran; run the snippet again")
        about, buffers = self.run.fetch(name, arguments, seconds)
        if "error" in about:
            raise TapevizError(str(about["error"]))
        return about, buffers

    def tensor(self, tensor: TensorId) -> Array:
        """All elements of a tensor, from the recording if they travelled."""
        trace = self._growing.whole
        value = trace.value(tensor) if trace else None
        if value is not None:
            return value
        about, buffers = self._fetch("tensor", self._elements_of(tensor), _TENSOR_SECONDS)
        return array_of(buffers[0], about["dtype"], tuple(about["shape"]))

    def _elements_of(self, tensor: TensorId) -> dict[str, Any]:
        """The arguments of a request for a tensor's elements: its id, or of a dense sum those of
        the rows and of their numbers, and how many rows the sum has."""
        trace = self._growing.whole
        if trace is None or tensor not in trace.sums:
            return {"id": int(tensor)}
        rows, numbers = trace.sums[tensor]
        return {
            "id": int(rows),
            "numbers": int(numbers),
            "of": (trace.tensors[tensor].shape or [0])[0],
        }

    def part(self, tensor: TensorId, shape: tuple[int, ...], index: tuple[int, ...]) -> TensorPart:
        """The slice at ``index`` of a large tensor that is looked at in ``shape``, and statistics
        of all of it."""
        trace = self._growing.whole
        known = trace.stats(tensor) if trace else None
        is_ranged = known is not None and known.has_range
        asked = {"shape": shape, "index": index, "stats": not is_ranged}
        asked |= self._elements_of(tensor)
        sizes = {"most": _MOST_OF_PART, "spread": _MOST_SPREAD}
        about, buffers = self._fetch("part", {**asked, **sizes}, _TENSOR_SECONDS)
        part = array_of(buffers[0], about["dtype"], tuple(about["shape"]))
        spread = array_of(buffers[1], about["dtype"], (-1,))
        stats = stats_from(about["stats"]) if about["stats"] else known
        return TensorPart(part, tuple(about["steps"]), spread, stats)

    def replay(self, arguments: Mapping[str, Any]) -> dict[str, Array]:
        """Run a backward pass; return a gradient for each wanted key it reached.

        See :func:`tapeviz.recorder.after.replay.replay` for the arguments, and what is wrong in
        words when a step has no gradient.
        """
        with self._lock:
            about, buffers = self._fetch("replay", arguments, _ANSWER_SECONDS)
            lines = [str(line).encode() for line in about["events"]]
            self._growing.keep_for_file(lines, b"".join(buffers), about["at"])
        return self._replayed([decode(line) for line in lines])

    def _replayed(self, events: Sequence[Event]) -> dict[str, Array]:
        seen = {
            event.id: event for event in events if isinstance(event, TensorSeen) and event.at >= 0
        }
        found: dict[str, Array] = {}
        for ran in events:
            if not isinstance(ran, ReplayRan):
                continue
            for step in ran.steps:
                if step.error:
                    raise TapevizError(step.error)
            for key, tensor in ran.results.items():
                event = seen.get(tensor)
                if event is None:
                    found[key] = self.tensor(TensorId(tensor))
                else:
                    shape = tuple(size or 0 for size in event.shape or ())
                    data = self._growing.bytes_at(event.at, event.nbytes)
                    found[key] = array_of(data, event.dtype, shape)
        return found

    def look_into(self, call: OpId, turns: Sequence[int] = ()) -> Trace:
        """The trace with one more call of a compiled function opened (:attr:`Op.ran_as`), and with
        the values of its inside, which the process computes where they are not known yet.

        ``turns``: of its loops, those (from 0) that are wanted besides the first and the last.
        Where they cannot be had :attr:`Op.inside` says why, and the ops have no values. A gradient
        call made in the function has the values of this call from now on.
        """
        with self._lock:
            refusal = ""
            try:
                if not self._growing.has_run_again(call):
                    self._answer(Request("inside", {"op": call}))
            except TapevizError as error:
                refusal = str(error)
            if turns and not refusal:
                self._answer(Request("inside", {"op": call, "turns": list(turns)}))
            self._growing.open(call, refusal)
            if not refusal:
                self._follow_up()
            return self._growing.finish()

    def enter(self, number: CallId, index: int) -> Trace:
        """The trace with the steps inside of one step of a gradient call's backward pass
        (:attr:`Call.inner`), through the compiled function, loop or branch that its op ran.

        Raises :class:`TapevizError` where they cannot be had.
        """
        with self._lock:
            try:
                return self._enter(number, index)
            except TapevizError as error:
                raise TapevizError(f"The steps inside are not known: {error}") from None

    def _enter(self, number: CallId, index: int) -> Trace:
        trace, call = self._call(number)
        op = trace.op(call.steps[index].op)
        function = function_of(trace, op) if op is not None else None
        if function is None or function.ran_as is None:
            raise TapevizError("its op ran no others")
        if function.inside is None or lacks_turns(trace, function):
            self._answer(Request("inside", {"op": function.ran_as, "all_turns": True}))
            self._growing.open(function.ran_as)
            self._follow_up()
            self._growing.finish()
            trace, call = self._call(number)
        self._answer(Request("replay", inner_request(trace, call, index)))
        trace = self._growing.finish()
        check_answer(trace, self._call(number)[1], index)
        return trace

    def _call(self, number: CallId) -> tuple[Trace, Call]:
        trace = self._growing.whole
        call = next((call for call in trace.calls if call.id == number), None) if trace else None
        if trace is None or call is None:
            raise TapevizError("the recording has no such gradient call")
        return trace, call

    def ask_all(self, round: int | None, turns: Sequence[int]) -> None:
        """Ask for what a diagnosis needs. What cannot be had is a note of the recording.

        ``round``: which call of a compiled function to open, from 1 (None: the last); ``turns``:
        those (from 0) of its loops that are wanted besides the ends.
        """
        self._look_inside(round, turns)
        self._follow_up()

    def _look_inside(self, round: int | None, turns: Sequence[int]) -> None:
        """Open the calls of compiled functions that matter."""
        growing = self._growing
        if not growing.has_compiled_calls:
            return
        growing.choose_calls()
        trace = growing.so_far()
        standing = standing_calls(trace, round)
        until = time.monotonic() + _LOOK_SECONDS
        while time.monotonic() < until:
            wanted = calls_to_look_into(trace, round)
            new = [call for call in wanted if call not in growing.insides]
            if not new or not all(self._ask(Request("inside", {"op": call})) for call in new):
                break
            trace = growing.so_far()
        if turns:
            for call in list(growing.insides):
                self._ask(Request("inside", {"op": call, "turns": list(turns)}))
        if round is None:
            self._look_for_branches(until)
        # The latest one says what the function's gradient calls gave.
        growing.repeat(standing)
        for call in standing if round is not None else ():
            growing.open(call)

    def _look_for_branches(self, until: float) -> None:
        """Where a function's last call did not take a branch that asks for gradients, open those
        before it, of the last few, up to one that took it. It stands for that branch then."""
        growing = self._growing
        while time.monotonic() < until:
            trace = growing.so_far()
            without = (trace.ops[op] for op in calls_without_branch(trace))
            before = [call for op in without if (call := call_before(trace, op)) is not None]
            new = [call for call in before if call not in growing.insides]
            if not new or not all(self._ask(Request("inside", {"op": call})) for call in new):
                return

    def _follow_up(self) -> None:
        for follow_up in FOLLOW_UPS:
            if not self._ask_each(follow_up) and follow_up.is_needed:
                return

    def _ask_each(self, follow_up: FollowUp) -> bool:
        """False when a request got no answer, or not in time. A request and the data flow may be as
        large as the trace: they are gone when this returns."""
        until = time.monotonic() + follow_up.seconds
        is_answered = True
        wanted = follow_up.requests(DataFlow(self._growing.so_far()), self._is_following)
        for asked in islice(wanted, follow_up.most):
            is_answered = time.monotonic() <= until and self._ask(asked)
            if not is_answered:
                break
        return is_answered

    def _ask(self, asked: Request) -> bool:
        """Take in the events of an answer; False, and a note, when there was none."""
        words = _INSIDE if asked.name == "inside" else _PASS
        trouble = asked.trouble
        if not trouble:
            try:
                self._answer(asked)
                return True
            except TapevizError as error:
                trouble = str(error)
        self._growing.add(Noted(f"{words} could not be computed: {trouble}"))
        return bool(asked.trouble)

    def _answer(self, asked: Request) -> None:
        """Take in the events of an answer, unless they are here already."""
        text = msgspec.json.encode([asked.name, asked.arguments], enc_hook=int)
        key = sha256(text).digest()
        if key in self._answered:
            return
        try:
            about, buffers = self._fetch(asked.name, asked.arguments, _ANSWER_SECONDS)
            lines = [str(line).encode() for line in about["events"]]
            self._growing.extend(lines, b"".join(buffers), about["at"])
        except (KeyError, msgspec.MsgspecError) as error:
            raise TapevizError(f"the kernel’s answer cannot be read: {error}") from None
        self._answered.add(key)
