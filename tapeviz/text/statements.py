"""The names that each statement of a snippet reads, binds and changes.

Only names are looked at: a statement that reads ``a`` and binds ``b`` carries what ``a`` holds over
to ``b``. Nothing is known here of what ran.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from .names import dotted, names_in, targets_of
from .source import SourceText

# Attributes that tell the form of an array, never its elements.
_FORM = frozenset({"shape", "dtype", "ndim", "size", "name", "device"})
MODULE = 0
_YIELDS = (ast.Yield, ast.YieldFrom)


@dataclass(frozen=True, slots=True)
class Statement:
    """One simple statement, or the head of a compound one.

    ``scope``: first line of the function it stands in (``MODULE`` outside of any). ``reads``: the
    paths it reads (``a``, ``self.w``); ``binds``: those it gives a new value; ``changes``: those
    whose object it changes (``a.append(…)``, ``a[0] = …``, ``a += …``). ``numbers``: literals;
    ``lists``: the numbers in lists of literals alone, whatever their nesting.
    ``is_for``: it is the head of a ``for`` loop, which binds its names to one item after another.
    """

    first: int
    last: int
    scope: int
    reads: frozenset[str]
    binds: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    numbers: tuple[float, ...] = ()
    lists: tuple[tuple[float, ...], ...] = ()
    is_for: bool = False

    @property
    def lines(self) -> range:
        return range(self.first, self.last + 1)


@dataclass(slots=True)
class _Scope:
    outer: int
    parameters: frozenset[str]


@dataclass(slots=True)
class PythonText:
    """All statements of a snippet by line, and who binds or changes a name."""

    _by_line: dict[int, Statement] = field(default_factory=dict)
    _headers: dict[int, int] = field(default_factory=dict)
    _writers: dict[tuple[int, str], list[Statement]] = field(default_factory=dict)
    _attributes: dict[str, list[Statement]] = field(default_factory=dict)
    _scopes: dict[int, _Scope] = field(default_factory=dict)
    _declared: dict[tuple[int, str], int] = field(default_factory=dict)
    _returns: dict[int, list[Statement]] = field(default_factory=dict)
    _generators: set[int] = field(default_factory=set)

    def statement(self, line: int) -> Statement | None:
        """The innermost statement, or head of one, on this line."""
        return self._by_line.get(line)

    def scope(self, line: int) -> int:
        """The scope of what is on this line; of a function's parameters the function's own."""
        made = self._by_line.get(line)
        return made.scope if made else self._headers.get(line, MODULE)

    def header(self, line: int) -> range:
        """The lines of the function's head that this line is part of; empty outside of any."""
        first = end = self._headers.get(line, 0)
        while first and self._headers.get(end) == first:
            end += 1
        return range(first, end)

    def outer_scopes(self, scope: int) -> Iterator[int]:
        """The scope itself, those around it, the module's last."""
        while scope != MODULE:
            yield scope
            scope = self._scopes[scope].outer
        yield MODULE

    def is_parameter(self, scope: int, name: str) -> bool:
        return scope in self._scopes and name in self._scopes[scope].parameters

    def home(self, scope: int, name: str) -> int:
        """The scope that a name bound in this one belongs to: another's if declared so."""
        return self._declared.get((scope, name), scope)

    def owner(self, line: int, name: str) -> int:
        """The scope whose name is meant on this line: of a function that binds it, else MODULE."""
        around = self.outer_scopes(self.home(self.scope(line), name))
        return next((each for each in around if self._binds(each, name)), MODULE)

    def _binds(self, scope: int, name: str) -> bool:
        writers = self._writers.get((scope, name), ())
        return self.is_parameter(scope, name) or any(name in each.binds for each in writers)

    def returns(self, scope: int) -> Sequence[Statement]:
        """The statements that return a value from a function; none of a generator."""
        return () if scope in self._generators else self._returns.get(scope, ())

    def writers(self, scope: int, path: str) -> Sequence[Statement]:
        """The statements that bind or change a name of a scope, or an attribute of anything."""
        if "." in path:
            return self._attributes.get(path.rpartition(".")[2], ())
        return self._writers.get((scope, path), ())

    def literals_of(self, statement: Statement) -> Iterator[tuple[float, ...]]:
        """The literals of a statement, each number as a list of one, and those that the text binds
        to a name in it."""
        for each in (statement, *self._binders(statement)):
            yield from ((number,) for number in each.numbers)
            yield from each.lists

    def _binders(self, statement: Statement) -> Iterator[Statement]:
        """The statements that bind a literal to a name in this one."""
        for name in statement.reads | statement.changes:
            for writer in self.writers(self.owner(statement.first, name), name):
                if name in writer.binds and not writer.reads:
                    yield writer


