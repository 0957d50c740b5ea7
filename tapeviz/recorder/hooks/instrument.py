"""Report the bindings of a snippet's syntax tree to a hook.

Every inserted node carries the place of the one it stands beside, so lines, columns and tracebacks
stay those of the text. Nothing is evaluated twice and nothing the snippet can see is added: the
hook is found among the builtins.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import count
from typing import TypeVar

HOOKS = "__tapeviz_"
BIND = f"{HOOKS}bind__"
CAUGHT = f"{HOOKS}caught__"
TAKEN = f"{HOOKS}taken__"
MADE = f"{HOOKS}made__"
PUT = f"{HOOKS}put__"
ABOVE = f"{HOOKS}above__"
GOT_FRAME = f"{HOOKS}got_frame__"

_SIMPLE = (ast.Name, ast.Attribute, ast.Subscript)


def instrument(tree: ast.Module) -> ast.Module:
    """The tree, changed in place."""
    names = _array_names(tree)
    changed: ast.Module = _Instrument(names, _array_objects(tree, names)).visit(tree)
    _number_outside_functions(changed)
    return changed


_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def _number_outside_functions(tree: ast.Module) -> None:
    """Give each report of a name that stands outside of functions a number of its own, from 1."""
    numbers, todo = count(1), list[ast.AST]([tree])
    for node in todo:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == BIND:
            node.args[0] = ast.copy_location(ast.Constant(next(numbers)), node)
        todo += (each for each in ast.iter_child_nodes(node) if not isinstance(each, _SCOPES))


def instrument_handlers(tree: ast.Module) -> ast.Module:
    """The tree, changed in place: of what it does, only exceptions that it catches are reported,
    and where it follows the stack.

    Those that a handler raises again at its end are not caught; AutoGraph writes such handlers.
    """
    _FrameReads().visit(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            last = node.body[-1]
            if not (isinstance(last, ast.Raise) and last.exc is None):
                _report_caught(node)
    return tree


# Packages whose functions take arrays, and so tensors through the buffer protocol.
_OF_ARRAYS = frozenset(("numpy", "scipy", "sklearn", "pandas", "PIL", "cv2", "skimage"))
# ``keras.ops.convert_to_numpy``, ``keras.backend.get_value`` and ``keras.backend.eval`` are
# ``np.array`` for a tensor.
CONVERTING = ("convert_to_numpy", "get_value", "eval")


def _array_names(tree: ast.Module) -> frozenset[str]:
    """The names under which the snippet has NumPy, packages that take its arrays or functions of
    them; ``np`` is there anyway."""
    names = {"np"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {
                alias.asname or alias.name.partition(".")[0]
                for alias in node.names
                if alias.name.partition(".")[0] in _OF_ARRAYS
            }
        elif isinstance(node, ast.ImportFrom):
            is_of_arrays = (node.module or "").partition(".")[0] in _OF_ARRAYS
            for alias in node.names:
                if is_of_arrays or alias.name in CONVERTING:
                    names.add(alias.asname or alias.name)
    return frozenset(names)


def _array_objects(tree: ast.Module, array_names: frozenset[str]) -> frozenset[str]:
    """The names and attributes that are bound to what a call of such a package gave
    (``self.rng = np.random.default_rng()``): methods of it take arrays, too. Left out is a name
    that holds something else at other times: ``losses = []``, then ``losses = np.array(losses)``.
    """
    found, others = set[str](), set[str]()
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)):
            continue
        if isinstance(node.value, ast.Call) and _root_of_call(node.value.func) in array_names:
            bound = found
        elif isinstance(node.value, _OTHERS):
            bound = others
        else:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        bound.update(map(_path, targets))
    return frozenset(found - others - {""})


_OTHERS = (ast.Call, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


def _path(node: ast.expr) -> str:
    """``a`` or ``a.b.c``; empty for any other expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _root_of_call(function: ast.expr) -> str:
    """``np`` of ``np.random.RandomState(0).normal``; empty where no name begins it."""
    while isinstance(function, (ast.Attribute, ast.Call)):
        function = function.value if isinstance(function, ast.Attribute) else function.func
    return function.id if isinstance(function, ast.Name) else ""


