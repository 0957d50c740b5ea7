"""Find the ``with`` block of the text that a tape of the recording records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import libcst as cst

from ..trace.calls import Call
from ..trace.model import Tape, Trace
from ..trace.sites import StackFrame
from .nodes import all_of, argument, bound_names, called_name, read_names, sole
from .plan import Plan
from .source import CstStatement, ParsedSource

TAPES = ("GradientTape", "ForwardAccumulator")


@dataclass(frozen=True, slots=True)
class Block:
    """``with`` and which of its items is the tape; ``name``: the expression that means the tape."""

    node: cst.With
    item: cst.WithItem
    name: str


def blocks_on(source: ParsedSource, line: int, *, made_in_call: bool = False) -> Iterator[Block]:
    """The tape blocks whose heading covers the line, one for each tape; with ``made_in_call`` also
    those of a context manager of the snippet's own, which makes the tape."""
    for statement in source.statements:
        if not isinstance(statement, cst.With):
            continue
        for item in statement.items:
            may_be_tape = made_in_call or _may_be_tape(item)
            if source.covers(item.item, line) and may_be_tape:
                yield Block(statement, item, _name(source, item))


def block_of(source: ParsedSource, tape: Tape | None) -> Block | None:
    """The ``with`` of this text in which the tape records, if there is one."""
    if tape is None:
        return None
    sites = [interval.start_site for interval in tape.intervals[:1]] + [tape.site]
    for site in sites:
        for depth, frame in enumerate(site.frames):
            found = list(blocks_on(source, frame.line, made_in_call=depth > 0))
            if found and not all_of(found[0].node.body, cst.Yield):  # else the caller's block runs
                named = [block for block in found if block.name == tape.name]
                return named[0] if named else found[0]
    return None


def block_of_call(source: ParsedSource, trace: Trace, call: Call) -> Block | None:
    return block_of(source, trace.tape(call.tape))


def _may_be_tape(item: cst.WithItem) -> bool:
    expression = item.item
    if isinstance(expression, cst.Call):
        return called_name(expression) in TAPES
    return isinstance(expression, (cst.Name, cst.Attribute))


def _name(source: ParsedSource, item: cst.WithItem) -> str:
    if item.asname is not None:
        return source.code(item.asname.name)
    return "" if isinstance(item.item, cst.Call) else source.code(item.item)


def tape_call(source: ParsedSource, tape: Tape | None) -> cst.Call | None:
    """The expression that made the tape."""
    for frame in tape.site.frames if tape is not None else ():
        made = source.calls(frame.line, *TAPES)
        named = [
            call
            for call in made
            if isinstance(item := source.parent(call), cst.WithItem)
            and tape is not None
            and _name(source, item) == tape.name
        ]
        if made:
            return (named or made)[0]
    return None


def gradient_call(source: ParsedSource, call: Call) -> cst.Call | None:
    """The expression that asked for the gradient."""
    method = call.method.rsplit(".", 1)[-1]
    for frame in call.site.frames:
        found = source.calls(frame.line, method)
        if found:
            at = [block for block in found if _is_at(source, block, frame)]
            return (at or found)[0]
    return None


def watch_inside(
    plan: Plan,
    region: Iterable[cst.CSTNode],
    outer: Block | None,
    watched: Callable[[cst.BaseExpression], str],
) -> None:
    """Let the tapes in a region, other than ``outer``, watch what they are asked for, since a tape
    follows only variables by itself.

    ``watched``: the text to watch for an expression that is asked for, empty for none.
    """
    source = plan.source
    for statement in region:
        asked: dict[str, list[cst.BaseExpression]] = {}
        for call in all_of(statement, cst.Call):
            sources = argument(call, 1, "sources")
            if called_name(call) == "gradient" and sources is not None:
                asked.setdefault(source.code(call.func), []).append(sources)
        for inside in all_of(statement, cst.With):
            for item in inside.items if outer is None or inside is not outer.node else ():
                name = _name(source, item)
                texts = map(watched, asked.get(f"{name}.gradient", ()))
                for text in dict.fromkeys(filter(None, texts)):
                    plan.first(inside, f"{name}.watch({text})")


def ask_inside(plan: Plan, outer: Block, form: str) -> int:
    """Let all tapes of the text but ``outer`` watch and ask for another form of their sources.

    ``form``: with ``{asked}`` for the sources as they were written. Returns the number of calls.
    """
    source, count = plan.source, 0
    watch_inside(plan, [source.module], outer, lambda asked: form.format(asked=source.code(asked)))
    for call in all_of(source.module, cst.Call):
        sources = argument(call, 1, "sources")
        own = source.code(call.func) == f"{outer.name}.gradient"
        if called_name(call) == "gradient" and sources is not None and not own:
            plan.replace(sources, form.format(asked=source.code(sources)))
            count += 1
    return count


def target_name(source: ParsedSource, call: Call) -> str:
    """The name that the call's target has in the text; empty where it is written otherwise."""
    given = argument(gradient_call(source, call), 0, "target")
    return given.value if given is not None and isinstance(given, cst.Name) else ""


def _is_at(source: ParsedSource, call: cst.Call, frame: StackFrame) -> bool:
    return source.covers(call, frame.line) and source.column(call) == frame.column


def body_of(block: Block) -> list[CstStatement]:
    """The statements that the tape records, of a body that has lines of its own."""
    suite = block.node.body
    kinds = (cst.SimpleStatementLine, cst.BaseCompoundStatement)
    return [statement for statement in suite.body if isinstance(statement, kinds)]


def is_method_statement(statement: CstStatement, tape: str, *methods: str) -> bool:
    """Whether a statement is nothing but ``tape.method(…)``."""
    small = sole(statement)
    if not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
        return False
    function = small.value.func
    return (
        isinstance(function, cst.Attribute)
        and function.attr.value in methods
        and cst.Module([]).code_for_node(function.value) == tape
    )


def after_watches(block: Block) -> CstStatement | None:
    """The last of the ``watch`` statements that a block begins with."""
    last = None
    for statement in body_of(block):
        if not is_method_statement(statement, block.name, "watch"):
            break
        last = statement
    return last


def put_in_front(plan: Plan, block: Block, *statements: CstStatement | str) -> None:
    """Put statements first into the block: after the watches that it begins with, unless those
    watch what the statements make."""
    last = after_watches(block)
    made = set().union(*(bound_names(s) for s in statements if not isinstance(s, str)))
    watches = body_of(block)[: body_of(block).index(last) + 1] if last is not None else []
    if last is None or any(made & read_names(watch) for watch in watches):
        plan.first(block.node, *statements)
    else:
        plan.after(last, *statements)
