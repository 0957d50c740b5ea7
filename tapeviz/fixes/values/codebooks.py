"""A straight-through estimate that leaves a codebook without gradient in, a loss for it out."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, FixCase
from ..plan import Plan
from ..source import ParsedSource, Statement, all_of, called_name
from ..tapes.blocks import Block, block_of_call, body_of, target_name


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
            statement, pair = source.statement_of(stopped), _pair(source, stopped)
            if statement is None or pair is None:
                continue
            q, z = pair
            term = f"{tf}.reduce_mean(({q} - {tf}.stop_gradient({z})) ** 2)"
            plan = Plan(source)
            if any(statement is each for each in body_of(block)):
                name = source.free_name("codebook_loss")
                plan.before(statement, f"{name} = {term}")
                plan.last(block.node, f"{loss} = {loss} + {name}")
            elif layer := _layer(source, statement, block):
                plan.before(statement, f"self.add_loss({term})")
                plan.last(block.node, f"{loss} = {loss} + {tf}.add_n({layer}.losses)")
            else:
                continue
            title = f"Let it learn from a loss of its own: how far {q} is from {z}"
            yield Edit(title, plan.text(), has_other_value=True)


def _pair(source: ParsedSource, stopped: cst.Call) -> tuple[str, str] | None:
    """``q`` and ``z`` of ``z + tf.stop_gradient(q - z)``."""
    taken = stopped.args[0].value if stopped.args else None
    added = source.parent(stopped)
    if not isinstance(taken, cst.BinaryOperation) or not isinstance(added, cst.BinaryOperation):
        return None
    other = added.left if added.right is stopped else added.right
    is_minus, is_plus = (
        isinstance(taken.operator, cst.Subtract),
        isinstance(added.operator, cst.Add),
    )
    if is_minus and is_plus and other.deep_equals(taken.right):
        return source.code(taken.left), source.code(taken.right)
    return None


def _layer(source: ParsedSource, statement: Statement, block: Block) -> str:
    """The only object that is made of the Keras layer's class in whose ``call`` this stands."""
    made_in = source.enclosing(statement, cst.ClassDef)
    method = source.enclosing(statement, cst.FunctionDef)
    if made_in is None or method is None or method.name.value != "call":
        return ""
    names = [
        source.code(assign.targets[0].target)
        for assign in all_of(source.module, cst.Assign)
        if isinstance(assign.value, cst.Call) and called_name(assign.value) == made_in.name.value
    ]
    is_there = len(names) == 1 and not names[0].startswith("self.")
    return names[0] if is_there and source.function_of(block.node) is source.module else ""
