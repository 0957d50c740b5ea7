"""Measure tensors while the snippet runs: large ones by a sample, where that cannot miss a NaN.

To read each value of a large model once more takes as long as a fifth of its step. An op that only
adds, multiplies or moves numbers gives finite ones for finite ones, unless they are so large that
they overflow. So its result is known to be finite if its inputs are known to be, and the sample
has but to tell the norm, as an estimate. Everything else is read in full: what other ops gave, what
was made from something that is not finite, or large, and what nothing made. So the op after which
elements are not finite is the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import private
from .json_text import to_json
from .values import (
    address_of,
    array_of,
    go_together,
    norm_alone,
    norm_of_sample,
    statistics,
    statistics_of_many,
)

Statistics = list["float | None"]

_LEAST_SAMPLED = 1 << 17
"""Elements of a tensor from which on a sample takes less time than all of them."""
_GREAT = 1e7
"""A norm from which on products may overflow before a sample shows it."""


def _is_never(last: np.ndarray[Any, Any]) -> bool:
    return False


def _is_always(last: np.ndarray[Any, Any]) -> bool:
    return True


def _is_away_from_zero(last: np.ndarray[Any, Any]) -> bool:
    return bool(last.size) and float(np.abs(last).min()) > 1e-6


def _is_small_power(last: np.ndarray[Any, Any]) -> bool:
    return last.size == 1 and float(last.flat[0]) in (0.0, 1.0, 2.0, 3.0)


_STEADY_OPS = (
    *("Add", "AddN", "AddV2", "BiasAdd", "Mul", "Neg", "Square", "SquaredDifference", "Sub"),
    *("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "BiasAddGrad", "Einsum", "MatMul", "Sum"),
    *("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "DepthwiseConv2dNative"),
    *("DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput"),
    *("Conv3D", "Conv3DBackpropFilterV2", "Conv3DBackpropInputV2"),
    *("AvgPool", "AvgPoolGrad", "FusedBatchNormGradV3", "FusedBatchNormV3", "MaxPool"),
    *("MaxPoolGrad", "LogSoftmax", "Softmax", "ClipByValue", "Maximum", "Minimum"),
    *("Elu", "EluGrad", "LeakyRelu", "LeakyReluGrad", "Relu", "Relu6", "Relu6Grad", "ReluGrad"),
    *("Selu", "SeluGrad", "Sigmoid", "SigmoidGrad", "Softplus", "SoftplusGrad", "Softsign"),
    *("Cos", "Erf", "Erfc", "Sin", "Tanh", "TanhGrad", "OnesLike", "ZerosLike"),
    *("BroadcastTo", "Concat", "ConcatV2", "ExpandDims", "GatherV2", "Identity", "MirrorPad"),
    *("MirrorPadGrad", "Pack", "Pad", "PadV2", "Reshape", "Select", "SelectV2", "Slice", "Split"),
    *("SplitV", "Squeeze", "StridedSlice", "StridedSliceGrad", "Tile", "Transpose", "Unpack"),
)
_STEADY: dict[str | bytes, Callable[[np.ndarray[Any, Any]], bool]] = {
    **dict.fromkeys(_STEADY_OPS, _is_always),
    "RealDiv": _is_away_from_zero,
    "Pow": _is_small_power,
}
_STEADY |= {name.encode(): condition for name, condition in _STEADY.items()}  # type: ignore[union-attr]
"""Ops whose result is finite wherever their inputs are, unless numbers overflow (kernels of
TensorFlow 2.15-2.21), and what has to hold of the last input, a small one, for that."""


class _Waiting(NamedTuple):
    """A tensor whose statistics are to be found, in the order in which they were computed.

    ``array``: None if it is not measured, as nothing names it. ``place``: of its event among those
    of a batch, and the text ``before`` and ``after`` its statistics. ``sources``: the large tensors
    that it was made from if they alone decide whether its elements are finite, else None.
    """

    identity: int
    sources: Sequence[int] | None
    array: Any = None
    place: int = -1
    before: str = ""
    after: str = ""


class Measuring:
    """Statistics of the tensors whose elements do not travel."""

    def __init__(self, is_held: Callable[[int], bool], is_small: Callable[[int], bool]) -> None:
        """``is_held``: whether a tensor's memory is held; ``is_small``: whether its elements
        travelled."""
        self.is_over = False
        """The snippet is over: all statistics of each tensor are made, of all its elements."""
        self._is_held = is_held
        self._is_small = is_small
        self._waiting: list[_Waiting] = []
        self._known: dict[tuple[int, int, str], tuple[int, Statistics | None, bool]] = {}
        self._norms: dict[int, float | None] = {}
        self._estimates: dict[int, float | None] = {}
        """Norms while the snippet ran, of all elements and by samples, to know tensors again."""
        self._doubtful: set[int] = set()
        """Large tensors that are not finite, that are large, or of which neither is known."""

    def wait(
        self,
        lines: list[str],
        before: str,
        after: str,
        identity: int,
        array: Any,
        sources: Sequence[int] | None,
    ) -> None:
        """Append an event to ``lines``, without its statistics until :meth:`complete`."""
        self._waiting.append(_Waiting(identity, sources, array, len(lines), before, after))
        lines.append("")

    def pass_over(self, identity: int, sources: Sequence[int] | None) -> None:
        """Take note of a large tensor that is not to be measured, unless something names it."""
        self._waiting.append(_Waiting(identity, sources))

    def sources(self, op_type: str | bytes | None, inputs: Sequence[Any]) -> list[int] | None:
        """The large tensors by which it is decided whether what an op gave is finite; None if it
        may be infinite or NaN whatever they are."""
        condition = _STEADY.get(op_type or "", _is_never)
        if condition is _is_never:
            return None
        large: list[int] = []
        last = _EMPTY
        for tensor in inputs:
            identity = private.id_of(tensor)
            if self._is_small(identity):
                last = array_of(tensor)
                if last.dtype.kind not in "biu" and not _is_moderate(last):
                    return None
            else:
                large.append(identity)
                last = _EMPTY
        return large if condition is _is_always or condition(last) else None

    def complete(self, lines: list[str]) -> None:
        """Write the statistics into the events that wait for them, all of this batch."""
        waiting, self._waiting = self._waiting, []
        by_size: dict[int, list[_Waiting]] = {}
        for each in waiting:
            if each.array is not None and go_together(each.array):
                by_size.setdefault(each.array.size, []).append(each)
        together: dict[int, Statistics | None] = {}
        for alike in by_size.values():
            found = statistics_of_many([each.array for each in alike])
            together.update(zip([each.place for each in alike], found, strict=True))
        for each in waiting:
            is_sound = each.sources is not None and self._doubtful.isdisjoint(each.sources)
            if each.array is None:
                if not is_sound:
                    self._doubtful.add(each.identity)
                continue
            stats, is_estimate = (
                (together[each.place], False)
                if each.place in together
                else self._measure(each.identity, each.array, is_sound)
            )
            norm = stats[3] if stats else None
            (self._estimates if is_estimate else self._norms)[each.identity] = norm
            is_float = each.array.dtype.kind not in "biu"
            if is_float and not (
                stats and _is_finite(stats) and norm is not None and norm <= _GREAT
            ):
                self._doubtful.add(each.identity)
            else:
                self._doubtful.discard(each.identity)
            estimated = ',"estimated":true' if is_estimate else ""
            lines[each.place] = f"{each.before}{as_field(stats)}{estimated}{each.after}"

    def _measure(self, identity: int, array: Any, is_sound: bool) -> tuple[Statistics | None, bool]:
        """Statistics of an array, and whether the norm is an estimate; while the snippet runs the
        norm alone if that will do. Those of another tensor in the same memory, which a reshape, a
        read or an identity shares, as long as that one is held."""
        if self.is_over:
            return statistics(array), False
        key = (address_of(array), array.nbytes, array.dtype.str)
        known, stats, is_estimate = self._known.get(key, (0, None, False))
        if not self._is_held(known) or (is_estimate and not is_sound):
            norm = norm_of_sample(array) if is_sound and array.size >= _LEAST_SAMPLED else None
            is_estimate = norm is not None and norm <= _GREAT
            if not is_estimate:
                norm = norm_alone(array)
            stats = statistics(array) if norm is None else [None, None, None, norm, 0.0, 0.0]
            self._known[key] = identity, stats, is_estimate
        return stats, is_estimate

    def is_same(self, identity: int, tensor: Any) -> bool:
        """Whether a tensor that was computed anew has the norm of the one with this id, as far as
        that is known."""
        array = array_of(tensor)
        estimate = self._estimates.get(identity)
        if estimate is not None:
            return norm_of_sample(array) == estimate
        known = self._norms.get(identity)
        return known is None or _norm(array) == known


def as_field(found: Statistics | None) -> str:
    """Statistics as a field of an event; JSON's numbers are Python's unless one is missing."""
    text = str(found) if found and None not in found else to_json(found)
    return f',"stats":{text}'


_EMPTY: np.ndarray[Any, Any] = np.zeros(0, np.float32)


def _is_moderate(array: np.ndarray[Any, Any]) -> bool:
    """Whether the elements of a small array are finite, and none is large."""
    if array.dtype.kind != "f":
        return False
    flat = array.reshape(-1)
    return bool(np.dot(flat, flat) < _GREAT**2)  # of small arrays: BLAS wakes no threads for them


def _is_finite(stats: Statistics) -> bool:
    return not (stats[4] or stats[5])


def _norm(array: Any) -> float | None:
    """The norm of a large array, as it was measured while the snippet ran."""
    norm = None if go_together(array) else norm_alone(array)
    if norm is None:
        found = statistics(array)
        norm = found[3] if found else None
    return norm
