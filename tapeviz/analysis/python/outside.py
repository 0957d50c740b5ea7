"""Find the paths that values took through Python and NumPy.

TensorFlow sees a value leave (``.numpy()``, ``float()``) and a constant come back, nothing between.
What happened between is read from the text, see :mod:`.slicing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial

import numpy as np

from ...latest import for_latest
from ...text.source import SourceText
from ...text.statements import PythonText
from ...trace.calls import Call
from ...trace.ids import TensorId
from ...trace.model import Binding, Leave, Trace
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ...trace.sites import Site
from ...trace.stats import Array
from .slicing import Slicer, Trail

_REDUCTIONS, _FILLING = ops_with("reduces"), ops_with("draw") | {"Fill"}
# Asked for its truth value, a tensor decides what runs: no number of it goes on. So it does where
# it is given to ``tf.cond`` or ``tf.while_loop``.
NO_NUMBER = frozenset({"bool", "cond", "while_loop"})


@dataclass(frozen=True)
class Outside:
    """The ways of values through Python, as far as names and numbers tell. ``left``: constant that
    came back → the leaves that its value was made from. ``between``: the same → the lines of the
    statements in between, without the one on which it came back. ``steps``: the constant with the
    time at which a value left → how many operations the text does with that value in those
    statements and in the one that it left in."""

    left: Mapping[TensorId, tuple[Leave, ...]] = field(default_factory=dict)
    between: Mapping[TensorId, frozenset[int]] = field(default_factory=dict)
    steps: Mapping[tuple[TensorId, int], int] = field(default_factory=dict)

    @cached_property
    def came_back(self) -> dict[TensorId, tuple[TensorId, ...]]:
        """Constant that came back → the tensors that its value was made from."""
        return {
            tensor: tuple(dict.fromkeys(leave.tensor for leave in leaves))
            for tensor, leaves in self.left.items()
        }


NOTHING_OUTSIDE = Outside()


@for_latest
def follow(trace: Trace) -> Outside:
    """The links between what left TensorFlow and the constants that came back. Reads all of the
    trace; the diagnosis and the picture ask."""
    text = SourceText(trace.source)
    leaves = [leave for leave in trace.leaves if leave.how not in NO_NUMBER and leave.site.line]
    if not leaves or text.tree is None:
        return NOTHING_OUTSIDE
    slicer = Slicer(trace.bindings, leaves, text)
    found: dict[TensorId, tuple[Leave, ...]] = {}
    between: dict[TensorId, frozenset[int]] = {}
    steps: dict[tuple[TensorId, int], int] = {}
    known: dict[frozenset[int], frozenset[int]] = {}  # rounds of a loop go through the same lines
    seen = _all_axes(trace) | _of_new_weights(trace)
    literals = cache(partial(_literals, slicer.text))
    whole: set[tuple[int, ...]] = set()  # lines with an array that came back as it was
    for tensors, site, when in _came_back(trace):
        new = [tensor for tensor in tensors if tensor not in seen]
        seen.update(new)
        trail = slicer.leaves_of(site, when) if new else Trail()
        left, lines = trail.left, trail.lines
        made = _made_of(trace, new, left, literals(site.line))
        taken = [leave.tensor for leave in left]
        values = [trace.value(tensor) for tensor in taken]
        if any(_is_same_array(trace.value(tensor), values) for tensor in made):
            whole.add((site.line, *taken))
        for tensor in made:
            value = trace.value(tensor)
            is_single = value is not None and value.size == 1 and not _is_one_of(value, values)
            if is_single and (site.line, *taken) in whole:
                continue  # TensorFlow's own, as the epsilon of l2_normalize
            known_left = _left_as_it_is(trace, value, left) or left
            found[tensor] = tuple(leave for leave in known_left if leave.tensor != tensor)
            between[tensor] = known.setdefault(lines, lines)
            steps.update(
                ((tensor, moment), count) for moment, count in trail.steps.items() if count
            )
    return Outside({tensor: leaves for tensor, leaves in found.items() if leaves}, between, steps)


def _all_axes(trace: Trace) -> set[TensorId]:
    """Constants that TensorFlow makes itself where a reduction is given no axis: ``range(rank)``
    (``_ReductionDims`` in math_ops.py, 2.15 to 2.21). Nothing of the snippet's is in them."""
    found = set()
    for op in trace.ops.values():
        if op.type in _REDUCTIONS and len(op.inputs) > 1:
            reduced, axes = trace.tensors.get(op.inputs[0]), trace.value(op.inputs[1])
            rank = len(reduced.shape) if reduced is not None and reduced.shape is not None else 0
            if axes is not None and axes.shape == (rank,) and axes.tolist() == list(range(rank)):
                found.add(op.inputs[1])
    return found


