"""Fork kernels from a process that has TensorFlow loaded."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..priority import usual_timers
from .imports import IF_THERE, REQUIRED
from .model import Exit, Versions
from .scratch import KernelFiles, Scratch
from .wording import by_signal

_PROGRAM = Path(__file__).parent / "inside" / "fork_server.py"
_LOG_LINES = 3
_ANSWERS_WITHIN = 2.0  # seconds; it may be forking another kernel
_FORKS_WITHIN = 15.0
_SIGKILL = 9  # not named in signal on Windows, where this module is imported and not used


class ForkServerProcess:
    """A process that runs ``inside/fork_server.py``. ``texts``: path → text of the modules that its
    kernels will import from their text; it compiles them once.

    ``on_ready(versions)`` or ``on_failed(detail)`` is called once, on a background thread;
    ``on_failed`` also if the fork server ends later. :meth:`fork` works after ``on_ready``.
    """

    def __init__(
        self,
        python: Path,
        environment: Mapping[str, str],
        scratch: Scratch,
        prefix: Sequence[str],
        texts: Mapping[str, str],
        on_ready: Callable[[Versions], None],
        on_failed: Callable[[str], None],
    ) -> None:
        self._on_ready = on_ready
        self._on_failed = on_failed
        self._scratch = scratch
        self._lock = threading.Lock()
        self._kernels: dict[int, ForkedKernel] = {}
        self._closing = False
        self._gone = False
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        # It makes the folders and removes them; made before it, they stayed if we died until then.
        with usual_timers():
            self._process = subprocess.Popen(
                [*prefix, str(python), str(_PROGRAM), *map(str, scratch.folders)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=environment,
                cwd=tempfile.gettempdir(),
                start_new_session=True,
            )
        scratch.make()
        kept = scratch.sockets / "texts"  # more than a pipe takes at once
        kept.write_text(json.dumps(texts), encoding="utf-8")
        self._thread = threading.Thread(
            target=self._listen, name="tapeviz-fork-server", daemon=True
        )
        self._thread.start()
        self._order(imports=REQUIRED, if_there=IF_THERE, texts=str(kept))

    @property
    def pid(self) -> int:
        return self._process.pid

    def fork(self, files: KernelFiles, on_change: Callable[[], None]) -> ForkedKernel:
        """A new kernel for ``files``; ``on_change()`` is called when it has ended."""
        kernel = ForkedKernel(files.number, self._order, self._kill, on_change)
        with self._lock:
            if self._gone:
                kernel.note_exit(Exit(None, None))
                return kernel
            self._kernels[files.number] = kernel
        self._order(
            fork=files.number,
            connection_file=str(files.connection_file),
            folder=str(files.folder),
            ipython=str(files.ipython),
        )
        return kernel

    def close(self) -> None:
        """End the fork server and all its kernels, and wait for their end."""
        self._closing = True
        # Without kernels it may be in the middle of an import, and is killed at once.
        _end(self._process, 2.0 if self._kernels else 0.05)
        if threading.current_thread() is not self._thread:
            self._thread.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _kill(self) -> None:
        """End a fork server that does not answer, as when a snippet has stopped it (SIGSTOP):
        :meth:`_listen` reports it."""
        if self._process.poll() is None:
            _kill_group(self._process.pid)

    def _order(self, **order: Any) -> None:
        line = json.dumps(order).encode() + b"\n"
        with self._lock, contextlib.suppress(OSError, ValueError):  # gone: _listen() reports it
            assert self._process.stdin is not None
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _listen(self) -> None:
        failure = ""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            report = _report_in(line)
            if "failed" in report:
                failure = report["failed"]
            elif "ready" in report:
                self._on_ready(Versions(**report["ready"]))
            elif report:
                self._hear(report)
        self._process.wait()
        with self._lock:
            self._gone = True
            kernels, self._kernels = list(self._kernels.values()), {}
        if not self._closing:
            self._on_failed(failure or self._reason())
        self._log.close()
        for kernel in kernels:
            if kernel.pid is not None:
                _kill_group(kernel.pid)
            kernel.note_exit(Exit(None, None))

    def _hear(self, report: dict[str, Any]) -> None:
        with self._lock:
            if "forked" in report:
                self._kernels[report["forked"]].pid = report["pid"]
                return
            if "answered" in report:
                if report["answered"] in self._kernels:
                    self._kernels[report["answered"]].note_answer()
                return
            kernel = self._kernels.pop(report["ended"])
        kernel.note_exit(Exit(report["exit_code"], report["signal"], report["words"]))

    def _reason(self) -> str:
        """Why the fork server ended by itself: its signal, and the last lines that it wrote to
        standard error. Of those TensorFlow's own are no reason for a process that was killed."""
        status = self._process.returncode
        said = "" if status == -_SIGKILL else self._log_end()
        if status < 0:
            return by_signal(-status) + (f". It wrote: {said}" if said else "")
        return said or f"the process ended with status {status}"

    def _log_end(self) -> str:
        """The last lines that the fork server wrote to standard error."""
        with contextlib.suppress(OSError):
            self._log.seek(0)
            lines = self._log.read().decode("utf-8", "replace").split("\n")
            said = " / ".join([line.strip() for line in lines if line.strip()][-_LOG_LINES:])
            return said[-500:]
        return ""


