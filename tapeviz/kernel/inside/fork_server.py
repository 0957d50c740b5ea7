"""Orders, a JSON object a line, in; kernels forked from a process that has TensorFlow loaded out.

Executed by itself (``python fork_server.py FOLDER…``) in the user's interpreter; it uses the
standard library only until the imports that the first order asks for. Orders come on standard
input:
``{"imports": […], "if_there": […]}`` first, then
``{"fork": id, "connection_file": …, "folder": …, "ipython": …}`` and
``{"signal": id, "number": …}``. Reports go to what was standard output: ``ready``, ``failed``,
``forked``, ``ended``. When the orders end, every kernel is killed, the folders of the command line
are removed, and so ends this process; also in the middle of an import.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import platform
import random
import select
import shutil
import signal
import sys
import threading
import traceback
import types
import warnings
from collections.abc import Iterator
from typing import Any, NoReturn

_LAST_WORDS = 64_000
_OF_THE_SHELL = (
    "ipykernel.debugger",
    "IPython.core.completerlib",
    "IPython.extensions.storemagic",
    "tornado.platform.asyncio",
    "numpy.random",
)
"""``IPKernelApp.initialize()`` and :func:`_reseed` would import these in every kernel."""
_PR_SET_PDEATHSIG = 1


class Child:
    """A kernel that was forked: its pid and the reading ends of its output pipes."""

    def __init__(self, pid: int, pipes: dict[str, int]) -> None:
        self.pid = pid
        self.pipes = pipes

    def last_words(self) -> dict[str, str]:
        """Output that the kernel wrote and could not read any more (a C library's last message)."""
        words = {}
        for name, descriptor in self.pipes.items():
            os.set_blocking(descriptor, False)
            with contextlib.suppress(OSError):
                words[name] = os.read(descriptor, _LAST_WORDS).decode("utf-8", "replace")
            os.close(descriptor)
        return words


class ForkServer:
    """Forks kernels on order and reports what becomes of them."""

    def __init__(self, orders: int, reports: int, folders: list[str]) -> None:
        self._orders = orders
        self._reports = reports
        self._unread = b""
        self._children: dict[int, Child] = {}
        self._folders = folders
        self._woken, waking = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(waking, False)
        self._waking = waking
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        """Obey until the orders end; that is also how the death of the other side looks."""
        try:
            while self._listen():
                pass
        finally:
            self._end_all()
        self._remove_folders()

    def _remove_folders(self) -> None:
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    def _listen(self) -> bool:
        ready, _, _ = select.select([self._orders, self._woken], [], [])
        if self._woken in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._woken, 4096)
            self._reap()
        if self._orders not in ready:
            return True
        data = os.read(self._orders, 65536)
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            self._obey(json.loads(line))
        return bool(data)

    def _obey(self, order: dict[str, Any]) -> None:
        if "imports" in order:
            self._prepare(order)
        elif "fork" in order:
            self._fork(order)
        elif order["signal"] in self._children:
            _signal(self._children[order["signal"]].pid, order["number"])

    def _prepare(self, order: dict[str, Any]) -> None:
        gc.disable()  # an import leaves no garbage to speak of, and looking for it takes a second
        try:
            with self._ending_with_the_orders():
                for name in ("ipykernel.kernelapp", *order["imports"]):
                    importlib.import_module(name)
                sys.modules["debugpy"] = None  # type: ignore[assignment]
                for name in (*order["if_there"], *_OF_THE_SHELL):
                    with contextlib.suppress(Exception):
                        importlib.import_module(name)
                # Nobody attaches a debugger: ipykernel does without the half second of imports.
                del sys.modules["debugpy"]
        except BaseException as error:
            self._report(failed=f"{type(error).__name__}: {error}")
            raise SystemExit from None
        gc.freeze()  # forked children share these pages as long as nobody counts through them
        gc.enable()
        self._report(ready=_versions())

    @contextlib.contextmanager
    def _ending_with_the_orders(self) -> Iterator[None]:
        """While this thread imports, another one notices that the other side is gone."""
        over, ending = os.pipe()

        def watch() -> None:
            poll = select.poll()
            poll.register(self._orders, 0)  # POLLHUP alone, which is always reported
            poll.register(over, 0)
            if self._orders in dict(poll.poll()):
                self._remove_folders()
                os._exit(1)

        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        try:
            yield
        finally:
            os.close(ending)
            watching.join()  # no thread of ours may be there when a kernel is forked
            os.close(over)

    def _fork(self, order: dict[str, Any]) -> None:
        pipes = {name: os.pipe() for name in ("stdout", "stderr")}
        with warnings.catch_warnings():
            # Python 3.12 warns of threads: the ones here are a BLAS library's, which mends itself.
            warnings.simplefilter("ignore", DeprecationWarning)
            parent = os.getpid()
            pid = os.fork()
        if pid == 0:
            self._be_born(order, pipes, parent)
        for _, writing in pipes.values():
            os.close(writing)
        self._children[order["fork"]] = Child(pid, {name: ends[0] for name, ends in pipes.items()})
        self._report(forked=order["fork"], pid=pid)

    def _be_born(self, order: dict[str, Any], pipes: dict[str, Any], parent: int) -> NoReturn:
        """In the child: leave everything of the fork server behind and become a kernel."""
        try:
            _die_with(parent)
            os.setsid()
            _reset_signals()
            for number, name in enumerate(("stdout", "stderr"), start=1):
                os.dup2(pipes[name][1], number)
                os.close(pipes[name][1])
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.close(nothing)
            for descriptor in (self._orders, self._reports, self._woken, self._waking):
                os.close(descriptor)
            for other in self._children.values():
                for descriptor in other.pipes.values():
                    os.close(descriptor)
            _be_kernel(order, {name: ends[0] for name, ends in pipes.items()}, parent)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)

    def _reap(self) -> None:
        for number, child in list(self._children.items()):
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(child.pid, os.WNOHANG)
                if pid:
                    _signal_group(pid, signal.SIGKILL)  # what it started goes with it
                    del self._children[number]
                    self._report(ended=number, **_ending(status), words=child.last_words())

    def _end_all(self) -> None:
        for child in self._children.values():
            _signal(child.pid, signal.SIGKILL)
        for child in self._children.values():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child.pid, 0)

    def _report(self, **report: Any) -> None:
        line = json.dumps(report).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):
            while line:
                line = line[os.write(self._reports, line) :]


