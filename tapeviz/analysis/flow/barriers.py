"""A way that a value went in, what keeps the gradient from going back along it out.

:data:`DETECTORS` is the table: each detector looks at one :class:`Crossing` and names a cause or
passes. They are asked in order, the first answer holds.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from ...trace.expressions import SourceText
from ...trace.model import Op, OpId, Site, Step, Tape, TensorId, VersionId
from ...trace.op_kinds import ops_with
from ...trace.tapes import is_differentiable
from ..call_facts import CallFacts, name_of
from ..model import Cause, Kind
from ..python.blocks import line_that_kept, line_to_move
from .dataflow import REF_ASSIGNS, Way

# Ops that look at the form of a tensor and never at its elements.
FORM_OPS = ops_with("form")
# Of floats, giving floats, and registered as not differentiable, or with a gradient function that
# gives None (the gradient registry of 2.15 to 2.21). Asked where no gradient function was called.
FLAT_OPS = ops_with("no-gradient")


@dataclass(frozen=True, slots=True)
class Crossing:
    """One way, looked at for one call."""

    way: Way
    facts: CallFacts

    @property
    def op(self) -> Op | None:
        return self.facts.op(self.way)


Detector = Callable[[Crossing], "Cause | None"]


def changed_state(crossing: Crossing) -> Cause | None:
    """The value went into a variable's state; no tape records a write to a resource."""
    way, facts = crossing.way, crossing.facts
    op = crossing.op
    if op is None or not (way.kind in ("assign", "state") or op.type in REF_ASSIGNS):
        return None
    if isinstance(way.end, VersionId):
        variable = facts.flow.version_at(way.end).variable
        if facts.trace.variables[variable].owner == "metric":
            return facts.cause("stateful", op.line, way, what="metric")
        name = name_of(facts.trace, variable)
    else:
        name = _name_of_ref(facts, op)
    return facts.cause("assign", op.line, way, variable=name)


def _name_of_ref(facts: CallFacts, assign: Op) -> str:
    """The name of a variable of the first kind in the graph, by the op that writes to it."""
    made = facts.trace.producers.get(assign.inputs[0])
    return facts.trace.ops[made].name if made is not None else "a variable"


def made_variable(crossing: Crossing) -> Cause | None:
    """A variable was made from the tensor: its value is copied as by an assign."""
    way, facts = crossing.way, crossing.facts
    if way.kind != "creation" or not isinstance(way.end, VersionId):
        return None
    variable = facts.trace.variables[facts.flow.version_at(way.end).variable]
    name = name_of(facts.trace, variable.id)
    return facts.cause("new-variable", variable.site.line, way, variable=name)


def left_tensorflow(crossing: Crossing) -> Cause | None:
    """The value went through Python or NumPy and came back as a constant."""
    way, facts = crossing.way, crossing.facts
    if way.leave is None:
        return None
    return facts.cause("left-tensorflow", way.leave.site.line, way, how=way.leave.how)


def went_into_object(crossing: Crossing) -> Cause | None:
    """The value was put into a stateful object that gives it out later: a dataset, a table.

    Datasets are variants that no gradient function reads; what fills an object gives no tensor.
    """
    way, facts, op = crossing.way, crossing.facts, crossing.op
    if op is None or facts.dtype(way.start) == "variant":
        return None
    is_dataset = "Dataset" in op.type and facts.dtype(way.end) == "variant"
    into_dataset = is_dataset and way.kind == "op"
    if not into_dataset and way.kind != "object":
        return None
    what = "dataset" if into_dataset else "object"
    return facts.cause("stateful", op.line, way, what=what)


def ran_python(crossing: Crossing) -> Cause | None:
    """``tf.numpy_function`` hands arrays to Python; its op has no gradient function."""
    op = crossing.op
    if op is None or op.type not in ("PyFunc", "PyFuncStateless"):
        return None
    return crossing.facts.cause("left-tensorflow", op.line, crossing.way, how="numpy_function")


def stopped(crossing: Crossing) -> Cause | None:
    """``tf.stop_gradient``."""
    op = crossing.op
    if op is None or op.type not in ("StopGradient", "PreventGradient"):
        return None
    return crossing.facts.cause("stop-gradient", op.line, crossing.way)


def became_whole(crossing: Crossing) -> Cause | None:
    """A real number became an integer, boolean or string: nothing infinitesimal is left of it."""
    way, facts, op = crossing.way, crossing.facts, crossing.op
    if op is None or way.kind != "op" or is_differentiable(facts.dtype(way.end)):
        return None
    if not is_differentiable(facts.dtype(way.start)):
        return None
    dtype = facts.dtype(way.end)
    words = facts.words_of(op)  # tf.histogram_fixed_width_bins ends in a cast of its own
    is_cast = op.type == "Cast" and (not words or "cast" in words or "to_" in words)
    is_cast = is_cast or dtype == "string"
    kind: Kind = "integer" if is_cast else "not-differentiable"
    return facts.cause(kind, facts.line_of(op), way, dtype=dtype)


def ran_outside(crossing: Crossing) -> Cause | None:
    """The op ran where the tape did not record: outside its block, paused, before a reset."""
    facts, op, tape = crossing.facts, crossing.op, crossing.facts.tape
    if op is None or tape is None or crossing.way.kind not in ("op", "read"):
        return None
    if op.graph or not is_differentiable(facts.dtype(crossing.way.start)):
        return None
    where = where_outside(tape, op.when, facts.call.when)
    if not where and op.paused:
        where = "paused"
    if not where:
        return None
    earlier = _earlier_tape(facts, op, tape) if where == "before" else None
    if earlier is not None:
        line = line_that_kept(op.site, earlier, facts.ran)
        return facts.cause("replaced-source", line, crossing.way, how="kept")
    edge = _edge(tape, where, op.when)
    if where == "reset" and edge.line:
        ran = str(line_to_move(facts.text, op.site, tape.site, facts.call.site))
        return facts.cause("outside-tape", edge.line, crossing.way, where=where, ran=ran)
    line = line_to_move(facts.text, op.site, edge, facts.call.site)
    return facts.cause("outside-tape", line, crossing.way, where=where)


