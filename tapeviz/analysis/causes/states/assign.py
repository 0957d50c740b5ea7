"""``assign``: the value went into a variable's state, which no tape records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from ....trace.ids import TensorId, VersionId
from ....trace.model import Trace
from ....trace.op_kinds import ops_with
from ....trace.ops import Op
from ....trace.state import CREATION
from ....trace.stats import Array
from ....trace.variables import Variable, Version
from ...call_facts import maker_past, name_of
from ...findings import Cause, Evidence
from ...flow.dataflow import REF_ASSIGNS
from ..questions import EdgeUnderTest, Unlinked, Used
from ..tapes.replaced_source import ReplacedSource


@dataclass(frozen=True, slots=True)
class Assigned(Evidence):
    """The value was written to a variable. ``variable``: the name of the one written to;
    ``is_target``: it was asked about itself."""

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
    are others than the source. Elements that are all alike prove nothing by themselves: they count
    where the same line gave another variable the elements of another one, as with the biases of a
    model beside its kernels.
    """
    facts, trace = asked.facts, asked.facts.trace
    variable = trace.variable(asked.tensor)
    if variable is None:
        return None
    same = list(_same_elements(trace, variable, asked.used.once(_given)))
    if not all(given.is_telling for given in same):
        lines = asked.used.once(_lines_of_copies)
        same = [given for given in same if given.is_telling or given.op.line in lines]
    if not same:
        return None
    first = min(same, key=lambda given: (not given.is_telling, given.number))
    op, copied = first.op, first.version.variable
    if trace.variables[copied].site.line == op.line:  # copy.deepcopy makes it
        return facts.cause(ReplacedSource("cloned"), op.line)
    cause = facts.cause(Assigned(name_of(trace, copied)), op.line)
    return replace(cause, op=op.type, op_id=op.id, is_probable=True)


class _Given(NamedTuple):
    """A variable that the target was made from got a value from outside TensorFlow.

    ``is_telling``: it has elements that differ from each other.
    """

    number: int
    version: Version
    op: Op
    value: Array
    is_telling: bool


_Outline = tuple[tuple[int, ...], float, float]


def _given(used: Used) -> dict[_Outline, list[_Given]]:
    """The values that came from outside, by what equal ones have in common."""
    trace = used.facts.trace
    found: dict[_Outline, list[_Given]] = {}
    for number, position in enumerate(used.positions):
        version = trace.version(position) if isinstance(position, VersionId) else None
        if version is None or version.op is None or not _is_from_outside(trace, version.value):
            continue
        op, value = trace.ops[version.op], trace.value(version.value or TensorId(0))
        if op.type == CREATION and value is not None and value.size and value.dtype.kind == "f":
            given = _Given(number, version, op, value, bool((value != value.flat[0]).any()))
            found.setdefault(_outline(value), []).append(given)
    return found


def _lines_of_copies(used: Used) -> frozenset[int]:
    """The lines that gave a variable of the target telling elements which another one had."""
    known, trace = used.once(_given), used.facts.trace
    if not any(given.is_telling for several in known.values() for given in several):
        return frozenset()
    of_each = (_same_elements(trace, each, known) for each in trace.variables.values())
    return frozenset(given.op.line for same in of_each for given in same if given.is_telling)


def _same_elements(
    trace: Trace, variable: Variable, known: Mapping[_Outline, Sequence[_Given]]
) -> Iterator[_Given]:
    """Yield each value given to another variable after this one had held the same elements."""
    for version in variable.versions:
        for held in _elements(trace, version) if known else ():
            if held is None:
                continue
            for given in known.get(_outline(held), ()):
                is_later = version.when < given.op.when
                is_other = given.version.variable != variable.id
                if is_later and is_other and np.array_equal(held, given.value):
                    yield given


def _is_from_outside(trace: Trace, tensor: TensorId | None) -> bool:
    """Whether Python or NumPy gave the value, or a file did (``tf.train.Checkpoint.restore``)."""
    made = maker_past(trace, tensor, ops_with("copy")) if tensor is not None else None
    return made is None or made.type == "RestoreV2"


def _outline(value: Array) -> _Outline:
    """The shape, the first and the last element."""
    if not value.size or value.dtype.kind != "f":
        return value.shape, 0.0, 0.0
    return value.shape, float(value.flat[0]), float(value.flat[-1])


def _elements(trace: Trace, version: Version) -> Iterator[Array | None]:
    op = trace.op(version.op)
    if version.value is not None and (op is None or op.type == CREATION):
        yield trace.value(version.value)
    yield from (trace.value(tensor) for tensor in version.reads[:2])
