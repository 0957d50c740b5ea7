"""Measure tensors while the snippet runs: large ones by a sample, where that cannot miss a NaN.

To read each value of a large model once more takes as long as a fifth of its step. An op that only
adds, multiplies or moves numbers gives finite ones for finite ones, unless they are so large that
they overflow. So its result is known to be finite if its inputs are, and if the norm that it may
have by theirs is far from overflowing; the sample has but to tell the norm, as an estimate.
Everything else is read in full: what other ops gave, what was made from something that is not
finite, or may be large, and what nothing made. So the op after which elements are not finite is the
right one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import inf, prod, sqrt
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

LEAST_SAMPLED = 1 << 17
"""Elements of a tensor from which on a sample takes less time than all of them."""
_LARGEST = 1e30
"""The largest norm that a result may have for a sample to be enough: float32 ends at 3.4e38, and
what a kernel adds up on the way is not much larger than the result may be."""

_CHEAP, _LARGE = 1 << 18, 1e10
"""A tensor of so few elements is read in full where its norm may be larger than this already: that
takes little longer than a sample. What is made from it has a smaller bound then, and larger tensors
need not be read."""

Growth = Callable[[Sequence[float], Sequence[int], int], float]
"""(norms of the inputs, at most; their numbers of elements; that of the result) → the largest norm
that the result may have."""


def _as_sum(norms: Sequence[float], sizes: Sequence[int], size: int) -> float:
    """Ops that add, choose or move elements, each as often as an input is broadcast."""
    repeated = (max(size / each, 1.0) for each in sizes)
    return sum(norm * sqrt(times) for norm, times in zip(norms, repeated, strict=True))


def _as_square(norms: Sequence[float], sizes: Sequence[int], size: int) -> float:
    """Ops that square a number, or a difference."""
    norm = _as_sum(norms, sizes, size)
    return norm * norm


def _as_added_up(norms: Sequence[float], sizes: Sequence[int], size: int) -> float:
    """Ops that sum groups of elements, all of one size: by the Cauchy-Schwarz inequality."""
    return norms[0] * sqrt(max(sizes[0] / max(size, 1), 1.0))


def _as_product(norms: Sequence[float], sizes: Sequence[int], size: int) -> float:
    """Products of elements and of matrices, by the Cauchy-Schwarz inequality."""
    return prod(norms)


def _as_convolution(norms: Sequence[float], sizes: Sequence[int], size: int) -> float:
    """Convolutions: a product for each place of a filter, which are 10,000 at most."""
    return 100.0 * prod(norms)


def _as_fraction(norms: Sequence[float], sizes: Sequence[int], size: int) -> float:
    """Functions whose values are from -2 to 2."""
    return 2.0 * sqrt(size)


def _at_most_once(norms: Sequence[float], sizes: Sequence[int], size: int) -> float:
    """Ops that sum, repeat or weigh elements: a generous estimate."""
    return 100.0 * sqrt(max(size, *sizes)) * prod(max(norm, 1.0) for norm in norms)


def _at_most_cubed(norms: Sequence[float], sizes: Sequence[int], size: int) -> float:
    """Ops that multiply up to three numbers of an input."""
    return _at_most_once([norm * norm * norm for norm in norms], sizes, size)


def _as_drawn(norms: Sequence[float], sizes: Sequence[int], size: int) -> float:
    """Random numbers: uniform ones are below 1, normal ones below 6, as their kernels take the
    logarithm of 1e-7 at least (``BoxMullerFloat``)."""
    return 6.0 * sqrt(size)


def _as_quotient(norms: Sequence[float], sizes: Sequence[int], size: int) -> float:
    """Quotients; the last norm is the least modulus of the divisor, see :data:`_CONDITIONS`."""
    return norms[0] / norms[-1] * sqrt(max(size / sizes[0], 1.0))


def _as_power(norms: Sequence[float], sizes: Sequence[int], size: int) -> float:
    """Powers; the last norm is the exponent, see :data:`_CONDITIONS`."""
    if not norms[-1]:
        return sqrt(size)
    return prod([norms[0]] * int(norms[-1]))


_GROWTHS: dict[Growth, tuple[str, ...]] = {
    _as_sum: (
        *("Add", "AddN", "AddV2", "BiasAdd", "Maximum", "Minimum", "Neg", "Select", "SelectV2"),
        *("BroadcastTo", "Concat", "ConcatV2", "ExpandDims", "Identity", "Pack", "Pad", "Reshape"),
        *("Slice", "Split", "SplitV", "Squeeze", "StridedSlice", "StridedSliceGrad", "Sub"),
        *("Relu", "Relu6", "Relu6Grad", "ReluGrad", "Tile", "Transpose", "Unpack", "ZerosLike"),
    ),
    _as_product: ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "MatMul", "Mul"),
    _as_convolution: (
        *("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "DepthwiseConv2dNative"),
        *("DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput"),
        *("Conv3D", "Conv3DBackpropFilterV2", "Conv3DBackpropInputV2"),
    ),
    _as_fraction: (
        *("Cos", "Erf", "Erfc", "OnesLike", "Sigmoid", "Sin", "Softmax", "Softsign", "Tanh"),
    ),
    _as_added_up: ("BiasAddGrad", "Mean", "Sum"),
    _at_most_once: (
        *("AvgPool", "AvgPoolGrad", "ClipByValue", "Einsum", "GatherV2"),
        *("Elu", "EluGrad", "LeakyRelu", "LeakyReluGrad", "LogSoftmax", "Selu", "SeluGrad"),
        *("MaxPool", "MaxPoolGrad", "MirrorPad", "MirrorPadGrad", "PadV2"),
        *("Softplus", "SoftplusGrad"),
    ),
    _at_most_cubed: ("FusedBatchNormGradV3", "FusedBatchNormV3", "SigmoidGrad", "TanhGrad"),
    _as_square: ("Square", "SquaredDifference"),
    _as_quotient: ("RealDiv",),
    _as_power: ("Pow",),
    _as_drawn: (
        *("RandomStandardNormal", "RandomUniform", "TruncatedNormal", "StatelessRandomNormal"),
        *("StatelessRandomNormalV2", "StatelessRandomUniform", "StatelessRandomUniformV2"),
        *("StatelessTruncatedNormal", "StatelessTruncatedNormalV2"),
    ),
}
_STEADY: dict[str | bytes, Growth] = {
    name: growth for growth, names in _GROWTHS.items() for name in names
}
_STEADY |= {name.encode(): growth for name, growth in _STEADY.items()}  # type: ignore[union-attr]
"""Ops whose result is finite wherever their inputs are, unless numbers overflow (kernels of
TensorFlow 2.15-2.21), with the norm that it may have."""
_NEAR_ZERO = 1e-6
_EINSUM = frozenset({"Einsum", b"Einsum"})


def _equation_in(attrs: Sequence[Any]) -> str:
    """The equation of an ``Einsum``, as in ``("equation", "ab,bc->ac", …)``; empty without one."""
    for name, value in zip(attrs[::2], attrs[1::2], strict=False):
        if name in ("equation", b"equation"):
            return value.decode() if isinstance(value, bytes) else str(value)
    return ""


@lru_cache(256)
def _is_product(equation: str) -> bool:
    """Whether an ``Einsum`` is a product of matrices, or several at once: of two inputs with each
    label once, and each label in two of the inputs and the result."""
    inputs, _, result = equation.replace(" ", "").replace("...", "…").partition("->")
    terms = [*inputs.split(","), result]
    if len(terms) != 3 or any(len(set(term)) < len(term) for term in terms):
        return False
    return all(sum(label in term for term in terms) > 1 for label in set("".join(terms)))


def _least_modulus(last: np.ndarray[Any, Any]) -> float | None:
    least = float(np.abs(last).min()) if last.size else 0.0
    return least if least > _NEAR_ZERO else None


def _small_power(last: np.ndarray[Any, Any]) -> float | None:
    return power if last.size == 1 and (power := float(last.flat[0])) in _POWERS else None


_POWERS = (0.0, 1.0, 2.0, 3.0)
_CONDITIONS: dict[str | bytes, Callable[[np.ndarray[Any, Any]], float | None]] = {
    **dict.fromkeys(("RealDiv", b"RealDiv"), _least_modulus),
    **dict.fromkeys(("Pow", b"Pow"), _small_power),
}
"""For an op of :data:`_STEADY` that is steady by some last inputs only, all of them small: what its
growth takes in place of the norm of that input, or None where it is not steady."""


class MadeBy(NamedTuple):
    """The op that gave a tensor, if the result is finite wherever its inputs are, with those that
    are not integers: the ``large`` ones by their ids, of ``small`` ones (norm, elements), see
    :data:`_CONDITIONS`."""

    growth: Growth
    large: Sequence[int]
    small: Sequence[tuple[float, int]] = ()


class _Waiting(NamedTuple):
    """A tensor whose statistics are to be found, in the order in which they were computed.

    ``array``: None if it is not measured, as nothing names it. ``place``: of its event among those
    of a batch, and the text ``before`` and ``after`` its statistics. ``made_by``: None if it may be
    infinite or NaN whatever its inputs are.
    """

    identity: int
    size: int
    made_by: MadeBy | None
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
        self._bounds: dict[int, tuple[float, int]] = {}
        """The norm that each large tensor has at most, infinite if it may not be finite, and the
        number of its elements. A sample does not tell it: one element may be larger than all."""

    def wait(
        self,
        lines: list[str],
        before: str,
        after: str,
        identity: int,
        array: Any,
        made_by: MadeBy | None,
    ) -> None:
        """Append an event to ``lines``, without its statistics until :meth:`complete`."""
        self._waiting.append(
            _Waiting(identity, array.size, made_by, array, len(lines), before, after)
        )
        lines.append("")

    def pass_over(self, identity: int, size: int, made_by: MadeBy | None) -> None:
        """Take note of a large tensor that is not to be measured, unless something names it."""
        self._waiting.append(_Waiting(identity, size, made_by))

    def made_by(
        self, op_type: str | bytes | None, inputs: Sequence[Any], attrs: Any = None
    ) -> MadeBy | None:
        """The op that gave a tensor; None if what it gave may be infinite or NaN whatever its
        inputs are. ``attrs``: of the op, name and value in turn, where they are known."""
        growth = _STEADY.get(op_type or "")
        if growth is None:
            return None
        if op_type in _EINSUM and attrs and _is_product(_equation_in(attrs)):
            growth = _as_product
        large: list[int] = []
        small: list[tuple[float, int]] = []
        last = _EMPTY
        for tensor in inputs:
            identity = private.id_of(tensor)
            if self._is_small(identity):
                last = array_of(tensor)
                if last.dtype.kind not in "biu":
                    small.append((_norm_of_small(last), last.size))
            else:
                large.append(identity)
                last = _EMPTY
        condition = _CONDITIONS.get(op_type or "")
        if condition is not None:
            if last.dtype.kind != "f" or (number := condition(last)) is None:
                return None
            small[-1] = number, last.size
        return MadeBy(growth, large, small)

    def made_before(self, identity: int) -> MadeBy:
        """The maker of a tensor whose op was passed over: as if it were the sum of that tensor
        alone, whose norm may be known already."""
        return MadeBy(_as_sum, [identity])

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
        with np.errstate(all="ignore"):  # entered once: that takes as long as a small sum
            for each in waiting:
                self._complete(each, together, lines)

    def _complete(
        self, each: _Waiting, together: Mapping[int, Statistics | None], lines: list[str]
    ) -> None:
        """``together``: statistics that were found already, by the place of the event."""
        if each.array is None:
            self._bounds[each.identity] = self._bound(each), each.size
            return
        if each.place in together:
            stats, is_estimate, bound = together[each.place], False, inf
        else:
            stats, is_estimate, bound = self._measure(each.identity, each.array, self._bound(each))
        norm = stats[3] if stats else None
        (self._estimates if is_estimate else self._norms)[each.identity] = norm
        if not is_estimate:
            is_finite = stats is not None and not (stats[4] or stats[5])
            bound = norm if is_finite and norm is not None else inf
        self._bounds[each.identity] = bound, each.size
        estimated = ',"estimated":true' if is_estimate else ""
        lines[each.place] = f"{each.before}{as_field(stats)}{estimated}{each.after}"

    def _bound(self, tensor: _Waiting) -> float:
        """The norm that a tensor has at most, by that of what it was made from."""
        if tensor.made_by is None or not tensor.size:
            return inf
        growth, large, small = tensor.made_by
        known = [self._bounds.get(each, _UNKNOWN) for each in large]
        known += small
        norms = [norm for norm, _ in known]
        if inf in norms or (not norms and growth is not _as_drawn):
            return inf
        return growth(norms, [size or 1 for _, size in known], tensor.size)

    def _measure(
        self, identity: int, array: Any, bound: float
    ) -> tuple[Statistics | None, bool, float]:
        """Statistics of an array, whether the norm is an estimate, and the norm that it has at
        most; while the snippet runs the norm alone if that will do. Those of another tensor in the
        same memory, which a reshape, a read or an identity shares, as long as that one is held."""
        if self.is_over:
            return statistics(array), False, bound
        key = (address_of(array), array.nbytes, array.dtype.str)
        known, stats, is_estimate = self._known.get(key, (0, None, False))
        if self._is_held(known):
            return stats, is_estimate, self._bounds[known][0]
        is_sound = bound <= (_LARGEST if array.size > _CHEAP else _LARGE)
        norm = norm_of_sample(array) if is_sound and array.size >= LEAST_SAMPLED else None
        is_estimate = norm is not None
        if norm is None:
            norm = norm_alone(array)
        stats = statistics(array) if norm is None else [None, None, None, norm, 0.0, 0.0]
        self._known[key] = identity, stats, is_estimate
        return stats, is_estimate, bound

    def is_same(self, identity: int, tensor: Any) -> bool:
        """Whether a tensor that was computed anew has the norm of the one with this id, as far as
        that is known."""
        array = array_of(tensor)
        estimate, known = self._estimates.get(identity), self._norms.get(identity)
        with np.errstate(all="ignore"):
            if estimate is not None:
                return norm_of_sample(array) == estimate
            return known is None or _norm(array) == known


def as_field(found: Statistics | None) -> str:
    """Statistics as a field of an event; JSON's numbers are Python's unless one is missing."""
    if found and None not in found:
        text = str(found)
    elif found and found[3] is not None and found[:3] == _NOT_LOOKED_AT:
        text = f"[null, null, null, {found[3]!r}, {found[4]!r}, {found[5]!r}]"
    else:
        text = to_json(found)
    return f',"stats":{text}'


_NOT_LOOKED_AT = [None, None, None]
_EMPTY: np.ndarray[Any, Any] = np.zeros(0, np.float32)
_UNKNOWN = (inf, 1)


def _norm_of_small(array: np.ndarray[Any, Any]) -> float:
    """The norm of a small array of real numbers; infinite if that of its elements is not known."""
    if array.dtype.kind != "f":
        return inf
    if array.size == 1:
        only = abs(float(array.item()))
        return only if only < inf else inf
    flat = array.reshape(-1)
    with np.errstate(all="ignore"):
        squares = float(np.dot(flat, flat))  # of small arrays: BLAS wakes no threads for them
    return sqrt(squares) if squares < inf else inf


def _norm(array: Any) -> float | None:
    """The norm of a large array, as it was measured while the snippet ran."""
    norm = None if go_together(array) else norm_alone(array)
    if norm is None:
        found = statistics(array)
        norm = found[3] if found else None
    return norm
