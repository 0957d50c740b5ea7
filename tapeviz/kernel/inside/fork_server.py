"""Fork kernels on order from a process that has TensorFlow loaded.

Executed as a script (``python fork_server.py FOLDER…``) in the user's interpreter; it makes the
folders, and works in the last one. Orders are lines of JSON on standard input: first ``{"imports":
[…], "if_there": […], "texts": …}``, then ``{"fork": id, "connection_file": …, "folder": …,
"ipython": …}`` and ``{"signal": id, "number": …}``, ``{"answer": id}``. Reports are written to the
original standard output: ``ready``, ``failed``, ``forked``, ``answered``, ``ended``. At the end of
the input, also in the middle of an import or when it was stopped (SIGSTOP), every kernel is killed,
the folders of the command line are removed, and this process ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import glob
import importlib
import json
import os
import platform
import random
import select
import shutil
import signal
import sys
import traceback
import types
import warnings
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any, NoReturn

_LAST_WORDS = 64_000
_OF_THE_SHELL = (
    "ipykernel.debugger",
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.core.oinspect",
    "IPython.extensions.storemagic",
    "tornado.platform.asyncio",
    "numpy.random",
)
"""``IPKernelApp.initialize()`` and :func:`_reseed` would import these in every kernel."""
_PR_SET_PDEATHSIG = 1
_ENDS_WITHIN = 1.0  # seconds after the end of the orders


class Child:
    """A forked kernel: its pid, and the reading ends of its output pipes."""

    def __init__(self, pid: int, pipes: dict[str, int]) -> None:
        self.pid = pid
        self.pipes = pipes

    def last_words(self) -> dict[str, str]:
        """Output in the pipes that the kernel did not read itself (a C library's last message)."""
        words = {}
        for name, descriptor in self.pipes.items():
            os.set_blocking(descriptor, False)
            with contextlib.suppress(OSError):
                words[name] = os.read(descriptor, _LAST_WORDS).decode("utf-8", "surrogateescape")
            os.close(descriptor)
        return words


class ForkServer:
    """Forks kernels on order, and reports their ends."""

    def __init__(self, orders: int, reports: int, folders: list[str]) -> None:
        self._orders = orders
        self._reports = reports
        self._unread = b""
        self._children: dict[int, Child] = {}
        self._compiled: dict[tuple[str, str], CodeType] = {}
        self._script_modules: frozenset[str] = frozenset()
        self._folders = folders
        self._woken, waking = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(waking, False)
        self._waking = waking
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        """Obey orders until there are no more, which is also the case if the other side has
        died."""
        with self._watched_by_another():
            try:
                while self._listen():
                    pass
            finally:
                for child in self._children.values():
                    _signal(child.pid, signal.SIGKILL)
                for child in self._children.values():
                    with contextlib.suppress(ChildProcessError):
                        os.waitpid(child.pid, 0)
            self._remove_folders()

    def _remove_folders(self) -> None:
        for folder in self._folders:
            # The files that AutoGraph wrote in killed kernels: the recorder left links to them, in
            # the folders that ``KernelFiles.generated_code`` names.
            for link in glob.glob(os.path.join(folder, "g*", "__autograph_generated_file*")):
                written = os.path.realpath(link)
                with contextlib.suppress(OSError):
                    os.unlink(written)
                if os.path.basename(os.path.dirname(written)) == "__pycache__":
                    with contextlib.suppress(OSError):  # others are in there
                        os.rmdir(os.path.dirname(written))
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
            self._follow_order(json.loads(line))
        return bool(data)

    def _follow_order(self, order: dict[str, Any]) -> None:
        if "imports" in order:
            self._prepare(order)
        elif "fork" in order:
            self._fork(order)
        elif "answer" in order:
            self._report(answered=order["answer"])
        elif order["signal"] in self._children:
            _signal(self._children[order["signal"]].pid, order["number"])

    def _prepare(self, order: dict[str, Any]) -> None:
        gc.disable()  # imports leave little garbage, and looking for it takes a second
        try:
            for name in order["imports"]:
                importlib.import_module(name)
            _import_if_there(order["if_there"])
            self._script_modules = frozenset(sys.modules)
            with warnings.catch_warnings():  # IPython adds filters, which a snippet would find
                importlib.import_module("ipykernel.kernelapp")
            sys.modules["debugpy"] = None  # type: ignore[assignment]
            _import_if_there(_OF_THE_SHELL)
            # Without debugpy ipykernel starts half a second faster; nobody attaches a debugger.
            del sys.modules["debugpy"]
            self._compiled = _compile(order["texts"])
        except BaseException as error:
            self._report(failed=f"{type(error).__name__}: {error}")
            raise SystemExit from None
        gc.freeze()  # children share these pages as long as no collection touches them
        gc.enable()
        self._report(ready=_versions())

    @contextlib.contextmanager
    def _watched_by_another(self) -> Iterator[None]:
        """Let a forked process end this one if the other side has ended and this does not notice.

        It does not while it is stopped, nor while Python loads a library: for TensorFlow's from a
        cold disk many seconds, in which a thread would wait for the interpreter's lock.
        """
        over, self._ending = os.pipe()
        server = os.getpid()
        watcher = os.fork()
        if watcher == 0:
            with contextlib.suppress(BaseException):
                os.close(self._ending)
                os.close(self._reports)
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                self._watch_orders(server, over)
            os._exit(0)
        os.close(over)
        try:
            yield
        finally:
            os.kill(watcher, signal.SIGKILL)
            os.waitpid(watcher, 0)

    def _watch_orders(self, server: int, over: int) -> None:
        """Wait until the orders end, then let the process ``server`` go on, kill it if it does not
        end, and remove its folders; or until the other end of ``over`` is closed, as it is when
        that process is dead."""
        poll = select.poll()
        poll.register(self._orders, 0)  # POLLHUP alone, which is always reported
        poll.register(over, 0)
        ended = dict(poll.poll())
        if self._orders in ended and over not in ended:
            poll.unregister(self._orders)
            os.kill(server, signal.SIGCONT)
            if not poll.poll(_ENDS_WITHIN * 1000):
                os.kill(server, signal.SIGKILL)
                poll.poll()
            self._remove_folders()

    def _fork(self, order: dict[str, Any]) -> None:
        pipes = {name: os.pipe() for name in ("stdout", "stderr")}
        with warnings.catch_warnings():
            # Python 3.12 warns of threads; those here are of a BLAS library, which restarts them.
            warnings.simplefilter("ignore", DeprecationWarning)
            parent = os.getpid()
            pid = os.fork()
        if pid == 0:
            self._become_child(order, pipes, parent)
        for _, writing in pipes.values():
            os.close(writing)
        self._children[order["fork"]] = Child(pid, {name: ends[0] for name, ends in pipes.items()})
        self._report(forked=order["fork"], pid=pid)

    def _become_child(self, order: dict[str, Any], pipes: dict[str, Any], parent: int) -> NoReturn:
        """Close everything of the fork server in the child process, and become a kernel."""
        try:
            _end_with(parent)
            os.setsid()
            _reset_signals()
            for number, name in enumerate(("stdout", "stderr"), start=1):
                os.dup2(pipes[name][1], number)
                os.close(pipes[name][1])
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.close(nothing)
            ours = self._orders, self._reports, self._woken, self._waking, self._ending
            for descriptor in ours:
                os.close(descriptor)
            for other in self._children.values():
                for descriptor in other.pipes.values():
                    os.close(descriptor)
            reading = {name: ends[0] for name, ends in pipes.items()}
            kept = {"pipes": reading, "compiled": self._compiled}
            _run_kernel(order, kept | {"script_modules": self._script_modules}, parent)
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
                    _signal_group(pid, signal.SIGKILL)  # end the processes that it started, too
                    del self._children[number]
                    self._report(ended=number, **_ending(status), words=child.last_words())

    def _report(self, **report: Any) -> None:
        line = json.dumps(report).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):
            while line:
                line = line[os.write(self._reports, line) :]


