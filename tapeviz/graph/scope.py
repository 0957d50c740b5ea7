"""Choose the ops, versions and tensors in the picture of a gradient call.

The picture of a call has the ops on the paths to the targets that its tape recorded, and a single
node for each value computed outside of these. For a source without a gradient it also has the paths
to the targets through state, NumPy and unrecorded ops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from ..text.op_words import friendly
from ..trace.calls import Call
from ..trace.compiled.raised import eager_op_that_raised
from ..trace.ids import OpId, TensorId
from ..trace.model import Tape, Trace
from ..trace.ops import Op
from .far_side import find_offspring, paths_between
from .scope_walk import Scope, ScopeWalk
from .trace_index import TraceIndex
from .words import is_assign, user_name

BEFORE = "before/"
"""Prefix of the path that opens a value computed before the tape recorded."""


def find_scope(index: TraceIndex, call: Call | None, opened: Collection[str] = ()) -> Scope:
    """The content of the picture of a gradient call; without a call every forward op.

    ``opened``: paths (:func:`before_path`) of values computed outside whose ops are shown too.
    """
    trace = index.trace
    if call is None:
        return _forward_scope(index)
    scope = Scope()
    is_inside = _recorded_for(index, call)
    wanted = {path for path in opened if path.startswith(BEFORE)}

    def is_shown(op: Op, tensor: TensorId | None) -> bool:
        if is_inside(op):
            return True
        return tensor is not None and bool(wanted) and before_path(trace, tensor) in wanted

    lacking = [
        operand.tensor
        for operand, result in zip(call.sources, call.results, strict=False)
        if result is None and operand.tensor is not None
    ]
    # First: of many sources the paths take more memory than all that is in the picture.
    explained = paths_between(index, call, frozenset(lacking)) if lacking else Scope()
    walk = ScopeWalk(index, scope, is_shown, explained, index.round_before(call))
    walk.reach_targets(call)
    for inner in _inner_calls(trace, scope, call):
        walk.reach_targets(inner)
    if lacking:
        explained_sources = {TensorId(version.variable) for version in explained.versions}
        for tensor in lacking:
            if tensor not in explained.tensors and tensor not in explained_sources:
                walk.reach(find_offspring(index, call, tensor, scope, is_inside))
        scope.cuts, scope.returned = explained.cuts, explained.returned
    scope.cuts |= _first_nonfinite(trace, call)
    for operand in call.sources:
        if operand.tensor is not None:
            walk.reach_operand(operand.tensor, call)
    return scope


def _first_nonfinite(trace: Trace, call: Call) -> set[OpId]:
    """The op whose gradient function was the first to return NaN or infinity; empty if none did, or
    if it was given the NaN or infinity that a target has, too."""
    if not any(map(trace.has_nonfinite, call.results)):
        return set()
    for step in call.steps:
        op = trace.op(step.op)
        if op is not None and any(map(trace.has_nonfinite, step.downstream)):
            was_given = any(map(trace.has_nonfinite, (*op.inputs, *op.outputs)))
            is_in_target = any(map(trace.has_nonfinite, call.target_tensors))
            return set() if was_given and is_in_target else {op.id}
    return set()


def _inner_calls(trace: Trace, scope: Scope, call: Call) -> list[Call]:
    """The other gradient calls whose ops are in the picture."""
    asked = {trace.ops[op].call for op in scope.ops} - {None, call.id}
    return [inner for inner in trace.calls if inner.id in asked] if asked else []


def _recorded_for(index: TraceIndex, call: Call) -> Callable[[Op], bool]:
    """A predicate of ops: whether the call's tape recorded the op, or the op is part of the forward
    computation while the tape recorded. For ``tf.gradients``, without a tape, it is always true."""
    trace = index.trace
    tape: Tape | None = trace.tape(call.tape)

    def is_inside(op: Op) -> bool:
        # A function that called itself would be a cycle, and keep the trace until one is collected.
        while tape is not None and tape.id not in op.tapes:
            entry = index.entry_of.get(op.id)
            if entry is None or entry.id == op.id:
                return not index.descent.is_backward(op) and tape.is_recording(op.when)
            op = entry
        return True

    return is_inside


def before_path(trace: Trace, tensor: TensorId) -> str:
    """The path that opens a value computed outside the picture: the same in each round of a
    loop."""
    op = trace.maker(tensor)
    name = user_name(trace, tensor)
    if not name and op is not None:
        name = f"{friendly(op.type)} line {op.line}"
    return BEFORE + name.replace("/", "|")


def _forward_scope(index: TraceIndex) -> Scope:
    """Every forward op, the one that raised among them, except those that made the first values of
    variables, and while the run goes on those of lines that traced a function: there Keras sets a
    model up before it trains."""
    trace = index.trace
    made = ScopeWalk(index, Scope(), lambda op, tensor: True)
    made.reach(
        variable.initial for variable in trace.variables.values() if variable.initial is not None
    )
    creations = {version.op for v in trace.variables.values() for version in v.versions[:1]}
    scope = Scope()
    walk = ScopeWalk(index, scope, lambda op, tensor: True)
    for op in trace.ops.values():
        is_making = op.id in made.scope.ops or op.id in creations
        is_making = is_making or op.line in trace.traced
        if op.call is None and not is_making and op.type != "VarHandleOp" and not op.graph:
            if is_assign(trace, op) and op.id in trace.writes:
                walk.reach(walk.keep_version(trace.writes[op.id]))
            else:
                walk.reach(op.outputs)
    raised = eager_op_that_raised(trace)
    if raised is not None:  # it has no outputs that lead to it
        walk.keep(raised)
    return scope


def everything(trace: Trace) -> Scope:
    """The content of a picture of the whole run."""
    versions = {version.id for v in trace.variables.values() for version in v.versions}
    creations = {v.versions[0].op for v in trace.variables.values() if v.versions}
    ops = {op.id for op in trace.ops.values() if op.type not in _NEVER_NODES}
    return Scope({op for op in ops if op not in creations}, versions)


_NEVER_NODES = frozenset(("VarHandleOp", "DestroyResourceOp"))
