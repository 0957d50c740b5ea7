"""Take away what keeps results by a number: a tensor in the number's place cannot be a key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from ..nodes import all_of, called_name, dotted, sole
from ..plan import Plan
from ..source import ParsedSource

CACHES = frozenset({"cache", "lru_cache", "cached_property"})


def caching_decorators(function: cst.FunctionDef) -> Iterator[cst.Decorator]:
    """``@lru_cache(maxsize=None)`` and the like."""
    for decorator in function.decorators:
        name = decorator.decorator
        called = name.func if isinstance(name, cst.Call) else name
        if dotted(called).rsplit(".", 1)[-1] in CACHES:
            yield decorator


def take_caches_away(plan: Plan, nodes: Iterable[cst.CSTNode]) -> None:
    """Let the functions that ``nodes`` call, and the ``if key not in cache`` among them, compute
    anew each time; a name stands for ``cache[key]``."""
    source, nodes = plan.source, list(nodes)
    called = {called_name(node) for node in nodes if isinstance(node, cst.Call) and node.args}
    for function in all_of(source.module, cst.FunctionDef):
        if function.name.value in called:
            for decorator in caching_decorators(function):
                plan.remove(decorator)
    for node in nodes:
        if not isinstance(node, cst.If) or node.orelse is not None:
            continue
        kept = list(_kept(source, node))
        stored = [part for part in kept if isinstance(source.parent(part), cst.AssignTarget)]
        if not stored:
            continue
        if _is_in(node, cst.In) and isinstance(sole(node.body.body[0]), cst.Return):
            plan.remove(node)
        elif _is_in(node, cst.NotIn) and any(part in _kept(source, node.body) for part in stored):
            plan.unwrap(node)
        else:
            continue
        name = plan.fresh_name(f"{dotted(stored[0].value).rpartition('.')[2] or 'kept'}_value")
        for part in kept:
            plan.replace(part, name)


def _is_in(node: cst.If, kind: type[cst.BaseCompOp]) -> bool:
    test = node.test
    return isinstance(test, cst.Comparison) and isinstance(test.comparisons[0].operator, kind)


def _kept(source: ParsedSource, node: cst.CSTNode) -> Iterator[cst.Subscript]:
    """``cache[key]`` in the function around ``if key in cache``; of a body of it those in it."""
    asking = node if isinstance(node, cst.If) else source.enclosing(node, cst.If)
    test = asking.test if asking is not None else None
    around = source.function_of(node) if node is asking else node
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return
    for part in all_of(around, cst.Subscript):
        index = part.slice[0].slice
        is_key = isinstance(index, cst.Index) and index.value.deep_equals(test.left)
        if (
            is_key
            and len(part.slice) == 1
            and part.value.deep_equals(test.comparisons[0].comparator)
        ):
            yield part
