"""A snippet in, its trace out: repair, kernel, events, and the replays that explain a None.

This is the sequence that the window, the command line and the tests all run.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import msgspec

from .analysis.doubts import doubts
from .analysis.flow.dataflow import DataFlow
from .analysis.looks import calls_to_look_into, standing_calls
from .analysis.replays import (
    How,
    calls_to_replay,
    checks,
    further_calls,
    further_ways,
    loops_to_complete,
    request,
    rows_of_jacobian,
)
from .errors import TapevizError
from .kernel import KernelPool, Run, RunEnd, RunRequest
from .repair import Repaired, block_starts, missing_imports, repair
from .trace.compiled.opening import without_values
from .trace.events import FORMAT_VERSION as EVENT_FORMAT
from .trace.events import (
    Begin,
    Ended,
    Event,
    InsideComputed,
    Noted,
    OpRan,
    Printed,
    Raised,
    ReplayRan,
    TensorSeen,
    decode,
    encode,
)
from .trace.file import Recording
from .trace.lines import EventLines
from .trace.model import Array, Call, OpId, TensorId, Trace
from .trace.read import Reader, reread
from .trace.values import TensorPart, array_of, stats_from

_REPLAY_SECONDS = 60.0
_TENSOR_SECONDS = 30.0
_MOST_OF_PART = 4_000_000
"""Elements of a slice of a large tensor that travel to be looked at,"""
_MOST_SPREAD = 200_000
"""and of all of it, for a histogram."""
_LOOK_SECONDS = 20.0
_CHECK_SECONDS = 1.0
_TRACE_EVERY = 0.5
_PAUSES = 10
"""A trace of a long run costs more each time: so many times as long passes before the next one."""
_ASKED_OF_PASS = "The pass across the cut"
_ASKED = {"inside": "The inside of a compiled function"}


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text to run. ``directory``: where it runs (None: an empty one of its own)."""

    text: str
    filename: str = "snippet.py"
    arguments: tuple[str, ...] = ()
    directory: Path | None = None
    timeout: float | None = None
    round: int | None = None
    """Which call of a compiled function to look into, from 1; None: the last one."""
    turns: tuple[int, ...] = ()
    """Turns (from 1) of compiled loops whose values are wanted besides those of the ends."""
    options: Mapping[str, Any] = field(default_factory=dict)
    shows_figures: bool = False
    """Figures that the snippet shows come to the listener."""
    typed: tuple[str | None, ...] = ()
    """Lines for ``input()`` that are known already; after them the listener is asked."""


Reply = Callable[[str | None], None]
"""Takes the line that ``input()`` waits for; None: there is nothing to read. To be called once, on
any thread."""


class Listener(Protocol):
    """Hears of a recording as it happens, on a background thread."""

    def progressed(self, ops: int) -> None: ...
    def traced(self, trace: Trace) -> None: ...
    def printed(self, stream: str, text: str) -> None: ...
    def pictured(self, png: bytes) -> None: ...
    def asked(self, prompt: str, is_secret: bool, reply: Reply) -> None: ...
    def ended(self, trace: Trace) -> None: ...


class Silent:
    """A listener that only waits for the end."""

    def progressed(self, ops: int) -> None:
        """Nothing to do."""

    def traced(self, trace: Trace) -> None:
        """Nothing to do."""

    def printed(self, stream: str, text: str) -> None:
        """Nothing to do."""

    def pictured(self, png: bytes) -> None:
        """Nothing to do."""

    def asked(self, prompt: str, is_secret: bool, reply: Reply) -> None:
        """Nobody is there to type."""
        reply(None)

    def ended(self, trace: Trace) -> None:
        """Nothing to do."""


