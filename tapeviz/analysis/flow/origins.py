"""Find the forward op whose derivative an op of a gradient call computes."""

from __future__ import annotations

from ...trace.calls import Call
from ...trace.ids import CallId, OpId, TensorId
from ...trace.model import Trace
from ...trace.ops import Op


class Origins:
    """Answers for many ops; the steps of a call are read once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._calls = {call.id: call for call in trace.calls}
        self._known: dict[CallId, dict[OpId, OpId]] = {}

    def forward(self, op: Op) -> Op:
        """The op itself; for one of a backward pass the op that this differentiates, and so on.

        The sums at fan-outs, and what starts a pass, belong to no op: they stay as they are.
        """
        seen: set[OpId] = set()
        while op.call is not None and op.id not in seen:
            seen.add(op.id)
            if op.call not in self._known:
                call = self._calls.get(op.call)
                self._known[op.call] = self._walk(call) if call else {}
            origin = self._known[op.call].get(op.id)
            if origin is None or origin not in self._trace.ops:
                break
            op = self._trace.ops[origin]
        return op

    def _walk(self, call: Call) -> dict[OpId, OpId]:
        """From what each gradient function gave back to what it was given."""
        found: dict[OpId, OpId] = {}
        for step in call.steps:
            given = {tensor for tensor in step.upstream if tensor is not None}
            waiting: list[TensorId] = [tensor for tensor in step.downstream if tensor is not None]
            while step.op is not None and waiting:
                tensor = waiting.pop()
                op = self._trace.maker(tensor)
                if tensor in given or op is None or op.id in found:
                    continue
                if op.call == call.id:
                    found[op.id] = step.op
                    waiting.extend(op.inputs)
        return found