class _FrameReads(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """``frame.f_back`` as ``above(frame.f_back)``."""
        self.generic_visit(node)
        is_read = isinstance(node.ctx, ast.Load)
        return _called(ABOVE, [], node) if is_read and node.attr == "f_back" else node

    def visit_MatchValue(self, node: ast.AST) -> ast.AST:
        """A pattern may call nothing."""
        return node


class _Instrument(_FrameReads):
    def __init__(self, array_names: frozenset[str], array_objects: frozenset[str]) -> None:
        self._of_arrays = array_names
        self._objects = array_objects
        self._array_calls = 0

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``np.sin(t)`` as ``made(1, "np.sin", np.sin(taken(1, t)))``."""
        how = self._how_taken(node.func)
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "_getframe":
            return _called(GOT_FRAME, [], node)
        if not how:
            return node
        self._array_calls += 1
        number = self._array_calls
        node.args = [
            arg if isinstance(arg, ast.Starred) else _called(TAKEN, [number], arg)
            for arg in node.args
        ]
        for keyword in node.keywords:
            keyword.value = _called(TAKEN, [number], keyword.value)
        return _called(MADE, [number, how], node)

    def _how_taken(self, function: ast.expr) -> str:
        """The words for a function that takes arrays; empty if it is none."""
        if isinstance(function, ast.Attribute) and function.attr in CONVERTING:
            return function.attr
        owner = function.value if isinstance(function, ast.Attribute) else function
        is_of_arrays = _root_of_call(function) in self._of_arrays or _path(owner) in self._objects
        return ast.unparse(function) if is_of_arrays else ""

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        self.generic_visit(node)
        after: list[ast.stmt] = []
        for target in reversed(node.targets):
            if isinstance(target, _SIMPLE):
                node.value = _put_into(target, _reported(target, node.value))
            elif len(node.targets) == 1 and (pairs := _pairs(target, node.value)):
                assert isinstance(node.value, (ast.Tuple, ast.List))
                node.value.elts = [_put_into(to, _reported(to, value)) for to, value in pairs]
            else:
                after += _reports(_names(target))
        return [node, *after]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is not None:
            node.value = _reported(node.target, self.visit(node.value))
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """An annotation may be kept as its text (PEP 563)."""
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        self.generic_visit(node)
        node.value = _reported(node.target, node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        self.generic_visit(node)
        node.value = _put_into(node.target, node.value)
        return [node, *_reports(_names(node.target))]

    def visit_For(self, node: ast.For | ast.AsyncFor) -> ast.stmt:
        self.generic_visit(node)
        node.body[:0] = _reports(_names(node.target))
        return node

    def visit_With(self, node: ast.With | ast.AsyncWith) -> ast.stmt:
        self.generic_visit(node)
        names = [item.optional_vars for item in node.items if item.optional_vars is not None]
        node.body[:0] = [report for argument in names for report in _reports(_names(argument))]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
        returns, node.returns = node.returns, None
        self.generic_visit(node)
        node.returns = returns
        given = node.args
        names = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        names += [argument for argument in (given.vararg, given.kwarg) if argument is not None]
        reports = [_report(name.arg, name) for name in names]
        start = 1 if ast.get_docstring(node, clean=False) is not None else 0
        node.body[start:start] = reports
        return node

    visit_AsyncFor, visit_AsyncWith = visit_For, visit_With
    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.excepthandler:
        self.generic_visit(node)
        _report_caught(node)
        return node


def _report_caught(handler: ast.ExceptHandler) -> None:
    call = ast.Call(ast.Name(CAUGHT, ast.Load()), [], [])
    handler.body.insert(0, _placed(ast.Expr(call), handler.body[0]))


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Each of several targets with its own value (``self.a, self.b = x, y``), if they have one.

    Plain names are reported when all values are there: in ``a, b = x, f()`` ``a`` keeps its old
    value while ``f`` runs.
    """
    kinds = (ast.Tuple, ast.List)
    if not isinstance(target, kinds) or not isinstance(value, kinds):
        return []
    has_value_for_each = len(target.elts) == len(value.elts)
    is_plain = all(isinstance(to, _SIMPLE) for to in target.elts)
    is_plain &= not all(isinstance(to, ast.Name) for to in target.elts)
    is_plain &= not any(isinstance(each, ast.Starred) for each in value.elts)
    return (
        list(zip(target.elts, value.elts, strict=True)) if has_value_for_each and is_plain else []
    )


def _called(hook: str, about: list[int | str], value: ast.expr) -> ast.expr:
    """``value`` passed through a hook."""
    arguments: list[ast.expr] = [ast.Constant(item) for item in about]
    return _placed(ast.Call(ast.Name(hook, ast.Load()), [*arguments, value], []), value)


def _put_into(target: ast.expr, value: ast.expr) -> ast.expr:
    """``out[i] = t`` as ``out[i] = put(t, into=out)``: an array of NumPy keeps numbers alone."""
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return value
    into = ast.keyword("into", ast.Name(target.value.id, ast.Load()))
    return _placed(ast.Call(ast.Name(PUT, ast.Load()), [value], [into]), value)


def _reported(target: ast.expr, value: ast.expr) -> ast.expr:
    """``value`` passed through the hook under the name of ``target``."""
    name = ast.unparse(target)
    return _placed(_bind(name, value), target)


def _reports(names: Iterator[ast.Name]) -> list[ast.stmt]:
    return [_report(name.id, name) for name in names]


def _report(name: str, place: ast.AST) -> ast.stmt:
    return _placed(ast.Expr(_bind(name, ast.Name(name, ast.Load()))), place)


def _bind(name: str, value: ast.expr) -> ast.Call:
    """``bind(0, "x", value)``; the number is given by :func:`_number_outside_functions`."""
    return ast.Call(ast.Name(BIND, ast.Load()), [ast.Constant(0), ast.Constant(name), value], [])


def _names(target: ast.expr) -> Iterator[ast.Name]:
    """The plain names that an assignment to ``target`` binds."""
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, ast.Starred):
        yield from _names(target.value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _names(element)


_Node = TypeVar("_Node", bound=ast.AST)


def _placed(node: _Node, place: ast.AST) -> _Node:
    """``node`` with its new parts at ``place``; parts that have a place keep it."""
    ast.copy_location(node, place)
    for child in ast.iter_child_nodes(node):
        if not hasattr(child, "lineno"):
            _placed(child, place)
    return node