class LiveRecording:
    """One run and what came of it; keeps the kernel for values that were too large to travel."""

    def __init__(self, snippet: Snippet, repaired: Repaired, listener: Listener) -> None:
        self.snippet = snippet
        self.repaired = repaired
        self._listener = listener
        self._reader = Reader(repaired.text, snippet.filename)
        self._is_read = False
        self._lines: list[bytes] = []
        self._blob = bytearray()
        self._frozen = b""
        self._ops = 0
        self._next_trace = time.monotonic() + _TRACE_EVERY
        self._run: Run | None = None
        self._started = threading.Event()
        self._done = threading.Event()
        self._asking = threading.Lock()
        self._opened: list[int] = []
        self._refused: dict[int, InsideComputed] = {}
        self._answered: set[str] = set()
        self._insides: dict[OpId, bytes] = {}
        self._trace: Trace | None = None
        self._ended: Ended | None = None
        self._typed: list[str | None] = []

    # For the one who asked for it.

    def stop(self) -> None:
        """Interrupt the snippet; what was recorded until then stays."""
        if self._run is not None:
            self._run.stop()

    def wait(self, timeout: float | None = None) -> Trace:
        """The whole trace, once the snippet is over. ``TimeoutError`` if it is not."""
        if not self._done.wait(timeout):
            raise TimeoutError("the snippet still runs")
        assert self._trace is not None
        return self._trace

    def fetch_tensor(self, tensor: TensorId) -> Array:
        """All elements of a tensor, asked of the kernel where they did not travel.

        Raises :class:`TapevizError` when the kernel is gone or did not keep it.
        """
        value = self._trace.value(tensor) if self._trace else None
        if value is not None:
            return value
        if self._run is None:
            raise TapevizError("this tensor's values are not in the recording")
        about, buffers = self._run.fetch("tensor", {"id": int(tensor)}, _TENSOR_SECONDS)
        if "error" in about:
            raise TapevizError(str(about["error"]))
        return array_of(buffers[0], about["dtype"], tuple(about["shape"]))

    def fetch_part(
        self, tensor: TensorId, shape: tuple[int, ...], index: tuple[int, ...]
    ) -> TensorPart:
        """The slice at ``index`` of a large tensor that is looked at in ``shape``, and statistics
        of all of it, asked of the kernel. :class:`TapevizError` as for :meth:`fetch_tensor`."""
        if self._run is None or self._trace is None:
            raise TapevizError("this tensor's values are not in the recording")
        known = self._trace.stats(tensor)
        asked = {"id": int(tensor), "shape": shape, "index": index, "stats": known is None}
        sizes = {"most": _MOST_OF_PART, "spread": _MOST_SPREAD}
        about, buffers = self._run.fetch("part", {**asked, **sizes}, _TENSOR_SECONDS)
        if "error" in about:
            raise TapevizError(str(about["error"]))
        part = array_of(buffers[0], about["dtype"], tuple(about["shape"]))
        spread = array_of(buffers[1], about["dtype"], (-1,))
        stats = known or (stats_from(about["stats"]) if about["stats"] else None)
        return TensorPart(part, tuple(about["steps"]), spread, stats)

    def replay(self, request: Mapping[str, Any]) -> dict[str, Array]:
        """Run a backward pass over the recording; return a gradient for each wanted key it reached.

        See :func:`tapeviz.recorder.after.replay.replay` for the request. Blocks.
        :class:`TapevizError` when the kernel is gone, or in words why a step has no gradient.
        """
        if self._run is None:
            raise TapevizError("a recording that was kept cannot be replayed")
        with self._asking:
            about, buffers = self._run.fetch("replay", request, _REPLAY_SECONDS)
            events = [decode(str(line)) for line in about["events"]]
            # The kernel counts bytes from the run's beginning, so the blob has to grow along.
            self._lines += [str(line).encode() for line in about["events"]]
            self._blob += b"".join(buffers)
        return self._replayed(events)

    def look_into(self, op: OpId, turns: Sequence[int] = ()) -> Trace:
        """The trace with one more call of a compiled function opened (:attr:`Op.ran_as`), and with
        the values of its inside, which the kernel computes where they are not known yet.

        ``turns``: of its loops, those (from 0) that are wanted besides the first and the last.
        Blocks. Where they cannot be had :attr:`Op.inside` says why, and the ops have no values. A
        gradient call made in the function has the values of this call from now on.
        """
        with self._asking:
            try:
                if not self._has_inside(op):
                    self._answer("inside", {"op": op})
                self._refused.pop(op, None)
            except TapevizError as error:
                self._refused[op] = without_values(op, str(error))
            if turns and op not in self._refused:
                self._answer("inside", {"op": op, "turns": list(turns)})
            self._opened = [*(opened for opened in self._opened if opened != op), op]
            self._reread()
            if op not in self._refused:
                self._replay()
            self._trace = self._last_trace()
            return self._trace

    def _has_inside(self, call: OpId) -> bool:
        """Whether the call was run again already, at the end of the snippet or later."""
        ops = self._trace.ops.values() if self._trace is not None else ()
        return any(op.ran_as == call and op.inside is not None and op.inside.has_run for op in ops)

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
                found[key] = (
                    self.fetch_tensor(TensorId(tensor)) if event is None else self._travelled(event)
                )
        return found

    def _travelled(self, event: TensorSeen) -> Array:
        shape = tuple(size or 0 for size in event.shape or ())
        return array_of(bytes(self._blob[event.at : event.at + event.nbytes]), event.dtype, shape)

    def _values_so_far(self) -> bytes:
        """The values that travelled, copied only when there are more than at the last copy."""
        if len(self._frozen) != len(self._blob):
            self._frozen = bytes(self._blob)
        return self._frozen

    def release(self) -> None:
        """Let the kernel go; values that did not travel are gone with it."""
        if self._run is not None:
            self._run.release()

    def recording(self) -> Recording:
        """The raw events and values, to be kept in a file."""
        return Recording(
            source=self.repaired.text,
            filename=self.snippet.filename,
            events=tuple(self._lines),
            blob=self._values_so_far(),
            repairs=tuple((repair.line, repair.what) for repair in self.repaired.repairs),
            skipped=tuple((part.line, part.last_line, part.why) for part in self.repaired.skipped),
            blocks=self.repaired.blocks,
        )

    # For the kernel's run.

    def events(self, batch: Sequence[bytes], blob: bytes) -> None:
        """A batch of events came from the kernel."""
        self._keep(batch, blob)
        self._listener.progressed(self._ops)
        began = time.monotonic()
        if began > self._next_trace:
            self._listener.traced(self._reader.trace(self._values_so_far()))
            now = time.monotonic()
            self._next_trace = now + max(_TRACE_EVERY, _PAUSES * (now - began))

    def _keep(self, batch: Sequence[bytes], blob: bytes) -> None:
        self._blob += blob
        for line in batch:
            self._take(decode(line), bytes(line))

    def output(self, stream: str, text: str) -> None:
        """The snippet wrote something."""
        self._add(Printed(stream, text))
        self._listener.printed(stream, text)

    def pictured(self, png: bytes) -> None:
        """The snippet showed a figure."""
        self._listener.pictured(png)

    def asked(self, prompt: str, is_secret: bool) -> None:
        """The snippet waits for a line: from what is known already, else from the listener."""
        known = self.snippet.typed[len(self._typed) :]
        if known:
            self._reply(known[0])
        else:
            self._listener.asked(prompt, is_secret, self._reply)

    def _reply(self, line: str | None) -> None:
        self._typed.append(line)
        if self._started.wait(_REPLAY_SECONDS) and self._run is not None:
            self._run.reply(line)

    @property
    def again(self) -> Snippet:
        """The snippet, to be run once more as it ran: with the lines that the user typed."""
        return replace(self.snippet, typed=tuple(self._typed), shows_figures=False)

    def ended(self, end: RunEnd) -> None:
        """The run is over, one way or another."""
        # We are on the kernel's own thread here, and a replay waits for that thread's answer.
        threading.Thread(target=self._conclude, args=(end,), name="tapeviz-replay").start()

    def _conclude(self, end: RunEnd) -> None:
        """Replay what gave None, and report that all is there."""
        try:
            if end.reason != "finished":
                self._broken_off(end)
            # A short run may be over before the pool has handed it to us.
            elif self._started.wait(_REPLAY_SECONDS) and self._run is not None:
                self._note_own_interrupt()
                self._look_inside()
                self._replay()
        finally:
            self._finish()

    def _note_own_interrupt(self) -> None:
        """A KeyboardInterrupt in a run that nobody stopped is an exception of the snippet."""
        ended = self._ended
        if ended is not None and ended.error is not None:
            self._add(ended.error)
            self._add(Ended("raised", ended.seconds))

    def _broken_off(self, end: RunEnd) -> None:
        """The process was stopped or died: its end is an error of the snippet, with its line."""
        ended = self._ended
        if end.reason == "interrupted" and ended is not None and ended.detail:
            return  # the recorder gave the line and the time already
        names = {"died": "ProcessDied", "failed": "RecordingFailed"}
        if end.reason in names:
            self._add(Raised(names[end.reason], end.detail, end.line or 0))
        self._add(Ended(end.reason, detail=end.detail))

    def fail(self, failure: Raised) -> None:
        """The snippet cannot be run at all."""
        self._add(Begin(EVENT_FORMAT, "", ""))
        self._add(failure)
        self._add(Ended("raised"))
        self._finish()

    def started(self, run: Run) -> None:
        self._run = run
        self._started.set()

    def _finish(self) -> None:
        self._trace = self._last_trace()
        self._done.set()
        self._listener.ended(self._trace)

    def _last_trace(self) -> Trace:
        """The trace of the reader, which is fed no more: what comes later is read with the rest."""
        trace = self._reader.trace(self._values_so_far(), is_last=True)
        self._reader = Reader(self.repaired.text, self.snippet.filename)
        self._is_read = True
        return trace

    def _add(self, event: Event) -> None:
        self._take(event, encode(event))

    def _take(self, event: Event, line: bytes) -> None:
        if not self._is_read:
            self._reader.feed(event)
        if isinstance(event, Ended):
            self._ended = event
        self._lines.append(line)
        if isinstance(event, InsideComputed) and not event.adds:
            self._insides[OpId(event.op)] = line
        self._ops += isinstance(event, OpRan)

    def _look_inside(self) -> None:
        """Open the calls of compiled functions that matter; ask for what a diagnosis needs."""
        if not self._reader.has_compiled_calls:
            return
        self._reread()
        trace = self._reader.trace(self._values_so_far())
        standing = standing_calls(trace, self.snippet.round)
        until = time.monotonic() + _LOOK_SECONDS
        while time.monotonic() < until:
            asked = calls_to_look_into(trace, self.snippet.round)
            new = [op for op in asked if op not in self._insides]
            if not new or not all(self._ask("inside", {"op": op}) for op in new):
                break
            self._reread()
            trace = self._reader.trace(self._values_so_far())
        if self.snippet.turns:
            asked_turns = [turn - 1 for turn in self.snippet.turns]
            for op in list(self._insides):
                self._ask("inside", {"op": op, "turns": asked_turns})
            self._reread()
        again = [self._insides[op] for op in standing if op in self._insides]
        if again and self._lines[-len(again) :] != again:
            self._lines += again  # the latest one says what the function's gradient calls gave
            self._reread()

    def _reread(self) -> None:
        """Read all events again: which calls are opened depends on what came after them."""
        events = EventLines(self._lines, self._refused.values())
        self._is_read = False
        self._reader = reread(events, self.repaired.text, self.snippet.filename, self._opened)

    def _replay(self) -> None:
        trace = self._reader.trace(self._values_so_far())
        loops = loops_to_complete(DataFlow(trace))
        if loops and all(self._ask("inside", {"op": op, "all_turns": True}) for op in loops):
            self._reread()
            trace = self._reader.trace(self._values_so_far())
        calls = calls_to_replay(trace)
        if calls:
            flow = DataFlow(trace)
            if not all(self._ask_replay(flow, call, "") for call in calls):
                return
            trace = self._reader.trace(self._values_so_far())
            self._replay_jacobians(trace)
        further = further_calls(trace)
        if further:
            flow = DataFlow(trace)
            for call in further:
                if not all(self._ask_replay(flow, call, how) for how in further_ways(flow, call)):
                    return
            trace = self._reader.trace(self._values_so_far())
        if calls or further or self._is_following:
            self._check(trace)
        for asked in doubts(trace):
            if not self._ask("check", asked):
                return

    @property
    def _is_following(self) -> bool:
        """Whether NumPy values are followed: then the tape's own gradients are in question, too."""
        return bool(self.snippet.options.get("follow_numpy", False))

    def _replay_jacobians(self, trace: Trace) -> None:
        flow = DataFlow(trace)
        for call in trace.calls:
            if call.method == "jacobian" and call.replay is not None:
                for asked in rows_of_jacobian(flow, call):
                    if not self._ask("replay", asked):
                        return

    def _ask_replay(self, flow: DataFlow, call: Call, how: How) -> bool:
        try:
            return self._ask("replay", request(flow, call, how))
        except TapevizError as error:
            self._add(Noted(f"The pass across the cut could not be computed: {error}"))
            return True

    def _check(self, trace: Trace) -> None:
        """Compare what the replays gave with finite differences, for as long as nobody minds."""
        until = time.monotonic() + _CHECK_SECONDS
        for asked in checks(trace, also_flowing=self._is_following):
            if time.monotonic() > until or not self._ask("check", asked):
                return

    def _ask(self, name: str, asked: Mapping[str, Any]) -> bool:
        """Take in the events of an answer; False, and a note, when there was none."""
        try:
            self._answer(name, asked)
        except TapevizError as error:
            self._add(Noted(f"{_ASKED.get(name, _ASKED_OF_PASS)} could not be computed: {error}"))
            return False
        return True

    def _answer(self, name: str, asked: Mapping[str, Any]) -> None:
        """Take in the events of an answer, unless they are here already. :class:`TapevizError`."""
        key = json.dumps([name, asked], default=int)
        if key in self._answered:
            return
        if self._run is None:
            raise TapevizError("no process ran; run the snippet again")
        try:
            about, buffers = self._run.fetch(name, asked, _REPLAY_SECONDS)
            if "error" in about:
                raise TapevizError(str(about["error"]))
            lines = [str(line).encode() for line in about["events"]]
            self._keep(lines, b"".join(buffers))
        except (KeyError, msgspec.MsgspecError) as error:
            raise TapevizError(f"the kernel’s answer cannot be read: {error}") from None
        self._answered.add(key)


