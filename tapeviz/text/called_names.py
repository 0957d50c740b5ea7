"""Tell by which names a snippet calls its layers and the functions of modules.

Keras makes the names of layers up: ``self.head = Dense(10)`` is ``dense_9`` to Keras, as
``auto_name`` of its class counts on through the process, and ``head`` to its author.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from .names import called_name, names_in, targets_of
from .source import SourceText, TextSpan
from .trees import lines_of

LAYER_METHODS = frozenset(("call", "__call__", "build"))
"""Methods in which the name scope says which layer runs."""
VARIABLE_LISTS = ("trainable_variables", "trainable_weights", "variables", "weights")
"""Attributes of layers and models of Keras that list their variables."""
_MODELS = frozenset(("sequential", "functional", "model"))
"""Keras names models without a class of their own so (from Keras 3 on ``functional``, before
``model``)."""
_TRAINING = frozenset(
    f"{verb}{what}" for verb in ("train", "test", "predict") for what in ("_step", "_on_batch")
) | {"fit", "evaluate", "predict"}
"""Methods of Keras's models that call the layers themselves, and are none."""
_NUMBER = re.compile(r"(_\d+)+$")
_Position = tuple[int, int]


class CalledNames:
    """The names of what a snippet calls, by place."""

    def __init__(self, text: SourceText) -> None:
        self._called: dict[_Position, str] = {}
        self._functions: dict[TextSpan, str] = {}
        self._on_line: dict[int, tuple[str, ...]] = {}
        self._classes: dict[int, str] = {}
        self._made: set[str] = set(_MODELS)
        """The names that Keras gives to objects of the classes that the snippet calls."""
        self._made_as: dict[str, set[str]] = {}
        """For each name of the snippet those that Keras gives to the objects that it was bound
        to."""
        self._objects: set[str] = set()
        """The plain names among them."""
        if text.tree is not None:
            self._read(text, text.tree)

    def _read(self, text: SourceText, tree: ast.Module) -> None:
        modules = {"tf", "np", "keras"}  # there without an import
        many: set[str] = set()
        """Loop variables: these stand for many layers in turn."""
        calls: list[ast.Call] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                calls.append(node)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                modules.update((name.asname or name.name).split(".")[0] for name in node.names)
            elif isinstance(node, (ast.For, ast.AsyncFor)):
                for target in targets_of(node):
                    many |= names_in(target)
            elif isinstance(node, ast.comprehension):
                many |= names_in(node.target)
            elif isinstance(node, ast.Assign):
                self._read_binding(node)
            elif isinstance(node, ast.ClassDef):
                self._classes.update(dict.fromkeys(_lines_of_methods(node), node.name))
        for call in calls:
            name = called_name(call)
            is_of_object = isinstance(call.func, ast.Attribute) and _root(call) not in modules
            is_of_object = is_of_object or name in self._objects  # ``D = Sequential(…)``
            if name[:1].isupper() and not is_of_object:  # ``self.W1(x)`` calls no class
                self._made.add(_automatic(name))
            elif name and (root := _root(call)) in modules:
                self._functions[text.span(call)] = name
            elif name and root not in many and not (is_of_object and name in _TRAINING):
                self._called[text.span(call)[:2]] = name
                self._on_line[call.lineno] = (*self._on_line.get(call.lineno, ()), name)

    def _read_binding(self, node: ast.Assign) -> None:
        """Read the classes of ``self.a = Dense(4)`` and ``a, b = Dense(4), Dense(1)``."""
        for target in node.targets:
            ends, values = [target], [node.value]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                ends, values = target.elts, node.value.elts
            for end, value in zip(ends, values, strict=False):
                own = end.attr if isinstance(end, ast.Attribute) else getattr(end, "id", "")
                made = called_name(value) if isinstance(value, ast.Call) else ""
                if own and made[:1].isupper():
                    self._made_as.setdefault(own, set()).add(_automatic(made))
                    if isinstance(end, ast.Name):
                        self._objects.add(own)

    def called(self, position: _Position) -> tuple[str, ...]:
        """The snippet's names of what it may call there, several if the column is not known (-1):
        without classes, functions of modules, and loop variables."""
        line, column = position
        if column < 0:
            return self._on_line.get(line, ())
        return (self._called[position],) if position in self._called else ()

    def function(self, span: TextSpan) -> str:
        """The name of the function of a module that the snippet calls there; empty for others."""
        return self._functions.get(span, "")

    def layer_at(self, line: int) -> tuple[str, str]:
        """The class whose method has this line, and the name that Keras gives to its layers."""
        name = self._classes.get(line, "")
        return name, _automatic(name)

    def title(self, name: str, called: Sequence[str]) -> str:
        """The title of a layer that Keras calls ``name``. ``called``: the snippet's names of what
        it may call there; of several, the only one that was bound to an object of the layer's class
        is taken."""
        kind, some = kind_of(name), set(called)
        if kind in some:
            return kind
        if some == {"self"}:  # ``self(x)`` in a method: every object has this name
            some = {own for own, made in self._made_as.items() if kind in made}
        elif len(some) > 1:
            some = {own for own in some if kind in self._made_as.get(own, ())}
        if len(some) != 1:
            return name
        (own,) = some
        is_made = kind in self._made or any(
            _begins(kind, each) for each in self._made_as.get(own, ())
        )
        return own if is_made else name


def kind_of(name: str) -> str:
    """A layer's name without the numbers that Keras, or a graph with the name already, adds."""
    return _NUMBER.sub("", name)


def _automatic(name: str) -> str:
    """``Conv2D`` → ``conv2d``, as ``to_snake_case`` of Keras 2 and 3."""
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def _begins(name: str, kind: str) -> bool:
    """Whether a model of Keras's applications may have this name: ``mobilenetv2_0.35_96``, where
    the name of its function says ``mobile_net_v2``."""
    return name.lower().replace("_", "").startswith(kind.replace("_", ""))


def _lines_of_methods(node: ast.ClassDef) -> Iterator[int]:
    for child in node.body:
        if isinstance(child, ast.FunctionDef) and child.name in LAYER_METHODS:
            yield from lines_of(child)


def _root(call: ast.Call) -> str:
    """The name that a call begins with: ``tf`` of ``tf.nn.relu(x)``."""
    node: ast.AST = call.func
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
