"""``stateful``: the value was put into an object that keeps a copy and gives it out later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...trace.model import VersionId
from ..model import Cause, Evidence
from .questions import EdgeUnderTest, Unlinked

_WHAT = {
    "dataset": "a dataset, which gives out copies of what it was made from",
    "metric": "a metric, which keeps it in variables",
    "array": "a TensorArray, and what write() gives back is dropped",
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
    """``what``: the sort of object; ``loop``: a dataset whose elements a compiled function loops
    over."""

    kind: ClassVar[str] = "stateful"
    what: Literal["dataset", "metric", "array", "object", "loop"]

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.what == "loop":
            return (
                f"Line {cause.line} loops over a dataset in a compiled function. TensorFlow runs "
                f"such a loop inside of the dataset, as one op that has no derivative: no gradient "
                f"comes out of its turns, so the way from {target} back to {source} ends there. "
                f"Loop over the dataset outside of the function, and call it for each element."
            )
        return (
            f"Line {cause.line} puts the value into {_WHAT[self.what]}. "
            f"Gradients follow tensors from op to op, not through the state of an object, so the "
            f"way from {target} back to {source} ends there. "
            f"{_INSTEAD[self.what]}"
        )


def looped_over_dataset(asked: EdgeUnderTest) -> Cause | None:
    """The value was computed in a loop over a dataset in a compiled function.

    AutoGraph makes ``scan``, ``take_while`` and ``reduce`` of the loop (``_tf_dataset_for_stmt`` in
    autograph/operators/control_flow.py, 2.15-2.21), and the op of the last has no gradient.
    """
    op = asked.op
    if op is None or op.type != "ReduceDataset":
        return None
    return asked.facts.cause(StatefulObject("loop"), op.line, asked.edge)


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
