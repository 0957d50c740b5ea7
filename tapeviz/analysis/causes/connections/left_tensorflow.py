"""``left-tensorflow``: the value went through Python or NumPy and came back as a constant."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ....text.names import called_name, calls_in, dotted
from ....text.statements import read_text
from ....trace.ids import TapeId, VersionId
from ....trace.model import Leave, Trace
from ....trace.ops import Op
from ....trace.stats import Array
from ...call_facts import CallFacts
from ...findings import Cause, Evidence
from ...flow.ancestry import Ancestry, Position
from ...python.outside import NO_NUMBER
from ...python.steering import Steered, steered_by
from ..questions import EdgeUnderTest, Unlinked, Used

_MOST_NUMBERS = 1000
_MOST_LEAVES = 64
_LARGEST = 1e15
_HOW = {
    "numpy": "by .numpy()",
    "float": "by float()",
    "int": "by int()",
    "complex": "by complex()",
    "index": "as an index",
    "array": "into a NumPy array",
    "item": "by .item()",
    "tolist": "by .tolist()",
    "format": "into text",
    "str": "into text",
    "convert_to_numpy": "by convert_to_numpy(), which gives a NumPy array",
    "get_value": "by get_value(), which gives a NumPy array",
    "eval": "by eval(), which gives a NumPy array",
    "predict": "by predict(), which gives NumPy arrays",
    "get_weights": "by get_weights(), which gives NumPy arrays",
    "predict_on_batch": "by predict_on_batch(), which gives NumPy arrays",
    "as_numpy_iterator": "by as_numpy_iterator(), which gives NumPy arrays",
    "evaluate": "by evaluate(), which gives plain numbers",
    "test_on_batch": "by test_on_batch(), which gives plain numbers",
    "train_on_batch": "by train_on_batch(), which gives plain numbers",
    "numpy_function": "into tf.numpy_function",
    "pickle": "when it is pickled",
    "buffer": "into a NumPy function",
    "thread": "into Python code that TensorFlow calls by itself",
}


@dataclass(frozen=True, slots=True)
class LeftTensorFlow(Evidence):
    """The value left TensorFlow before the target was computed. ``how``: as :attr:`Leave.how` names
    it, ``numpy_function``, or ``kept`` for what the function of a ``tf.py_function`` makes and does
    not return; ``steered``: the loop or choice that the number decides about, where it does nothing
    else."""

    kind: ClassVar[str] = "left-tensorflow"
    how: str
    steered: Steered | None = None

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.steered is not None:
            decided = f"which way Python goes on at line {self.steered.line}"
            if self.steered.repeats:
                decided = f"how often the loop on line {self.steered.line} repeats"
            if self.steered.picks:
                decided = f"which element line {self.steered.line} takes"
            return (
                f"On line {cause.line} the value leaves TensorFlow ({self._words()}), and it only "
                f"decides {decided}: {target} is not computed from its value. A decision jumps "
                f"from one outcome to another and has no derivative. Use {source} itself in what "
                f"follows, or weigh the outcomes."
            )
        if self.how == "kept":
            return (
                f"Line {cause.line} gives the value to a Python function that TensorFlow calls, by "
                f"tf.py_function, and {target} is made from something that this function keeps, in "
                f"a list or a variable. Gradients follow only what the function returns, so no "
                f"gradient of {target} gets back to {source}. Return it, and use what "
                f"tf.py_function returns."
            )
        if self.how == "thread":
            return (
                f"Line {cause.line} uses the value in Python code that TensorFlow calls by itself "
                f"(of tf.py_function, tf.numpy_function or a dataset). Gradients pass at most to "
                f"the arguments of such code, and {source} is none of them: its result, from which "
                f"{target} is {cause.probably}made, has no link to {source}. "
                f"Compute with {source} outside of that code instead."
            )
        return (
            f"On line {cause.line} the value {cause.probably}leaves TensorFlow ({self._words()}) "
            f"and comes back as a value of Python or NumPy. "
            f"TensorFlow sees only a constant, which has no link to {source}. "
            f"Stay with tf operations between {source} and {target}."
        )

    def _words(self) -> str:
        return _HOW.get(self.how, f"into {self.how}" if "." in self.how else f"by {self.how}()")


def left_tensorflow(asked: EdgeUnderTest) -> Cause | None:
    """The value went through Python or NumPy and came back as a constant.

    ``tf.numpy_function`` hands arrays to Python; its op has no gradient function.
    """
    edge, facts, op = asked.edge, asked.facts, asked.op
    if edge.leave is not None:
        line = edge.leave.site.line
        return facts.cause(LeftTensorFlow(_how_it_reads(facts, edge.leave)), line, edge)
    if op is not None and op.type in ("PyFunc", "PyFuncStateless"):
        return facts.cause(LeftTensorFlow("numpy_function"), op.line, edge)
    return None


def _how_it_reads(facts: CallFacts, leave: Leave) -> str:
    """How a value left, as the line has it: NumPy calls ``float()`` for ``a[i] = t``, and so does
    ``math.exp(t)``."""
    statement = facts.text.statement(leave.site.line)
    calls = list(calls_in(statement))
    if leave.how not in ("float", "int", "complex") or leave.how in map(called_name, calls):
        return leave.how
    targets = statement.targets if isinstance(statement, ast.Assign) else ()
    if any(isinstance(target, ast.Subscript) for target in targets):
        return "array"
    words = facts.text.expression_at(leave.site.frames[0].span) if leave.site.frames else ""
    into = next((c for c in calls if facts.text.segment(c) == words), None)
    return (dotted(into.func) if into is not None else "") or leave.how


def number_came_back(asked: Unlinked) -> Cause | None:
    """A constant that is not in the text equals a number that left TensorFlow before.

    This finds values that no name leads to: ``setattr``, a list given to a function.
    """
    for leave, made_from in asked.used.once(_came_back):
        if made_from.leads_from(asked.starts):
            cause = asked.facts.cause(LeftTensorFlow(leave.how), leave.site.line)
            return replace(cause, is_probable=True)
    return None


def taken_elsewhere(asked: Unlinked) -> Cause | None:
    """Python that TensorFlow calls by itself took the value without being given it, and the target
    was made from what such a call gave."""
    taken, made_from = asked.used.once(_elsewhere)
    reached = made_from.leads_from(asked.starts)
    line = next((line for line, position in taken if position in reached), 0)
    if not line:
        return None
    made = [op for op in asked.facts.trace.ops.values() if op.type == "MakeIterator"]
    cause = asked.facts.cause(LeftTensorFlow("thread"), line)
    return replace(
        cause, is_probable=len(made) > 1
    )  # which of the datasets it was for is not known


def kept_in_python(asked: Unlinked) -> Cause | None:
    """The function of a ``tf.py_function`` was given the value, and the target was made from what
    it made of it, but not from what it returned."""
    for op in asked.used.once(_keeping):
        if asked.facts.flow.ancestry(op.inputs).leads_from(asked.starts):
            return asked.facts.cause(LeftTensorFlow("kept"), op.line)
    return None


def only_steered(asked: Unlinked) -> Cause | None:
    """A number that left while the tape recorded, by which Python repeats or chooses what the
    target is made in."""
    for leave, steered, made_from in asked.used.once(_steering):
        if made_from.leads_from(asked.starts):
            return asked.facts.cause(LeftTensorFlow(leave.how, steered), leave.site.line)
    return None


def _steering(used: Used) -> list[tuple[Leave, Steered, Ancestry]]:
    """The numbers by which Python went on to the target, the last first, and what made them."""
    facts = used.facts
    left = [leave for leave in facts.leaves if leave.how not in NO_NUMBER and leave.site.line]
    lines: dict[int, Steered | None] = {}
    found = []
    for leave in left[: -_MOST_LEAVES - 1 : -1]:
        line = leave.site.line
        if line not in lines:
            lines[line] = steered_by(facts.text, line, used.lines)
        if (steered := lines[line]) is not None:
            found.append((leave, steered, facts.flow.ancestry([facts.flow.position_left(leave)])))
    return found


def _elsewhere(used: Used) -> tuple[list[tuple[int, Position]], Ancestry]:
    """The values that Python took which TensorFlow calls by itself, the last first, with the lines;
    and the makings of those."""
    facts, trace, flow = used.facts, used.facts.trace, used.facts.flow
    taken: list[tuple[int, Position]] = []
    if any(op.type in _FROM_PYTHON for op in used.makers):
        left = (each for each in reversed(trace.leaves) if each.how == "thread")
        taken += [
            (each.site.line, flow.position_left(each))
            for each in left
            if each.when < facts.call.when
        ]
    tapes = {_tape_of(trace, op) for op in used.makers if op.type == "EagerPyFunc"} - {None}
    for op in [*trace.ops.values()][::-1] if tapes else ():
        if not tapes.isdisjoint(op.tapes):
            edges = (edge for tensor in op.outputs for edge in flow.into(tensor))
            taken += [(op.line, edge.start) for edge in edges]
    return taken, flow.ancestry(position for _, position in taken)


def _keeping(used: Used) -> list[Op]:
    """The ops that called Python where something was made on a tape of theirs that the target was
    made from, the last first."""
    trace = used.facts.trace
    inner = {tape for op in used.makers for tape in op.tapes if not trace.tapes[tape].name}
    if not inner - {used.facts.call.tape}:
        return []
    called = (op for op in [*trace.ops.values()][::-1] if op.type == "EagerPyFunc")
    return [op for op in called if _tape_of(trace, op) in inner]


def _tape_of(trace: Trace, op: Op) -> TapeId | None:
    """The tape that ``tf.py_function`` opened around its Python code (``EagerFunc.__call__`` in
    script_ops.py, 2.15-2.21): the last that ended before the op did."""
    before = [
        (tape.intervals[-1].end, tape.id)
        for tape in trace.tapes.values()
        if not tape.name and tape.intervals and (tape.intervals[-1].end or op.when) < op.when
    ]
    return max(before)[1] if before else None


_FROM_PYTHON = frozenset(
    {"IteratorGetNext", "IteratorGetNextSync", "PyFunc", "PyFuncStateless", "EagerPyFunc"}
)


def _came_back(used: Used) -> list[tuple[Leave, Ancestry]]:
    """The numbers that left and are among the constants, the last first, and what made them."""
    trace, flow, until = used.facts.trace, used.facts.flow, used.facts.call.when
    constants = [*_unexplained(used), *_settings(used)]
    left = [
        leave
        for leave in trace.leaves
        if constants and leave.when < until and leave.how not in NO_NUMBER
    ]
    found = []
    for leave in left[: -_MOST_LEAVES - 1 : -1]:
        number = trace.value(leave.tensor)
        if number is None or not _is_telling_number(number):
            continue
        if any(when > leave.when and _has(value, number) for value, when in constants):
            found.append((leave, flow.ancestry([flow.position_left(leave)])))
    return found


def _settings(used: Used) -> Iterator[tuple[Array, int]]:
    """Numbers that ops of the target were set up with (the slope of a leaky ReLU) and that are not
    in the text, and when the ops ran."""
    text = read_text(used.facts.text)
    for op in used.makers:
        for number in op.attrs.values():
            if isinstance(number, float):
                statement = text.statement(op.line)
                value = np.asarray(number, np.float32)
                numbers = statement.numbers if statement is not None else ()
                if float(value) not in _signed(value, numbers):
                    yield value, op.when


def _unexplained(used: Used) -> Iterator[tuple[Array, int]]:
    """Constants of real numbers that the target was made from, and when they were first seen."""
    facts, trace = used.facts, used.facts.trace
    text, seen = read_text(facts.text), facts.flow.first_seen
    for tensor in used.positions:
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
