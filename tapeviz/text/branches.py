"""Find the branches of a text that compute with a name, where the other branch does not."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from .names import dotted
from .trees import lines_of, parse_expression

_NEAR = 20
"""Statements of the same block before and after that are looked at."""
_MOST_RESTS = 50
"""The last branches of a block that leave it: only for these all the rest of it is looked at."""
_COMPUTING = frozenset({"abs", "divmod", "max", "min", "pow", "round", "sum"})
"""Functions of Python that compute with a tensor."""
_MOST_FOUND = 300_000
"""Names found, and lines of their branches: each ``elif`` lies in all those before it."""
_MOST_USES = 3
"""Lines named of an ``if`` with many branches."""
_LEAVING = (ast.Return, ast.Continue, ast.Break, ast.Raise)


_Earlier = dict[ast.stmt, Mapping[str, tuple[int, ...]]]
"""For each ``elif`` the names that the branches before it compute with, and on which lines."""


class TextBranch(NamedTuple):
    """A branch of an ``if``, as a statement or in an expression, or of a ``match``.

    ``test``: its condition, or the pattern of the ``case``; ``when``: the truth value with which
    the branch runs; ``uses``: the lines where it and other branches first compute with the name:
    those before an ``elif``, or all of a ``match``; ``lines``: its own, none if they hold other
    code, too; ``around``: lines that run only if the ``if`` is reached or is going to be; of a
    ``match`` its own lines are among them.
    """

    test: ast.expr | ast.pattern
    when: bool
    uses: tuple[int, ...]
    lines: range
    around: frozenset[int]


def branches_by_name(tree: ast.Module) -> Mapping[str, Sequence[TextBranch]]:
    """For each name or path (``a``, ``net.b``) the branches that compute with it, the outermost
    first.

    Inside a class ``self.b`` may be what is ``net.b`` elsewhere: it stands there as ``.b``.
    """
    found: dict[str, list[TextBranch]] = {}
    blocks = [
        block
        for node in ast.walk(tree)
        for _, block in ast.iter_fields(node)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt)
    ]
    left = _MOST_FOUND
    earlier: _Earlier = {}
    for block in blocks:
        for name, branch in _in_block(block, earlier):
            found.setdefault(name, []).append(branch)
            left -= 1 + len(branch.lines)
        if left < 0:
            break
    return found


def names_inside(path: str) -> Iterator[str]:
    """``net.layer.kernel``, and as a class may name it or what it belongs to: ``.layer.kernel``,
    ``.layer``, ``.kernel``. An element has its words, as Python would print them."""
    yield path
    if path.endswith("]"):
        with suppress(SyntaxError, ValueError, RecursionError):
            yield ast.unparse(parse_expression(path))
        return
    parts = path.split(".")
    for begin in range(1, len(parts)):
        for end in range(len(parts), begin, -1):
            yield "." + ".".join(parts[begin:end])


def _in_block(block: Sequence[ast.stmt], earlier: _Earlier) -> Iterator[tuple[str, TextBranch]]:
    begin = 0
    leaving = {place for place, part in enumerate(block) if _leaves(part)}
    with_rest = set(sorted(leaving)[-_MOST_RESTS:])
    for place, part in enumerate(block):
        if isinstance(part, ast.If):
            before = block[max(begin, place - _NEAR) : place]
            near = block[place + 1 : place + 1 + _NEAR]
            if place in leaving:
                rest = block[place + 1 :] if place in with_rest else near
                yield from _of(part, before, earlier, rest)
            else:
                yield from _of(part, [*before, *near], earlier)
        elif isinstance(part, ast.Match):
            yield from _of_match(part)
        elif not hasattr(part, "body"):
            for inner in ast.walk(part):
                if isinstance(inner, ast.IfExp):
                    yield from _of(inner, [part], earlier)
        if any(isinstance(node, _LEAVING) for node in ast.walk(part)):
            begin = place + 1  # what stands before may be the last that ran


def _leaves(part: ast.stmt) -> bool:
    """Whether a statement is an ``if`` whose only branch leaves the block, as by ``return``."""
    return isinstance(part, ast.If) and not part.orelse and isinstance(part.body[-1], _LEAVING)


def _of(
    node: ast.If | ast.IfExp,
    beside: Sequence[ast.AST],
    earlier: _Earlier,
    after: Sequence[ast.AST] = (),
) -> Iterator[tuple[str, TextBranch]]:
    """``beside``: what runs whatever the condition; ``after``: what runs in place of a branch that
    leaves the block, and has no ``else``."""
    bodies: list[Sequence[ast.AST]]
    bodies = [part if isinstance(part, list) else [part] for part in (node.body, node.orelse)]
    bodies[1] = after or bodies[1]
    reads = [_reads(body) for body in bodies]
    before = earlier.pop(node, {}) if isinstance(node, ast.If) else {}
    if isinstance(node, ast.If) and [type(part) for part in node.orelse] == [ast.If]:
        lines_before = {
            name: (*before.get(name, ()), line)[:_MOST_USES] for name, line in reads[0].items()
        }
        earlier[node.orelse[0]] = {**before, **lines_before}
    for place, body in enumerate(bodies):
        names = reads[place].keys() - reads[1 - place].keys()
        if not names:
            continue
        lines = _lines(body) if isinstance(node, ast.If) else set()
        others = ([node.test], bodies[1 - place], beside)
        around = frozenset(line for part in others for line in _lines(part)) - lines
        own = range(min(lines), max(lines) + 1) if lines else range(0)
        for name in names:
            uses = (*before.get(name, ())[: _MOST_USES - 1], reads[place][name])
            yield name, TextBranch(node.test, place == 0, uses, own, around)


def _of_match(node: ast.Match) -> Iterator[tuple[str, TextBranch]]:
    reads = [_reads(case.body) for case in node.cases]
    everywhere = set(reads[0]).intersection(*reads)
    uses: dict[str, list[int]] = {}
    for names in reads:
        for name, line in names.items():
            uses.setdefault(name, []).append(line)
    own = [_lines(case.body) for case in node.cases]
    around = frozenset(_lines([node.subject])).union(*own)  # for all: a branch that ran is no cause
    for case, names, lines in zip(node.cases, reads, own, strict=True):
        for name in names.keys() - everywhere:
            first = tuple(sorted(uses[name])[:_MOST_USES])
            branch = range(min(lines), max(lines) + 1)
            yield name, TextBranch(case.pattern, True, first, branch, around)


def _reads(body: Sequence[ast.AST]) -> dict[str, int]:
    """The names and paths that the body computes with, with the first line of each.

    What only looks at an object leaves no record of having run: ``w.shape``, ``len(w)``, ``w is
    None``, ``ws.append(w)``.
    """
    found: dict[str, int] = {}
    called: set[ast.AST] = set()
    waiting = [(part, False) for part in body]
    while waiting:
        node, is_seen_only = waiting.pop()
        if isinstance(node, (ast.Name, ast.Attribute)) and not is_seen_only:
            name = dotted(node) if isinstance(node.ctx, ast.Load) else ""
            if name:
                name = name.removeprefix("self") if name.startswith("self.") else name
                found[name] = min(found.get(name, node.lineno), node.lineno)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            element = _path(node) if isinstance(node.ctx, ast.Load) else ""
            if element:
                found[element] = min(found.get(element, node.lineno), node.lineno)
        if isinstance(node, ast.Call):
            called.add(node.func)
        looks = node not in called and _only_looks(node)
        waiting += [(inside, looks) for inside in ast.iter_child_nodes(node)]
    return found


def _path(node: ast.expr) -> str:
    """``a.b[0]['w']`` of an element of a name or path, as Python prints it; else empty."""
    parts: list[str] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            parts.append(f".{node.attr}")
        elif isinstance(node.slice, ast.Constant):
            parts.append(f"[{ast.unparse(node.slice)}]")
        else:
            return ""
        node = node.value
    return "".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _only_looks(node: ast.AST) -> bool:
    """Whether a node takes what is directly in it, and computes nothing with that."""
    if isinstance(node, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops)
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute):
            return any(hasattr(kind, function.attr) for kind in (list, dict, set))
        name = function.id if isinstance(function, ast.Name) else ""
        return hasattr(builtins, name) and name not in _COMPUTING
    return isinstance(node, (ast.Attribute, ast.FormattedValue))


def _lines(body: Sequence[ast.AST]) -> set[int]:
    return {line for part in body for line in lines_of(part)}
