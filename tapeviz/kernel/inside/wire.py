"""Answer requests of tapeviz with events, output and answers, all as Jupyter messages.

A request is the JSON in the first buffer of an ``execute_request`` whose code is always the same
line. The answers are ``iopub`` messages: ``tapeviz_output`` (streams in order, a buffer for each),
``display_data`` for pictures, ``tapeviz_events`` with two buffers (lines of JSON, raw bytes) and
its number from 1, ``tapeviz_answer``, ``tapeviz_began``, ``tapeviz_asks``, ``tapeviz_exiting``,
``tapeviz_ended``. A line that the user types comes as an ``input_reply``.
"""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import Context
from datetime import datetime
from importlib import import_module
from json import JSONEncoder, loads
from os import getpid
from platform import python_version
from signal import SIG_IGN, SIGINT
from signal import signal as handle_signal
from threading import Lock, RLock, Thread, get_ident
from time import sleep
from traceback import format_exc
from typing import Any

import zmq

from .before_exit import deliver_before_ending, line_in, note_crashes
from .figures import draw_without_windows
from .ipykernel_marks import remove_ipykernel_marks
from .outlet import STREAMS, Outlet, own_pipes
from .plain_python import plain_python, restore_environment
from .reply_stream import send_replies_by_stream
from .script_end import end_script, wait_for_threads
from .waiting import WaitingAllowance

_ACKNOWLEDGED_WITHIN = 1.0
_PR_SET_PDEATHSIG = 1
_ESCAPE = re.compile(r"\\u(?:d[89ab]..\\ud[c-f]|(?P<lone>d[89a-f]))..|\\.")
"""An escape in JSON; ``lone``: half of a pair without the other."""

_wire: KernelEndpoint | None = None


def open_wire(kernel: Any, payload: Mapping[str, Any]) -> None:
    """Import the libraries to warm up and the recorder, then report ``tapeviz_ready``."""
    global _wire
    die_with_parent()
    restore_environment(payload["environment"])
    remove_ipykernel_marks()
    send_replies_by_stream(kernel)
    for name in payload["imports"]:
        import_module(name)
    for name in payload["if_there"]:
        with suppress(Exception):
            import_module(name)
    _wire = KernelEndpoint(kernel, payload["generated_code"])
    _wire.capture_output()
    if payload["crash_notes"]:
        note_crashes(payload["crash_notes"])
    _wire.load_recorder()
    restore_environment(payload["remove_when_loaded"])
    if payload["memory"]:
        limit_memory(payload["memory"])
    _wire.publish("tapeviz_ready", versions())


def die_with_parent() -> None:
    """End this process with the thread that started it, which lives as long as the kernel (Linux).

    ipykernel asks on a thread whether its parent lives, which waits while TensorFlow is loaded.
    """
    if sys.platform.startswith("linux"):
        import ctypes
        from signal import SIGKILL

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)


