"""Name the tensors that TensorFlow made from NumPy arrays by the names of these arrays."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import attrgetter

import numpy as np

from ..text.source import SourceText
from ..trace.ids import SiteId, TensorId
from ..trace.model import Binding, Trace
from ..trace.ops import Op, Tensor

_Names = Sequence[frozenset[str]]
"""The names to look among, each set before the next."""


def array_names(trace: Trace) -> dict[TensorId, str]:
    """The name of the array that a tensor without a name, which no op made, was converted from.

    TensorFlow converts an array anew for each op that it is given to, and nothing links the tensor
    to the array. So the array is looked for among the names in the expression that ran the op: it
    is the only array there with the shape of the tensor and a dtype that becomes that of the tensor
    (of the operands and arguments of the expression themselves, else of all its names). Where two
    tensors with other values could be made of it, as ``x`` and the places in
    ``tf.gather(x, [1, 0])``, none gets its name. Scalars show their number and get no name.
    """
    arrays = _Arrays(trace.bindings)
    if not arrays.by_name:
        return {}
    text = SourceText(trace.source)
    given: dict[SiteId, _Names] = {}
    found: dict[TensorId, str] = {}
    for op in trace.ops.values():
        named: dict[str, list[TensorId]] = {}
        for tensor in op.inputs:
            known = trace.tensors.get(tensor)
            if known is None or not known.shape or tensor in trace.producers:
                continue
            if tensor in trace.names or tensor in trace.reads or tensor in found:
                continue
            site = op.site
            if site.id not in given and site.frames:
                given[site.id] = text.names_given(site.frames[0].span)
            name = arrays.name_for(op, known, given.get(site.id, ()))
            if name:
                named.setdefault(name, []).append(tensor)
        for name, tensors in named.items():
            if all(_is_same(trace, tensors[0], other) for other in tensors[1:]):
                found |= dict.fromkeys(tensors, name)
    return found


def _is_same(trace: Trace, first: TensorId, other: TensorId) -> bool:
    """Whether two tensors of one shape have the same values; if these are not known, dtypes."""
    value, others = trace.value(first), trace.value(other)
    if value is None or others is None:
        return trace.tensors[first].dtype == trace.tensors[other].dtype
    return np.array_equal(value, others)


_KINDS = ("int", "float", "complex")
_KIND = re.compile("int|float|complex|bool")


def _becomes(array: str, tensor: str) -> bool:
    """Whether TensorFlow makes a tensor of this dtype from an array of that one by itself: never
    whole numbers from others, so no axis or shape from an array of floats (``convert_to_tensor``
    with a ``dtype_hint``, 2.15-2.21)."""
    given, made = _KIND.search(array), _KIND.search(tensor)
    if given is None or made is None:
        return given is made
    if not {given[0], made[0]} <= {*_KINDS}:
        return given[0] == made[0]
    return _KINDS.index(given[0]) <= _KINDS.index(made[0])


class _Arrays:
    """The names that were bound to NumPy arrays, each with its bindings in the order of time."""

    def __init__(self, bindings: Iterable[Binding]) -> None:
        named = {binding.name for binding in bindings if binding.shape}
        self.by_name: dict[str, list[Binding]] = defaultdict(list)
        self._names_of: dict[int, set[str]] = defaultdict(set)
        """The names of each array, by its Python id."""
        for binding in bindings:
            if binding.name in named:
                self.by_name[binding.name].append(binding)
            if binding.shape:
                self._names_of[binding.object].add(binding.name)

    def name_for(self, op: Op, tensor: Tensor, given: _Names) -> str:
        """The name of the only array that the expression is given and this tensor may be made of;
        else empty. A parameter's array has the name that it has outside of the function."""
        for names in given:
            bound = [self._bound(name, op) for name in names]
            fitting = [
                each
                for each in bound
                if each is not None
                and each.shape == tensor.shape
                and _becomes(each.dtype, tensor.dtype)
            ]
            if fitting:
                return self._outermost(fitting[0], op).name if len(fitting) == 1 else ""
        return ""

    def _outermost(self, binding: Binding, op: Op) -> Binding:
        """The binding of the same array with the fewest calls around it, when the op ran; of
        several (``a = b = np.ones(3)``) the one that was looked for."""
        bound = [self._bound(name, op) for name in self._names_of[binding.object]]
        same = [each for each in bound if each is not None and each.object == binding.object]
        return min(same, key=lambda each: (len(each.site.frames), each is not binding, each.name))

    def _bound(self, name: str, op: Op) -> Binding | None:
        """The last binding of the name before the op ran."""
        bindings = self.by_name.get(name, ())
        before = bisect_right(bindings, op.when, key=attrgetter("when"))
        return bindings[before - 1] if before else None
