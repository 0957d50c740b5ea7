"""Call a function on the tape's thread that ran on another."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.tapes.outside_tape import OutsideTape
from ..model import Edit, FixCase
from ..nodes import all_of, called_name, dotted, is_call_to, sole
from ..plan import Plan
from ..source import ParsedSource

_IN_EXECUTOR = ("run_in_executor", "to_thread")
_POOLS = ("ThreadPoolExecutor", "ThreadPool")


def call_without_threads(case: FixCase) -> Iterator[Edit]:
    """``pool.map(f, xs)`` → ``map(f, xs)``, ``pool.submit(f, x).result()`` → ``f(x)``,
    ``asyncio.to_thread(f, x)`` → ``asyncio.sleep(0, f(x))``, which gives that when it is awaited,
    and ``thread.start()`` → ``thread.run()``, which is what the new thread would call."""
    source, evidence = case.source, case.cause.evidence
    if not isinstance(evidence, OutsideTape) or evidence.where != "thread":
        return
    plan = Plan(source)
    pools = _named_pools(source)
    for call in all_of(source.module, cst.Call):
        name, func = called_name(call), call.func
        if not isinstance(func, cst.Attribute):
            continue
        if name in _IN_EXECUTOR:
            called, *rest = call.args[1:] if name == "run_in_executor" else call.args
            inside = ", ".join(source.code(arg).rstrip(", ") for arg in rest)
            given = f"{source.operand(called.value)}({inside})"
            plan.replace(call, f"{_asyncio(source)}.sleep(0, {given})")
            continue
        given = ", ".join(source.code(arg).rstrip(", ") for arg in call.args[1:])
        if name in ("map", "submit") and call.args and dotted(func.value) in pools:
            function = source.code(call.args[0].value)
            is_map = name == "map"
            plan.replace(call, f"map({function}, {given})" if is_map else f"{function}({given})")
        elif name == "result" and pools and not call.args:
            plan.replace(call, lambda old: old.func.value)
        elif name == "start" and not call.args and not pools:
            plan.replace(func.attr, cst.Name("run"))
        elif name == "join" and not call.args and not pools:
            statement = source.statement_of(call)
            loop = source.enclosing(call, cst.For)
            is_all = loop is not None and loop.body.body == (statement,)
            if isinstance(sole(statement), cst.Expr):
                plan.remove(loop if is_all and loop is not None else statement)  # type: ignore[arg-type]
            elif isinstance(alone := source.parent(call), cst.Expr):  # th.start(); th.join()
                plan.remove(alone)
    yield from plan.edits("Call the function on the tape's own thread")


def _asyncio(source: ParsedSource) -> str:
    """The text's name for asyncio."""
    for alias in all_of(source.module, cst.ImportAlias):
        if dotted(alias.name) == "asyncio" and alias.asname is not None:
            return source.code(alias.asname.name)
    return "asyncio"


def _named_pools(source: ParsedSource) -> set[str]:
    """The names of the pools of threads."""
    names = set()
    for item in all_of(source.module, cst.WithItem):
        if _is_pool(item.item) and item.asname is not None:
            names.add(source.code(item.asname.name))
    for assign in all_of(source.module, cst.Assign):
        if _is_pool(assign.value):
            names.add(dotted(assign.targets[0].target))
    return names


def _is_pool(node: cst.BaseExpression) -> bool:
    return is_call_to(node, *_POOLS)