def _of_new_weights(trace: Trace) -> set[TensorId]:
    """Constants by which a layer of Keras draws or fills its weights, such as their shape and
    limits, on the line on which it is built: no value of that line is in them. These ops have the
    path of the variable as their name scope (``BaseLayer.add_weight`` of Keras 3.0 to 3.15)."""
    paths = {variable.path for variable in trace.variables.values() if variable.path}
    made: dict[str, list[Op]] = {}
    for op in trace.ops.values() if paths else ():
        if op.scope in paths:
            made.setdefault(op.scope, []).append(op)
    return {
        tensor
        for ops in made.values()
        if any(op.type in _FILLING for op in ops)
        for op in ops
        for tensor in op.inputs
        if _is_constant(trace, tensor)
    }


def _came_back(trace: Trace) -> Iterator[tuple[list[TensorId], Site, int]]:
    """Constants where they are first seen: bound to a name, taken by an op, given as a source or a
    target."""
    happened: list[Binding | Op | Call] = [binding for binding in trace.bindings if binding.tensors]
    happened.extend(trace.ops.values())
    happened.extend(trace.calls)
    for event in sorted(happened, key=lambda event: event.when):
        tensors = _tensors_of(event)
        constants = [tensor for tensor in tensors if _is_constant(trace, tensor)]
        if constants and event.site.line:
            yield constants, event.site, event.when


def _tensors_of(event: Binding | Op | Call) -> Sequence[TensorId]:
    if isinstance(event, Op):
        return event.outputs if event.type == "Const" else event.inputs
    if isinstance(event, Call):
        return (*event.source_tensors, *event.target_tensors)
    return [tensor for tensor, _ in event.tensors]


def _is_constant(trace: Trace, tensor: TensorId) -> bool:
    """Whether it came from Python: no op made it, or one that stands for it in a graph."""
    known, maker = trace.tensors.get(tensor), trace.maker(tensor)
    if known is None or known.is_handle:
        return False
    return tensor > 0 if maker is None else maker.type == "Const"


def _made_of(
    trace: Trace,
    constants: Sequence[TensorId],
    left: Sequence[Leave],
    literals: Sequence[tuple[float, ...]],
) -> list[TensorId]:
    """The elements that may hold what left: not literals, and axes or indices only for want of
    others.

    ``literals``: see :func:`_literals`. A literal may be the very number that left; that it is one
    proves nothing then.
    """
    if not left:
        return []
    open_to_it = [constant for constant in constants if not _is_literal(trace, constant, literals)]
    if not open_to_it:
        numbers = [trace.value(leave.tensor) for leave in left]
        open_to_it = [
            constant for constant in constants if _is_one_of(trace.value(constant), numbers)
        ]
    values = {constant: trace.value(constant) for constant in open_to_it}
    arrays = [
        tensor
        for tensor, value in values.items()
        if value is None or value.ndim != 1 or value.dtype.kind not in "iu"
    ]
    return arrays or open_to_it


def _is_same_array(value: Array | None, others: Iterable[Array | None]) -> bool:
    if value is None or value.size < 2:
        return False
    return any(np.array_equal(other, value) for other in others if other is not None)


def _left_as_it_is(trace: Trace, value: Array | None, left: Sequence[Leave]) -> Sequence[Leave]:
    """The leaves of a number that came back as it was: nothing else is in it, whatever else is read
    on the way. A whole number may be another one of the snippet's."""
    if value is None or value.size != 1 or value.dtype.kind != "f" or not (value % 1).any():
        return ()
    return [leave for leave in left if _is_one_of(value, [trace.value(leave.tensor)])]


def _is_one_of(value: Array | None, numbers: Iterable[Array | None]) -> bool:
    return value is not None and any(
        number is not None
        and number.size == value.size == 1
        and bool(number.ravel()[0] == value.ravel()[0])
        for number in numbers
    )


def _literals(text: PythonText, line: int) -> Sequence[tuple[float, ...]]:
    """The literals of the statement on a line, and those that names in it may stand for, as
    ``total`` of ``total += p`` after ``total = 0.0``."""
    statement = text.statement(line)
    return [*text.literals_of(statement)] if statement is not None else []


def _is_literal(trace: Trace, tensor: TensorId, literals: Sequence[tuple[float, ...]]) -> bool:
    """Whether the constant is one of these numbers, or has the elements of one of these lists."""
    value = trace.value(tensor)
    if value is None or value.dtype.kind not in "iuf":
        return False
    found, dtype = value.ravel(), value.dtype if value.dtype.kind == "f" else None
    made = (
        np.array(literal, dtype)  # a whole number beyond those of the dtype has no array of it
        for literal in literals
        if len(literal) == found.size and max(map(abs, literal), default=0.0) < 1e15
    )
    return any(
        np.array_equal(each, found) or (found.size == 1 and -each[0] == found[0]) for each in made
    )
