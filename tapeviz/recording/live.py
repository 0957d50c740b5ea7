"""Record a snippet: repair, kernel, events, and the replays that explain a None.

This is the sequence that the window, the command line and the tests all run.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..kernel import KernelPool, Run, RunEnd, RunRequest
from ..kernel.inside.budget import OutputBudget
from ..priority import after_the_window
from ..repair import Repaired, block_starts, missing_imports, repair
from ..trace.events import FORMAT_VERSION as EVENT_FORMAT
from ..trace.events import Begin, Ended, Printed, Raised
from ..trace.growing import GrowingTrace
from ..trace.ids import CallId, OpId, TensorId
from ..trace.model import Trace
from ..trace.stats import Array
from ..trace.stored.file import Recording
from ..trace.values import TensorPart
from .process_requests import ProcessRequests

_BEGUN_WITHIN = 60.0
"""Seconds until a pool has handed over a run that it began."""
_TRACE_EVERY = 0.5
_PAUSES = 10
"""The time between two traces of a run under way, as a multiple of the time that making one took:
the longer the run, the longer that takes."""
MOST_LIVE = 10_000
"""The most ops of a run under way of which a listener gets traces. A trace of more would need as
much memory again as the one of the whole run, which comes soon after it."""


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
    has_terminal: bool = False
    """The listener shows the prompts of ``getpass()`` and hides what is typed; without one
    ``getpass()`` warns and reads a plain line, as Python has it do without a terminal."""
    prints_all: bool = False
    """The listener hears all output, however much; the recording keeps head and tail of it."""
    typed: tuple[str | None, ...] = ()
    """Lines for ``input()`` that are known already; after them the listener is asked."""
    in_copy: bool = False
    """It runs in a copy of ``directory``: what it writes beside itself changes nothing there."""


Reply = Callable[[str | None], None]
"""Takes the line that ``input()`` waits for, with its end if it has one; None: there is nothing to
read. To be called once, on any thread."""


class Listener:
    """Hears of a recording as it happens, on a background thread; this one only waits for the end.

    ``shows_growing``: it wants traces while the snippet runs, and not at its end alone; while it
    ``is_busy`` none comes.
    """

    shows_growing = False
    is_busy = False

    def progressed(self, ops: int) -> None:
        """So many ops were recorded."""

    def traced(self, trace: Trace) -> None:
        """The trace as far as it is known."""

    def printed(self, stream: str, text: str) -> None:
        """Bytes that are no UTF-8 are lone surrogates in the text, which :func:`readable` takes
        out."""

    def pictured(self, png: bytes) -> None:
        """A figure was shown."""

    def asked(self, prompt: str, is_secret: bool, reply: Reply) -> None:
        """The snippet waits for a line; here nobody is there to type."""
        reply(None)

    def finished(self) -> None:
        """The snippet is over; its trace comes with :meth:`ended`, after the follow-ups."""

    def ended(self, trace: Trace) -> None:
        """The whole trace."""


def readable(text: str) -> str:
    """Output of a snippet with U+FFFD for each of its bytes that are no UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class LiveRecording:
    """One run and what came of it; keeps the kernel for values that were too large to travel."""

    def __init__(self, snippet: Snippet, repaired: Repaired, listener: Listener) -> None:
        self.snippet = snippet
        self.repaired = repaired
        self._listener = listener
        self._growing = GrowingTrace(repaired.text, snippet.filename)
        is_following = bool(snippet.options.get("follow_numpy", False))
        self._requests = ProcessRequests(self._growing, is_following)
        self._lock = threading.Lock()
        """Held while events are taken in, and while a trace is made of them on another thread."""
        self._next_trace = time.monotonic() + _TRACE_EVERY
        self._due: threading.Timer | None = None
        """Makes the next trace, though no event may come until then."""
        self._is_over = False
        self._outputs = {s: OutputBudget() for s in ("stdout", "stderr") if snippet.prints_all}
        """The part that the recording keeps, if more is passed on."""
        self._run: Run | None = None
        self._started = threading.Event()
        self._done = threading.Event()
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
        assert self._growing.whole is not None
        return self._growing.whole

    def fetch_tensor(self, tensor: TensorId) -> Array:
        """See :meth:`ProcessRequests.tensor`."""
        return self._requests.tensor(tensor)

    def fetch_part(
        self, tensor: TensorId, shape: tuple[int, ...], index: tuple[int, ...]
    ) -> TensorPart:
        """See :meth:`ProcessRequests.part`."""
        return self._requests.part(tensor, shape, index)

    def replay(self, request: Mapping[str, Any]) -> dict[str, Array]:
        """See :meth:`ProcessRequests.replay`."""
        return self._requests.replay(request)

    def look_into(self, op: OpId, turns: Sequence[int] = ()) -> Trace:
        """See :meth:`ProcessRequests.look_into`."""
        return self._requests.look_into(op, turns)

    can_enter = True

    def enter(self, call: CallId, index: int) -> Trace:
        """See :meth:`ProcessRequests.enter`."""
        return self._requests.enter(call, index)

    def release(self) -> None:
        """Let the kernel go; values that did not travel are gone with it."""
        if self._run is not None:
            self._run.release()

    def recording(self) -> Recording:
        """The raw events and values, to be kept in a file."""
        return Recording(
            source=self.repaired.text,
            filename=self.snippet.filename,
            events=self._growing.lines.copy(),
            blob=self._growing.values(),
            repairs=self.repaired.repairs,
            skipped=self.repaired.skipped,
            blocks=self.repaired.blocks,
        )

    # For the kernel's run.

    def events(self, batch: Sequence[bytes], blob: bytes) -> None:
        """A batch of events came from the kernel."""
        with self._lock:
            with after_the_window():
                self._growing.extend(batch, blob)
            is_small = self._growing.ops <= MOST_LIVE
            if is_small and self._listener.shows_growing and self._due is None:
                self._show_at(self._next_trace)
        self._listener.progressed(self._growing.ops)

    def _show_at(self, when: float) -> None:
        self._due = threading.Timer(max(0.0, when - time.monotonic()), self._show)
        self._due.daemon = True
        self._due.start()

    def _show(self) -> None:
        """Give the listener a trace of what came so far."""
        with self._lock:
            began, self._due = time.monotonic(), None
            if self._is_over or self._growing.ops > MOST_LIVE:
                return
            if self._listener.is_busy:
                self._show_at(began + _TRACE_EVERY)
                return
            with after_the_window():
                trace = self._growing.snapshot()
            self._listener.traced(trace)  # here: none comes after the end
            now = time.monotonic()
            self._next_trace = now + max(_TRACE_EVERY, _PAUSES * (now - began))

    def output(self, stream: str, text: str) -> None:
        """The snippet wrote something."""
        kept = self._outputs[stream].feed(text) if stream in self._outputs else text
        if kept:
            with self._lock:
                self._growing.add(Printed(stream, readable(kept)))
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
        if self._started.wait(_BEGUN_WITHIN) and self._run is not None:
            self._run.reply(line)

    @property
    def again(self) -> Snippet:
        """The snippet, to be run once more as it ran: with the lines that the user typed."""
        typed = tuple(self._typed)
        return replace(self.snippet, typed=typed, shows_figures=False, prints_all=False)

    def ended(self, end: RunEnd) -> None:
        """The run is over, one way or another."""
        with self._lock:
            self._is_over = True
            if self._due is not None:
                self._due.cancel()
        for stream, output in self._outputs.items():
            if rest := output.close():
                self._growing.add(Printed(stream, readable(rest)))
        self._listener.finished()
        # We are on the kernel's own thread here, and a replay waits for that thread's answer.
        threading.Thread(target=self._conclude, args=(end,), name="tapeviz-replay").start()

    def _conclude(self, end: RunEnd) -> None:
        """Replay what gave None, and report that all is there."""
        try:
            if end.reason != "finished":
                self._broken_off(end)
            # A short run may be over before the pool has handed it to us.
            elif self._started.wait(_BEGUN_WITHIN) and self._run is not None:
                self._note_own_interrupt()
                turns = [turn - 1 for turn in self.snippet.turns]
                with after_the_window():
                    self._requests.ask_all(self.snippet.round, turns)
        finally:
            self._finish()

    def _note_own_interrupt(self) -> None:
        """A KeyboardInterrupt in a run that nobody stopped is an exception of the snippet."""
        ended = self._growing.ended
        if ended is not None and ended.error is not None:
            self._growing.add(ended.error)
            self._growing.add(Ended("raised", ended.seconds))

    def _broken_off(self, end: RunEnd) -> None:
        """The process was stopped or died: its end is an error of the snippet, with its line."""
        ended = self._growing.ended
        if end.reason == "interrupted" and ended is not None and ended.detail:
            return  # the recorder gave the line and the time already
        names = {"died": "ProcessDied", "failed": "RecordingFailed"}
        if end.reason in names:
            words = f"{end.detail[:1].upper()}{end.detail[1:]}"
            self._growing.add(Raised(names[end.reason], words, end.line or 0))
        self._growing.add(Ended(end.reason, detail=end.detail))

    def fail(self, failure: Raised) -> None:
        """The snippet cannot be run at all."""
        self._growing.add(Begin(EVENT_FORMAT, "", ""))
        self._growing.add(failure)
        self._growing.add(Ended("raised"))
        self._finish()

    def started(self, run: Run) -> None:
        self._run = self._requests.run = run
        self._started.set()

    def _finish(self) -> None:
        with after_the_window():
            trace = self._growing.finish()
        self._done.set()
        self._listener.ended(trace)


class Recorder:
    """Records snippets, each in a fresh process of one kind of kernel."""

    def __init__(self, pool: KernelPool) -> None:
        self.pool = pool

    def record(self, snippet: Snippet, listener: Listener | None = None) -> LiveRecording:
        """Start recording; returns at once. Text beyond repair gives a trace with its error."""
        repaired = repair(snippet.text)
        live = LiveRecording(snippet, repaired, listener or Listener())
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
            in_copy=snippet.in_copy,
            options=options,
            shows_figures=snippet.shows_figures,
            has_terminal=snippet.has_terminal,
            prints_all=snippet.prints_all,
            timeout=snippet.timeout,
        )
        live.started(self.pool.run(asked, live))
        return live


def _path(snippet: Snippet) -> str:
    """``__file__`` as Python gives it to a script: absolute, whatever the command line said."""
    if snippet.directory is None or snippet.filename.startswith("<"):
        return snippet.filename
    return str(snippet.directory.absolute() / Path(snippet.filename).name)