@lru_cache(maxsize=1)
def read_text(text: SourceText) -> PythonText:
    """The statements of a text; none if it does not parse. Asked of one text many times."""
    found = PythonText()
    if text.tree is not None:
        _Reader(found).read(text.tree.body, MODULE)
        _hand_out(found)
    return found


def _hand_out(found: PythonText) -> None:
    """Move a function's changes of names that are not its own to the scope that has them."""
    for (scope, name), writers in list(found._writers.items()):
        binds = any(name in statement.binds for statement in writers)
        if scope == MODULE or binds or found.is_parameter(scope, name):
            continue
        for outer in list(found.outer_scopes(scope))[1:]:
            if (outer, name) in found._writers or outer == MODULE:
                found._writers.setdefault((outer, name), []).extend(writers)
                break


class _Reader:
    def __init__(self, found: PythonText) -> None:
        self.found = found
        self._items: dict[str, frozenset[str]] = {}

    def read(self, body: Sequence[ast.stmt], scope: int) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._function(node, scope)
            elif isinstance(node, ast.ClassDef):
                self.read(node.body, scope)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                outer = MODULE if isinstance(node, ast.Global) else self._outer(scope)
                self.found._declared.update(((scope, name), outer) for name in node.names)
            else:
                self._statement(node, scope)
                self._inside(node, scope)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: int) -> None:
        given = node.args
        names = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        names += [argument for argument in (given.vararg, given.kwarg) if argument is not None]
        parameters = frozenset(argument.arg for argument in names)
        self.found._scopes[node.lineno] = _Scope(scope, parameters)
        for line in range(node.lineno, node.body[0].lineno):
            self.found._headers[line] = node.lineno
        self.read(node.body, node.lineno)

    def _outer(self, scope: int) -> int:
        known = self.found._scopes.get(scope)
        return known.outer if known else MODULE

    def _inside(self, node: ast.stmt, scope: int) -> None:
        around = self._items
        if isinstance(node, (ast.For, ast.AsyncFor)):
            lists = frozenset(_loads(node.iter))
            self._items = {**around, **dict.fromkeys(names_in(node.target), lists)}
        for name in ("body", "orelse", "finalbody"):
            self.read(getattr(node, name, ()), scope)
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            self.read(part.body, scope)
        self._items = around

    def _lists_of(self, changes: set[str], node: ast.stmt) -> set[str]:
        """``rows`` where ``row["sum"] = …`` changes an item of it, in ``for row in rows``."""
        stepped = {dotted(target) for target in targets_of(node)}  # a number: ``x += 1``
        return set().union(*(self._items.get(name, ()) for name in changes - stepped))

    def _statement(self, node: ast.stmt, scope: int) -> None:
        head = list(head_of(node))
        loads = [name for part in head for name in _loads(part)]
        binds, changes = set(_bound(node, head)), set(_changed(node, head))
        changes |= self._lists_of(changes, node)
        numbers = tuple(
            float(node.value)
            for part in head
            for node in ast.walk(part)
            if isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
        )
        last = node.end_lineno or node.lineno
        if hasattr(node, "body") or isinstance(node, ast.Match):
            last = max((part.end_lineno or node.lineno for part in head), default=node.lineno)
        made = Statement(
            node.lineno,
            last,
            scope,
            frozenset(loads),
            frozenset(binds),
            frozenset(changes),
            numbers,
            tuple(numbers for part in head for numbers in _lists(part)),
            isinstance(node, (ast.For, ast.AsyncFor)),
        )
        for line in made.lines:
            self.found._by_line[line] = made
        if isinstance(node, ast.Return) and node.value is not None:
            self.found._returns.setdefault(scope, []).append(made)
        if any(isinstance(each, _YIELDS) for part in head for each in ast.walk(part)):
            self.found._generators.add(scope)
        for path in binds | changes:
            if "." in path:
                self.found._attributes.setdefault(path.rpartition(".")[2], []).append(made)
            else:
                home = self.found.home(scope, path)
                self.found._writers.setdefault((home, path), []).append(made)


