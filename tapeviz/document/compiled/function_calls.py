"""Choose which call of a compiled function is shown, where gradients are asked for in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...analysis.rounds.call_sites import Numbers
from ...trace.compiled.model import TracedFunction
from ...trace.model import Trace
from ...trace.ops import Op

if TYPE_CHECKING:
    from ..document import Document


@dataclass(frozen=True, slots=True)
class ShownCall:
    """The call of a compiled function whose values stand for a gradient call made in it.

    ``op``: the call itself. ``number``: from 1, among the ``function``'s calls. ``name``: of the
    function that asks for the gradients, which may be one that the compiled function calls.
    """

    function: TracedFunction
    op: Op
    number: int
    name: str

    @property
    def count(self) -> int:
        return len(self.function.calls)


class FunctionCalls:
    """The calls of the compiled function in which the gradients shown by a document were asked
    for."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._returned: tuple[object, Numbers] = (None, np.zeros(0))
        """The numbers of :meth:`returned`, after the objects that they were read from."""

    @property
    def shown(self) -> ShownCall | None:
        """The call that is shown; None if the gradients were not asked for in a compiled
        function."""
        current, trace = self._document.current_call, self._document.trace
        within = current.call.within if current is not None else None
        op = trace.op(within)
        function = trace.functions.get(op.runs) if op is not None else None
        if op is None or function is None:
            return None
        frames = current.call.site.frames if current is not None else ()
        name = frames[0].function if len(frames) > 1 else ""
        return ShownCall(function, op, op.round, name or function.name)

    @property
    def number(self) -> int:
        """The number (from 1) of the call that is shown, or awaited in its place; 0 if the
        gradients were not asked for in a compiled function."""
        shown, trace = self.shown, self._document.trace
        awaited = self._document.insides.awaited
        if shown is None:
            return 0
        if awaited is not None:
            calls = (trace.ops[op_id] for op_id in shown.function.calls)
            return next((op.round for op in calls if op.ran_as == awaited), shown.number)
        return shown.number

    def select(self, number: int) -> None:
        """Show another call (from 1), once it is looked into."""
        shown, trace = self.shown, self._document.trace
        if shown is None or number == self.number or not 1 <= number <= shown.count:
            return
        self._document.insides.look(trace.ops[shown.function.calls[number - 1]])

    def returned(self) -> Numbers:
        """The first single number that each call returned (float64, one for each call); NaN where
        it is not known."""
        shown, trace = self.shown, self._document.trace
        if shown is None:
            return np.zeros(0)
        key = (self._document.insides.source, shown.function.graph, shown.count)
        if self._returned[0] != key:
            calls = [trace.ops[op_id] for op_id in shown.function.calls]
            self._returned = (key, np.array([_number(trace, call) for call in calls]))
        return self._returned[1]


def _number(trace: Trace, call: Op) -> float:
    for output in call.outputs:
        known = trace.tensors.get(output)
        if known is not None and known.size == 1 and known.dtype.startswith(("float", "bfloat")):
            value = trace.value(output)
            return float("nan") if value is None else float(value.flat[0])
    return float("nan")
