"""Compute a result that was kept anew where a tape records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import libcst as cst

from ...analysis.errors.case import defining_lines
from ...wording import enumerated
from ..blocks import block_of_call, put_in_front
from ..model import Edit, ErrorCase, FixCase
from ..nodes import all_of, dotted, sole
from ..plan import Plan
from ..renaming import reads_of
from ..source import CstStatement, ParsedSource
from ..values.caches import caching_decorators

_PREPARING = frozenset({"__init__", "build"})


def compute_anew(case: FixCase) -> Iterator[Edit]:
    """``if key not in cache: cache[key] = e`` → ``cache[key] = e``; or without ``lru_cache``, or
    without ``if key in cache: return cache[key]``."""
    source = case.source
    for statement in _statements(case):
        around = source.enclosing(statement, cst.If)
        if around is not None and around.orelse is None and _is_guard(source, around):
            plan = Plan(source)
            body = [
                statement
                for statement in around.body.body
                if isinstance(statement, cst.SimpleStatementLine)
            ]
            if len(body) == len(around.body.body):
                plan.remove(around)
                plan.after(around, *body)
                yield from plan.edits("Compute it anew for each tape, without keeping it")
        for earlier in source.before(statement):
            if isinstance(earlier, cst.If) and earlier.orelse is None and _only_returns(earlier):
                plan = Plan(source)
                plan.remove(earlier)
                yield from plan.edits("Compute it anew for each tape, without keeping it")
        function = source.enclosing(statement, cst.FunctionDef)
        for decorator in caching_decorators(function) if function is not None else ():
            plan = Plan(source)
            if "property" in source.code(decorator.decorator):  # it is read without a call
                plan.replace(decorator.decorator, "property")
            else:
                plan.remove(decorator)
            yield from plan.edits("Compute it anew for each tape, without the cache")


def _only_returns(around: cst.If) -> bool:
    """Whether it does nothing but return something that was kept."""
    returned = all_of(around.body, cst.Return)
    kept = (cst.Subscript, cst.Attribute, cst.Name, cst.Call)
    return len(around.body.body) == 1 and bool(returned) and isinstance(returned[0].value, kept)


def _is_guard(source: ParsedSource, around: cst.If) -> bool:
    """Whether it asks if something is there yet."""
    test = source.code(around.test)
    return " not in " in test or " is None" in test or test.startswith("not ")


def compute_in_call(case: FixCase) -> Iterator[Edit]:
    """``self.a = e`` in ``__init__`` → the first line of each method that reads ``self.a``; of
    ``self.update()``, which puts something into attributes, one more call in each method that reads
    these and does not call it."""
    for statement in _statements(case):
        place = partial(_first_recorded, case)
        yield from _in_readers(case.source, statement, place, ", while the tape records")


def compute_when_read(case: ErrorCase) -> Iterator[Edit]:
    """The same where it raised: Keras builds a layer in a graph of its own, which is gone when
    ``call`` reads the tensor."""
    for line in defining_lines(case.failure, case.trace.filename)[-1:]:
        if (statement := case.source.statement(line)) is not None:
            yield from _in_readers(case.source, statement, Plan.first, ", each time")


def _in_readers(
    source: ParsedSource,
    statement: CstStatement,
    place: Callable[[Plan, cst.FunctionDef, CstStatement], None],
    when: str,
) -> Iterator[Edit]:
    function = source.enclosing(statement, cst.FunctionDef)
    owner = source.enclosing(statement, cst.ClassDef)
    if function is None or owner is None or function.name.value not in _PREPARING:
        return
    small, methods = sole(statement), all_of(owner, cst.FunctionDef)
    call = small.value if isinstance(small, cst.Expr) else None
    called = dotted(call.func) if isinstance(call, cst.Call) else ""
    filling = [each for each in methods if called == f"self.{each.name.value}"]
    made = [small] if isinstance(small, cst.Assign) else [each.body for each in filling]
    targets = [target.target for part in made for target in all_of(part, cst.AssignTarget)]
    kept = [target for target in targets if isinstance(target, cst.Attribute)]
    readers = [
        each
        for each in methods
        if each not in (function, *filling)
        and any(True for target in kept for _ in reads_of(source, target, [each.body]))
        and not any(called and dotted(x.func) == called for x in all_of(each, cst.Call))
    ]
    plan = Plan(source)
    for reader in readers:
        place(plan, reader, statement)
    if readers:
        names = enumerated(reader.name.value for reader in readers)
        title = f"Call {called.removeprefix('self.')} again in {names}"
        if not filling:
            plan.remove(statement)
            title = f"Compute {source.code(kept[0])} in {names}"
        yield from plan.edits(f"{title}{when}")


def _first_recorded(
    case: FixCase, plan: Plan, reader: cst.FunctionDef, statement: CstStatement
) -> None:
    """Put a statement first into a method, or into the tape's block if that begins there."""
    block = block_of_call(case.source, case.trace, case.call)
    if block is not None and case.source.function_of(block.node) is reader:
        put_in_front(plan, block, statement)
    else:
        plan.first(reader, statement)


def _statements(case: FixCase) -> Iterator[CstStatement]:
    for line in case.lines():
        statement = case.source.statement(line)
        if statement is not None:
            yield statement
