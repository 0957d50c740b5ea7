"""Tell whether two ops did the same with the same values."""

from __future__ import annotations

from ...trace.ids import TensorId
from ...trace.model import Trace
from ...trace.ops import Op

_DEEPEST = 40


class SameWork:
    """Tells whether two ops of a recording did the same with the same values."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._known: dict[tuple[int, int], bool] = {}

    def ops(self, first: Op, other: Op, depth: int = 0) -> bool:
        if first.id == other.id:
            return True
        if first.type != other.type or dict(first.attrs) != dict(other.attrs) or depth > _DEEPEST:
            return False
        if len(first.inputs) != len(other.inputs) or not first.inputs:
            return False
        key = (first.id, other.id)
        if key not in self._known:
            self._known[key] = all(
                self._tensors(a, b, depth) for a, b in zip(first.inputs, other.inputs, strict=True)
            )
        return self._known[key]

    def _tensors(self, first: TensorId, other: TensorId, depth: int) -> bool:
        if first == other:
            return True
        trace = self._trace
        read = trace.reads.get(first), trace.reads.get(other)
        if read[0] is not None and read[1] is not None:
            return read[0].id == read[1].id
        made = trace.maker(first), trace.maker(other)
        if made[0] is not None and made[1] is not None:
            return self.ops(made[0], made[1], depth + 1)
        if made[0] is not None or made[1] is not None:
            return False
        values = trace.value(first), trace.value(other)
        if values[0] is None or values[1] is None or values[0].shape != values[1].shape:
            return False
        return bool((values[0] == values[1]).all())
