"""Make one model that gives both outputs, of which the model kept one inside."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.connections.not_connected import NotConnected
from ..blocks import Block, block_of_call, body_of, gradient_call, is_method_statement
from ..model import Edit, ErrorCase, FixCase
from ..nodes import all_of, argument, is_call_to, read_names, sole
from ..plan import Plan
from ..source import CstStatement, ParsedSource
from .sources import is_computed_again


def give_both(case: FixCase) -> Iterator[Edit]:
    """``conv = features(x)``, ``p = model(x)`` → ``conv, p = both(x)`` of one ``tf.keras.Model``.

    ``features`` is a part of ``model``: a model up to one of its layers, or a layer. A functional
    Keras model computes each layer once, whatever outputs it gives. The first line stays where a
    line before the second one uses its value. ``tape.watch(conv)`` between them goes with it: the
    tape records what is made from trainable variables. For other models both stay.
    """
    source, name = case.source, case.finding.source
    block = block_of_call(source, case.trace, case.call)
    is_unconnected = isinstance(case.cause.evidence, NotConnected)
    if block is None or not (is_computed_again(case) or is_unconnected):
        return
    for statement, given, call in _calls(source, source.statements):
        if given == name:
            yield from _both(source, block, _output(source, call), name, statement)


def _output(source: ParsedSource, call: cst.Call) -> str:
    """The symbolic output of the model or layer called; a Sequential has only ``outputs``."""
    name = source.code(call.func)
    made = source.bound_to(name)
    is_model = is_call_to(made, "Model", "Sequential")
    return f"{name}.outputs[0]" if is_model else f"{name}.output"


def give_symbolic(case: ErrorCase) -> Iterator[Edit]:
    """``conv = layer.output`` given as a source, which holds no numbers: the same model."""
    source, trace = case.source, case.trace
    call = trace.calls[-1] if trace.calls else None
    if call is None or call.ended:
        return
    block, asking = block_of_call(source, trace, call), gradient_call(source, call)
    given = argument(asking, 1, "sources")
    if block is not None and given is not None and isinstance(given, cst.Name):
        yield from _both(source, block, given.value, given.value, None)


def _both(
    source: ParsedSource, block: Block, part: str, name: str, removed: CstStatement | None
) -> Iterator[Edit]:
    """Each model that the block calls gives ``part`` as well, as ``name``."""
    body = body_of(block)
    for statement, output, call in (*_calls(source, body), *_calls_inside(source, body)):
        if output == name or not call.args:
            continue
        begin = source.line(removed) if removed is not None else 0
        between = range(begin + 1, source.line(statement)) if begin else ()
        lines = (each for each in source.statements if source.line(each) in between)
        reads = [each for each in lines if name in read_names(each)]
        watches = tuple(each for each in reads if is_method_statement(each, block.name, "watch"))
        for gone in dict.fromkeys((watches, ())):
            plan = Plan(source)
            model, both = source.code(call.func), plan.fresh_name("both")
            outputs = f"[{part}, {model}.outputs[0]]"
            plan.before(block.node, f"{both} = {source.tf}.keras.Model({model}.inputs, {outputs})")
            given = ", ".join(source.code(arg).rstrip(", ") for arg in call.args)
            whole = output or plan.fresh_name("output")
            line = plan.parse(f"{name}, {whole} = {both}({given})")
            old = [removed, *gone] if removed is not None and len(gone) == len(reads) else []
            is_earlier = old and removed in body and body.index(removed) < body.index(statement)
            plan.before(old[0] if is_earlier else statement, line)
            if not output:
                plan.replace(call, whole)
            for each in (statement, *old) if output else old:
                plan.remove(each)
            yield from plan.edits(f"Let one model give both {name} and what {model} gives")


def _calls(
    source: ParsedSource, statements: tuple[CstStatement, ...] | list[CstStatement]
) -> Iterator[tuple[CstStatement, str, cst.Call]]:
    """Statements that bind a name to what a call of an object gives: ``p = model(x)``."""
    for statement in statements:
        small = sole(statement)
        if not isinstance(small, cst.Assign) or not isinstance(small.value, cst.Call):
            continue
        target = small.targets[0].target
        root = source.code(small.value.func).split(".")[0]
        if isinstance(target, cst.Name) and root not in (source.tf, source.np):
            yield statement, target.value, small.value


def _calls_inside(
    source: ParsedSource, statements: tuple[CstStatement, ...] | list[CstStatement]
) -> Iterator[tuple[CstStatement, str, cst.Call]]:
    """Statements that take a part of what a model gives, as ``score = model(x)[:, 1]``, without a
    name for all of it."""
    for statement in statements:
        small = sole(statement)
        if not isinstance(small, cst.Assign) or (
            isinstance(small.value, cst.Call) and (_is_of_model(source, small.value))
        ):
            continue
        calls = [call for call in all_of(small.value, cst.Call) if _is_of_model(source, call)]
        if len(calls) == 1:
            yield statement, "", calls[0]


def _is_of_model(source: ParsedSource, call: cst.Call) -> bool:
    made = source.bound_to(source.code(call.func))
    return is_call_to(made, "Model", "Sequential")
