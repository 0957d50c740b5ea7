"""A snippet's functions in; what one of them does that happens once when TensorFlow traces it out.

TensorFlow runs the Python of a ``tf.function`` once for each kind of arguments, with symbolic
tensors. Where that Python only calls ops, running it each time does the same. Where it prints,
keeps state, asks for numbers or makes variables, a snippet would notice.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .definitions import Definitions, Function

_TALKING = frozenset({"print", "input", "open", "exec", "eval", "hasattr"})
_NUMBERS = frozenset({"float", "int", "bool", "complex", "str", "repr", "format"})
_LEAVING = frozenset({"numpy", "item", "tolist", "__array__"})
_MODES = frozenset({"executing_eagerly", "inside_function", "init_scope", "while_loop"})
_GROWING = frozenset({"append", "extend", "insert", "remove", "pop", "clear", "setdefault"})
_CLOCKS = frozenset({"random", "time", "datetime", "uuid", "secrets", "os", "sys"})
_NUMPY = frozenset({"np", "numpy", "onp"})
_MAKERS = frozenset({"Variable", "SeedGenerator", "Sequential", "Model", "add_weight"})
_ROUNDED = frozenset(
    {"reduce_mean", "mean", "reduce_std", "reduce_variance", "moments", "divide", "truediv", "pow"}
    | {"log", "log1p", "exp", "expm1", "sqrt", "rsqrt", "normalize", "l2_normalize"}
)
_RUN_EACH_TIME = frozenset({"numpy_function", "py_function", "py_func"})
_NOT_RANDOM = ("stateless", "Generator", "get_global_generator", "set_seed", "split", "fold_in")


class Effects(NamedTuple):
    """``would_tell``: the snippet could tell a pass from a tracing. ``draws``: it calls a random op
    that keeps a state of its own. ``has_tape``: it opens a tape itself."""

    would_tell: bool
    draws: bool
    has_tape: bool


class TracingEffects:
    """Looks at functions of a snippet, and at those that they may call, by their names."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._known: dict[int | str, Effects] = {}

    def of(self, place: int | str) -> Effects:
        """``place``: the line that the function begins on, its decorators' counts, or its name."""
        if place not in self._known:
            reached = list(self._reached(place))
            nodes = [node for one in reached for node in ast.walk(one)]
            has_effects = any(map(_has_effect, reached))
            has_tape = any(map(_is_tape, nodes))
            is_otherwise = not has_tape and any(map(self._answers_otherwise, nodes))
            draws = not has_tape and any(map(_is_random, nodes))
            self._known[place] = Effects(has_effects or is_otherwise, draws, has_tape)
        return self._known[place]

    def defines(self, name: str) -> bool:
        return bool(self._definitions.at(name))

    def _answers_otherwise(self, node: ast.AST) -> bool:
        """Whether its graph may give other numbers, or zeros for None, to a tape around it.

        A function with a tape of its own is looked at pass by pass: that is worth a last bit.
        """
        looks = (_may_give_zeros, _rounds_otherwise, _draws_from_a_seed, self._calls_an_object)
        return any(look(node) for look in looks)

    def _calls_an_object(self, node: ast.AST) -> bool:
        """A model, a layer, a loss: nothing is known of what it computes."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return False
        return not self.defines(node.func.id) and not hasattr(builtins, node.func.id)

    def _reached(self, place: int | str) -> Iterator[Function]:
        """The function, and all of the snippet whose name is called on the way."""
        waiting, met = list(self._definitions.at(place)), set()
        while waiting:
            function = waiting.pop()
            if id(function) in met:
                continue
            met.add(id(function))
            yield function
            for name in _called(function):
                waiting += self._definitions.at(name)


def _called(function: Function) -> set[str]:
    """Names of what it calls; an object that is called runs its ``__call__`` or ``call``."""
    names = {"__call__", "call"}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and _last(node.func) not in _RUN_EACH_TIME:
            names.add(_last(node.func))
            names |= {_last(given) for given in node.args}  # map(f, …), tf.map_fn(f, …)
    return names


def _has_effect(function: Function) -> bool:
    own = _bound(function)
    return any(look(node, own) for node in ast.walk(function) for look in _LOOKS)


def _speaks(node: ast.AST, _: set[str]) -> bool:
    return isinstance(node, ast.Call) and _name(node.func) in _TALKING


def _asks_for_numbers(node: ast.AST, _: set[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _LEAVING
    if isinstance(node, ast.Call) and any(not isinstance(one, ast.Constant) for one in node.args):
        return _name(node.func) in _NUMBERS or _root(node.func) in _NUMPY
    return isinstance(node, (ast.JoinedStr, ast.Assert))


def _keeps_state(node: ast.AST, own: set[str]) -> bool:
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return _root(node) not in own
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _GROWING and _name(node.func.value) not in own
    return isinstance(node, (ast.Global, ast.Nonlocal))


def _looks_around(node: ast.AST, own: set[str]) -> bool:
    if not isinstance(node, ast.Attribute):
        return False
    root = _root(node)
    is_outside = root in _CLOCKS and root not in own
    return node.attr in _MODES or is_outside or (node.attr == "random" and root in _NUMPY)


def _makes_variables(node: ast.AST, _: set[str]) -> bool:
    if not isinstance(node, ast.Call):
        return False
    is_layer = isinstance(node.func, ast.Attribute) and _last(node.func.value) == "layers"
    return is_layer or _last(node.func) in _MAKERS


def _draws_from_a_seed(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and _is_random(node.func)
        and any(one.arg == "seed" for one in node.keywords)
    )


_LOOKS: tuple[Callable[[ast.AST, set[str]], bool], ...] = (
    _speaks,
    _asks_for_numbers,
    _keeps_state,
    _looks_around,
    _makes_variables,
)


def _may_give_zeros(node: ast.AST) -> bool:
    """A traced function gives zeros, not None, to what no output or only the other branch has.

    So it is with several outputs, and where AutoGraph makes one op of a branch or a loop.
    """
    if isinstance(node, ast.Return):
        return isinstance(node.value, (ast.Tuple, ast.List, ast.Dict))
    is_filled = isinstance(node, ast.Dict) and bool(node.keys)
    return is_filled or isinstance(node, (ast.If, ast.While, ast.For))


def _rounds_otherwise(node: ast.AST) -> bool:
    """TensorFlow's graph optimiser computes some things another way, and the last bits show it.

    It multiplies by the reciprocal of a constant, also in the gradient of a mean, writes powers,
    ``log(1 + x)`` and ``exp(x) - 1`` as other ops, and joins constants (constant_folding.cc,
    arithmetic_optimizer.cc; measured on 2.21).
    """
    if isinstance(node, ast.Call):
        is_object = isinstance(node.func, ast.Attribute) and _root(node.func) == "self"
        return is_object or _last(node.func) in _ROUNDED
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, (ast.Div, ast.Pow)):
        return True
    parts = (node.left, node.right)
    return any(isinstance(one, ast.Constant) for one in parts) and any(
        isinstance(one, ast.BinOp) and type(one.op) is type(node.op) for one in parts
    )


def _is_tape(node: ast.AST) -> bool:
    return isinstance(node, ast.expr) and _last(node) == "GradientTape"


def _is_random(node: ast.AST) -> bool:
    """Whether it names ``tf.random.…``, a dropout of ``tf.nn`` or a random op on images."""
    if not isinstance(node, ast.Attribute) or _root(node) in _NUMPY:
        return False
    if node.attr.startswith(_NOT_RANDOM):
        return False
    return _last(node.value) == "random" or node.attr == "dropout" or node.attr[:7] == "random_"


def _bound(function: Function) -> set[str]:
    """Names that belong to the function: what it binds, not its parameters."""
    if isinstance(function, ast.Lambda):
        return set()
    stored = (node for node in ast.walk(function) if isinstance(node, ast.Name))
    return {node.id for node in stored if isinstance(node.ctx, ast.Store)}


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else _name(node)


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return _name(node)
