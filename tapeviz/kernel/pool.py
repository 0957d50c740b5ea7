"""A choice of interpreter in; runs, each in a fresh process with TensorFlow already loaded, out."""

from __future__ import annotations

import functools
import itertools
import logging
import secrets
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import zmq
from jupyter_client.connect import write_connection_file

from tapeviz.errors import TapevizError

from .choices import check_interpreter
from .connection import Connection
from .environment import environment_to_restore, kernel_environment
from .imports import IF_THERE, REQUIRED
from .launched import LaunchedKernel
from .live_kernel import LiveKernel
from .model import KernelChoice, PoolState, PoolStatus, RunListener, RunRequest, Versions
from .nursery import Nursery
from .package_text import read_package
from .process import KernelProcess
from .run import Run
from .scratch import KernelFiles, Scratch

_log = logging.getLogger(__name__)
_HERE = Path(__file__).parent
_RECORDER = _HERE.parent / "recorder"
# Seconds from the start of a run to the making of the next reserve kernel: on few cores it would
# delay the picture.
_REFILL_AFTER = 0.5
_READY_WITHIN = {"fork": 60.0, "launch": 180.0}
_TRIES = 2


class KernelPool:
    """Kernels of one choice, for an app session or one call of the command line.

    ``reserve`` kernels wait, warm; with ``runs`` given, none is made beyond so many runs.
    ``on_status`` is called on background threads. :meth:`close` leaves no process, thread or file
    behind.
    """

    def __init__(
        self,
        choice: KernelChoice,
        *,
        reserve: int = 1,
        runs: int | None = None,
        recorder: Path | None = None,
        on_status: Callable[[PoolStatus], None] | None = None,
    ) -> None:
        self._choice = choice
        self._reserve = reserve
        self._runs_left = runs
        self._recorder = recorder or _RECORDER
        self._on_status = on_status
        self._lock = threading.RLock()
        self._numbers = itertools.count(1)
        self._status = PoolStatus("cold")
        self._way: Literal["none", "fork", "launch"] = "none"
        self._nursery: Nursery | None = None
        self._starter: threading.Thread | None = None
        self._refill: threading.Timer | None = None
        self._waiting: deque[Run] = deque()
        self._starting: set[LiveKernel] = set()
        self._ready: deque[LiveKernel] = deque()
        self._kernels: set[LiveKernel] = set()
        self._failures = 0
        self._context: zmq.Context[Any] = zmq.Context()
        self._scratch = Scratch()

    @property
    def status(self) -> PoolStatus:
        """How the pool is doing now."""
        return self._status

    def warm(self) -> None:
        """Begin to get kernels ready; returns at once."""
        with self._lock:
            if self._status.state in ("cold", "failed"):
                self._failures = 0
                self._tell("starting")
                self._starter = threading.Thread(target=self._start, name="tapeviz-pool")
                self._starter.daemon = True
                self._starter.start()

    def run(self, request: RunRequest, listener: RunListener) -> Run:
        """Run a snippet in a fresh process; returns at once."""
        run = Run(next(self._numbers), request, listener, self._withdraw)
        with self._lock:
            if self._status.state == "closed":
                raise RuntimeError("the pool is closed")
            self._waiting.append(run)
            self._assign()
            if self._waiting:
                self._fill()
        self.warm()
        return run

    def close(self) -> None:
        """Stop every run and end every process; not to be called by a listener."""
        with self._lock:
            if self._status.state == "closed":
                return
            self._tell("closed")
            runs, kernels = list(self._waiting), list(self._kernels)
            self._waiting.clear()
            refill, starter = self._refill, self._starter
        if refill is not None:
            refill.cancel()
            refill.join()
        for run in runs:
            run.end_closed()
        for kernel in kernels:
            kernel.release()
        if starter is not None:
            starter.join()
        for kernel in kernels:
            kernel.join()
        if self._nursery is not None:
            self._nursery.close()
        self._context.term()
        self._scratch.remove()

    def __enter__(self) -> KernelPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        try:
            if self._choice.python is None or sys.platform == "win32":
                self._open("launch")
                return
            check_interpreter(self._choice.python)
            with self._lock:
                if self._status.state == "closed":
                    return
                self._nursery = Nursery(
                    self._choice.python,
                    self._scratch,
                    on_ready=lambda versions: self._open("fork", versions),
                    on_failed=self._lose_nursery,
                )
        except TapevizError as error:
            self._fail(str(error))

    def _open(self, way: Literal["fork", "launch"], versions: Versions | None = None) -> None:
        with self._lock:
            self._way = way
            if versions is not None and self._status.state == "starting":
                self._tell("starting", versions=versions)
            self._fill()

    def _fill(self) -> None:
        """Start kernels until there are enough for those who wait and for the reserve."""
        with self._lock:
            if self._way == "none" or self._status.state not in ("starting", "ready"):
                return
            wanted = len(self._waiting) + self._reserve
            if self._runs_left is not None:
                wanted = min(wanted, self._runs_left)
            for _ in range(wanted - len(self._starting) - len(self._ready)):
                self._spawn()

    def _spawn(self) -> None:
        kernel = LiveKernel(
            files := self._scratch.kernel_files(),
            self._fork if self._way == "fork" else self._launch,
            self._payload(files),
            _READY_WITHIN[self._way],
            self._welcome,
            self._take_back,
            self._forget,
        )
        self._starting.add(kernel)
        self._kernels.add(kernel)
        kernel.start()

    def _fork(
        self, files: KernelFiles, on_change: Callable[[], None]
    ) -> tuple[KernelProcess, Connection]:
        write_connection_file(
            str(files.connection_file),
            transport="ipc",
            ip=str(files.address),
            key=secrets.token_hex(32).encode(),
        )
        nursery = self._nursery
        if nursery is None:
            raise TapevizError("the nursery is gone")
        process = nursery.fork(files, on_change)
        return process, Connection(self._context, files.connection_file)

    def _launch(
        self, files: KernelFiles, on_change: Callable[[], None]
    ) -> tuple[KernelProcess, Connection]:
        try:
            process = LaunchedKernel(self._choice, files)
        except Exception as error:
            raise TapevizError(f"the kernel {self._choice.title} did not start: {error}") from error
        return process, Connection(self._context, files.connection_file)

    @functools.cached_property
    def _texts(self) -> dict[str, Any]:
        inside = read_package(_HERE / "inside", "_tapeviz_inside")
        recorder = read_package(self._recorder, "_tapeviz_recorder")
        return {
            "texts": inside.texts | recorder.texts,
            "packages": [*inside.packages, *recorder.packages],
            "imports": REQUIRED,
            "if_there": IF_THERE,
            "environment": environment_to_restore(kernel_environment()),
        }

    def _payload(self, files: KernelFiles) -> dict[str, Any]:
        return self._texts | {"crash_notes": str(files.crash_notes)}

    def _welcome(self, kernel: LiveKernel, versions: Versions) -> None:
        with self._lock:
            self._failures = 0
            self._starting.discard(kernel)
            self._ready.append(kernel)
            if self._status.state == "starting":
                self._tell("ready", versions=versions)
            self._assign()

    def _assign(self) -> None:
        with self._lock:
            while self._waiting and self._ready:
                run, kernel = self._waiting.popleft(), self._ready.popleft()
                if self._runs_left is not None:
                    self._runs_left -= 1
                run.assign(kernel)
                kernel.run(run)
                self._fill_later()

    def _take_back(self, run: Run) -> None:
        """The kernel that was to run it had died while it waited."""
        with self._lock:
            status = self._status
            if status.state in ("starting", "ready", "cold"):
                if self._runs_left is not None:
                    self._runs_left += 1
                self._waiting.appendleft(run)
                self._fill()
                return
        run.fail(status.detail or "the kernel is gone")

    def _fill_later(self) -> None:
        if self._refill is None or not self._refill.is_alive():
            self._refill = threading.Timer(_REFILL_AFTER, self._fill)
            self._refill.daemon = True
            self._refill.start()

    def _withdraw(self, run: Run) -> bool:
        """Whether ``run`` was still waiting; it is not any more."""
        with self._lock:
            if run in self._waiting:
                self._waiting.remove(run)
                return True
            return False

    def _forget(self, kernel: LiveKernel, trouble: str) -> None:
        """``kernel`` is gone; one that never got ready counts as a failure."""
        with self._lock:
            self._kernels.discard(kernel)
            if kernel in self._ready:
                self._ready.remove(kernel)
            early = kernel in self._starting
            self._starting.discard(kernel)
            if self._status.state == "closed":
                return
            if early:
                self._failures += 1
                if self._failures >= _TRIES:
                    self._give_up_or_launch(trouble)
            self._fill()

    def _give_up_or_launch(self, trouble: str) -> None:
        if self._way == "fork":
            _log.warning("forked kernels do not come up, launching them instead: %s", trouble)
            self._way = "launch"
            self._failures = 0
        else:
            self._fail(trouble or "the kernel does not start")

    def _lose_nursery(self, detail: str) -> None:
        with self._lock:
            was_open = self._way == "fork"
            self._way, self._nursery = "none", None
            if was_open:  # killed from outside, perhaps for want of memory: make another
                self._tell("cold")
                self.warm()
        if not was_open:
            self._fail(f"{self._choice.title} cannot load TensorFlow: {detail}")

    def _fail(self, detail: str) -> None:
        with self._lock:
            self._way = "none"
            runs = list(self._waiting)
            self._waiting.clear()
            self._tell("failed", detail)
        for run in runs:
            run.fail(detail)

    def _tell(self, state: PoolState, detail: str = "", versions: Versions | None = None) -> None:
        self._status = PoolStatus(state, detail, versions or self._status.versions)
        if self._on_status is not None:
            self._on_status(self._status)
