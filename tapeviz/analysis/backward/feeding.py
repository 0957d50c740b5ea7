"""Find the steps of a backward pass that gave a tensor a gradient."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from ...trace.calls import Step
from ...trace.ids import TensorId
from ...trace.model import Trace
from ...trace.number_maps import NumberPairs
from ...trace.ops import Op


class Feeding:
    """The shares of each tensor's gradient, and the steps that gave them. A long pass has as many
    shares as ops, of which few are asked for."""

    def __init__(self, trace: Trace, steps: Sequence[Step]) -> None:
        self._trace = trace
        self._steps = steps
        tensors, places, inputs = array("q"), array("q"), array("q")
        for place, step in enumerate(steps):
            op = trace.op(step.op)
            if op is None:
                continue
            given = zip(step.taken(op), step.downstream, strict=False)
            for position, (tensor, gradient) in enumerate(given):
                if gradient is not None:
                    tensors.append(tensor)
                    places.append(place)
                    inputs.append(position)
        shares = array("q", range(len(tensors)))
        self._places, self._inputs = places, inputs
        self._shares = NumberPairs(tensors, shares)

    def tensors(self) -> Iterator[TensorId]:
        """The tensors that got a gradient, each once, by their ids."""
        return map(TensorId, self._shares.distinct())

    def of(self, tensor: TensorId) -> list[tuple[Step, Op, TensorId]]:
        """Each share of a tensor's gradient in the order of the pass: the step, its op, the
        share."""
        shares: list[tuple[Step, Op, TensorId]] = []
        for share in self._shares.all(tensor):
            step = self._steps[self._places[share]]
            gradient = step.downstream[self._inputs[share]]
            if step.op is not None and gradient is not None:
                shares.append((step, self._trace.ops[step.op], gradient))
        return shares
