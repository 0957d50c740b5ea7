"""Tell the layers that the name scopes of a graph belong to."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from ...text.called_names import kind_of
from ..model import Trace

_LAST_NUMBER = re.compile(r"_\d+$")


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
