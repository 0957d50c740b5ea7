"""Record values that the snippet's names are bound to, as ``bind`` events."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from sys import _getframe, exc_info
from types import FrameType
from typing import Any

import numpy as np
import tensorflow as tf

from .. import limits, private
from ..installed import Installed, clean
from ..private import is_instance
from ..recording import RecordingContext
from .instrument import BIND, CAUGHT, HOOKS, MADE, PUT, TAKEN
from .leaving import log_left
from .tapes import TapeRegistry

_SCALARS = frozenset((bool, int, float))
_NUMBERS = (bool, int, float, complex, np.ndarray, np.generic)


def install(recording: RecordingContext, installed: Installed, tapes: TapeRegistry) -> None:
    """Make the hooks that the instrumented snippet calls builtin functions."""
    names = Names(recording, tapes)
    hooks = {BIND: names.make_bind(), CAUGHT: names.caught, TAKEN: names.taken, MADE: names.made}
    hooks[PUT] = names.put
    for name, hook in hooks.items():
        setattr(builtins, name, hook)
        # The snippet's functions may be called after its end (atexit, threads): they find this.
        installed.callback(setattr, builtins, name, passed)
    builtins.__dir__ = _names_of_builtins  # type: ignore[method-assign]
    installed.replace(suppress, "__exit__", names.suppressing)


def _names_of_builtins() -> list[str]:
    """``dir(builtins)``, which a module may answer itself (PEP 562), without the hooks."""
    return [name for name in vars(builtins) if not name.startswith(HOOKS) and name != "__dir__"]


def passed(*values: Any, **_: Any) -> Any:
    """A hook that does nothing."""
    return values[-1] if values else None


class Names:
    """The hooks that the instrumented snippet calls."""

    def __init__(self, recording: RecordingContext, tapes: TapeRegistry) -> None:
        self._recording = recording
        self._tapes = tapes
        self._append, self._here = recording.append, recording.sites.here
        self._local = recording.local
        self._counts: dict[int | tuple[str, int], int] = {}
        """The bindings without tensors that were sent, by number or by name and instruction."""
        self._ops = recording.encoder.history.lines
        self._taken: dict[int, list[Any]] = {}
        self._errors = 0

    def make_bind(self) -> Callable[..., Any]:
        """Make the hook that reports that ``name`` now means ``value``, and returns that. Hot.

        ``place``: the number of a report that stands outside of functions, so that its site is
        always the same and is looked for once; else 0.
        """
        recording, append, here = self._recording, self._append, self._here
        local, getframe, eager = self._local, _getframe, private.EagerTensor
        sites: dict[int, int] = {}

        def bind(place: int, name: str, value: Any) -> Any:
            kind = type(value)
            try:
                if not place and local.hidden:  # no module's code runs while something is hidden
                    return value
                if kind is eager or (kind in _SCALARS and self._is_sent(place, name, getframe(1))):
                    site = sites.get(place)
                    if site is None:
                        site = here(getframe(1))
                        if place:
                            sites[place] = site
                    append((None, name, value, site))
                elif kind not in _SILENT:
                    # What it calls of the snippet's, such as words for a key, binds names again.
                    local.hidden += 1
                    try:
                        self._bound(name, value, kind, getframe(1))
                    finally:
                        local.hidden -= 1
            except RecursionError:
                pass  # the snippet is about to meet it itself
            except Exception:
                recording.log.complain("a name")
            return value

        return bind

    def _is_sent(self, place: int, name: str, frame: FrameType) -> bool:
        """Whether one more binding without tensors is sent for a place or an instruction: there are
        as many as ops ran so far, and some more. So each turn of a loop that runs ops is recorded,
        and a loop of Python alone, such as one with a counter, does not flood the recording."""
        key = place or (name, frame.f_lasti)
        count, most = self._counts.get(key, 0), limits.BINDINGS_OF_NAME
        # The thread that encodes writes the list of ops: to read it here costs a cache miss.
        if count >= most and count >= most + len(self._ops):
            return False
        self._counts[key] = count + 1
        return True

    def taken(self, call: int, value: Any) -> Any:
        """Note that NumPy is about to get ``value``; return it."""
        try:
            if is_instance(value, (list, tuple)):
                for _, item in _elements(value, depth=2):
                    self.taken(call, item)
            elif type(value) is private.EagerTensor:
                self._taken.setdefault(call, []).append(value)
            elif type(value) not in _UNINTERESTING and not is_instance(value, _NUMBERS):
                self._taken.setdefault(call, []).extend(self._value_of(value))
        except RecursionError:
            pass  # as in bind()
        except Exception:
            self._recording.log.complain("an argument of NumPy")
        return value

    def made(self, call: int, how: str, value: Any) -> Any:
        """Note that NumPy made ``value`` from the tensors it was given; return ``value``. A tensor
        was made by TensorFlow: the name that was called meant another object at this time."""
        if self._taken:
            taken = self._taken.pop(call, ())
            for tensor in () if self._recording.tensor_of(value) is not None else taken:
                with self._recording.shielded("a result of NumPy"):
                    if not self._local.hidden:
                        log_left(self._recording, tensor, how, _getframe(1), value)
        return value

    def put(self, value: Any, into: Any) -> Any:
        """Note that ``value`` is about to be written into elements of ``into``; return it."""
        try:
            if is_instance(into, np.ndarray) and not self._local.hidden:
                with self._recording.shielded("an element of an array"):
                    for tensor in (
                        [value] if type(value) is private.EagerTensor else self._value_of(value)
                    ):
                        log_left(self._recording, tensor, "array", _getframe(1), into)
        except RecursionError:
            pass  # as in bind()
        return value

    def _value_of(self, value: Any) -> list[Any]:
        """A variable's handle stands for the value that NumPy reads from it."""
        tensor = self._recording.tensor_of(value)
        return [] if tensor is None else [tensor]

    def caught(self) -> None:
        """Take our frames out of an exception that the snippet is about to look at; report it."""
        try:
            error = exc_info()[1]
            clean(error)
            self._errors += 1
            if error is not None and self._errors <= limits.CAUGHT_ERRORS:
                self._log_caught(error, _getframe(1))
        except RecursionError:
            pass
        except Exception:
            self._recording.log.complain("an exception's traceback")

    def suppressing(self, leave: Callable[..., Any]) -> Callable[..., Any]:
        """``contextlib.suppress.__exit__``, which reports what it keeps from the snippet."""

        def leaving(block: Any, kind: Any = None, error: Any = None, trace: Any = None) -> Any:
            is_kept = leave(block, kind, error, trace)
            if is_kept and kind is not None and self._recording.is_direct(_getframe(1)):
                self._errors += 1
                if self._errors <= limits.CAUGHT_ERRORS:
                    with self._recording.shielded("a suppressed exception"):
                        self._log_caught(error, _getframe(1))
            return is_kept

        return leaving

    def _log_caught(self, error: BaseException, frame: FrameType) -> None:
        lines, trace = [], error.__traceback__
        while trace is not None:
            if line := self._recording.line_in_snippet(trace.tb_frame, trace.tb_lineno):
                lines.append(line)
            trace = trace.tb_next
        # Its own __str__, args or __getattr__ may be the snippet's Python: nothing of it is called.
        args = BaseException.args.__get__(error)  # type: ignore[attr-defined]
        is_of_tensorflow = type(error).__module__.startswith("tensorflow.")
        words = args[0] if args else ""
        words = getattr(error, "message", words) if is_of_tensorflow else words
        if not self._local.hidden:
            site = self._recording.here(frame)
            fields = {"e": "caught", "type": type(error).__name__, "lines": lines}
            message = words[: limits.LETTERS_OF_CAUGHT] if type(words) is str else ""
            self._recording.emit({**fields, "message": message, "site": site})

    def _bound(self, name: str, value: Any, kind: type, frame: FrameType) -> None:
        about, tensors = self._about(value)
        if about is None:
            return
        has_tensors = "tensors" in about or "tape" in about
        if not has_tensors and not self._is_sent(0, name, frame):
            return
        site = self._here(frame)
        self._recording.emit({"e": "bind", "name": name, "site": site, **about}, tensors)

    def _about(self, value: Any) -> tuple[dict[str, Any] | None, list[Any]]:
        recording = self._recording
        if is_instance(value, _NUMBERS):
            about = {"value": type(value).__name__, "object": id(value)}
            if type(value) is np.ndarray:
                about |= {"shape": value.shape, "dtype": value.dtype.name}
            return about, []
        if is_instance(value, private.GradientTape):
            return {"value": type(value).__name__, "tape": self._tapes.number(value)}, []
        tensor = self._tensor(value)
        if tensor is not None:
            of_parts = {"value": type(value).__name__} if private.is_ragged_or_sparse(value) else {}
            return {**of_parts, "tensors": [[recording.id(tensor), []]]}, [tensor]
        if is_instance(value, (list, tuple, dict)):
            return self._about_container(value)
        kind = type(value).__name__
        if _is_model(value):
            return {"value": f"keras {_is_model(value)}", "object": id(value)}, []
        if is_instance(value, tf.Module):  # a block that a loop goes on to
            return {"value": "Module", "object": id(value)}, []
        if "Dataset" in kind or "Iterator" in kind or "Metric" in kind:
            return {"value": kind, "object": id(value)}, []
        return None, []

    def _about_container(self, value: Any) -> tuple[dict[str, Any] | None, list[Any]]:
        found = [(key, self._tensor(item)) for key, item in _elements(value, depth=2)]
        tensors = [tensor for _, tensor in found if tensor is not None]
        if tensors:
            pairs = [
                [self._recording.id(tensor), key] for key, tensor in found if tensor is not None
            ]
            return {"tensors": pairs}, tensors
        if is_instance(value, dict):
            return None, []
        items = [item for _, item in islice(_pairs(value), limits.ELEMENTS_OF_NAME)]
        if items and all(is_instance(item, _NUMBERS) for item in items):
            return {"value": type(value).__name__, "object": id(value)}, []
        return None, []

    def _tensor(self, value: Any) -> Any:
        if type(value) in _UNINTERESTING:
            return None
        if is_instance(value, private.IndexedSlices):
            value = value.values
        return self._recording.tensor_of(value)


