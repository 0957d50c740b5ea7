"""Estimate the gradient of what picks the nearest row of a codebook, and of the codebook."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import libcst as cst

from ...trace.ids import TensorId
from ...trace.model import Trace
from ...trace.ops import Op
from ..blocks import Block, block_of_call, body_of, target_name
from ..forms import match
from ..model import Edit, FixCase
from ..nodes import all_of, bound_names, is_call_to
from ..plan import Plan
from ..source import CstStatement, ParsedSource

_MOST = 2_000
"""Tensors that an op was made from which are looked at."""


def pass_on_to_compared(case: FixCase) -> Iterator[Edit]:
    """After ``q = tf.gather(table, tf.argmin(distances))``: ``q = q + (z - stop_gradient(z))``.

    ``z`` is what the distances to the rows were computed from. The value of ``q`` stays as it is,
    and its gradient goes to the row and to ``z``, as if the two were equal. ``z +
    stop_gradient(q - z)`` (van den Oord et al. 2017, VQ-VAE, equation 3) would give all of it to
    ``z``.
    """
    source, trace = case.source, case.trace
    chosen = trace.op(case.cause.op_id)
    if chosen is None or chosen.type not in ("ArgMin", "ArgMax"):
        return
    for op, table in _made_with(trace, chosen, case.call.when):
        row, statement = op.outputs[0], source.statement(op.line)
        q = next(iter(trace.names.get(row, ())), "")
        if statement is None or q not in bound_names(statement):
            continue
        visible = _names_in(source.function_of(statement)) - {q}
        for tensor in _made_from(trace, chosen.inputs):
            z = next((name for name in trace.names.get(tensor, ()) if name in visible), "")
            known = trace.tensors.get(tensor) if z else None
            is_like = known is not None and known.form == trace.tensors[row].form
            if is_like and not _is_from(trace, tensor, table):
                plan = Plan(source)
                plan.after(statement, f"{q} = {q} + ({z} - {source.tf}.stop_gradient({z}))")
                title = f"Estimate: pass the gradient of {q} on to {z}, as if they were equal"
                yield from plan.edits(title)
                return


def _made_from(trace: Trace, tensors: Iterable[TensorId]) -> Iterator[TensorId]:
    """Tensors and what they were made from, with the handles of variables, the nearest first."""
    waiting = deque(tensors)
    seen = set(waiting)
    while waiting and len(seen) < _MOST:
        tensor = waiting.popleft()
        yield tensor
        maker = trace.maker(tensor)
        for given in maker.inputs if maker is not None else ():
            if given not in seen:
                seen.add(given)
                waiting.append(given)


def _is_from(trace: Trace, tensor: TensorId, table: set[TensorId]) -> bool:
    return not table.isdisjoint(_made_from(trace, [tensor]))


def _made_with(trace: Trace, chosen: Op, before: int) -> Iterator[tuple[Op, set[TensorId]]]:
    """The ops that take the position of a row and the table that it was found in, and those after
    them, in the order in which they ran, each with the table."""
    compared = set(_made_from(trace, chosen.inputs))
    positions, rows, table = set(chosen.outputs), set[TensorId](), set[TensorId]()
    later = (op for op in trace.ops.values() if chosen.when < op.when < before and op.call is None)
    for op in sorted(later, key=lambda op: op.when):
        taken = set(op.inputs)
        if taken & positions:
            table |= _tables(trace, taken - positions) & compared
        if taken & rows or (taken & positions and table):
            rows.update(op.outputs)
            if op.outputs:
                yield op, table
        elif taken & positions:
            positions.update(op.outputs)


def _tables(trace: Trace, tensors: set[TensorId]) -> set[TensorId]:
    """The tensors, and the handles of the variables that they were read from."""
    reads = (trace.reads.get(tensor) for tensor in tensors)
    return tensors | {TensorId(read.variable) for read in reads if read is not None}


def _names_in(function: cst.CSTNode) -> frozenset[str]:
    """The names that a function binds, or takes."""
    taken = (parameter.name.value for parameter in all_of(function, cst.Param))
    return bound_names(function) | frozenset(taken)


def codebook_loss(case: FixCase) -> Iterator[Edit]:
    """``z + tf.stop_gradient(q - z)`` stays, ``(q - tf.stop_gradient(z)) ** 2`` joins the loss.

    The straight-through estimate passes the whole gradient on to ``z``. What ``q`` was taken from
    learns by a term of its own (van den Oord et al. 2017, VQ-VAE, equation 3).
    """
    source, tf = case.source, case.source.tf
    block = block_of_call(source, case.trace, case.call)
    loss = target_name(source, case.call)
    if block is None or not loss:
        return
    for line in case.lines("stop-gradient"):
        for stopped in source.calls(line, "stop_gradient"):
            statement = source.statement_of(stopped)
            pair = match(source.parent(stopped), "_z + stop_gradient(_q - _z)")
            if statement is None or not pair:
                continue
            q, z = map(source.code, pair)
            term = f"{tf}.reduce_mean(({q} - {tf}.stop_gradient({z})) ** 2)"
            plan = Plan(source)
            if any(statement is each for each in body_of(block)):
                name = plan.fresh_name("codebook_loss")
                plan.before(statement, f"{name} = {term}")
                plan.last(block.node, f"{loss} = {loss} + {name}")
            elif layer := _layer(source, statement, block):
                plan.before(statement, f"self.add_loss({term})")
                plan.last(block.node, f"{loss} = {loss} + {tf}.add_n({layer}.losses)")
            else:
                continue
            title = f"Let it learn from a loss of its own: how far {q} is from {z}"
            yield from plan.edits(title, has_other_value=True)


def _layer(source: ParsedSource, statement: CstStatement, block: Block) -> str:
    """The only object that is made of the Keras layer's class in whose ``call`` this stands."""
    made_in = source.enclosing(statement, cst.ClassDef)
    method = source.enclosing(statement, cst.FunctionDef)
    if made_in is None or method is None or method.name.value != "call":
        return ""
    made = [
        assign
        for assign in all_of(source.module, cst.Assign)
        if is_call_to(assign.value, made_in.name.value)
    ]
    name = source.code(made[0].targets[0].target) if len(made) == 1 else ""
    kind = cst.ClassDef if name.startswith("self.") else cst.FunctionDef
    around = source.enclosing(made[0], kind) if made else None
    return name if around is None or around in source.ancestors(block.node) else ""