def head_of(node: ast.stmt) -> Iterator[ast.expr]:
    """The expressions that belong to the statement itself, not to those inside it."""
    for name, value in ast.iter_fields(node):
        if name in ("body", "orelse", "finalbody", "handlers"):
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.expr):
                yield item
            elif isinstance(item, ast.withitem):
                yield item.context_expr
                if item.optional_vars is not None:
                    yield item.optional_vars


def _lists(node: ast.AST) -> Iterator[tuple[float, ...]]:
    """The numbers of each list or tuple of literals that is in no other."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.List, ast.Tuple)):
            try:
                numbers = np.ravel(ast.literal_eval(node))
            except (TypeError, ValueError):  # there are names in it, or rows of different lengths
                numbers = np.empty(0, object)
            if numbers.dtype.kind in "iuf":
                yield tuple(numbers.tolist())
                continue
        waiting.extend(ast.iter_child_nodes(node))


def _loads(node: ast.expr) -> Iterator[str]:
    """The paths whose elements an expression reads."""
    waiting = [node]
    while waiting:  # a sum of 900 terms is as deep
        node = waiting.pop()
        path = dotted(node)
        reads_form = isinstance(node, ast.Attribute) and node.attr in _FORM
        if path and not reads_form and isinstance(getattr(node, "ctx", None), ast.Load):
            yield path
            base, _, attribute = path.partition(".")
            if attribute and base not in ("self", "cls"):
                yield base
        if path or reads_form:
            continue
        own = _own_names(node)
        inner: list[ast.expr] = []
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr) and own:
                yield from (name for name in _loads(child) if name.partition(".")[0] not in own)
            elif isinstance(child, ast.expr):
                inner.append(child)
            elif isinstance(child, ast.keyword):
                inner.append(child.value)
            elif isinstance(child, ast.comprehension):
                inner.append(child.iter)
        waiting += reversed(inner)


def _own_names(node: ast.expr) -> frozenset[str]:
    """The parameters of a lambda, the targets of a comprehension."""
    if isinstance(node, ast.Lambda):
        return frozenset(argument.arg for argument in (*node.args.posonlyargs, *node.args.args))
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return frozenset().union(*(names_in(made.target) for made in node.generators))
    return frozenset()


def _bound(node: ast.stmt, head: Sequence[ast.expr]) -> Iterator[str]:
    for target in targets_of(node):
        if dotted(target) and not isinstance(node, ast.AugAssign):
            yield dotted(target)
    for part in head:
        yield from (node.target.id for node in ast.walk(part) if isinstance(node, ast.NamedExpr))


def _changed(node: ast.stmt, head: Sequence[ast.expr]) -> Iterator[str]:
    for target in targets_of(node):
        if isinstance(node, ast.AugAssign) and dotted(target):
            yield dotted(target)
        while isinstance(target, ast.Subscript):
            target = target.value
            if dotted(target):
                yield dotted(target)
    if isinstance(node, ast.Expr) and head:
        call = head[0]
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            owner = call.func.value
            while isinstance(owner, ast.Subscript):
                owner = owner.value
            if dotted(owner):
                yield dotted(owner)