def _elements(value: Any, depth: int) -> Iterator[tuple[list[Any], Any]]:
    """The elements of a container, each with the keys that lead to it."""
    for key, item in islice(_pairs(value), limits.ELEMENTS_OF_NAME):
        plain = key if isinstance(key, int) else str(key)
        if is_instance(item, (list, tuple, dict)) and depth > 1:
            for inner, leaf in _elements(item, depth - 1):
                yield [plain, *inner], leaf
        else:
            yield [plain], item


def _pairs(value: Any) -> Iterator[tuple[Any, Any]]:
    """Keys and elements; what a subclass of the snippet's does on iteration is not called."""
    kind = type(value)
    if kind.__module__.startswith(("tensorflow", "keras", "tf_keras")):
        return iter(value.items() if is_instance(value, dict) else enumerate(value))
    if issubclass(kind, dict):
        return iter(list(dict.items(value)))
    return iter(
        enumerate(list.__iter__(value) if issubclass(kind, list) else tuple.__iter__(value))
    )


def _is_model(value: Any) -> str:
    """``model`` or ``layer`` for Keras objects."""
    for kind in type(value).__mro__:
        if kind.__module__.startswith(("keras", "tf_keras", "tensorflow.python.keras")):
            if kind.__name__ == "Model":
                return "model"
            if kind.__name__ == "Layer":
                return "layer"
    return ""


_UNINTERESTING = frozenset(
    (str, bytes, type(None), type, type(lambda: 0), type(len), type(sys), set, frozenset, range)
)
_SILENT = _UNINTERESTING | _SCALARS
"""Types of values that :meth:`Names._bound` has nothing to do with."""
