"""Run a snippet in a kernel's process, and ask it about its values afterwards.

Each kernel has a thread, which does everything; other threads put orders into a queue.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Literal

from ..errors import TapevizError
from .model import Exit, Versions
from .process import KernelProcess
from .run import Run
from .scratch import KernelFiles
from .stopping import Stopping

if TYPE_CHECKING:
    from .connection import Connection, Message

KernelStage = Literal["waking", "booting", "ready", "running", "ended", "gone"]
Answer = tuple[dict[str, Any], list[bytes]]

_log = logging.getLogger(__name__)
_HELLO_EVERY = 0.25
_QUIET = 0.1  # seconds without a message after which a dead process has said all
_LAST_MESSAGES_WITHIN = 3.0
_BEGINS_WITHIN = 15.0
_GONE = "the process that held the values has ended; run the snippet again"


class LiveKernel:
    """A kernel from its start to its end.

    ``on_ready(kernel, versions)`` is called when it waits for a snippet, ``on_declined(run)`` if it
    died before its snippet began, ``on_gone(kernel, detail)`` when it has been cleaned up.
    """

    def __init__(
        self,
        files: KernelFiles,
        launch: Callable[[KernelFiles, Callable[[], None]], tuple[KernelProcess, Connection]],
        payload: Mapping[str, Any],
        ready_within: float,
        on_ready: Callable[[LiveKernel, Versions], None],
        on_declined: Callable[[Run], None],
        on_gone: Callable[[LiveKernel, str], None],
    ) -> None:
        self._files = files
        self._launch = launch
        self._payload = payload
        self._on_ready = on_ready
        self._on_declined = on_declined
        self._on_gone = on_gone
        self._lock = threading.Lock()
        self._is_gone = False
        self._orders: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._stage: KernelStage = "waking"
        self._connection: Connection | None = None
        self._process: KernelProcess | None = None
        self._request = ""
        self._next_hello = 0.0
        self._late_after = time.monotonic() + ready_within
        self._run: Run | None = None
        self._has_begun = False
        self._begins_by: float | None = None
        self._stopping: Stopping | None = None
        self._answers: dict[str, Future[Answer]] = {}
        self._trouble = ""
        self._thread = threading.Thread(target=self._serve, name="tapeviz-kernel", daemon=True)

    def start(self) -> None:
        """Start the kernel; returns at once."""
        self._thread.start()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def run(self, run: Run) -> None:
        """Run a snippet; a kernel runs only one, once it is ready."""
        self._order(lambda: self._begin(run))

    def stop(self) -> None:
        """Stop the snippet: interrupt, then terminate, then kill."""
        self._order(self._stop)

    def reply(self, line: str | None) -> None:
        """Send a line to the snippet's ``input()``; None: the input has ended."""
        self._order(lambda: self._reply(line))

    def ask(self, name: str, arguments: Mapping[str, Any]) -> Future[Answer]:
        """Ask the recorder, after the snippet's end."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("a listener cannot wait for an answer: it keeps the kernel's thread")
        answer: Future[Answer] = Future()
        self._order(lambda: self._ask(name, arguments, answer))
        return answer

    def release(self) -> None:
        """End the kernel; returns at once."""
        self._order(self._end)

    def join(self) -> None:
        """Wait until the kernel has been cleaned up."""
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _order(self, order: Callable[[], None]) -> None:
        with self._lock:
            if not self._is_gone:
                self._orders.put(order)
                self._wake()
                return
        order()  # at stage "gone" an order only reports that it is too late

    # Everything below runs on the kernel's own thread.

    def _wake(self) -> None:
        connection = self._connection
        if connection is not None:
            connection.wake()

    def _serve(self) -> None:
        try:
            self._process, self._connection = self._launch(self._files, self._wake)
            while self._stage != "gone":
                self._serve_once(self._process, self._connection)
        except Exception as error:  # as when no descriptor is left, in any library
            if not isinstance(error, TapevizError):
                _log.exception("a kernel cannot be talked to")
            self._trouble = getattr(error, "strerror", None) or str(error)
        finally:
            self._reap()

    def _serve_once(self, process: KernelProcess, connection: Connection) -> None:
        self._follow_orders()
        if self._stage == "gone":
            return
        if self._stopping is not None:
            self._stopping.press(process)
        if self._stage in ("waking", "booting") and time.monotonic() > self._late_after:
            raise TapevizError(
                "the kernel did not get ready in time; close other programs, run again"
            )
        if self._begins_by is not None and time.monotonic() > self._begins_by:
            self._begins_by = None
            process.kill()  # it does nothing, as when a snippet has stopped it (SIGSTOP)
        if self._stage == "waking" and time.monotonic() >= self._next_hello:
            self._next_hello = time.monotonic() + _HELLO_EVERY
            connection.hello()
        for message in connection.receive(self._longest_wait(process)):
            self._handle(message)
            # A snippet that runs ops sends many messages, of which each takes a while.
            self._follow_orders()
            if self._stopping is not None and not self._stopping.has_begun:
                self._stopping.press(process)
        exit = process.poll()
        if exit is not None:
            self._note_exit(exit, connection)

    def _follow_orders(self) -> None:
        while True:
            try:
                order = self._orders.get_nowait()
            except queue.Empty:
                return
            order()

    def _longest_wait(self, process: KernelProcess) -> float | None:
        waits = [process.checks_every]
        if self._stage in ("waking", "booting"):
            waits.append(_HELLO_EVERY)
        if self._stopping is not None:
            waits.append(self._stopping.pause())
        if self._begins_by is not None:
            waits.append(max(0.0, self._begins_by - time.monotonic()))
        return min((wait for wait in waits if wait is not None), default=None)

    def _handle(self, message: Message) -> None:
        if self._stage == "waking":
            # Any message on iopub proves that the subscription works.
            if message.kind == "status":
                assert self._connection is not None
                self._request = self._connection.boot(self._payload)
                self._stage = "booting"
        elif message.parent in self._answers:
            self._handle_answer(message)
        elif message.parent == self._request:
            self._handle_reply(message)

    def _handle_reply(self, message: Message) -> None:
        content = message.content
        if self._stage == "booting":
            if message.kind == "tapeviz_ready":
                self._stage = "ready"
                self._on_ready(self, Versions(**content))
            elif message.kind == "execute_reply" and content["status"] != "ok":
                self._trouble = f"{content.get('ename')}: {content.get('evalue')}"
                self._end()
        elif self._stage == "running" and self._run is not None:
            self._handle_run_message(self._run, message)

    def _handle_run_message(self, run: Run, message: Message) -> None:
        content = message.content
        match message.kind:
            case "tapeviz_began":
                self._has_begun, self._begins_by = True, None
            case "tapeviz_output":
                for stream, data in zip(content["streams"], message.buffers, strict=True):
                    run.receive_output(stream, data.decode("utf-8", "surrogateescape"))
            case "display_data":
                run.receive_picture(content)
            case "tapeviz_events":
                run.receive_events(content["number"], *message.buffers)
            case "tapeviz_asks":
                run.receive_question(content["prompt"], content["is_secret"])
            case "tapeviz_exiting":
                run.note_line(content["line"])
                assert self._connection is not None
                self._connection.acknowledge()
            case "tapeviz_ended":
                self._stage = "ended"
                run.end_alive(self._stopping, content["failure"])
                self._stopping = None
            case "status" if content["execution_state"] == "idle":
                # Without "tapeviz_ended": interrupted between two lines of the wire.
                self._stage = "ended"
                run.end_alive(self._stopping, None)
                self._stopping = None

    def _begin(self, run: Run) -> None:
        process, connection = self._process, self._connection
        is_ready = self._stage == "ready" and process is not None and process.is_sure_to_live()
        if not is_ready or connection is None:
            self._on_declined(run)
            return
        self._run = run
        self._stage = "running"
        self._files.make_folder()
        if run.timeout is not None:
            self._stopping = Stopping.after(run.timeout)
        self._begins_by = time.monotonic() + _BEGINS_WITHIN
        self._request = connection.serve(run.order(self._files.folder))

    def _stop(self) -> None:
        if self._stage == "running":
            self._stopping = Stopping.now()

    def _reply(self, line: str | None) -> None:
        if self._stage == "running" and self._connection is not None:
            self._connection.reply(line)

    def _ask(self, name: str, arguments: Mapping[str, Any], answer: Future[Answer]) -> None:
        if self._stage != "ended" or self._connection is None:
            answer.set_exception(TapevizError(_GONE))
            return
        request = self._connection.serve({"do": "answer", "name": name, "arguments": arguments})
        self._answers[request] = answer

    def _handle_answer(self, message: Message) -> None:
        if message.kind == "tapeviz_answer":
            answer = self._answers.pop(message.parent)
            if "error" in message.content:
                answer.set_exception(TapevizError(message.content["error"]))
            else:
                answer.set_result((message.content["answer"], list(message.buffers)))
        elif message.kind == "execute_reply" and message.content["status"] != "ok":
            error = TapevizError(str(message.content.get("evalue", "no answer")))
            self._answers.pop(message.parent).set_exception(error)

    def _end(self) -> None:
        self._stage = "gone"

    def _note_exit(self, exit: Exit, connection: Connection) -> None:
        """Read the last messages of a process that has ended, then report how it ended."""
        until = time.monotonic() + _LAST_MESSAGES_WITHIN
        while time.monotonic() < until:
            messages = list(connection.receive(_QUIET))
            for message in messages:
                self._handle(message)
            if not messages:
                break
        if self._may_run_elsewhere() and self._run is not None:
            run, self._run = self._run, None
            self._on_declined(run)
        elif self._stage == "running" and self._run is not None:
            self._run.end_dead(self._stopping, exit, self._files.crash_notes)
        elif self._stage in ("waking", "booting"):
            said = " / ".join(" ".join(exit.words.values()).strip().splitlines()[-3:])
            self._trouble = self._trouble or said or "the kernel ended before it was ready"
        self._stage = "gone"

    def _may_run_elsewhere(self) -> bool:
        """Whether another kernel may run the snippet: it had not begun, and this is the first
        time."""
        is_stopped = self._stopping is not None and self._stopping.has_begun
        return (
            self._stage == "running"
            and self._run is not None
            and not (self._has_begun or is_stopped)
            and self._run.may_be_taken_back()
        )

    def _reap(self) -> None:
        if self._run is not None:
            self._run.end_closed()
        process, connection = self._process, self._connection
        self._connection = None
        if process is not None:
            _kill(process)
        if connection is not None:
            connection.close()
        self._files.remove()
        self._stage = "gone"
        with self._lock:
            self._is_gone = True
        self._follow_orders()
        while self._answers:
            _, answer = self._answers.popitem()
            answer.set_exception(TapevizError(_GONE))
        self._on_gone(self, self._trouble)


def _kill(process: KernelProcess) -> None:
    until = time.monotonic() + 3.0
    if process.poll() is None:
        process.kill()
    while process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
