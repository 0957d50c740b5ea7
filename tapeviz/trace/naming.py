"""Tell what variables, layers, operands of gradient calls and the snippet's tensors are called."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..latest import for_latest
from ..text.called_names import LAYER_METHODS, CalledNames, kind_of
from ..text.source import SourceText, is_plain_path
from . import events as e
from .calls import Operand
from .ids import TensorId, VariableId
from .levels.scopes import layer_scopes
from .model import Trace
from .ops import Op
from .reading.attributes import ObjectAttributes
from .sites import StackFrame
from .variables import Variable

# What tf.Variable and keras.Variable are called that were given no name.
_DEFAULT_NAME = re.compile(r"variable(_\d+)?(:0)?", re.IGNORECASE)


def bound_lines(trace: Trace) -> dict[TensorId, int]:
    """The line that first bound each tensor to a name."""
    lines: dict[TensorId, int] = {}
    for binding in trace.bindings:
        for tensor, _ in binding.tensors:
            lines.setdefault(tensor, binding.site.line)
    return lines


def variable_names(
    variables: Mapping[VariableId, Variable],
    names: Mapping[TensorId, tuple[str, ...]],
    known_outside: Collection[str] = (),
    titles: Mapping[VariableId, Sequence[str]] | None = None,
    attributes: Callable[[], ObjectAttributes] | None = None,
) -> dict[VariableId, str]:
    """A name for each variable, the one that fewest others have too.

    A name that the snippet bound (``w``, ``self.w``) before the name of its layer in the snippet
    (``head.kernel``, of ``titles``) before Keras's path (``dense/kernel``) before
    the name that it was made with (``name="w"``) before a place in a list (``weights[0]``) before
    TensorFlow's; a loop variable or parameter that was bound to several variables comes last. The
    first of several lists is taken, and those that are ``known_outside`` of a function (a
    module's names) or kept in an object before a function's own. Those of several objects that
    would have one name (``self.w``) have that of their object (``net.w``) from ``attributes``.
    """
    candidates = {
        variable.id: _candidates(
            variable,
            names.get(TensorId(variable.id), ()),
            known_outside,
            titles.get(variable.id, ()) if titles else (),
        )
        for variable in variables.values()
    }
    holders = Counter(name for known in candidates.values() for name in set(known))
    chosen = {id_: min(known, key=holders.__getitem__) for id_, known in candidates.items()}
    times = Counter(chosen.values())
    shared = [id_ for id_, name in chosen.items() if "." in name and times[name] > 1]
    if shared and attributes is not None:
        owned = attributes()
        paths = {id_: owned.paths(TensorId(id_))[:1] for id_ in shared}
        held = Counter(path for found in paths.values() for path in found)
        own = {id_: path for id_, found in paths.items() for path in found if held[path] == 1}
        chosen.update(own)
    return chosen


def _candidates(
    variable: Variable,
    bound: tuple[str, ...],
    known_outside: Collection[str],
    titles: Sequence[str],
) -> list[str]:
    own = [name for name in bound if not is_numbered(name)]  # the first is that of its creation
    numbered = [name for name in bound if is_numbered(name)]
    numbered.sort(key=lambda name: "." not in name and name.partition("[")[0] not in known_outside)
    parts = variable.path.split("/")
    # Of ``embedding.dense_1.kernel`` only the model has a name of the snippet's.
    is_own = bool(titles) and titles[0].count(".") == 1
    path = [*(titles if is_own else ()), "/".join(parts[-2:]), *titles, variable.path]
    rest = (*numbered, *path) if is_default(variable.path) else (*path, *numbered)
    ordered = (*own, *rest, variable.name)
    return [name.removesuffix(":0") for name in ordered if name] or ["Variable"]


def is_default(name: str) -> bool:
    """Whether TensorFlow or Keras gave a variable this name, for it was made without one."""
    return not name or _DEFAULT_NAME.fullmatch(name) is not None


def is_numbered(name: str) -> bool:
    """Whether a name says no more than a place in a list: ``weights[0]``."""
    return re.search(r"\[\d+\]$", name) is not None


class LayerTitle(NamedTuple):
    """The name of a layer. ``is_own``: it is the name by which the snippet calls the layer, else
    the one that Keras gave it."""

    text: str
    is_own: bool


def layer_titles(
    names: CalledNames, layers: Sequence[str], frames: Sequence[StackFrame]
) -> tuple[LayerTitle, ...]:
    """The title of each of the ``layers`` in whose name scope an op ran, the outermost first;
    ``frames``: those of the op, the innermost first.

    A method of a layer's class runs in the scope of that layer. The next layer of the scope is the
    one that the method calls; those after it, Keras calls by itself.
    """
    titles: list[LayerTitle] = []
    callers = [*frames[1:], None]
    for frame, caller in zip(reversed(frames), reversed(callers), strict=True):
        if frame.function not in LAYER_METHODS or caller is None:
            continue
        kinds = [kind_of(name) for name in layers[len(titles) : -1]]
        kind = names.layer_at(frame.line)[1]
        count = kinds.index(kind) + 1 if kind in kinds else 1
        called = names.called((caller.line, caller.column))
        titles += _titles(names, layers[len(titles) :][:count], called)
    called = names.called((frames[0].line, frames[0].column)) if frames else ()
    return (*titles, *_titles(names, layers[len(titles) :], called))


def _titles(
    names: CalledNames, layers: Sequence[str], called: Sequence[str]
) -> Iterator[LayerTitle]:
    for place, name in enumerate(layers):
        title = name if place else names.title(name, called)
        yield LayerTitle(title, not place and title in called)


def variable_titles(
    names: CalledNames,
    variables: Mapping[VariableId, Variable],
    reader_of: Callable[[VariableId], Op | None],
) -> dict[VariableId, list[str]]:
    """Names such as ``head.kernel`` for the variables of layers that the snippet calls by a name of
    its own, the shortest first. ``reader_of``: the op that read a variable first."""
    found: dict[VariableId, list[str]] = {}
    for variable in variables.values():
        op = reader_of(variable.id)
        if op is None or "/" not in variable.path:
            continue
        *path, weight = variable.path.removesuffix(":0").split("/")
        layers = layer_scopes(op.scope)
        if op.traced or op.graph:  # a graph numbers equal scopes, and its ops have more of them
            layers = _with_keras_names(layers, path)
        elif layers[-len(path) :] != path[-len(layers) :]:
            layers = []
        if not layers:
            continue
        titles = layer_titles(names, layers, op.site.frames)
        own = [place for place, title in enumerate(titles) if title.is_own]
        if own:
            starts = range(own[-1], -1, -1)
            words = [title.text for title in titles]
            found[variable.id] = [".".join((*words[start:], weight)) for start in starts]
    return found


def _with_keras_names(layers: Sequence[str], path: Sequence[str]) -> list[str]:
    """The layers of a graph's name scope as far as those of a variable's path, by their names
    there; empty if these are not among them. A layer that has its variables before it is called
    knows none of the layers around it."""
    kinds, wanted = list(map(kind_of, layers)), list(map(kind_of, path))
    starts = range(len(kinds) - len(wanted) + 1)
    found = (start for start in starts if kinds[start : start + len(wanted)] == wanted)
    start = next(found, None)
    return [] if start is None else [*layers[:start], *path]


def source_name(trace: Trace, operand: Operand) -> str:
    """The user's name of a source: for ``parameters[0]``, or a name that several variables have in
    turn (``for v in model.trainable_variables``), that of the variable itself."""
    text = operand.text
    if operand.tensor is None:
        return text
    own = trace.variable_names.get(VariableId(operand.tensor), "")
    if text.isidentifier():
        return own if own and not is_default(own) and _variables_called(trace)[text] > 1 else text
    return own if own.isidentifier() else text


@for_latest
def _variables_called(trace: Trace) -> Counter[str]:
    """The number of variables that have each name."""
    names = trace.names
    return Counter(name for id_ in trace.variables for name in {*names.get(TensorId(id_), ())})


class OperandWords:
    """Words for operands, once all names are bound that the snippet binds."""

    def __init__(
        self,
        text: SourceText,
        names: Mapping[TensorId, tuple[str, ...]],
        variable_names: Mapping[VariableId, str],
    ) -> None:
        self._text = text
        self._names = names
        self._variables = variable_names

    def operand(self, operand: e.RawOperand, expression: ast.expr | None) -> Operand:
        """The expression itself where it names one thing, else the name of what it gave."""
        tensor = TensorId(operand.tensor) if operand.tensor else None
        written = self._text.element(expression, operand.keys)
        own = self._variables.get(VariableId(tensor), "") if tensor is not None else ""
        # ``model.trainable_variables[3]`` says less than the weight's own name. So does ``vs[6]``
        # than the place in the list that it was put into first: ``vs`` may be made of several.
        is_anonymous = "variables[" in written or "weights[" in written
        says_less = is_anonymous or (is_numbered(written) and not is_default(own))
        text = written if is_plain_path(written) and not says_less else own
        if not text and tensor is not None:
            text = next(iter(self._names.get(tensor, ())), "")
        kind: Any = operand.kind
        return Operand(text or written or operand.name or "?", tensor, kind, operand.type)
