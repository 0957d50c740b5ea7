"""A NumPy value that remembers the tensor it was made from.

What is computed with it is NumPy's own; beside it TensorFlow computes the same from the tensors,
as far as it has the functions (:mod:`.followed_ops`). Only the differentiable link is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import index
from typing import Any

import numpy as np

from .. import private
from . import tensor_ops
from .followed_ops import REARRANGING, counterpart

_PYTHON = (bool, int, float)
Lose = Callable[[str], None]


class Losses:
    """Sentences about NumPy values that could not be followed, in the order of events."""

    def __init__(self, report: Lose) -> None:
        self.report = report


losses = Losses(lambda words: None)


class Followed(np.lib.mixins.NDArrayOperatorsMixin):
    """A value of the snippet, with the tensor that it stands for. ``value``: what NumPy or Python
    has; ``tensor``: the same by TensorFlow, None if it is not made from tensors, or not known
    how."""

    __slots__ = ("tensor", "value")
    __array_priority__ = 1000.0

    def __init__(self, value: Any, tensor: Any = None) -> None:
        self.value = value
        self.tensor = tensor

    # As NumPy asks.

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        out = named.pop("out", (None,))
        values = [value_of(tensor) for tensor in inputs]
        result = getattr(ufunc, method)(*values, **{k: value_of(v) for k, v in named.items()})
        if method == "__call__" and all(type(value) in _PYTHON for value in values):
            result = result.item() if isinstance(result, np.generic) else result
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        new = followed(result, name, inputs, named)
        if isinstance(out[0], Followed) and isinstance(out[0].value, np.ndarray):
            out[0].value[...] = result
            out[0].tensor = new.tensor if isinstance(new, Followed) else None
            return out[0]
        return new

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        result = function(*map(value_of, args), **{k: value_of(v) for k, v in named.items()})
        module = getattr(function, "__module__", "") or ""
        prefix = "linalg." if "linalg" in module else ""
        return followed(result, prefix + function.__name__, args, named)

    # As TensorFlow asks.

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        plain = tensor_ops.constant(self.value, dtype)
        if self.tensor is None or not tensor_ops.is_real(plain):
            return plain
        return tensor_ops.reshaped(tensor_ops.cast_like(self.tensor, plain), plain.shape)

    # As Python asks.

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.value, name)
        if name == "T":
            return np.transpose(self)
        if not callable(found):
            return found
        function = getattr(np, name, None)

        def method(*args: Any, **named: Any) -> Any:
            if name in ("item", "tolist"):
                return _as_python(self[args] if args else self)
            if name == "astype":
                return _as_type(self, *args)
            if name == "reshape" and len(args) > 1:
                return np.reshape(self, args)
            if name == "transpose" and args:
                return np.transpose(self, args[0] if len(args) == 1 else args)
            if name == "flatten":
                return np.ravel(self)
            if name == "fill":
                self[...] = args[0]
                return None
            if function is not None and not isinstance(function, type):
                return function(self, *args, **named)
            result = found(*map(value_of, args), **named)
            return followed(result, name, (self, *args), named)

        return method

    def __getitem__(self, key: Any) -> Any:
        key = value_of(key)
        return rearranged(self, self.value[key], lambda places: places[key])

    def __setitem__(self, key: Any, new: Any) -> None:
        key = value_of(key)
        self.value[key] = value_of(new)
        if not is_linked(new) and not private.is_tensor_like(new) and self.tensor is None:
            return
        shape = np.shape(self.value)
        places = np.arange(np.size(self.value)).reshape(shape)[key]
        whole = self.tensor if self.tensor is not None else tensor_ops.constant(self.value)
        part = tensor_ops.cast_like(tensor_of(new), whole)
        self.tensor = tensor_ops.with_part(whole, places, part)

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self.value)))

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return index(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __round__(self, digits: int | None = None) -> Any:
        return followed(round(self.value, digits), "round", (self,), {})

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return repr(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, how: str) -> str:
        return format(self.value, how)


def _yielding(name: str) -> Callable[..., Any]:
    """An operator that gives way to a tensor on its other side, which then computes."""
    own = getattr(np.lib.mixins.NDArrayOperatorsMixin, name)

    def operate(self: Followed, other: Any) -> Any:
        return NotImplemented if private.is_tensor_like(other) else own(self, other)

    return operate


for _name in ("add", "sub", "mul", "truediv", "matmul", "pow", "floordiv", "mod"):
    setattr(Followed, f"__{_name}__", _yielding(f"__{_name}__"))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Followed, f"__{_name}__", _yielding(f"__{_name}__"))


def is_linked(value: Any) -> bool:
    """Whether something in it was made from a tensor."""
    if isinstance(value, (list, tuple)):
        return any(map(is_linked, value))
    return isinstance(value, Followed) and value.tensor is not None


def value_of(given: Any) -> Any:
    """The plain NumPy or Python value, as the snippet has it in the run that is shown."""
    if isinstance(given, Followed):
        return given.value
    if type(given) in (list, tuple):
        return type(given)(map(value_of, given))
    if type(given) is dict:
        return {key: value_of(item) for key, item in given.items()}
    return given


def tensor_of(given: Any) -> Any:
    """The tensor of a value, a constant for one that has none; lists one by one."""
    if isinstance(given, Followed):
        return given.tensor if given.tensor is not None else tensor_ops.constant(given.value)
    if private.is_tensor_like(given):
        return tensor_ops.as_tensor(given)
    return tensor_ops.constant(np.asarray(given))


def followed(result: Any, name: str, args: Any, named: Any) -> Any:
    """NumPy's result, with the tensor that TensorFlow computes from the same arguments."""
    if isinstance(result, (tuple, list)):
        parts = [followed(item, name, args, named) for item in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    if not isinstance(result, (np.ndarray, np.generic, *_PYTHON)):
        return result
    linked = [arg for arg in args if is_linked(arg)]
    if not linked or np.asarray(result).dtype.kind not in "fc":
        return Followed(result) if isinstance(result, np.ndarray) else result
    if name in REARRANGING and isinstance(args[0], Followed):
        function = getattr(np, name)
        rest = [value_of(arg) for arg in args[1:]]
        return rearranged(args[0], result, lambda places: function(places, *rest, **named))
    try:
        tensor = counterpart(name, [_given(arg) for arg in args], _given(named), result)
    except Exception:
        tensor = None
    if tensor is None or not _is_same(result, tensor):
        losses.report(f"np.{name}")
        tensor = None
    return Followed(result, tensor)


def _given(given: Any) -> Any:
    """The arguments as TensorFlow's NumPy functions take them."""
    if is_linked(given):
        if isinstance(given, (list, tuple)):
            return type(given)(map(_given, given))
        return given.tensor
    if isinstance(given, dict):
        return {key: _given(item) for key, item in given.items()}
    return value_of(given)


def _is_same(result: Any, tensor: Any) -> bool:
    """Whether TensorFlow got the same numbers, so that it did the same."""
    other = np.asarray(tensor._numpy_internal())
    if other.shape != np.shape(result):
        return False
    return bool(np.allclose(other, result, rtol=1e-3, atol=1e-5, equal_nan=True))


def rearranged(source: Followed, result: Any, move: Callable[[Any], Any]) -> Any:
    """Elements of ``source`` in other places: those that ``move`` picks of their numbers."""
    if source.tensor is None:
        return Followed(result) if isinstance(result, np.ndarray) else result
    places = move(np.arange(np.size(source.value)).reshape(np.shape(source.value)))
    return Followed(result, tensor_ops.picked(source.tensor, np.asarray(places)))


def _as_python(given: Any) -> Any:
    """``.item()`` and ``.tolist()``: numbers of Python, each linked."""
    if not isinstance(given, Followed):
        return given
    if np.ndim(given.value):
        return [_as_python(item) for item in given]
    value = given.value.item() if hasattr(given.value, "item") else given.value
    return Followed(value, given.tensor)


def _as_type(given: Followed, dtype: Any, *more: Any) -> Any:
    result = given.value.astype(dtype, *more)
    if result.dtype.kind not in "fc":
        if given.tensor is not None:
            losses.report(f"astype({result.dtype.name})")
        return Followed(result)
    return Followed(result, given.tensor)


def array_from(given: Any, dtype: Any = None, **named: Any) -> Any:
    """``np.array`` of something in which there are linked values."""
    result = np.array(value_of(given), dtype, **named)
    if result.dtype.kind not in "fc" or not is_linked(given):
        return Followed(result)
    return Followed(result, tensor_ops.cast_to(_packed(given), result.dtype))


def _packed(given: Any) -> Any:
    if isinstance(given, (list, tuple)):
        return tensor_ops.stacked([_packed(item) for item in given])
    return tensor_ops.cast_to(tensor_of(given), np.dtype("float64"))
