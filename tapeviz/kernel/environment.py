"""Make the environment variables of kernels from our own."""

from __future__ import annotations

import os
from collections.abc import Mapping

_DEFAULTS = {"TF_CPP_MIN_LOG_LEVEL": "2", "MPLBACKEND": "Agg"}
_READ_ONCE = ("TF_CPP_MIN_LOG_LEVEL", "MPLBACKEND")
"""Defaults of ours that are read when modules are loaded, and then no more.

The first by TensorFlow (2.15-2.21), the second by matplotlib, which Keras imports where it is
installed; ``inside/figures.py`` sets it again for a snippet that imports matplotlib itself.
"""
# A test runner's mark would make ipykernel leave the output alone; a bundle's would mislead Python.
_OURS_ALONE = ("PYTEST_CURRENT_TEST", "PYTEST_VERSION", "__PYVENV_LAUNCHER__")
# Variables that ipykernel sets in its own process, which a script would not see.
_CHANGED_BY_IPYKERNEL = (
    "TERM",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "PAGER",
    "GIT_PAGER",
    "MPLBACKEND",
    "PYDEVD_USE_FRAME_EVAL",
    "IPYTHONDIR",
    "JPY_PARENT_PID",
    "JPY_INTERRUPT_EVENT",
    "JPY_SESSION_NAME",
)


def kernel_environment(settings: Mapping[str, str] | None = None) -> dict[str, str]:
    """The user's environment, with our defaults for variables that are not set, and
    ``settings``."""
    environment = {**_DEFAULTS, **os.environ, **(settings or {})}
    for name in _OURS_ALONE:
        environment.pop(name, None)
    return environment


def environment_to_restore(environment: Mapping[str, str]) -> dict[str, str | None]:
    """The values that a snippet sees for the variables that ipykernel changes; None: unset."""
    return {name: environment.get(name) for name in _CHANGED_BY_IPYKERNEL}


def defaults_to_remove(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Variables that only we set, for the time in which modules are loaded: all to be unset."""
    return {
        name: None
        for name in _READ_ONCE
        if name not in os.environ and environment.get(name) == _DEFAULTS[name]
    }
