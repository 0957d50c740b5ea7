"""A kernel in; for the length of a ``with``, the process that ``python FILE`` is, out."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import getpass
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from .outlet import Outlet, text_file

_NOTEBOOK_NAMES = ("get_ipython", "display", "In", "Out")


@contextlib.contextmanager
def plain_python(folder: str, outlet: Outlet) -> Iterator[None]:
    """Working directory, ``sys.path``, streams, ``input`` and asyncio as a script has them."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(_streams(outlet))
        stack.enter_context(_names_of_a_script())
        stack.enter_context(_no_event_loop())
        os.chdir(folder)
        _set_first_path(folder)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        yield


def restore_environment(environment: Mapping[str, str | None]) -> None:
    """Undo what ipykernel changed in ``os.environ`` (``FORCE_COLOR`` colours plain output)."""
    for name, value in environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def wait_for_threads(before: frozenset[threading.Thread]) -> None:
    """Wait, as Python does at its end, for the threads the snippet left behind."""
    for thread in threading.enumerate():
        if thread not in before and not thread.daemon and thread is not threading.current_thread():
            thread.join()


def _set_first_path(folder: str) -> None:
    # IPython put '' there; a script has its own folder.
    sys.path[:] = [place for place in sys.path if place]
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, folder)


@contextlib.contextmanager
def _streams(outlet: Outlet) -> Iterator[None]:
    before = sys.stdout, sys.stderr, sys.displayhook, sys.excepthook
    files = text_file(outlet, "stdout"), text_file(outlet, "stderr")
    sys.stdout, sys.stderr = files
    sys.displayhook, sys.excepthook = sys.__displayhook__, sys.__excepthook__
    try:
        yield
    finally:
        for file in files:
            with contextlib.suppress(ValueError):  # the snippet closed it
                file.flush()
        sys.stdout, sys.stderr, sys.displayhook, sys.excepthook = before


@contextlib.contextmanager
def _names_of_a_script() -> Iterator[None]:
    space = vars(builtins)
    before = {name: space[name] for name in ("input", *_NOTEBOOK_NAMES) if name in space}
    asking = getpass.getpass
    for name in _NOTEBOOK_NAMES:
        space.pop(name, None)
    space["input"] = _no_input
    getpass.getpass = _no_input
    try:
        yield
    finally:
        space.update(before)
        getpass.getpass = asking


def _no_input(prompt: object = "", *_: Any, **__: Any) -> str:
    """What ``input()`` is where there is no keyboard: the error Python itself gives."""
    print(prompt, end="", flush=True)
    raise EOFError("input() found nothing to read: a snippet runs without a keyboard here")


@contextlib.contextmanager
def _no_event_loop() -> Iterator[None]:
    # The kernel's own loop is running in this thread, so asyncio.run() would refuse.
    loop, policy = asyncio._get_running_loop(), asyncio.get_event_loop_policy()
    asyncio._set_running_loop(None)
    asyncio.set_event_loop_policy(None)
    try:
        yield
    finally:
        asyncio.set_event_loop_policy(policy)
        asyncio._set_running_loop(loop)
