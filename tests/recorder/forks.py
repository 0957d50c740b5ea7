"""Record snippets in forks of a process that has TensorFlow loaded, without a kernel around them.

A fork takes half of a kernel's time. It has the recorder and answers its questions as a kernel
does; the snippet finds no terminal, no ``input()`` and none of a script's surroundings.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any

from tapeviz.errors import TapevizError
from tapeviz.kernel import KernelPool, Run, RunEnd, RunRequest
from tapeviz.kernel.model import RunListener
from tapeviz.kernel.scratch import placed

_HERE = Path(__file__).parent
RECORDER = _HERE.parents[1] / "tapeviz" / "recorder"
FILENAME = "snippet.py"


@dataclass(frozen=True)
class Fork:
    """A process that runs one snippet, and answers questions until its connection is closed."""

    pid: int
    connection: Connection


class ForkServer:
    """The process that forks one child for each snippet."""

    def __init__(self, folder: Path, interpreter: str) -> None:
        self._folder = folder
        self._listener = Listener(str(folder / "socket"), "AF_UNIX")
        command = [interpreter, str(_HERE / "server.py"), str(folder / "socket"), str(RECORDER)]
        environment = {
            **os.environ,
            "TF_CPP_MIN_LOG_LEVEL": "3",
            # With oneDNN a child looks through all kernels at its first ops, a third of its time.
            "TF_ENABLE_ONEDNN_OPTS": "0",
            "TMPDIR": str(folder),
        }
        self._process = subprocess.Popen(command, env=environment)
        self._orders = self._listener.accept()
        self._starting = threading.Lock()

    def start(
        self,
        source: str,
        *,
        record: bool = True,
        wanted: tuple[str, ...] = (),
        live: bool = False,
        lacking: str = "",
        filename: str = FILENAME,
        argv: tuple[str, ...] = (FILENAME,),
        folder: Path | None = None,
        timeout: float = 0.0,
        **options: Any,
    ) -> Fork:
        """Run a snippet: recorded with these ``options`` or plainly, in ``folder`` or an empty one,
        for at most ``timeout`` seconds. ``wanted``: names whose values come back."""
        options.setdefault("provide", ["tf", "np"])
        order = {
            "source": source,
            "filename": filename,
            "argv": list(argv),
            "folder": str(folder or ""),
            "timeout": timeout,
            "record": record,
            "options": options,
            "wanted": list(wanted),
            "live": live,
            "lacking": lacking,
        }
        with self._starting:  # so that each gets the child of its own order
            self._orders.send(order)
            connection = self._listener.accept()
        return Fork(connection.recv(), connection)

    def make_folder(self) -> Path:
        """An empty folder for a snippet."""
        return Path(tempfile.mkdtemp(dir=self._folder))

    def close(self) -> None:
        self._orders.close()
        self._listener.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._process.kill()


class ForkedRun(Run):
    """A run in a fork, as far as a recording uses one."""

    def __init__(self, fork: Fork, listener: RunListener) -> None:
        self._fork = fork
        self._hears = listener
        self._is_over = False
        self._is_stopped = False
        self._asking = threading.Lock()
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def _listen(self) -> None:
        with self._asking:
            try:
                answer = self._fork.connection.recv()
            except (EOFError, OSError):
                answer = None
            self._is_over = True
        if answer is None:
            self._hears.ended(RunEnd("interrupted" if self._is_stopped else "died"))
            return
        self._hears.output("stdout", answer["out"])
        self._hears.output("stderr", answer["err"])
        self._hears.events([line.encode() for line in answer["lines"]], answer["blob"])
        self._hears.ended(RunEnd("finished"))

    def fetch(
        self, name: str, arguments: Mapping[str, Any], timeout: float | None = None
    ) -> tuple[dict[str, Any], list[bytes]]:
        with self._asking:
            try:
                self._fork.connection.send((name, arguments))
                answer: tuple[dict[str, Any], list[bytes]] = self._fork.connection.recv()
            except (EOFError, OSError) as error:
                raise TapevizError("the process has ended") from error
        return answer

    def stop(self) -> None:
        self._is_stopped = True
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._fork.pid, signal.SIGKILL)

    def release(self) -> None:
        if not self._is_over:
            self.stop()
        self._listening.join()
        self._fork.connection.close()


class ForkedPool(KernelPool):
    """Runs snippets in forks, where a recorder has a pool of kernels."""

    def __init__(self, server: ForkServer) -> None:
        self._server = server

    def run(self, request: RunRequest, listener: RunListener) -> Run:
        request = placed(request, self._server.make_folder())
        fork = self._server.start(
            request.source,
            filename=request.filename,
            argv=request.argv,
            folder=request.cwd,
            timeout=request.timeout or 0.0,
            **request.options,
        )
        return ForkedRun(fork, listener)
