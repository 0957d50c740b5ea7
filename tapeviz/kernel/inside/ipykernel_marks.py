"""Take back what ipykernel changed in Python's modules."""

from __future__ import annotations

import gc
import importlib
import sys
import threading
from typing import Any

_FROM = ("ipykernel.", "IPython.")
# The variables of ``IPythonKernel._initialize_thread_hooks`` that hold the originals (6.29-7.0).
_THREAD_METHODS = {"run": "_threading_Thread_run", "__init__": "_threading_Thread__init__"}


def remove_ipykernel_marks() -> None:
    """Give ``threading.Thread``, ``gc.callbacks`` and ``pdb`` back what a script finds there.

    ipykernel up to 7.0 runs each thread inside a function of its own, which tracebacks show.
    """
    for name, variable in _THREAD_METHODS.items():
        original = _enclosed(vars(threading.Thread)[name], variable)
        if original is not None:
            setattr(threading.Thread, name, original)
    gc.callbacks[:] = [each for each in gc.callbacks if not _is_of_ipykernel(each)]
    debugger: Any = sys.modules.get("pdb")
    if debugger is not None and _is_of_ipykernel(debugger.Pdb):
        importlib.reload(debugger)


def _enclosed(function: Any, variable: str) -> Any:
    """The value of a variable that ipykernel's ``function`` is closed over, if it is."""
    names: tuple[str, ...] = getattr(getattr(function, "__code__", None), "co_freevars", ())
    if not _is_of_ipykernel(function) or variable not in names:
        return None
    return function.__closure__[names.index(variable)].cell_contents


def _is_of_ipykernel(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith(_FROM)
