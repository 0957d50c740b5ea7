"""Write the recorder's instructions for a gradient that goes back along given edges."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from ...trace.ids import OpId, TensorId, VariableId, VersionId
from ...trace.model import Trace
from ...trace.ops import Op
from ...trace.tapes import is_differentiable
from ..flow.ancestry import EdgesInto, Position

ReplayMode = Literal["", "beyond", "estimate"]
"""``beyond`` what stops a gradient on purpose; ``estimate``: also through what is flat."""


def program_of(trace: Trace, ancestry: EdgesInto, how: ReplayMode) -> Iterator[list[Any]]:
    """Instructions in backward order: an op comes before the ops that made its inputs."""
    instructions: list[list[Any]] = []
    whens = array("d")  # a pair for each instruction would take as much memory as these
    done: set[OpId] = set()

    def add(when: float, instruction: list[Any]) -> None:
        whens.append(when)
        instructions.append(instruction)

    for position, edges in ancestry.items():
        for edge in edges:
            function = _function_around(trace, edge.op)
            if function is not None:
                if function.id in done:
                    continue
                done.add(function.id)
                if has_turns(function):
                    add(function.when, _through_turns(trace, ancestry, function))
                elif function.is_recorded_operation:
                    for when, instruction in _of_op(trace, function, ""):
                        add(when, instruction)
            elif edge.kind == "read" and isinstance(position, int):
                variable = trace.reads[position].variable
                when = _when(trace, edge.op)
                add(when, ["move", position, named(edge.start)])
                add(when, ["move", position, variable])
            elif edge.kind == "creation":
                when = _when(trace, edge.op)
                add(when, ["move", named(edge.end), named(edge.start)])
            elif edge.op is not None and edge.op not in done:
                done.add(edge.op)
                op = trace.ops[edge.op]
                for when, instruction in _of_op(trace, op, how):
                    add(when, instruction)
    order = np.argsort(-np.frombuffer(whens), kind="stable")
    return (instructions[place] for place in order)


def _function_around(trace: Trace, op: OpId | None) -> Op | None:
    """The tape's entry for the compiled function that ran this op, which gradients go back through;
    None where its inside was computed again and can be walked."""
    within = trace.ops[op].within if op is not None else None
    function = trace.op(within)
    return function if function is not None and not function.is_open else None


def _through_turns(trace: Trace, ancestry: EdgesInto, function: Op) -> list[Any]:
    """The instruction to go back through a whole call with loops, turn by turn."""
    began = min((trace.ops[op].when for op in function.body if op in trace.ops), default=0)
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for variable in {at.variable for at in ancestry if isinstance(at, VersionId)}:
        for version in trace.variables[variable].versions:
            if version.when < began:
                before[str(variable)] = str(version.id)
            if version.when <= function.when:
                after[str(variable)] = str(version.id)
    shown = [op.id for op in trace.ops.values() if op.within == function.id]
    return ["turns", function.ran_as, before, after, shown]


def has_turns(op: Op) -> bool:
    """Whether a gradient can be led back through every turn of the loops that a call ran."""
    return op.inside is not None and op.inside.is_turned


def _of_op(trace: Trace, op: Op, how: ReplayMode) -> Iterator[tuple[float, list[Any]]]:
    version = trace.writes.get(op.id)
    if version is None:
        if how and is_custom(trace, op):
            for inner in op.body:
                yield trace.ops[inner].when, ["inner", inner]
        elif how == "estimate" or any(carries_gradient(trace, tensor) for tensor in op.outputs):
            # A compiled function's own outputs are those of the tape's entry for it, too.
            yield op.when, ["op" if op.within is None else "inner", op.id]
            for tensor in op.inputs:
                touched = trace.touches.get((op.id, VariableId(tensor)))
                if touched is not None:
                    yield op.when - 0.5, ["move", tensor, str(touched.id)]
        return
    prior = str(version.id.prior) if version.index else 0
    yield op.when, ["assign", op.id, str(version.id), version.value or 0, prior]


def is_custom(trace: Trace, op: Op) -> bool:
    """Whether the op is a custom gradient whose body ran op by op."""
    is_entry = op.is_recorded_operation and bool(op.function and op.body)
    return is_entry and not any(trace.ops[inner].graph for inner in op.body)


def named(position: Position) -> int | str:
    """A position as the recorder names it: a tensor's id, or a version's text."""
    return str(position) if isinstance(position, VersionId) else position


def carries_gradient(trace: Trace, tensor: TensorId) -> bool:
    """Whether a tensor has a dtype with gradients; true of one of which nothing is known."""
    known = trace.tensors.get(tensor)
    return known is None or is_differentiable(known.dtype)


def _when(trace: Trace, op: OpId | None) -> float:
    return float(trace.ops[op].when) if op is not None else 0.0
