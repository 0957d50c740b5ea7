"""Tell the layers that the name scopes of a graph belong to."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from ...text.called_names import kind_of
from ..model import Trace

_LAST_NUMBER = re.compile(r"_\d+$")
_CONTROL_FLOW = frozenset(("while", "cond", "case", "switch_case", "indexed_case"))
"""Scopes that ``tf.while_loop``, ``tf.cond``, ``tf.case`` and ``tf.switch_case`` open around the
bodies that they run, as do ``for`` and ``if`` in a compiled function (TensorFlow 2.15 to 2.21)."""


def is_of_layer(scope: str) -> bool:
    """Whether a name in the path of a name scope may be that of a layer: control flow is none."""
    return kind_of(scope) not in _CONTROL_FLOW


def layer_scopes(scope: str) -> list[str]:
    """The names in the path of a name scope, without those of control flow."""
    return list(filter(is_of_layer, scope.split("/"))) if scope else []


def layers_of_scopes(trace: Trace, inside: Mapping[str, Collection[str]]) -> dict[str, str]:
    """The name of the layer for each scope of a graph in which a variable of the layer is read: the
    snippet's, if the variable is called by it (``online.d1.kernel``), else Keras's.

    A graph numbers equal scopes: ``conv2d`` runs in ``conv2d_1`` if the scope was opened before, as
    by Keras when it builds a model. The path of the variable has the layer's own name, and those of
    the layers around it up to one that was made before it was given to another. A layer without
    variables is numbered like those beside it; ``inside``: the names in each scope.
    """
    found: dict[str, str] = {}
    for variable in trace.variables.values():
        path = variable.path.split("/")[:-1]
        readers = (trace.maker(tensor) for version in variable.versions for tensor in version.reads)
        scopes = (
            {op.scope for op in readers if op is not None and (op.traced or op.graph)}
            if path
            else ()
        )
        titles = _owners(trace.variable_names.get(variable.id, ""), variable.path)
        titles = titles if len(titles) <= len(path) else []
        layers = [*path[: len(path) - len(titles)], *titles]
        for scope in scopes:
            names = scope.split("/")
            kinds, wanted = [kind_of(name) for name in names], [kind_of(layer) for layer in path]
            for start in range(len(names) - len(path) + 1):
                if kinds[start : start + len(path)] == wanted:
                    for depth, layer in enumerate(layers, start + 1):
                        found["/".join(names[:depth])] = layer
                    break
    for above, siblings in inside.items():
        own = {name: f"{above}/{name}".lstrip("/") for name in siblings}
        known = [found[scope] != name for name, scope in own.items() if scope in found]
        for name, scope in own.items() if known and all(known) else ():
            found.setdefault(scope, _LAST_NUMBER.sub("", name))
    return found


def _owners(name: str, path: str) -> list[str]:
    """``online.d1.kernel`` → ``online`` and ``d1``, for a variable of which Keras's path, too, ends
    in ``kernel``; no names in other cases."""
    *owners, own = name.split(".")
    is_plain = (
        all(map(str.isidentifier, owners)) and own == path.removesuffix(":0").rpartition("/")[2]
    )
    return owners if is_plain and owners[:1] != ["self"] else []
