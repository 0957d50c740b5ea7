"""Keep kernels ready for a snippet: of one interpreter, with one set of environment settings."""

from __future__ import annotations

import functools
import importlib
import logging
import os
import secrets
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import TapevizError
from .choices import check_interpreter, trouble_with_version
from .confinement import without_network
from .environment import defaults_to_remove, environment_to_restore, kernel_environment
from .fork_server import FolderKeeper, ForkServerProcess
from .imports import IF_THERE, REQUIRED
from .live_kernel import LiveKernel
from .model import Confinement, KernelChoice, PoolState, PoolStatus, Versions
from .package_text import PackageText, read_package
from .process import KernelProcess
from .run import Run
from .scratch import KernelFiles, Scratch

if TYPE_CHECKING:
    import zmq

    from .connection import Connection

_log = logging.getLogger(__name__)
_INSIDE = Path(__file__).parent / "inside"
# On macOS NumPy and TensorFlow use system libraries that must not be used after fork().
CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"
_READY_WITHIN = {"fork": 60.0, "launch": 180.0}
_TRIES = 2
LOADING = threading.Lock()
"""Held while modules load that do not bear others to load on another thread."""
LOST = "the folder for temporary files was gone and was made anew: something had removed it"


class Supply:
    """The kernels of an interpreter: forked from a fork server if that works, else launched.

    ``on_change()`` is called, without a lock held, when :attr:`status` or the number of kernels has
    changed; ``on_declined(run)`` if a kernel died before its run began.
    """

    def __init__(
        self,
        choice: KernelChoice,
        settings: Mapping[str, str],
        recorder: Path,
        confinement: Confinement,
        context: Callable[[], zmq.Context[Any]],
        on_change: Callable[[], None],
        on_declined: Callable[[Run], None],
    ) -> None:
        self.status = PoolStatus("cold")
        self._choice = choice
        self._environment = kernel_environment(settings)
        self._recorder = recorder
        self._confinement = confinement
        self._prefix: tuple[str, ...] = ()
        self._scratch = Scratch()
        self._context = context
        self._on_change = on_change
        self._on_declined = on_declined
        self._lock = threading.RLock()
        self._start_method: Literal["none", "fork", "launch"] = "none"
        self._fork_server: ForkServerProcess | None = None
        self._folder_keeper: FolderKeeper | None = None
        self._starter: threading.Thread | None = None
        self._starting: set[LiveKernel] = set()
        self._ready: deque[LiveKernel] = deque()
        self._kernels: set[LiveKernel] = set()
        self._failures = 0

    def open(self) -> None:
        """Begin to start kernels, also after a failure; returns at once."""
        with self._lock:
            if self.status.state not in ("cold", "failed"):
                return
            self._failures = 0
            self._set("starting")
            self._starter = threading.Thread(target=self._start, name="tapeviz-supply", daemon=True)
            self._starter.start()
        self._on_change()

    def want(self, count: int) -> None:
        """Start kernels until ``count`` are ready or starting."""
        with self._lock:
            if self._start_method != "none" and self.status.state in ("starting", "ready"):
                for _ in range(count - len(self._starting) - len(self._ready)):
                    self._spawn()

    def take(self) -> LiveKernel | None:
        """Give away a ready kernel; None if there is none."""
        with self._lock:
            return self._ready.popleft() if self._ready else None

    def release_ready(self) -> None:
        """End the kernels that wait for a run."""
        while (kernel := self.take()) is not None:
            kernel.release()

    def close(self) -> None:
        """End every kernel and the fork server, and wait for their end."""
        with self._lock:
            self._set("closed")
            kernels, starter = list(self._kernels), self._starter
        for kernel in kernels:
            kernel.release()
        if starter is not None:
            starter.join()
        for kernel in kernels:
            kernel.join()
        for keeper in (self._fork_server, self._folder_keeper):
            if keeper is not None:
                keeper.close()
        self._scratch.remove()

    def _start(self) -> None:
        try:
            if self._confinement.no_network:
                self._prefix = without_network(self._choice)
            if self._choice.python is None or not CAN_FORK:
                if self._folder_keeper is None and hasattr(os, "fork"):
                    self._folder_keeper = FolderKeeper(self._scratch)
                self._open("launch")
                return
            if self._fork_server is not None:
                self._fork_server.close()  # which removes its folders
            ours = self._ours
            with self._lock:
                if self.status.state != "closed":
                    self._fork_server = ForkServerProcess(
                        self._choice.python,
                        self._environment,
                        self._scratch,
                        self._prefix,
                        {ours.places[name]: text for name, text in ours.texts.items()},
                        on_ready=self._open_fork_server,
                        on_failed=self._note_fork_server_gone,
                    )
            # Takes half a second to load, so it is loaded while the fork server starts.
            with LOADING:
                importlib.import_module("tapeviz.kernel.connection")
        except TapevizError as error:
            self._fail(str(error))
        except Exception as error:
            _log.exception("no kernels can be started")
            words = getattr(error, "strerror", None) or str(error)
            self._fail(self._missing() or f"no kernel can be started: {words}")

    def _open_fork_server(self, versions: Versions) -> None:
        trouble = trouble_with_version(self._choice, versions)
        if trouble:
            self._fail(trouble)
        else:
            self._open("fork", versions)

    def _open(self, method: Literal["fork", "launch"], versions: Versions | None = None) -> None:
        with self._lock:
            self._start_method = method
            if self.status.state == "starting":
                self._set("starting", versions=versions)
        self._on_change()

    def _spawn(self) -> None:
        files = self._scratch.kernel_files()
        if self._scratch.was_lost:
            self._scratch.was_lost = False
            self._set(self.status.state, LOST)
        kernel = LiveKernel(
            files,
            self._fork if self._start_method == "fork" else self._launch,
            self._payload
            | {"crash_notes": str(files.crash_notes), "generated_code": str(files.generated_code)},
            _READY_WITHIN[self._start_method],
            self._note_ready,
            self._on_declined,
            self._forget,
        )
        self._starting.add(kernel)
        self._kernels.add(kernel)
        kernel.start()

    def _fork(
        self, files: KernelFiles, on_exit: Callable[[], None]
    ) -> tuple[KernelProcess, Connection]:
        from jupyter_client.connect import write_connection_file

        from .connection import Connection

        fork_server = self._fork_server
        if fork_server is None:
            raise TapevizError("the fork server is gone")
        write_connection_file(
            str(files.connection_file),
            transport="ipc",
            ip=str(files.address),
            key=secrets.token_hex(32).encode(),
        )
        process = fork_server.fork(files, on_exit)
        return process, Connection(self._context(), files.connection_file)

    def _launch(
        self, files: KernelFiles, on_exit: Callable[[], None]
    ) -> tuple[KernelProcess, Connection]:
        from .connection import Connection
        from .launched import LaunchedKernel

        try:
            process = LaunchedKernel(self._choice, self._environment, files, self._prefix)
        except Exception as error:
            raise TapevizError(f"the kernel {self._choice.title} did not start: {error}") from error
        return process, Connection(self._context(), files.connection_file)

    @functools.cached_property
    def _ours(self) -> PackageText:
        """The modules that every kernel imports."""
        inside = read_package(_INSIDE, "_tapeviz_inside")
        return inside.with_other(read_package(self._recorder, "_tapeviz_recorder"))

    @functools.cached_property
    def _payload(self) -> dict[str, Any]:
        return {
            "texts": self._ours.texts,
            "places": self._ours.places,
            "packages": self._ours.packages,
            "imports": REQUIRED,
            "if_there": IF_THERE,
            "environment": environment_to_restore(self._environment),
            "remove_when_loaded": defaults_to_remove(self._environment),
            "memory": self._confinement.memory,
        }

    def _note_ready(self, kernel: LiveKernel, versions: Versions) -> None:
        with self._lock:
            self._failures = 0
            self._starting.discard(kernel)
            self._ready.append(kernel)
            if self.status.state == "starting":
                self._set("ready", versions=versions)
        self._on_change()

    def _forget(self, kernel: LiveKernel, trouble: str) -> None:
        """Forget a kernel that has ended; if it was never ready, count a failure."""
        with self._lock:
            self._kernels.discard(kernel)
            if kernel in self._ready:
                self._ready.remove(kernel)
            if kernel in self._starting:
                self._starting.discard(kernel)
                self._failures += 1
                if self._failures >= _TRIES and self.status.state != "closed":
                    self._launch_or_fail(trouble)
        self._on_change()

    def _launch_or_fail(self, trouble: str) -> None:
        if self._start_method == "fork":
            _log.warning("forked kernels do not come up, launching them instead: %s", trouble)
            self._start_method = "launch"
            self._failures = 0
        else:
            self._start_method = "none"
            self._set("failed", trouble or "the kernel does not start")

    def _note_fork_server_gone(self, detail: str) -> None:
        with self._lock:
            had_opened = self._start_method == "fork"
            self._start_method, self._fork_server = "none", None
            # They end with it, which is no failure of theirs.
            self._starting.clear()
            self._ready.clear()
            if had_opened:  # killed from outside, perhaps for lack of memory: start another
                self._set("cold")
        if had_opened:
            self.open()
        elif self.status.state == "starting":
            self._fail(self._missing() or f"{self._choice.title} cannot load TensorFlow: {detail}")

    def _missing(self) -> str:
        """A line about what the interpreter lacks; slow, so only asked after a failure."""
        try:
            if self._choice.python is not None:
                check_interpreter(self._choice.python)
        except TapevizError as error:
            return str(error)
        return ""

    def _fail(self, detail: str) -> None:
        with self._lock:
            self._start_method = "none"
            self._set("failed", detail)
        self._on_change()

    def _set(self, state: PoolState, detail: str = "", versions: Versions | None = None) -> None:
        if self.status.state != "closed":
            self.status = PoolStatus(state, detail, versions or self.status.versions)
