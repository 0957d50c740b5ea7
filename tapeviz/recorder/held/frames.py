"""The frame that raised → what the names and expressions in it meant then, for the ``error`` event.

Nothing of the snippet's Python is called: no property, no ``__getattr__``, no ``__len__``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from linecache import cache, getline
from types import FrameType, ModuleType, TracebackType
from typing import Any

import numpy as np
import tensorflow as tf

from .. import limits, private
from ..hooks.definitions import parsed
from ..hooks.instrument import HOOKS
from ..private import is_instance
from .paths import attributes_of, documented_parameters, is_of_tensorflow, parameters_of, value_of

_Span = tuple[int, int, int, int]


def held_by_names(error: BaseException, filename: str) -> dict[str, Any]:
    """Return the fields ``span`` and ``held`` of :class:`.trace.events.Raised`: where the
    expression stands that raised in the innermost frame of the snippet, and a
    :class:`.trace.events.HeldValue` for each name, attribute and element that the code of this
    frame reads, those on the line that raised first."""
    found = _innermost(error, filename)
    if found is None:
        return {}
    frame, span = found
    held: dict[str, dict[str, Any]] = {}
    with suppress(Exception):  # a thread of the snippet may change a dict meanwhile
        for node in islice(_expressions(filename, frame, span[0]), 10 * limits.NAMES_OF_ERROR):
            path = ast.unparse(node)
            if path not in held and len(path) <= _LONGEST_PATH:
                with suppress(Exception):
                    value = value_of(node, frame)
                    held[path] = {"name": path, **_about(value)}
                    if held[path].get("takes") and getattr(node, "lineno", 0) == span[0]:
                        held[path]["says"] = documented_parameters(value)
            if len(held) >= limits.NAMES_OF_ERROR:
                break
    return {"span": span, "held": [each for each in held.values() if len(each) > 1]}


def _innermost(error: BaseException, filename: str) -> tuple[FrameType, _Span] | None:
    """The innermost frame of the snippet, or of what AutoGraph made of it, and the expression that
    it stands at; the columns are -1 where Python (before 3.11) or AutoGraph does not say them."""
    line = private.line_in_converted(error, filename)
    if line:
        error = private.as_raised_in_converted(error)
    found: tuple[FrameType, _Span] | None = None
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file == filename:
            found = trace.tb_frame, _span(trace, filename)
        elif line and private.is_generated(file):
            found = trace.tb_frame, (line, -1, -1, -1)
        trace = trace.tb_next
    return found


def _span(trace: TracebackType, filename: str) -> _Span:
    code, index = trace.tb_frame.f_code, trace.tb_lasti // 2
    positions = list(code.co_positions()) if hasattr(code, "co_positions") else []
    line, end_line, column, end = positions[index] if 0 <= index < len(positions) else [None] * 4
    if line is None or end_line is None or column is None or end is None:
        return trace.tb_lineno, -1, -1, -1

    def characters(number: int, offset: int) -> int:
        """The column in characters of one in bytes of UTF-8."""
        text = getline(filename, number)
        return len(text.encode(errors="surrogatepass")[:offset].decode(errors="ignore"))

    return line, characters(line, column), end_line, characters(end_line, end)


def _expressions(filename: str, frame: FrameType, line: int) -> Iterator[ast.expr]:
    """The names, attributes and elements that the code around a line reads: those in the
    expressions on the line, then the names of the frame, then the others."""
    known = cache.get(filename)
    tree = parsed("".join(known[2]) if known is not None and len(known) == 4 else "")
    bound = private.locals_of(frame)
    own = [*bound] if bound is not frame.f_globals else frame.f_code.co_names
    names = [ast.Name(name) for name in own if not name.startswith(HOOKS)]
    first, others = list[ast.expr](), list[ast.expr]()
    for node in _outermost(tree):
        is_here = node.lineno <= line <= (node.end_lineno or node.lineno)
        if is_here or abs(node.lineno - line) <= _NEAR_LINES:
            found = (each for each in ast.walk(node) if isinstance(each, _PATHS))
            (first if is_here else others).extend(found)
    yield from (*first, *names, *others)


def _outermost(tree: ast.AST) -> Iterator[ast.expr]:
    waiting = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.expr):
                yield node
            else:
                waiting.append(node)


def _about(value: Any) -> dict[str, Any]:
    kind = type(value)
    if is_instance(value, ModuleType):
        return {}
    about: dict[str, Any] = {"type": kind.__name__}
    if value is None or kind in (bool, int, float, str):
        words = repr(value) if kind is not str or len(value) <= _LONGEST else ""
        return about | ({"value": words} if 0 < len(words) <= _LONGEST else {})
    if kind is np.ndarray or is_instance(value, _WITH_SHAPE) or _is_of_keras(kind, _OF_KERAS):
        sizes = _sizes(value.shape)
        dtype = getattr(value.dtype, "name", value.dtype)
        if kind is np.ndarray and value.dtype.kind in "biuf" and 0 < value.size <= _FEW:
            about["value"] = str(value.tolist())
        return about | {"shape": sizes, "dtype": str(dtype), "tensor": _id_of(value)}
    if kind is tf.TensorShape and value.rank is not None:
        return about | {"size": value.rank}
    for known in (dict, list, tuple):
        if is_instance(value, known):
            kind = kind if is_of_tensorflow(kind) else known  # not what the snippet's class does
            about["size"] = kind.__len__(value)
            first = [*islice(kind.__iter__(value), limits.KEYS_OF_NAME)]
            if known is dict:
                about["keys"] = [str(key) for key in first if type(key) in (str, int, float)]
                first = [*islice(kind.values(value), limits.KEYS_OF_NAME)]
            return about | ({"kinds": [*dict.fromkeys(map(_kind, first))]} if first else {})
    if (parameters := parameters_of(value)) is not None:
        takes, defaults = parameters
        return about | {"takes": takes} | ({"defaults": defaults} if defaults else {})
    names = [name for name in attributes_of(value) if not name.startswith("_")]
    return about | {"keys": names[: limits.KEYS_OF_NAME]}


def _kind(value: Any) -> str:
    """``ndarray of shape (3,)``, or the name of another class."""
    name = type(value).__name__
    if type(value) is np.ndarray or is_instance(value, (tf.Tensor, tf.Variable)):
        sizes = _sizes(value.shape)
        return name if sizes is None else f"{name} of shape {tuple(sizes)}"
    return name


def _sizes(shape: Any) -> list[int | None] | None:
    """Numbers, where ``tf.compat.v1.disable_v2_tensorshape()`` lets a shape give objects, too."""
    if isinstance(shape, tf.TensorShape):
        return None if shape.rank is None else list(shape.as_list())
    return [*shape]


def _id_of(value: Any) -> int:
    """The id that events name an eager tensor by, or a variable."""
    handle = private.handle_of(value)
    tensor = value if handle is None else handle
    return private.id_of(tensor) if type(tensor) is private.EagerTensor else 0


def _is_of_keras(kind: type, names: Sequence[str]) -> bool:
    """Whether a class is one of TensorFlow's or Keras's own, of one of these names."""
    return is_of_tensorflow(kind) and kind.__name__ in names


_PATHS = (ast.Name, ast.Attribute, ast.Subscript)
_WITH_SHAPE = (tf.Tensor, tf.Variable, np.generic)
_OF_KERAS = ("Variable", "KerasTensor")
_LONGEST = 20
"""Letters of a number or a text."""
_FEW = 4
"""Elements of an array that is told whole."""
_LONGEST_PATH = 80
_NEAR_LINES = 200
"""Lines around the one that raised whose expressions are looked at."""
