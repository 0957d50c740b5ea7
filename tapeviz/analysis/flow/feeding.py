"""The steps of a backward pass in; those that gave a tensor a gradient out."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from ...trace.columns import NumberPairs
from ...trace.model import Op, Step, TensorId, Trace


class Feeding:
    """Who gave a tensor a gradient. A long pass has as many shares as ops, of which few are asked
    for."""

    def __init__(self, trace: Trace, steps: Sequence[Step]) -> None:
        self._trace = trace
        self._steps = steps
        tensors, places = array("q"), array("q")
        for place, step in enumerate(steps):
            op = trace.ops.get(step.op) if step.op is not None else None
            for tensor, gradient in zip(op.inputs if op else (), step.downstream, strict=False):
                if gradient is not None:
                    tensors.append(tensor)
                    places.append(place)
        self._places = NumberPairs(tensors, places)

    def tensors(self) -> Iterator[TensorId]:
        """Those that got a gradient, each once, by their ids."""
        return map(TensorId, self._places.distinct())

    def of(self, tensor: TensorId) -> list[tuple[Step, Op, TensorId]]:
        """Each share of a tensor's gradient in the order of the pass: the step, its op, the
        share."""
        shares: list[tuple[Step, Op, TensorId]] = []
        places = self._places.all(tensor)
        for place in places if len(places) < 2 else dict.fromkeys(places):
            step = self._steps[place]
            op = self._trace.ops.get(step.op) if step.op is not None else None
            if op is None:
                continue
            for taken, gradient in zip(op.inputs, step.downstream, strict=False):
                if taken == tensor and gradient is not None:
                    shares.append((step, op, gradient))
        return shares
