"""``assign``: the value went into a variable's state, which no tape records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ....trace.ids import TensorId, VariableId, VersionId
from ....trace.model import Trace
from ....trace.ops import Op
from ....trace.state import CREATION
from ....trace.stats import Array
from ....trace.variables import Version
from ...call_facts import name_of
from ...findings import Cause, Evidence
from ...flow.dataflow import REF_ASSIGNS
from ..questions import EdgeUnderTest, Unlinked, Used
from ..tapes.replaced_source import ReplacedSource


@dataclass(frozen=True, slots=True)
class Assigned(Evidence):
    """``variable``: the name of the one written to; ``is_target``: it was asked about itself."""

    kind: ClassVar[str] = "assign"
    variable: str
    is_target: bool = False

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        name = self.variable
        if name == source:  # as target networks and other copies of a model have it
            return (
                f"Line {cause.line} {cause.probably}writes a value into another variable that is "
                f"named {name}, too; gradients follow operations on tensors, and a write to a "
                f"variable is not one. So {target} depends on that copy, but nothing links the "
                f"copy back to {source}. Compute with {source} itself in place of its copy."
            )
        if self.is_target:
            return (
                f"Line {cause.line} {cause.probably}writes a value into the variable {name}; "
                f"gradients follow operations on tensors, and a write to a variable is not one. So "
                f"nothing links what {name} holds back to {source}. Differentiate the assigned "
                f"tensor itself in place of {name}, or what is made from that tensor."
            )
        return (
            f"Line {cause.line} {cause.probably}writes a value into the variable {name}; "
            f"gradients follow operations on tensors, and a write to a variable is not one. "
            f"So {target} depends on {name}, but nothing links {name} back to {source}. "
            f"Use the assigned tensor itself instead of reading it back from {name}."
        )


def changed_state(asked: EdgeUnderTest) -> Cause | None:
    """The value went into a variable's state; no tape records a write to a resource."""
    edge, facts, op = asked.edge, asked.facts, asked.op
    if op is None or not (edge.kind in ("assign", "state") or op.type in REF_ASSIGNS):
        return None
    is_target = False
    if isinstance(edge.end, VersionId):
        variable = edge.end.variable
        name = name_of(facts.trace, variable)
        is_target = TensorId(variable) in [target.tensor for target in facts.call.targets]
    else:
        # The name of a TF1 ref variable in the graph, by the op that writes to it.
        made = facts.trace.maker(op.inputs[0])
        name = made.name if made is not None else "a variable"
    cause = facts.cause(Assigned(name, is_target), op.line, edge)
    return replace(cause, words=f"a write to {name}")


def copied_values(asked: Unlinked) -> Cause | None:
    """A variable was given, from outside TensorFlow, the very elements that the source had.

    So it is with ``save_weights`` and ``load_weights``, and with a copy of a model, whose variables
    are others than the source. Elements that are all alike prove nothing.
    """
    facts, trace = asked.facts, asked.facts.trace
    variable = trace.variables.get(VariableId(asked.tensor))
    if variable is None:
        return None
    known = asked.used.once(_given)
    same = [
        given
        for version in variable.versions
        for held in _elements(trace, version)
        if held is not None
        for given in known.get(_outline(held), ())
        if version.when < given.op.when
        and given.version.variable != variable.id
        and np.array_equal(held, given.value)
    ]
    if not same:
        return None
    first = min(same, key=lambda given: given.number)
    op, copied = first.op, first.version.variable
    if trace.variables[copied].site.line == op.line:  # copy.deepcopy makes it
        return facts.cause(ReplacedSource("cloned"), op.line)
    cause = facts.cause(Assigned(name_of(trace, copied)), op.line)
    return replace(cause, op=op.type, op_id=op.id, is_probable=True)


class _Given(NamedTuple):
    """A variable that the target was made from got a value from outside TensorFlow."""

    number: int
    version: Version
    op: Op
    value: Array


_Outline = tuple[tuple[int, ...], float, float]


def _given(used: Used) -> dict[_Outline, list[_Given]]:
    """The values that came from outside, by what equal ones have in common."""
    trace = used.facts.trace
    found: dict[_Outline, list[_Given]] = {}
    for number, position in enumerate(used.positions):
        version = trace.version(position) if isinstance(position, VersionId) else None
        if version is None or version.op is None or version.value in trace.producers:
            continue
        op, value = trace.ops[version.op], trace.value(version.value or TensorId(0))
        if op.type == CREATION and value is not None and _is_telling(value):
            given = _Given(number, version, op, value)
            found.setdefault(_outline(value), []).append(given)
    return found


def _outline(value: Array) -> _Outline:
    """The shape, the first and the last element."""
    if not value.size or value.dtype.kind != "f":
        return value.shape, 0.0, 0.0
    return value.shape, float(value.flat[0]), float(value.flat[-1])


def _is_telling(value: Array) -> bool:
    return value.size > 1 and value.dtype.kind == "f" and bool((value != value.flat[0]).any())


def _elements(trace: Trace, version: Version) -> Iterator[Array | None]:
    op = trace.ops.get(version.op) if version.op is not None else None
    if version.value is not None and (op is None or op.type == CREATION):
        yield trace.value(version.value)
    yield from (trace.value(tensor) for tensor in version.reads[:2])
