"""Jupyter kernels that run snippets: found, started, warmed up, stopped.

A :class:`KernelPool` takes a :class:`RunRequest` and reports to a :class:`RunListener`; each run
gets a fresh process.
"""

from __future__ import annotations

from .choices import (
    check_interpreter,
    choose_interpreter,
    choose_kernel,
    find_kernels,
    own_interpreter,
)
from .model import Confinement, KernelChoice, PoolStatus, RunEnd, RunListener, RunRequest, Versions
from .pool import KernelPool
from .run import Run

__all__ = [
    "Confinement",
    "KernelChoice",
    "KernelPool",
    "PoolStatus",
    "Run",
    "RunEnd",
    "RunListener",
    "RunRequest",
    "Versions",
    "check_interpreter",
    "choose_interpreter",
    "choose_kernel",
    "find_kernels",
    "own_interpreter",
]
