"""Start a kernel by ``jupyter_client``, from an interpreter or a kernelspec.

Used for kernelspecs, on Windows and macOS, and if forking fails. Each kernel imports TensorFlow
itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

from ..priority import usual_timers
from .model import Exit, KernelChoice
from .scratch import KernelFiles


class LaunchedKernel:
    """A kernel started as a new process."""

    checks_every = 0.05

    def __init__(
        self,
        choice: KernelChoice,
        environment: Mapping[str, str],
        files: KernelFiles,
        prefix: Sequence[str] = (),
    ) -> None:
        self._kernel: Any = AsyncKernelManager(
            kernel_name=choice.spec or "tapeviz", connection_file=str(files.connection_file)
        )
        if choice.python is not None:
            self._kernel.kernel_spec_manager = _OneInterpreter(str(choice.python), prefix)
        if sys.platform != "win32":
            self._kernel.transport, self._kernel.ip = "ipc", str(files.address)
        environment = {**environment, "IPYTHONDIR": str(files.ipython)}
        with files.log.open("ab") as log, usual_timers():
            places = {"cwd": str(files.folder), "stdout": log, "stderr": log}
            _wait(lambda: self._kernel.start_kernel(env=environment, **places))
        self.pid: int | None = getattr(self._kernel.provisioner, "pid", None)
        self._exit: Exit | None = None

    def poll(self) -> Exit | None:
        """The way in which the process ended, or None while it lives."""
        if self._exit is None:
            code = self._exit_code()
            if code is not None:
                self._exit = Exit(code, None) if code >= 0 else Exit(None, -code)
                _wait(lambda: self._kernel.cleanup_resources())
        return self._exit

    def is_sure_to_live(self) -> bool:
        """Whether the process lives and its end depends on no other process."""
        return self.poll() is None

    def interrupt(self) -> None:
        """Interrupt as Ctrl+C does."""
        self._quietly(lambda: self._kernel.interrupt_kernel())

    def terminate(self) -> None:
        """Ask the process to end (SIGTERM)."""
        self._quietly(lambda: self._kernel.signal_kernel(signal.SIGTERM))

    def kill(self) -> None:
        """End the process, with all that it started (SIGKILL)."""
        if hasattr(signal, "SIGKILL"):
            self._quietly(lambda: self._kernel.signal_kernel(signal.SIGKILL))
        else:
            self._quietly(lambda: self._kernel.shutdown_kernel(now=True))

    def _exit_code(self) -> int | None:
        provisioner = self._kernel.provisioner
        # Ask a process of this machine directly: an event loop for each question costs more.
        local = getattr(provisioner, "process", None)
        code: int | None = local.poll() if local else _wait(lambda: provisioner.poll())
        return code

    def _quietly(self, action: Callable[[], Any]) -> None:
        with contextlib.suppress(Exception):  # gone already
            _wait(action)


class _OneInterpreter(KernelSpecManager):  # type: ignore[misc]
    """Has a single kernelspec: an interpreter that is not registered as a kernel."""

    def __init__(self, python: str, prefix: Sequence[str]) -> None:
        super().__init__()
        self._command = [*prefix, python]

    def get_kernel_spec(self, kernel_name: str) -> Any:
        argv = [*self._command, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=argv, display_name=kernel_name, language="python")


def _wait(action: Callable[[], Any]) -> Any:
    """Run a coroutine of ``jupyter_client`` in an event loop of its own."""

    async def run() -> Any:
        return await action()

    return asyncio.run(run())
