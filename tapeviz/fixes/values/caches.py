"""Take away what keeps results by a number: a tensor in the number's place cannot be a key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from ..forms import is_same, match
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
        if match(node.test, "_k in _c") and isinstance(sole(node.body.body[0]), cst.Return):
            plan.remove(node)
        elif match(node.test, "_k not in _c") and any(
            part in _kept(source, node.body) for part in stored
        ):
            plan.unwrap(node)
        else:
            continue
        name = plan.fresh_name(f"{dotted(stored[0].value).rpartition('.')[2] or 'kept'}_value")
        for part in kept:
            plan.replace(part, name)


def _kept(source: ParsedSource, node: cst.CSTNode) -> Iterator[cst.Subscript]:
    """``cache[key]`` in the function around ``if key in cache``; of a body of it those in it."""
    asking = node if isinstance(node, cst.If) else source.enclosing(node, cst.If)
    asked = match(asking.test, "_k in _c", "_k not in _c") if asking is not None else ()
    around = source.function_of(node) if node is asking else node
    for part in all_of(around, cst.Subscript) if asked else ():
        kept = match(part, "_c[_k]")
        if kept and all(map(is_same, kept, asked)):
            yield part