def _edge(tape: Tape, where: str, when: int) -> Site:
    """Where the tape was opened, where it was told to pause, or where it was reset."""
    resets = [i.start_site for i in tape.intervals if i.why_start == "reset" and i.start > when]
    if where == "reset":
        return resets[0] if resets else tape.site
    pauses = [i.end_site for i in tape.intervals if i.end <= when and i.end_site.frames]
    return pauses[-1] if where == "stop_recording" and pauses else tape.site


def _earlier_tape(facts: CallFacts, op: Op, tape: Tape) -> Tape | None:
    """The tape of the same ``with`` statement that has the op: its result was kept since."""
    tapes = (facts.trace.tapes[tape] for tape in op.tapes if tape in facts.trace.tapes)
    same = (other for other in tapes if other.id != tape.id and other.site.line == tape.site.line)
    return next(same, None)


def gave_none(crossing: Crossing) -> Cause | None:
    """The op's gradient function ran and gave None, or there is none to run."""
    way, facts, op = crossing.way, crossing.facts, crossing.op
    if op is None or way.kind != "op" or not is_differentiable(facts.dtype(way.start)):
        return None
    step = facts.returned.get(op.id)
    if step is None and op.derived is None:
        is_flat = _is_unreplayed(facts, op) and op.type in FLAT_OPS
        return facts.cause("not-differentiable", facts.line_of(op), way) if is_flat else None
    if _gave(way, op, step) or not _was_asked(facts, way, op):
        return None
    if op.is_recorded_operation and op.function:
        line = gradient_return_line(facts.text, op) or op.line
        return facts.cause("custom-gradient", line, way, function=op.function)
    error = step.error if step is not None else ""
    return facts.cause("not-differentiable", facts.line_of(op), way, error=error)


def _was_asked(facts: CallFacts, way: Way, op: Op) -> bool:
    """Whether a gradient for this input was wanted.

    A tape gets None also for inputs that it does not follow. A replay wants them all.
    """
    call, trace = facts.call, facts.trace
    replayed = call.replay.steps if call.replay else ()
    if call.tape is None or op.within is None or any(step.op == op.id for step in replayed):
        return True
    maker = trace.ops.get(trace.producers.get(way.tensor or TensorId(0), OpId(0)))
    return maker is None or call.tape in maker.tapes


def _gave(way: Way, op: Op, step: Step | None) -> bool:
    """Whether the gradient function gave something for the input, if it was asked at all."""
    if step is None:
        derived = op.derived or ()
        return way.position < len(derived) and derived[way.position]
    received = any(tensor is not None for tensor in step.upstream)
    gave = way.position < len(step.downstream) and step.downstream[way.position] is not None
    return gave or not (received or step.error)


def _is_unreplayed(facts: CallFacts, op: Op) -> bool:
    return op.graph != 0 or op.within is not None or facts.call.replay is None


def captured(crossing: Crossing) -> Cause | None:
    """A custom gradient is asked for the gradients of its arguments and variables alone."""
    way, facts, op = crossing.way, crossing.facts, crossing.op
    if op is None or way.kind != "captured":
        return None
    line = op.function_line or op.line
    return facts.cause("custom-gradient", line, way, function=op.function, how="captured")


DETECTORS: tuple[Detector, ...] = (
    # The kind of the way names the cause, whatever the op's gradient function would give.
    captured,
    changed_state,
    made_variable,
    left_tensorflow,
    went_into_object,
    # Ops that always cut have words of their own, on a tape or off it.
    ran_python,
    stopped,
    became_whole,
    # The tape did not record the op, so its gradient function was never asked: before that is.
    ran_outside,
    gave_none,
)


def barrier(crossing: Crossing) -> Cause | None:
    """The cause that stops the gradient on this way; None if it passes."""
    judged = crossing.facts.judged
    if crossing.way not in judged:
        causes = (detect(crossing) for detect in DETECTORS)
        judged[crossing.way] = next((cause for cause in causes if cause is not None), None)
    return judged[crossing.way]


def where_outside(tape: Tape, when: int, asked: int) -> str:
    """Why the tape had nothing of this moment when it was asked; empty if it recorded it."""
    resets = [i.start for i in tape.intervals if i.why_start == "reset" and i.start < asked]
    if resets and when < resets[-1]:
        return "reset"
    if tape.is_recording(when):
        return ""
    if not tape.intervals or when < tape.intervals[0].start:
        return "before"
    before = [interval for interval in tape.intervals if interval.end <= when]
    return "stop_recording" if before and before[-1].why_end == "stop_recording" else "after"


def gradient_return_line(text: SourceText, op: Op) -> int:
    """Where the gradient function inside a ``custom_gradient`` function returns; 0 unknown.

    Its ``return``, or the lambda that it is.
    """
    for node in ast.walk(text.tree) if text.tree else ():
        if isinstance(node, ast.FunctionDef) and node.name == op.function:
            below = [below_node for statement in node.body for below_node in ast.walk(statement)]
            inner = [function for function in below if isinstance(function, ast.FunctionDef)]
            returns = [
                r for function in inner for r in ast.walk(function) if isinstance(r, ast.Return)
            ]
            lambdas = [found for found in below if isinstance(found, ast.Lambda)]
            last = (returns or lambdas or [node])[-1]
            return last.lineno
    return op.function_line