class FolderKeeper:
    """A fork server that gets no orders, in tapeviz's own interpreter: it removes the folders of
    launched kernels when this process is killed."""

    def __init__(self, scratch: Scratch) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(_PROGRAM), *map(str, scratch.folders)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=tempfile.gettempdir(),
            start_new_session=True,
        )

    def close(self) -> None:
        """End it, and wait for its end."""
        _end(self._process, 2.0)


def _end(process: subprocess.Popen[bytes], patience: float) -> None:
    """End a fork server's orders, and kill it if it has not ended after ``patience`` seconds."""
    with contextlib.suppress(OSError):
        assert process.stdin is not None
        process.stdin.close()
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        _kill_group(process.pid)
        process.wait()


def _report_in(line: bytes) -> dict[str, Any]:
    """Empty for what the fork server did not write: the banner of an interpreter's wrapper, or the
    output of a program that is no interpreter."""
    try:
        report = json.loads(line)
    except ValueError:
        return {}
    return report if isinstance(report, dict) else {}


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, _SIGKILL)


class ForkedKernel:
    """A kernel that the fork server forks; ``give_up()`` ends a fork server that does not."""

    checks_every = None

    def __init__(
        self,
        number: int,
        order: Callable[..., None],
        give_up: Callable[[], None],
        on_change: Callable[[], None],
    ) -> None:
        self._number = number
        self._order = order
        self._give_up = give_up
        self._late_after = time.monotonic() + _FORKS_WITHIN
        self._on_change = on_change
        self._exit: Exit | None = None
        self._answered = threading.Event()
        self.pid: int | None = None

    def poll(self) -> Exit | None:
        """The way in which the process ended, or None while it lives."""
        if self.pid is None and self._exit is None and time.monotonic() > self._late_after:
            self._give_up()
        return self._exit

    def is_sure_to_live(self) -> bool:
        """Whether its fork server still answers: a killed one takes its kernels with it, but only
        when its memory has been given back, and until then they run."""
        self._answered.clear()
        if self._exit is None:
            self._order(answer=self._number)
            self._answered.wait(_ANSWERS_WITHIN)
        return self._exit is None

    def interrupt(self) -> None:
        """Send SIGINT, as Ctrl+C does."""
        self._order(signal=self._number, number=signal.SIGINT)

    def terminate(self) -> None:
        """Ask the process to end (SIGTERM)."""
        self._order(signal=self._number, number=signal.SIGTERM)

    def kill(self) -> None:
        """End the process (SIGKILL)."""
        self._order(signal=self._number, number=_SIGKILL)

    def note_answer(self) -> None:
        """Note that the fork server has answered."""
        self._answered.set()

    def note_exit(self, exit: Exit) -> None:
        """Note that the kernel has ended."""
        self._exit = exit
        self._answered.set()
        self._on_change()
