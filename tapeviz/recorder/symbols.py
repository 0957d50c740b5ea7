"""Give the tensors of graphs negative ids, and the graphs numbers."""

from __future__ import annotations

from itertools import count
from typing import Any

from . import private
from .weak_keys import WeakKeys


class Symbols:
    """Names symbolic tensors by graph, op and output; no tensor and no graph is held."""

    def __init__(self) -> None:
        self._graphs: WeakKeys[int] = WeakKeys()
        self._graph_numbers = count(1)
        self._ids: dict[tuple[int, str, int], int] = {}
        self._aliases: dict[int, int] = {}

    def graph(self, graph: Any) -> int:
        """The number of a graph, from 1."""
        number = self._graphs.get(graph)
        if number is None:
            number = self._graphs[graph] = next(self._graph_numbers)
        return number

    def known_graph(self, graph: Any) -> int:
        """The number of a graph that was seen before; 0 for another."""
        return self._graphs.get(graph) or 0

    def id(self, tensor: Any) -> int:
        """Below 0 for a symbolic tensor; 0 for what is none."""
        op = getattr(tensor, "op", None)
        if op is None or not isinstance(tensor, private.Tensor):
            return 0
        key = (self.graph(op.graph), op.name, tensor.value_index)  # type: ignore[attr-defined]
        identity = self._ids.setdefault(key, -len(self._ids) - 1)
        if op.type == "Placeholder":
            return self._captured(identity, tensor)
        return identity

    def _captured(self, identity: int, tensor: Any) -> int:
        """A function's placeholder for a tensor from outside goes by that tensor's id."""
        known = self._aliases.get(identity)
        if known is not None:
            return known
        for outer, inner in getattr(tensor.op.graph, "captures", ()):
            if inner is tensor:
                eager = isinstance(outer, private.EagerTensor)
                self._aliases[identity] = private.id_of(outer) if eager else self.id(outer)
                return self._aliases[identity]
        return identity