def _compile(file: str) -> dict[tuple[str, str], CodeType]:
    """The code of every text (JSON: path → text), by path and text. Each kernel would need a tenth
    of a second for it."""
    with open(file, encoding="utf-8") as texts:
        return {
            (path, text): compile(text, path, "exec", dont_inherit=True)
            for path, text in json.load(texts).items()
        }


def _import_if_there(names: Iterable[str]) -> None:
    for name in names:
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def _run_kernel(order: dict[str, Any], kept: dict[str, Any], parent: int) -> None:
    """Run ipykernel until the kernel ends.

    ``kept``: ``pipes``, the reading ends of descriptors 1 and 2 for the wire, ``compiled`` for the
    importer of our modules, and ``script_modules``, the names of those imported before the
    kernel's.
    """
    _reseed()
    os.chdir(order["folder"])
    here = types.ModuleType("_tapeviz_fork_server")
    here.__dict__.update(kept)
    sys.modules["_tapeviz_fork_server"] = here
    sys.argv = [""]
    from ipykernel import kernelapp

    _without_port(kernelapp)
    app: Any = kernelapp.IPKernelApp.instance()
    with warnings.catch_warnings():
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
    """Let ipykernel bind no TCP port for the output of its child processes: our pipes take it.

    ``IOPubThread._setup_pipe_in`` binds one on 127.0.0.1 (ipykernel 6.29 to 7.4).
    """
    make = kernelapp.IOPubThread

    def make_without(socket: Any, pipe: bool = False, **named: Any) -> Any:
        return make(socket, **named)

    kernelapp.IOPubThread = make_without


def _reseed() -> None:
    """Seed random numbers as a fresh process does: forks would all have the same."""
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


def _end_with(parent: int) -> None:
    """End this process when its fork server is killed (Linux; elsewhere ipykernel polls)."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def _signal_group(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _signal(pid: int, number: int) -> None:
    """Signal a kernel and the processes that it started, or only the kernel if it has just been
    forked and has no process group yet."""
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
    """Serve orders on duplicates of descriptors 0 and 1, so that no import prints into them."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [place for place in sys.path if place and os.path.abspath(place) != here]
    orders, reports = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    folders = sys.argv[1:]
    for folder in folders:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    os.chdir(folders[-1])
    ForkServer(orders, reports, folders).run()


if __name__ == "__main__":
    main()
