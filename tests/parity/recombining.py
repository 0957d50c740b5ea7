"""The backward steps of a call in, assertions that they recombine to its result out.

What the steps hand down to a tensor must be what its producer's step is handed, and what arrives
at a source must be the result. TensorFlow adds two shares with one addition, which is the same in
both orders; for more the order is its own, so a tolerance of a few units in the last place stays.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tapeviz.trace.calls import Call, Operand
from tapeviz.trace.ids import OpId, TensorId, VariableId
from tapeviz.trace.ops import Tensor
from tapeviz.trace.stats import Array
from tapeviz.trace.variables import Variable

from .comparing import same_bits
from .recorded_runs import RecordedRun

_GATHERING = ("Gather", "IndexedSlices", "Unique", "Embedding")


class Recombination:
    """Follows the gradients of one ``gradient`` call."""

    def __init__(self, call: Call, recorded: RecordedRun) -> None:
        self._call = call
        self._recorded = recorded
        self._shares: dict[TensorId, list[Array]] = defaultdict(list)
        self.compared = 0

    def check(self) -> None:
        self._seed()
        seen: set[OpId] = set()
        for step in self._call.steps:
            assert step.op is not None, f"a step of {step.type} without its op"
            op = self._recorded.trace.ops[step.op]
            assert op.id not in seen, f"{op.type} is walked twice"
            seen.add(op.id)
            assert len(step.upstream) == len(op.outputs), op
            for tensor, gradient in zip(op.outputs, step.upstream, strict=True):
                self._arrives(tensor, gradient, f"{op.type} on line {op.line}")
            assert len(step.downstream) <= len(op.inputs), op
            for tensor, gradient in zip(op.inputs, step.downstream, strict=False):
                if gradient is not None:
                    self._shares[tensor].append(self._recorded.value(gradient))
        for source, result in zip(self._call.sources, self._call.results, strict=True):
            if source.tensor is not None:
                self._is_result(source.tensor, result, source.text)

    def _seed(self) -> None:
        """Each target begins with ones, or with the gradient it was given; a text with none."""
        given, tensors = self._call.output_gradients, self._recorded.trace.tensors
        for index, target in enumerate(self._call.targets):
            if target.tensor is None or tensors[target.tensor].dtype == "string":
                continue
            seed = given[index].tensor if index < len(given) else None
            shares = self._shares[target.tensor]
            shares.append(self._ones(target) if seed is None else self._recorded.value(seed))

    def _ones(self, target: Operand) -> Array:
        trace, tensor = self._recorded.trace, target.tensor
        assert tensor is not None
        known: Variable | Tensor = trace.tensors[tensor]
        if target.kind == "variable":
            known = trace.variables[VariableId(tensor)]
        assert known.shape is not None, target
        dtype = "float32" if known.dtype == "bfloat16" else known.dtype
        return np.ones([size or 0 for size in known.shape], dtype)

    def _arrives(self, tensor: TensorId, gradient: TensorId | None, where: str) -> None:
        shares = self._shares.get(tensor, [])
        if not shares:
            # An output that nothing used: TensorFlow passes None, or zeros where they are needed.
            # Zeros of a variant, such as a list that a compiled branch kept, have no elements.
            if gradient and self._recorded.trace.tensors[gradient].dtype != "variant":
                assert not np.any(self._recorded.value(gradient)), where
            return
        assert gradient is not None, f"{where} got nothing of {len(shares)} shares"
        self._agree(gradient, shares, where)

    def _is_result(self, tensor: TensorId, result: TensorId | None, where: str) -> None:
        shares = self._shares.get(tensor, [])
        if result is None:
            # A gradient function may answer for an input that the tape does not follow.
            assert not (shares and self._is_on_tape(tensor)), f"{where}: None of {len(shares)}"
        elif shares and (
            self._is_on_tape(tensor)
            or np.any(self._recorded.value(result))
            or any(target.tensor == tensor for target in self._call.targets)  # its own source
        ):
            self._agree(result, shares, where)
        else:
            assert self._call.unconnected == "zero", where
            assert not np.any(self._recorded.value(result)), where

    def _is_on_tape(self, tensor: TensorId) -> bool:
        trace, tape = self._recorded.trace, self._call.tape
        if tape is None:
            return True
        producer = trace.producers.get(tensor)
        is_made = producer is not None and tape in trace.ops[producer].tapes
        return is_made or any(watch.tensor == tensor for watch in trace.tapes[tape].watches)

    def _agree(self, gradient: TensorId, shares: list[Array], where: str) -> None:
        self.compared += 1
        total = self._recorded.value(gradient)
        is_short = self._recorded.trace.tensors[gradient].dtype == "bfloat16"
        if len(shares) == 1 or (len(shares) == 2 and not is_short and not self._is_sparse()):
            expected = shares[0] if len(shares) == 1 else _added(*shares)
            assert same_bits(np.asarray(expected), total), (where, shares, total)
            return
        wide = [share.astype(np.result_type(share, np.float64)) for share in shares]
        size = np.sum([np.abs(share) for share in wide], axis=0)
        precision = (2.0**-7 if is_short else np.finfo(total.dtype).eps) * 4 * len(shares)
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.abs(np.sum(wide, axis=0) - total) <= precision * size
        near |= ~np.isfinite(total) | ~np.isfinite(size)
        assert np.all(near), (where, shares, total)

    def _is_sparse(self) -> bool:
        """Shares of a gather are joined as slices, and only added up when they are made dense."""
        ops = (self._recorded.trace.ops.get(step.op) for step in self._call.steps if step.op)
        return any(op is not None and any(g in op.type for g in _GATHERING) for op in ops)


def _added(share: Array, other: Array) -> Array:
    with np.errstate(all="ignore"):
        total: Array = np.add(share, other)
    return total


def _lacks_values(recorded: RecordedRun, call: Call) -> bool:
    """A call made while a function was compiled, of which not all could be computed again."""
    trace = recorded.trace
    passed = (tensor for step in call.steps for tensor in (*step.upstream, *step.downstream))
    symbols = [tensor for tensor in (*call.results, *passed) if tensor is not None and tensor < 0]
    return any(symbol not in trace.fetched and not trace.tensors[symbol].kept for symbol in symbols)


def check_recombines(recorded: RecordedRun) -> int:
    """Check each ``gradient`` call that came back; the number of sums that were compared."""
    compared = 0
    for call in recorded.trace.calls:
        if call.method == "gradient" and call.ended and not _lacks_values(recorded, call):
            walk = Recombination(call, recorded)
            walk.check()
            compared += walk.compared
    return compared
