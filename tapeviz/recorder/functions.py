"""``tf.function``: whether a call runs its Python op by op, so that each op is seen, or compiled.

What only a traced function does is done in one that runs op by op as well. A TensorArray made in a
traced function is a value: ``write`` gives a new one and leaves the old as it was, and a result
that is dropped is lost. An eager one is changed in place. NumPy's arrays come in as tensors, and
numbers go out as such.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import private
from .installed import Installed
from .recording import Recording
from .tracing_effects import TracingEffects

_STEPS = ("train_step", "test_step")


def install(recording: Recording, installed: Installed) -> None:
    installed.replace(private.Function, "__call__", lambda call: _entering(recording, call))
    installed.replace(private.TensorArray, "__init__", lambda init: _making(recording, init))


def install_choice(recording: Recording, installed: Installed) -> None:
    """Let functions run op by op wherever the snippet could not tell."""
    choice = _Choice(recording, TracingEffects(recording.definitions))
    name = "_run_functions_eagerly"
    original = vars(private.Function)[name]
    chosen = property(lambda self: original.fget(self) or choice.is_eager(self))
    setattr(private.Function, name, chosen)
    installed.callback(setattr, private.Function, name, original)


class _Choice:
    """Functions inside of one that is traced are traced with it."""

    def __init__(self, recording: Recording, effects: TracingEffects) -> None:
        self._effects = effects
        self._filename = recording.filename
        self._is_eager = recording.guarded(self._choose)

    def is_eager(self, function: Any) -> bool:
        return private.is_eager() and bool(self._is_eager(function))

    def _choose(self, function: Any) -> bool:
        code = private.python_code(function)
        if code is None:
            return False
        if code.co_filename == self._filename:
            place = code.co_firstlineno
            may_run = self._effects.of(place).has_tape or not private.is_told_how_to_trace(function)
            return may_run and self._is_unnoticed(place)
        # Keras compiles what runs a model's steps: those that the snippet wrote.
        module = private.python_module(function)
        own = [name for name in _STEPS if self._effects.defines(name)]
        return module.startswith("keras.") and bool(own) and all(map(self._is_unnoticed, own))

    def _is_unnoticed(self, place: int | str) -> bool:
        effects = self._effects.of(place)
        return not effects.would_tell and not (effects.draws and private.has_seed())


def _entering(recording: Recording, call: Callable[..., Any]) -> Callable[..., Any]:
    local = recording.local

    def entering(self: Any, *args: Any, **named: Any) -> Any:
        if not private.runs_eagerly(self):
            return call(self, *args, **named)
        local.functions += 1
        try:
            if private.functions_run_eagerly():  # so the snippet wants it, and Python stays Python
                return call(self, *args, **named)
            args, named = private.to_tensors((args, named), private.ARRAYS)
            return private.to_tensors(call(self, *args, **named), private.NUMBERS)
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