class Recorder:
    """Records snippets, each in a fresh process of one kind of kernel."""

    def __init__(self, pool: KernelPool) -> None:
        self.pool = pool

    def record(self, snippet: Snippet, listener: Listener | None = None) -> LiveRecording:
        """Start recording; returns at once. Text beyond repair gives a trace with its error."""
        repaired = repair(snippet.text)
        live = LiveRecording(snippet, repaired, listener or Silent())
        if repaired.error is not None:
            problem = repaired.error
            live.fail(Raised("SyntaxError", problem.message, problem.line))
            return live
        options = {
            "provide": sorted(missing_imports(repaired.text)),
            "blocks": block_starts(repaired.text),
            **snippet.options,
        }
        asked = RunRequest(
            source=repaired.text,
            filename=_path(snippet),
            argv=(snippet.filename, *snippet.arguments),
            cwd=snippet.directory.resolve() if snippet.directory else None,
            options=options,
            shows_figures=snippet.shows_figures,
            timeout=snippet.timeout,
        )
        live.started(self.pool.run(asked, live))
        return live


def _path(snippet: Snippet) -> str:
    """``__file__`` as Python gives it to a script: absolute, whatever the command line said."""
    if snippet.directory is None or snippet.filename.startswith("<"):
        return snippet.filename
    return str(snippet.directory.absolute() / Path(snippet.filename).name)