def limit_memory(gigabytes: float) -> None:
    """Let allocations fail beyond the present memory of this process plus ``gigabytes`` (Linux)."""
    import resource

    with open("/proc/self/status", encoding="ascii") as file:
        has = next(int(line.split()[1]) for line in file if line.startswith("VmData:"))
    most = has * 1024 + int(gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def serve() -> None:
    """Do the request that the kernel is answering."""
    assert _wire is not None
    _wire.serve()


def versions() -> dict[str, str]:
    """Versions and path of this interpreter."""
    return {
        "python": python_version(),
        "tensorflow": getattr(sys.modules.get("tensorflow"), "__version__", ""),
        "ipykernel": getattr(sys.modules.get("ipykernel"), "__version__", ""),
        "executable": sys.executable,
    }


class KernelEndpoint:
    """The kernel's end of the connection."""

    def __init__(self, kernel: Any, generated_code: str) -> None:
        self._kernel = kernel
        self._generated_code = generated_code
        self._parent: Any = kernel.get_parent()
        self._lock = RLock()
        self._main_thread = get_ident()
        self._recorder: Any = None
        self._filename = ""
        self._event_messages = 0
        self._allowance = WaitingAllowance()
        self._outlet = Outlet(self._publish_output, self._await_sending, self._send_events)
        # Copy large messages: for others pyzmq registers an atexit function, which would free them
        # while they are sent, when the snippet's exit functions run.
        kernel.session.copy_threshold = sys.maxsize
        # Not by the functions of the module ``json``, which a snippet may replace.
        encode = JSONEncoder(default=_as_date, ensure_ascii=False, allow_nan=False).encode
        kernel.session.pack = lambda content: encode(content).encode("utf-8", "surrogateescape")
        # Without a limit: by default a publisher drops messages after the first 1,000 that wait.
        thread = kernel.iopub_thread
        thread.schedule(lambda: setattr(thread.socket, "sndhwm", 0))
        # These ask os.getpid, which a snippet may replace, whether they are in a forked process.
        kernel.session.check_pid = False
        thread._is_master_process = self._is_own_process

    def capture_output(self) -> None:
        """Read descriptors 1 and 2, and the output of IPython's streams."""
        if sys.platform != "win32":
            fork_server = sys.modules.get("_tapeviz_fork_server")
            self._outlet.capture(fork_server.pipes if fork_server else own_pipes())
        for name in STREAMS:
            stream: Any = getattr(sys, name)
            stream.write = lambda text, name=name: self._write(name, text)

    def load_recorder(self) -> None:
        """Import the recorder, which may wrap ``os._exit`` and ``os.abort`` around ours."""
        deliver_before_ending(self._deliver_last)
        self._recorder = import_module("_tapeviz_recorder")

    def serve(self) -> None:
        """Do the request that the kernel is answering."""
        self._parent = self._kernel.get_parent()
        request = loads(bytes(self._parent["buffers"][0]))
        {"run": self._run, "answer": self._answer}[request["do"]](request)

    def publish(self, kind: str, content: Mapping[str, Any], buffers: Sequence[Any] = ()) -> None:
        kernel = self._kernel
        if not self._is_own_process():
            return
        with self._lock:  # recorder, output and snippet publish from threads of their own
            kernel.session.send(
                kernel.iopub_socket, kind, dict(content), self._parent, buffers=list(buffers)
            )

    def send(self, lines: Sequence[str], blob: bytes = b"") -> None:
        """Publish events of the recorder: lines of JSON and the bytes that they refer to."""
        text = "\n".join(lines)
        if "\\ud" in text:
            text = _ESCAPE.sub(_as_printed, text)
        with self._lock:
            number = self._event_messages + 1
            self.publish("tapeviz_events", {"number": number}, [text.encode(), blob])
            self._event_messages = number
        if self._allowance.is_left():
            self._allowance.spend(self._await_sending)

    def _run(self, request: Mapping[str, Any]) -> None:
        failure = None
        self._outlet.open_budgets(is_limited=not request["prints_all"])
        self._allowance = WaitingAllowance()
        self._filename = request["filename"]
        self._event_messages = 0
        # If the process ends before this message, the snippet has not begun.
        self.publish("tapeviz_began", {})
        self._await_sending()
        try:
            # A script begins with no context variables set; the kernel has set some.
            Context().run(self._run_script, request)
        except KeyboardInterrupt:
            pass  # it came after the snippet's end, in the recorder or while waiting for threads
        except BaseException:
            failure = format_exc()
        handle_signal(SIGINT, SIG_IGN)
        self._restart_sending()
        self._outlet.close_budgets()
        self.publish("tapeviz_ended", {"failure": failure})

    def _run_script(self, request: Mapping[str, Any]) -> None:
        has_terminal = bool(request["has_terminal"])
        with plain_python(
            request["folder"], self._outlet, self._ask, has_terminal=has_terminal
        ) as needed:
            shows = request["shows_figures"]
            draw_without_windows(self._publish_picture if shows else None)
            self._record(request, needed.restore)
            with self._recorder.hiding_above(end_script):
                end_script()

    def _restart_sending(self) -> None:
        """Restart the thread that sends, if a builtin that the snippet removed has ended it."""
        sending = self._kernel.iopub_thread
        if not sending.thread.is_alive():
            sending.thread = Thread(target=sending._thread_main, daemon=True)
            sending.thread.start()

    def _record(self, request: Mapping[str, Any], restore: Callable[[], None]) -> None:
        self._recorder.run(
            request["source"],
            request["filename"],
            list(request["argv"]),
            {
                **request["options"],
                "restore": restore,
                "wait_for_threads": wait_for_threads,
                "generated_code": self._generated_code,
            },
            self.send,
        )

    def _answer(self, request: Mapping[str, Any]) -> None:
        try:
            content, buffers = self._recorder.answer(request["name"], request["arguments"])
        except Exception as error:
            content, buffers = {"error": f"{type(error).__name__}: {error}"}, []
            self.publish("tapeviz_answer", content)
        else:
            self.publish("tapeviz_answer", {"answer": content}, buffers)

    def _deliver_last(self) -> None:
        """Send everything, and wait until the other side has acknowledged it."""
        line = line_in(self._filename)
        self._outlet.close_budgets()
        self.publish("tapeviz_exiting", {"line": line})
        if get_ident() != self._main_thread:
            sleep(0.2)  # the socket of the answer belongs to the main thread
            return
        self._kernel.stdin_socket.poll(round(_ACKNOWLEDGED_WITHIN * 1000), zmq.POLLIN)

    def _ask(self, prompt: str, is_secret: bool) -> str | None:
        """The line that the user types; None at the end of the input."""
        if get_ident() != self._main_thread:
            return None  # the socket of the answer belongs to the main thread
        socket, session = self._kernel.stdin_socket, self._kernel.session
        while socket.poll(0, zmq.POLLIN):  # drop the answer to an interrupted question
            socket.recv_multipart()
        self._outlet.flush()
        self.publish("tapeviz_asks", {"prompt": prompt, "is_secret": is_secret})
        self._await_sending()
        while not socket.poll(200, zmq.POLLIN):
            pass  # in short polls, so that Python handles an interrupt between them
        _, reply = session.recv(socket)
        value = reply["content"]["value"]
        return None if value is None else str(value)

    def _write(self, name: str, text: str) -> int:
        self._outlet.write(name, text.encode("utf-8", "backslashreplace"))
        return len(text)

    def _publish_output(self, pieces: Sequence[tuple[str, str]]) -> None:
        data = [text.encode("utf-8", "surrogateescape") for _, text in pieces]
        self.publish("tapeviz_output", {"streams": [name for name, _ in pieces]}, data)

    def _send_events(self) -> None:
        """Let the recorder send the events before a line that the snippet prints: it may be the
        last one before a crash."""
        if self._recorder is not None:
            self._recorder.deliver()

    def _publish_picture(self, png: bytes) -> None:
        """Send a picture as ``display_data``."""
        self._outlet.flush()
        text = b64encode(png).decode()
        self.publish("display_data", {"data": {"image/png": text}, "metadata": {}})

    def _is_own_process(self) -> bool:
        """Whether this is no process that the snippet forked."""
        return getpid() == self._outlet.pid

    def _await_sending(self) -> None:
        """Wait until the thread that sends has sent what was published until now."""
        thread = self._kernel.iopub_thread
        if not self._is_own_process() or get_ident() == thread.thread.ident:
            return
        done = Lock()
        done.acquire()
        thread.schedule(done.release)
        done.acquire(timeout=_ACKNOWLEDGED_WITHIN)


def _as_date(value: datetime) -> str:
    """The time in the header of a message, as JSON has it."""
    return value.isoformat()


def _as_printed(escape: re.Match[str]) -> str:
    """``"\\ud800"`` as the six letters that Python prints for it: UTF-8 has no such character."""
    return f"\\{escape[0]}" if escape["lone"] else escape[0]