def _be_kernel(order: dict[str, Any], pipes: dict[str, int], parent: int) -> None:
    _reseed()
    os.chdir(order["folder"])
    # The wire looks here for the reading ends of descriptors 1 and 2.
    here = types.ModuleType("_tapeviz_fork_server")
    here.pipes = pipes  # type: ignore[attr-defined]
    sys.modules["_tapeviz_fork_server"] = here
    sys.argv = [""]
    from ipykernel import kernelapp

    _without_port(kernelapp)
    app: Any = kernelapp.IPKernelApp.instance()
    app.initialize(
        [
            "-f",
            order["connection_file"],
            f"--ipython-dir={order['ipython']}",
            "--IPKernelApp.capture_fd_output=False",
            f"--IPKernelApp.parent_handle={parent}",
            "--HistoryManager.enabled=False",
        ]
    )
    app.start()


def _without_port(kernelapp: Any) -> None:
    """No TCP port for what children of the kernel print: our own pipes take that.

    ``IOPubThread._setup_pipe_in`` binds one on 127.0.0.1, ipykernel 6.29 to 7.4.
    """
    make = kernelapp.IOPubThread

    def make_without(socket: Any, pipe: bool = False, **named: Any) -> Any:
        return make(socket, **named)

    kernelapp.IOPubThread = make_without


def _reseed() -> None:
    """Random numbers as in a fresh process: a fork would repeat the fork server's."""
    random.seed()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()


def _reset_signals() -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())


def _die_with(parent: int) -> None:
    """On Linux the kernel ends when its fork server is killed; elsewhere ipykernel polls."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def _signal_group(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _signal(pid: int, number: int) -> None:
    """Signal a kernel and all it started; just forked, it is not a group of its own yet."""
    _signal_group(pid, number)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.getpgid(pid) != pid:
            os.kill(pid, number)


def _ending(status: int) -> dict[str, int | None]:
    if os.WIFSIGNALED(status):
        return {"exit_code": None, "signal": os.WTERMSIG(status)}
    return {"exit_code": os.WEXITSTATUS(status), "signal": None}


def _versions() -> dict[str, str]:
    def version(name: str) -> str:
        return str(getattr(sys.modules.get(name), "__version__", ""))

    return {
        "python": platform.python_version(),
        "tensorflow": version("tensorflow"),
        "ipykernel": version("ipykernel"),
        "executable": sys.executable,
    }


def main() -> None:
    """Take the two ends of the line for ourselves, so that no import prints into it."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [place for place in sys.path if place and os.path.abspath(place) != here]
    orders, reports = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    ForkServer(orders, reports, sys.argv[1:]).run()


if __name__ == "__main__":
    main()
