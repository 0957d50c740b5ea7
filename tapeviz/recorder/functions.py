"""``tf.function`` bodies that run eagerly in; what only a traced one does, done there as well.

A TensorArray made in a traced function is a value: ``write`` gives a new one and leaves the old as
it was, and a result that is dropped is lost. An eager one is changed in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import private
from .installed import Installed
from .recording import Recording


def install(recording: Recording, installed: Installed) -> None:
    installed.replace(private.Function, "__call__", lambda call: _entering(recording, call))
    installed.replace(private.TensorArray, "__init__", lambda init: _making(recording, init))


def _entering(recording: Recording, call: Callable[..., Any]) -> Callable[..., Any]:
    local = recording.local

    def entering(self: Any, *args: Any, **named: Any) -> Any:
        if not private.runs_eagerly(self):
            return call(self, *args, **named)
        local.functions += 1
        try:
            return call(self, *args, **named)
        finally:
            local.functions -= 1

    return entering


def _making(recording: Recording, init: Callable[..., Any]) -> Callable[..., Any]:
    local = recording.local

    def __init__(self: Any, *args: Any, **named: Any) -> None:
        init(self, *args, **named)
        if local.functions:
            private.make_value_like(self, *args, **named)

    return __init__
