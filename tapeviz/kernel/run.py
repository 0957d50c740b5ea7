"""A run of a snippet: stop it, wait for it, ask for its values."""

from __future__ import annotations

import base64
import concurrent.futures
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TapevizError
from . import wording
from .crash_notes import line_of_crash
from .model import Exit, RunEnd, RunListener, RunRequest, Stream
from .scratch import placed
from .stopping import Stopping

if TYPE_CHECKING:
    from .live_kernel import LiveKernel

_log = logging.getLogger(__name__)

_LOST_EVENTS = b'{"e":"note","message":"recorder, a message of its events was lost, and later ones'
_LOST_EVENTS += b' cannot be read without it"}'
"""A ``note`` of ``trace/events.py`` as the recorder writes it."""


class Run:
    """A snippet that waits for a kernel, runs, or has ended; made by ``KernelPool.run``."""

    def __init__(
        self,
        id: int,
        request: RunRequest,
        listener: RunListener,
        withdraw: Callable[[Run], bool],
    ) -> None:
        self.id = id
        self._request = request
        self._filename = request.filename
        self._listener: RunListener | None = listener
        """None once it has heard of the end: it may hold a large recording, and the pool keeps
        ended runs."""
        self._withdraw = withdraw
        self._kernel: LiveKernel | None = None
        self._line: int | None = None
        self._was_taken_back = False
        self._was_stopped = False
        self._event_messages = 0
        self._has_lost_events = False
        self._end: RunEnd | None = None
        self._ended = threading.Event()

    def stop(self) -> None:
        """Interrupt, after 1 s terminate, after 1 s kill; returns at once."""
        self._was_stopped = True
        if self._withdraw(self):
            threading.Thread(target=self.end_unbegun, name="tapeviz-end", daemon=True).start()
        elif self._kernel is not None:
            self._kernel.stop()

    def reply(self, line: str | None) -> None:
        """Send the line that ``input()`` waits for; None: the input has ended (EOFError)."""
        if self._kernel is not None:
            self._kernel.reply(line)

    def wait(self, timeout: float | None = None) -> RunEnd:
        """Wait for the end of the run. Raises TimeoutError after ``timeout`` seconds."""
        if not self._ended.wait(timeout):
            raise TimeoutError(f"the run has not ended within {timeout:g} s")
        assert self._end is not None
        return self._end

    def fetch(
        self, name: str, arguments: Mapping[str, Any], timeout: float | None = 30.0
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Ask the recorder in the process of the ended snippet, and wait for its answer.

        Raises TapevizError if the snippet still runs, the process has ended, or no answer comes.
        """
        if self._end is None or self._kernel is None:
            raise TapevizError("the snippet has not ended yet: its values can be looked at then")
        if self._has_lost_events:
            raise TapevizError("a message of the recorder was lost: nothing can be asked after it")
        try:
            return self._kernel.ask(name, arguments).result(timeout)
        except concurrent.futures.TimeoutError:
            raise TapevizError(f"the kernel did not answer within {timeout:g} s") from None

    def release(self) -> None:
        """End the process, with a snippet that still runs."""
        if self._kernel is None:
            self.stop()
        else:
            self._kernel.release()

    # The rest is called by the pool and the kernel's thread.

    @property
    def has_ended(self) -> bool:
        return self._end is not None

    @property
    def was_stopped(self) -> bool:
        return self._was_stopped

    @property
    def source(self) -> str:
        return self._request.source

    @property
    def timeout(self) -> float | None:
        return self._request.timeout

    def assign(self, kernel: LiveKernel) -> None:
        """Note the kernel that will run the snippet."""
        self._kernel = kernel

    def may_be_taken_back(self) -> bool:
        """Whether another kernel may run it: True only at the first call."""
        was, self._was_taken_back = self._was_taken_back, True
        return not was

    def order(self, empty_folder: Path) -> dict[str, Any]:
        """The request to the wire. Blocks for a copy of its folder, if it wants one."""
        request = placed(self._request, empty_folder)
        self._filename = request.filename
        return {
            "do": "run",
            "source": request.source,
            "filename": request.filename,
            "argv": list(request.argv),
            "folder": str(request.cwd),
            "options": dict(request.options),
            "shows_figures": request.shows_figures,
            "has_terminal": request.has_terminal,
            "prints_all": request.prints_all,
        }

    def receive_output(self, stream: Stream, text: str) -> None:
        """Pass on text that the snippet wrote."""
        self._notify(lambda listener: listener.output(stream, text))

    def receive_question(self, prompt: str, is_secret: bool) -> None:
        """Pass on that the snippet waits for a line."""
        listener = self._listener
        if listener is None:
            return
        try:
            listener.asked(prompt, is_secret)
        except Exception:
            _log.exception("a listener raised")
            self.reply(None)

    def receive_picture(self, content: Mapping[str, Any]) -> None:
        """Pass on the PNG in a ``display_data`` message, if it has one."""
        try:
            png = base64.b64decode(content["data"]["image/png"])
        except (KeyError, TypeError, ValueError):
            return
        self._notify(lambda listener: listener.pictured(png))

    def receive_events(self, number: int, lines: bytes, blob: bytes) -> None:
        """Pass on a batch of events; ``number``: from 1, of its message.

        Events refer to earlier ones, and to bytes by their place among all that were sent. After a
        message that did not arrive all others are therefore left out, and a note says so.
        """
        if self._has_lost_events:
            return
        if number != self._event_messages + 1:
            self._has_lost_events = True
            _log.error("message %d of events came after %d", number, self._event_messages)
            lines, blob = _LOST_EVENTS, b""
        self._event_messages = number
        batch = lines.split(b"\n") if lines else []
        self._notify(lambda listener: listener.events(batch, blob))

    def note_line(self, line: int | None) -> None:
        """Note the line at which the process is about to end itself."""
        self._line = line

    def end_alive(self, stopping: Stopping | None, failure: str | None) -> None:
        """End the run; its process lives on."""
        if failure is not None:
            _log.error("the recorder failed:\n%s", failure)
            self._finish(RunEnd("failed", f"recording failed: {failure.strip().splitlines()[-1]}"))
        elif stopping is not None and stopping.has_begun:
            self._finish(_stopped(stopping, None, None))
        else:
            self._finish(RunEnd("finished"))

    def end_dead(self, stopping: Stopping | None, exit: Exit, notes: Path) -> None:
        """End the run, whose process has ended."""
        for stream, text in exit.words.items():
            if text:
                self.receive_output(stream, text)
        line = self._line or line_of_crash(notes, self._filename)
        if stopping is not None and stopping.has_begun:
            self._finish(_stopped(stopping, exit, line))
        else:
            detail = wording.death(exit, line)
            self._finish(RunEnd("died", detail, exit.exit_code, exit.signal, line))

    def end_unbegun(self) -> None:
        """End the run, which was stopped before it began."""
        self._finish(RunEnd("interrupted", "stopped before it began"))

    def end_closed(self) -> None:
        """End the run, whose kernel was released."""
        self._finish(RunEnd("interrupted", "stopped: its process was released"))

    def fail(self, detail: str) -> None:
        """End the run, for which no kernel could be started."""
        self._finish(RunEnd("failed", detail))

    def _finish(self, end: RunEnd) -> None:
        if self._end is None:
            self._end = end
            self._notify(lambda listener: listener.ended(end))
            self._listener = None
            self._ended.set()

    def _notify(self, call: Callable[[RunListener], None]) -> None:
        listener = self._listener
        if listener is None:
            return
        try:
            call(listener)
        except Exception:
            _log.exception("a listener raised")


def _stopped(stopping: Stopping, exit: Exit | None, line: int | None) -> RunEnd:
    return RunEnd(
        "interrupted" if stopping.timeout is None else "timeout",
        wording.stop(stopping.timeout, exit, line),
        exit.exit_code if exit else None,
        exit.signal if exit else None,
        line,
    )
