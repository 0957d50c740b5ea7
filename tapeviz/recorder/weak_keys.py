"""Dictionaries that do not keep their keys alive, and work whatever the snippet does to weakref.

Python's own look ``ref`` up in their module at each use, where a snippet may have replaced it.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar
from weakref import ref

Value = TypeVar("Value")


class WeakKeys(Generic[Value]):
    """Values by objects, which are let go of with them."""

    def __init__(self) -> None:
        values: dict[Any, Value] = {}

        def forget(key: Any) -> None:
            values.pop(key, None)

        self._values, self._forget = values, forget

    def get(self, key: Any) -> Value | None:
        return self._values.get(ref(key))

    def __setitem__(self, key: Any, value: Value) -> None:
        self._values[ref(key, self._forget)] = value


class ByGraph(Generic[Value]):
    """Values by graphs, which may hold the graph themselves.

    ``holds``: a graph stays as long as this. Else its value is an attribute of the graph: both die
    together, when TensorFlow takes the graph apart (``dismantle_graph`` in ops, 2.15-2.21) or
    Python collects it.
    """

    def __init__(self, name: str, *, holds: bool) -> None:
        self._attribute = f"{__package__}_{name}"
        self._held: dict[Any, Value] | None = {} if holds else None
        self._known: list[ref[Any]] = []

    def get(self, graph: Any) -> Value | None:
        if self._held is not None:
            return self._held.get(graph)
        return getattr(graph, self._attribute, None)

    def __setitem__(self, graph: Any, value: Value) -> None:
        if self._held is not None:
            self._held[graph] = value
            return
        setattr(graph, self._attribute, value)
        self._known.append(ref(graph))

    def graphs(self) -> list[Any]:
        """The graphs that still live, in the order in which they were added."""
        if self._held is not None:
            return list(self._held)
        return [graph for each in self._known if self.get(graph := each()) is not None]
