"""``stateful``: the value was put into an object that keeps a copy and gives it out later."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from ....text.names import called_name, calls_in
from ....trace.ids import OpId, VersionId
from ....trace.op_kinds import ops_with
from ....trace.ops import Op
from ...call_facts import CallFacts
from ...findings import Cause, Evidence
from ...requests.loops import loops_around
from ..questions import EdgeUnderTest, Unlinked

_WHAT = {
    "dataset": "a dataset, which returns copies of what it was made from",
    "metric": "a metric, which keeps it in variables",
    "array": "a TensorArray, and what write() returns is not kept",
    "object": "an object that keeps a copy of it",
}
_INSTEAD = {
    "metric": "Compute the loss with tf operations, and give the metric its result.",
    "array": "Keep the result: ta = ta.write(…).",
    "dataset": "Compute with the tensor itself, and keep datasets for the input.",
    "object": "Compute with the tensor itself.",
}


@dataclass(frozen=True, slots=True)
class StatefulObject(Evidence):
    """The value went through an object with state of its own. ``what``: the sort of object;
    ``loop``: a dataset whose elements a compiled function loops over; ``reduce``: one whose method
    of that name computes."""

    kind: ClassVar[str] = "stateful"
    what: Literal["dataset", "metric", "array", "object", "loop", "reduce"]

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.what == "reduce":
            return (
                f"Line {cause.line} computes by the method reduce of a dataset. TensorFlow runs "
                f"its function inside of the dataset, as one op that has no derivative, so no "
                f"gradient of {target} gets back to {source}. "
                f"Loop over the dataset in Python, and call the function for each element."
            )
        if self.what == "loop":
            return (
                f"Line {cause.line} loops over a dataset in a compiled function. TensorFlow runs "
                f"such a loop inside of the dataset, as one op that has no derivative, so no "
                f"gradient of {target} gets back to {source}. "
                f"Loop over the dataset outside of the function, and call it for each element."
            )
        return (
            f"Line {cause.line} puts the value into {_WHAT[self.what]}. "
            f"Gradients pass from tensor to tensor, not through the state of an object, so no "
            f"gradient of {target} gets back to {source}. "
            f"{_INSTEAD[self.what]}"
        )


def looped_over_dataset(asked: EdgeUnderTest) -> Cause | None:
    """The value was computed in a loop over a dataset in a compiled function.

    AutoGraph makes ``scan``, ``take_while`` and ``reduce`` of the loop (``_tf_dataset_for_stmt`` in
    autograph/operators/control_flow.py, 2.15-2.21), and the op of the last has no gradient.
    """
    op = _dataset_loop(asked)
    if op is None:
        return None
    statement = asked.facts.text.statement(op.line)
    is_loop = statement is None or isinstance(statement, (ast.For, ast.AsyncFor))
    is_method = not is_loop and "reduce" in map(called_name, calls_in(statement))
    how = StatefulObject("reduce" if is_method else "loop")
    return asked.facts.cause(how, op.line, asked.edge)


def _dataset_loop(asked: EdgeUnderTest) -> Op | None:
    """The op that ends the loop over a dataset in which the edge lies; none if the gradient is
    asked for in the same loop."""
    op = asked.op
    if op is None or op.type in _ENDS_LOOP:
        return op
    return asked.facts.once(_loops_left).get(op.id)


def _loops_left(facts: CallFacts) -> Mapping[OpId, Op]:
    """For each op in a loop over a dataset in which the gradient is not asked for, the op that
    ends the loop."""
    trace, found = facts.trace, dict[OpId, Op]()
    around = {loop.op for loop in loops_around(trace, facts.call)}
    for number, loop in trace.loops.items():
        end = trace.ops[number]
        if end.type in _ENDS_LOOP and number not in around:
            found.update(dict.fromkeys(loop.body, end))
    return found


_ENDS_LOOP = ops_with("dataset-loop")


def went_into_metric(asked: EdgeUnderTest) -> Cause | None:
    """The value went into a variable that a Keras metric keeps its sums in."""
    edge, facts, op = asked.edge, asked.facts, asked.op
    if op is None or edge.kind not in ("assign", "state") or not isinstance(edge.end, VersionId):
        return None
    if facts.trace.variables[edge.end.variable].owner != "metric":
        return None
    return facts.cause(StatefulObject("metric"), op.line, edge)


def went_into_object(asked: EdgeUnderTest) -> Cause | None:
    """The value was put into a stateful object that gives it out later: a dataset, a table.

    Datasets are variants that no gradient function reads; what fills an object gives no tensor.
    """
    edge, facts, op = asked.edge, asked.facts, asked.op
    if op is None or facts.dtype(edge.start) == "variant":
        return None
    is_dataset = "Dataset" in op.type and facts.dtype(edge.end) == "variant"
    if is_dataset and edge.kind == "op":
        return facts.cause(StatefulObject("dataset"), op.line, edge)
    return facts.cause(StatefulObject("object"), op.line, edge) if edge.kind == "object" else None


def dropped_write(asked: Unlinked) -> Cause | None:
    """``ta.write(…)`` whose result nobody takes: in a function it changes nothing."""
    flow = asked.facts.flow
    for op in flow.list_writes:
        if op.inputs[0] not in asked.used.positions or not op.outputs:
            continue
        made_from = flow.ancestry(op.inputs[1:])
        if any(start in made_from.into for start in asked.starts):
            return asked.facts.cause(StatefulObject("array"), op.line)
    return None
