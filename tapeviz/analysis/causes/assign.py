"""``assign``: the value went into a variable's state, which no tape records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...trace.model import Array, Op, TensorId, Trace, Variable, VariableId, Version, VersionId
from ...trace.state import CREATION
from ..call_facts import name_of
from ..flow.dataflow import REF_ASSIGNS
from ..model import Cause, Evidence
from .questions import EdgeUnderTest, Unlinked
from .replaced_source import ReplacedSource


@dataclass(frozen=True, slots=True)
class Assigned(Evidence):
    """``variable``: the name of the one written to."""

    kind: ClassVar[str] = "assign"
    variable: str

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        name = self.variable
        return (
            f"Line {cause.line} {cause.probably}writes a value into the variable {name}; "
            f"a tape records operations on tensors, and a write to a variable is not one. "
            f"So {target} depends on {name}, but nothing links {name} back to {source}. "
            f"Use the assigned tensor itself instead of reading it back from {name}."
        )


def changed_state(asked: EdgeUnderTest) -> Cause | None:
    """The value went into a variable's state; no tape records a write to a resource."""
    edge, facts, op = asked.edge, asked.facts, asked.op
    if op is None or not (edge.kind in ("assign", "state") or op.type in REF_ASSIGNS):
        return None
    if isinstance(edge.end, VersionId):
        name = name_of(facts.trace, facts.flow.version_at(edge.end).variable)
    else:
        name = _name_of_ref(facts.trace, op)
    return facts.cause(Assigned(name), op.line, edge)


def _name_of_ref(trace: Trace, assign: Op) -> str:
    """The name of a TF1 ref variable in the graph, by the op that writes to it."""
    made = trace.producers.get(assign.inputs[0])
    return trace.ops[made].name if made is not None else "a variable"


def through_file(asked: Unlinked) -> Cause | None:
    """A variable was given, from outside TensorFlow, the very elements that the source had.

    So it is with ``save_weights`` and ``load_weights``, and with a copy of a model, whose variables
    are others than the source. Elements that are all alike prove nothing.
    """
    facts, trace = asked.facts, asked.facts.trace
    variable = trace.variables.get(VariableId(asked.tensor))
    if variable is None:
        return None
    for position in asked.used:
        version = facts.flow.version_at(position) if isinstance(position, VersionId) else None
        if version is None or version.op is None or version.value in trace.producers:
            continue
        op, value = trace.ops[version.op], trace.value(version.value or TensorId(0))
        if op.type != CREATION or value is None or version.variable == variable.id:
            continue
        if _is_telling(value) and _had(trace, variable, value, op):
            if trace.variables[version.variable].site.line == op.line:  # copy.deepcopy makes it
                return facts.cause(ReplacedSource("cloned"), op.line)
            cause = facts.cause(Assigned(name_of(trace, version.variable)), op.line)
            return replace(cause, op=op.type, op_id=op.id, is_probable=True)
    return None


def _is_telling(value: Array) -> bool:
    return value.size > 1 and value.dtype.kind == "f" and bool((value != value.flat[0]).any())


def _had(trace: Trace, variable: Variable, value: Array, written: Op) -> bool:
    """Whether the variable held these elements before the write."""
    return any(
        held is not None and held.shape == value.shape and np.array_equal(held, value)
        for version in variable.versions
        if version.when < written.when
        for held in _elements(trace, version)
    )


def _elements(trace: Trace, version: Version) -> Iterator[Array | None]:
    op = trace.ops.get(version.op) if version.op is not None else None
    if version.value is not None and (op is None or op.type == CREATION):
        yield trace.value(version.value)
    yield from (trace.value(tensor) for tensor in version.reads[:2])
