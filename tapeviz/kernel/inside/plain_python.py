"""Make a kernel look like the process of ``python FILE``, for the length of a ``with``."""

from __future__ import annotations

import _sitebuiltins
import asyncio
import builtins
import contextlib
import functools
import getpass
import io
import itertools
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any

from .needed import KERNEL_PACKAGES, Needed, what_the_kernel_needs
from .outlet import Outlet, text_file
from .script_end import forget_exit_functions
from .script_threads import threads_of_a_script

_OF_SYS = (
    *("stdout", "stderr", "__stdout__", "__stderr__"),
    *("displayhook", "excepthook", "breakpointhook"),
)
_NOTEBOOK_NAMES = (
    *("get_ipython", "display", "In", "Out"),
    *("__IPYTHON__", "execfile", "runfile"),
)
_SCRIPT_NAMES = ("input", "exit", "quit")
_PROMPTS = ("ps1", "ps2", "ps3")
_KERNEL_LOGGERS = ("Comm", "IPKernelApp")


@contextlib.contextmanager
def plain_python(
    folder: str,
    outlet: Outlet,
    ask: Callable[[str, bool], str | None],
    *,
    has_terminal: bool = False,
) -> Iterator[Needed]:
    """Set working directory, ``sys.path``, streams, ``input`` and asyncio as a script has them.

    ``ask(prompt, is_secret)`` returns a line that the user types, None at the end of the input.
    ``has_terminal``: it shows the prompt of a secret and hides what is typed; without that
    ``getpass()`` finds no terminal, and reads the standard input as Python has it do.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_names_of_a_script(ask, has_terminal))
        stack.enter_context(_no_shell())
        stack.enter_context(_loggers_of_a_script())
        stack.enter_context(_standard_input(ask, has_terminal))
        needed = stack.enter_context(what_the_kernel_needs())
        stack.enter_context(outlet.holding_without(needed.is_there))
        stack.enter_context(_streams(outlet, needed.threads))
        stack.enter_context(_no_event_loop())
        stack.enter_context(_tasks_from_one(needed.threads))
        stack.enter_context(threads_of_a_script())
        os.chdir(folder)
        _set_first_path(folder)
        if "multiprocessing.process" in sys.modules:  # children look for the script there
            sys.modules["multiprocessing.process"].ORIGINAL_DIR = folder  # type: ignore[attr-defined]
        forget_exit_functions()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        yield needed


def restore_environment(environment: Mapping[str, str | None]) -> None:
    """Undo what ipykernel changed in ``os.environ`` (``FORCE_COLOR`` colours plain output)."""
    for name, value in environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _set_first_path(folder: str) -> None:
    # IPython puts '' first; a script has its folder there.
    sys.path[:] = [place for place in sys.path if place]
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, folder)


@contextlib.contextmanager
def _streams(outlet: Outlet, others: Set[int]) -> Iterator[None]:
    before = {name: getattr(sys, name) for name in _OF_SYS}
    out, err = text_file(outlet, "stdout", others), text_file(outlet, "stderr", others)
    sys.stdout = sys.__stdout__ = out  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = err  # type: ignore[misc]
    sys.displayhook, sys.excepthook = sys.__displayhook__, sys.__excepthook__
    sys.breakpointhook = sys.__breakpointhook__
    try:
        yield
    finally:
        for file in (out, err):
            with contextlib.suppress(ValueError):  # the snippet closed it
                file.flush()
        for name, value in before.items():
            setattr(sys, name, value)


@contextlib.contextmanager
def _names_of_a_script(
    ask: Callable[[str, bool], str | None], has_terminal: bool
) -> Iterator[None]:
    """Remove the builtins that IPython adds and the prompts of ``sys``, and put back the builtins
    that it replaces."""
    space = vars(builtins)
    before = {name: space[name] for name in (*_NOTEBOOK_NAMES, *_SCRIPT_NAMES) if name in space}
    asking = getpass.getpass
    prompts = {name: vars(sys).pop(name) for name in _PROMPTS if name in vars(sys)}
    for name in _NOTEBOOK_NAMES:
        space.pop(name, None)
    space["input"] = _input_from(ask)
    getpass.getpass = _getpass_from(ask) if has_terminal else _getpass_of_python()
    ending = "Ctrl-Z plus Return" if sys.platform == "win32" else "Ctrl-D (i.e. EOF)"
    for name in ("exit", "quit"):
        space[name] = _sitebuiltins.Quitter(name, ending)
    try:
        yield
    finally:
        for name in _SCRIPT_NAMES:
            space.pop(name, None)
        space.update(before)
        getpass.getpass = asking
        vars(sys).update(prompts)


@contextlib.contextmanager
def _no_shell() -> Iterator[None]:
    """Let ``IPython.get_ipython()`` find no shell: libraries ask it whether they run in a notebook.

    The shell is the ``_instance`` of its class and of the bases (traitlets'
    ``SingletonConfigurable``).
    """
    shell = sys.modules.get("IPython.core.interactiveshell")
    kind = type(shell.InteractiveShell._instance) if shell is not None else object
    holders: list[Any] = [base for base in kind.__mro__ if vars(base).get("_instance") is not None]
    before = [base._instance for base in holders]
    for base in holders:
        base._instance = None
    try:
        yield
    finally:
        for base, instance in zip(holders, before, strict=True):
            base._instance = instance


@contextlib.contextmanager
def _loggers_of_a_script() -> Iterator[None]:
    """Let ``logging`` know no loggers of the kernel, which keeps them."""
    known = logging.root.manager.loggerDict
    ours = [n for n in known if n.partition(".")[0] in (*KERNEL_PACKAGES, *_KERNEL_LOGGERS)]
    hidden = {name: known.pop(name) for name in ours}
    try:
        yield
    finally:
        known.update({**hidden, **known})


def _input_from(ask: Callable[[str, bool], str | None]) -> Callable[..., str]:
    """A replacement for ``input()``; raises EOFError at the end of the input."""

    def read(prompt: object = "", /) -> str:
        for name in ("stdin", "stdout", "stderr"):
            if getattr(sys, name, None) is None:
                raise RuntimeError(f"input(): lost sys.{name}")
        print(prompt, end="", flush=True)
        file: Any = sys.stdin
        line = ask(str(prompt), False) if _is_asking(file) else file.readline()
        if not line:
            raise EOFError("EOF when reading a line")
        return str(line).removesuffix("\n")

    read.__name__ = read.__qualname__ = "input"
    return read


def _getpass_of_python() -> Callable[..., str]:
    """``getpass.getpass()`` as the module binds it; ipykernel binds another."""
    name = "win_getpass" if sys.platform == "win32" else "unix_getpass"
    function: Callable[..., str] = getattr(getpass, name)
    return function


def _getpass_from(ask: Callable[[str, bool], str | None]) -> Callable[..., str]:
    """A replacement for ``getpass.getpass()``; raises EOFError at the end of the input."""

    def read(prompt: str = "Password: ", stream: object = None, **_: Any) -> str:
        line = ask(prompt, True)
        if line is None:
            raise EOFError
        return line.removesuffix("\n")

    read.__name__ = read.__qualname__ = "getpass"
    return read


class _TypedLines(io.RawIOBase):
    """The raw file below ``sys.stdin``: each line is asked for when the snippet reads it."""

    name = "<stdin>"

    def __init__(self, ask: Callable[[str, bool], str | None]) -> None:
        super().__init__()
        self._ask = ask
        self._rest = b""

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 0

    def readinto(self, buffer: Any) -> int:
        """Fill ``buffer`` with a line, or the part that fits; returns 0 at the end of the input."""
        if not self._rest:
            line = self._ask("sys.stdin", False)
            self._rest = (line or "").encode("utf-8", "surrogateescape")
        given, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)


def _is_asking(file: Any) -> bool:
    """Whether a file is our ``sys.stdin``, not one that the snippet put in its place or closed."""
    lines = getattr(getattr(file, "buffer", None), "raw", None)
    return isinstance(lines, _TypedLines) and not lines.closed


@contextlib.contextmanager
def _standard_input(ask: Callable[[str, bool], str | None], has_terminal: bool) -> Iterator[None]:
    before = sys.stdin, sys.__stdin__
    lines = io.BufferedReader(_TypedLines(ask))
    typed = io.TextIOWrapper(
        lines, encoding="utf-8", errors="surrogateescape", line_buffering=has_terminal
    )
    vars(typed)["mode"] = "r"  # as Python does it
    sys.stdin = sys.__stdin__ = typed  # type: ignore[misc]
    try:
        yield
    finally:
        sys.stdin, sys.__stdin__ = before  # type: ignore[misc]


@contextlib.contextmanager
def _tasks_from_one(others: Set[int]) -> Iterator[None]:
    """asyncio names tasks ``Task-1`` and so on; the kernel's have used up some of the numbers.

    The counter is C's (``task_name_counter`` in _asynciomodule.c, Python 3.10-3.13) and cannot be
    set back. ``others``: threads whose tasks are the kernel's.
    """
    loop: Any = asyncio.BaseEventLoop
    create, numbers = loop.create_task, itertools.count(1)

    @functools.wraps(create)
    def create_task(self: Any, coro: Any, *, name: Any = None, **named: Any) -> Any:
        if name is None and threading.get_ident() not in others:
            name = f"Task-{next(numbers)}"
        return create(self, coro, name=name, **named)

    loop.create_task = create_task
    try:
        yield
    finally:
        loop.create_task = create


@contextlib.contextmanager
def _no_event_loop() -> Iterator[None]:
    # asyncio.run() refuses while the kernel's own loop runs in this thread.
    loop, policy = asyncio._get_running_loop(), asyncio.get_event_loop_policy()
    hooks = sys.get_asyncgen_hooks()
    asyncio._set_running_loop(None)
    asyncio.set_event_loop_policy(None)
    sys.set_asyncgen_hooks(None, None)
    try:
        yield
    finally:
        sys.set_asyncgen_hooks(*hooks)
        asyncio.set_event_loop_policy(policy)
        asyncio._set_running_loop(loop)
