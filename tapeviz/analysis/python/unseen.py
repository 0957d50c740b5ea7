"""A source and target that nothing recorded links in, a link that the values betray out.

:data:`UNSEEN` is the table: each looks for a way that a value went without an op that shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

import numpy as np

from ...trace.model import (
    Array,
    Op,
    Operand,
    TensorId,
    Trace,
    Variable,
    VariableId,
    Version,
    VersionId,
)
from ...trace.state import CREATION
from ..call_facts import CallFacts, name_of
from ..flow.dataflow import Place
from ..model import Cause
from .outside import NO_NUMBER
from .python_text import read_text

Look = Callable[[CallFacts, Operand, Collection[Place]], "Cause | None"]


def find_unseen(facts: CallFacts, source: Operand, used: Collection[Place]) -> Cause | None:
    """How the value may have come from the source into what the target was made from."""
    if source.tensor is None:
        return None
    return next((cause for look in UNSEEN if (cause := look(facts, source, used))), None)


def _dropped_write(facts: CallFacts, source: Operand, used: Collection[Place]) -> Cause | None:
    """``ta.write(…)`` whose result nobody takes: in a function it changes nothing."""
    flow = facts.flow
    for op in flow.list_writes:
        if op.inputs[0] not in used or not op.outputs:
            continue
        made_from = flow.ancestry(op.inputs[1:])
        if any(start in made_from.into for start in facts.paths.starts(source.tensor or _NONE)):
            return facts.cause("stateful", op.line, None, what="array")
    return None


def _through_file(facts: CallFacts, source: Operand, used: Collection[Place]) -> Cause | None:
    """A variable was given, from outside TensorFlow, the very elements that the source had.

    So it is with ``save_weights`` and ``load_weights``. Elements that are all alike prove nothing.
    """
    trace = facts.trace
    variable = trace.variables.get(VariableId(source.tensor or _NONE))
    if variable is None:
        return None
    for place in used:
        version = facts.flow.version_at(place) if isinstance(place, VersionId) else None
        if version is None or version.op is None or version.value in trace.producers:
            continue
        op, value = trace.ops[version.op], trace.value(version.value or _NONE)
        if op.type != CREATION or value is None or version.variable == variable.id:
            continue
        if _is_telling(value) and _had(trace, variable, value, op):
            name = name_of(trace, version.variable)
            if trace.variables[version.variable].site.line == op.line:  # copy.deepcopy makes it
                return facts.cause("replaced-source", op.line, None, how="cloned")
            cause = facts.cause("assign", op.line, None, variable=name)
            return replace(cause, op=op.type, op_id=op.id, is_probable=True)
    return None


_NONE = TensorId(0)
_MOST_NUMBERS = 1000
_MOST_LEAVES = 64
_LARGEST = 1e15


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


def _number_came_back(facts: CallFacts, source: Operand, used: Collection[Place]) -> Cause | None:
    """A constant that is not in the text has the very number that left TensorFlow before it.

    So it is where no name leads from one to the other: ``setattr``, a list given to a function.
    """
    trace, flow = facts.trace, facts.flow
    starts = facts.paths.starts(source.tensor or _NONE)
    constants = list(_unexplained(facts, used))
    left = [leave for leave in trace.leaves if constants and leave.when < facts.call.when]
    for leave in left[: -_MOST_LEAVES - 1 : -1]:
        number = trace.value(leave.tensor)
        if leave.how in NO_NUMBER or number is None or not _is_telling_number(number):
            continue
        came = any(when > leave.when and _has(value, number) for value, when in constants)
        if came and flow.ancestry([flow.place_left(leave)]).leads_from(starts):
            cause = facts.cause("left-tensorflow", leave.site.line, None, how=leave.how)
            return replace(cause, is_probable=True)
    return None


def _unexplained(facts: CallFacts, used: Collection[Place]) -> Iterator[tuple[Array, int]]:
    """Constants of real numbers that the target was made from, and when they were first seen."""
    trace, text = facts.trace, read_text(facts.text)
    seen = facts.flow.first_seen
    for tensor in used:
        if isinstance(tensor, VersionId) or tensor in trace.producers or tensor not in seen:
            continue
        value, (site, when) = trace.value(tensor), seen[tensor]
        if value is None or value.dtype.kind != "f" or when > facts.call.when:
            continue
        statement = text.statement(site.line)
        numbers = statement.numbers if statement is not None else ()
        if not {float(number) for number in value.ravel()[:_MOST_NUMBERS]} <= _signed(
            value, numbers
        ):
            yield value, when


def _signed(value: Array, numbers: Collection[float]) -> set[float]:
    made = [float(value.dtype.type(number)) for number in numbers if abs(number) < _LARGEST]
    return {*made, *(-number for number in made)}


def _is_telling_number(number: Array) -> bool:
    is_trivial = number.size == 1 and number.ravel()[0] in (0.0, 1.0, -1.0)
    return number.size > 0 and number.dtype.kind == "f" and not is_trivial


def _has(value: Array, number: Array) -> bool:
    """Whether the constant is what left, or has it among its elements."""
    if number.size == 1:
        return bool((value == number.ravel()[0].astype(value.dtype)).any())
    return value.size == number.size and np.array_equal(value.ravel(), number.ravel())


UNSEEN: tuple[Look, ...] = (_dropped_write, _through_file, _number_came_back)
