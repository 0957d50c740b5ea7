"""The names of the frame that raised → what each of them meant then, for the ``error`` event.

Nothing of the snippet's Python is called: no property, no ``__getattr__``, no ``__len__``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from types import (
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np
import tensorflow as tf

from . import limits, private
from .private import is_instance

_SILENT = (ModuleType, FunctionType, MethodType, type(len), type)
_OF_PYTHON = (GetSetDescriptorType, MemberDescriptorType)
"""Descriptors by which Python itself keeps the ``__dict__`` of an object."""
_DEEPEST = 2
"""Dots and keys of a name: ``self.head.kernel``, ``settings['model']['layers']``."""

_DEEPER = re.compile(r"[.\[]")


def held_by_names(error: BaseException, filename: str) -> list[dict[str, Any]]:
    """Return the fields of a :class:`.trace.events.HeldValue` for each name that the code of the
    innermost frame of the snippet reads, and for the attributes of these that it reads."""
    frame, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            frame = trace.tb_frame
        trace = trace.tb_next
    if frame is None:
        return []
    names, found = frozenset(frame.f_code.co_names), list[dict[str, Any]]()
    with suppress(Exception):  # a thread of the snippet may change a dict meanwhile
        for name, value in _values_of(frame):
            for path, each in _with_attributes(name, value, names, _DEEPEST):
                with suppress(Exception):
                    found.append({"name": path, **_about(each)})
    found.sort(key=lambda each: len(_DEEPER.findall(each["name"])), reverse=True)
    return found[-limits.NAMES_OF_ERROR :]  # names themselves rather than their parts


def _values_of(frame: FrameType) -> Iterator[tuple[str, Any]]:
    known = frame.f_locals
    own: Mapping[str, Any] = {} if known is frame.f_globals else known  # of a function or a class
    yield from own.items()
    for name in frame.f_code.co_names:
        if name in frame.f_globals and name not in own:
            yield name, frame.f_globals[name]


def _with_attributes(
    path: str, value: Any, names: frozenset[str], depth: int
) -> Iterator[tuple[str, Any]]:
    if is_instance(value, _SILENT):
        return
    yield path, value
    attributes = _attributes(value) if depth else {}
    for name in names & attributes.keys():
        yield from _with_attributes(f"{path}.{name}", attributes[name], names, depth - 1)
    if type(value) is dict and depth:
        for key, each in islice(value.items(), limits.KEYS_OF_NAME):
            if type(key) in (str, int) and type(each) in (dict, list, tuple):
                yield from _with_attributes(f"{path}[{key!r}]", each, names, depth - 1)


def _attributes(value: Any) -> Mapping[str, Any]:
    """The attributes that an object itself has, as its ``__dict__`` holds them."""
    if is_instance(value, (*_WITH_SHAPE, np.ndarray, list, tuple, dict)):
        return {}
    spaces = map(vars, type(value).__mro__)
    kept: Any = next((each["__dict__"] for each in spaces if "__dict__" in each), None)
    own = kept.__get__(value) if type(kept) in _OF_PYTHON else None  # no property of the snippet
    return own if type(own) is dict else {}


def _about(value: Any) -> dict[str, Any]:
    kind = type(value)
    about: dict[str, Any] = {"type": kind.__name__}
    if value is None or kind in (bool, int, float):
        words = repr(value)
        return about | ({"value": words} if len(words) <= _LONGEST else {})
    if kind is np.ndarray or is_instance(value, _WITH_SHAPE) or _is_of_keras(kind, _OF_KERAS):
        shape = value.shape
        sizes = None if getattr(shape, "rank", 0) is None else [*shape]
        dtype = getattr(value.dtype, "name", value.dtype)
        return about | {"shape": sizes, "dtype": str(dtype), "tensor": _id_of(value)}
    for known in (dict, list, tuple):
        if is_instance(value, known):
            kind = kind if _is_of_keras(kind) else known  # not what a class of the snippet's does
            about["size"] = kind.__len__(value)
            if known is dict:
                keys = islice(kind.__iter__(value), limits.KEYS_OF_NAME)
                about["keys"] = [str(key) for key in keys if type(key) in (str, int)]
            return about
    names = [name for name in _attributes(value) if not name.startswith("_")]
    return about | {"keys": names[: limits.KEYS_OF_NAME]}


def _id_of(value: Any) -> int:
    """The id that events name an eager tensor by, or a variable."""
    handle = private.handle_of(value)
    tensor = value if handle is None else handle
    return private.id_of(tensor) if type(tensor) is private.EagerTensor else 0


def _is_of_keras(kind: type, names: Sequence[str] = ()) -> bool:
    """Whether a class is one of TensorFlow's or Keras's own, of one of these names if any."""
    is_own = kind.__module__.partition(".")[0] in ("tensorflow", "keras", "tf_keras")
    return is_own and (not names or kind.__name__ in names)


_WITH_SHAPE = (tf.Tensor, tf.Variable, np.generic)
_OF_KERAS = ("Variable", "KerasTensor")
_LONGEST = 20
"""Letters of a number."""
