"""Collect the names that the snippet binds to tensors, variables and tapes."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from sys import intern

from .. import events as e
from ..ids import TapeId, TensorId
from ..model import Binding
from ..sites import Site
from .in_order import in_order
from .nouns import IdTuples


class BoundNames:
    """The names of the snippet's values. ``bindings`` in their order; ``tensors`` maps each tensor
    or variable to its names (``w``, ``layers[0]``), ``tapes`` each tape to its first, with the
    moment. ``of_modules``: names that were bound outside of functions."""

    def __init__(self, ids: IdTuples) -> None:
        self._ids = ids
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}
        """Each combination of names once: in a loop many tensors have the same."""
        self.bindings: list[Binding] = []
        self.tensors: dict[TensorId, tuple[str, ...]] = {}
        self.tapes: dict[TapeId, tuple[int, str]] = {}
        self.of_modules: set[str] = set()
        self._moments: dict[TensorId, list[tuple[int, str]]] = {}
        self._looked_at = 0
        """How many of the bindings are in the index of moments."""

    def bound(self, event: e.NameBound, site: Site, when: int) -> None:
        name = intern(event.name)
        words = [name + "".join(f"[{key!r}]" for key in keys) for _, keys in event.tensors]
        tensors = self._ids.of([tensor for tensor, _ in event.tensors])
        bound = tuple(zip(tensors, words, strict=True))
        if tensors and site.frames and not site.frames[0].function.isidentifier():
            self.of_modules.add(name)
        shape = tuple(event.shape) if event.shape is not None else None
        self.bindings.append(
            Binding(name, site, when, bound, intern(event.value), event.object, shape, event.dtype)
        )
        if event.tape:
            self.tapes.setdefault(TapeId(event.tape), (when, name))
        for tensor, word in bound:
            names = self.tensors.get(tensor, ())
            if word not in names:
                names = (*names, word)
                self.tensors[tensor] = self._known.setdefault(names, names)

    def names_of(self, tensor: TensorId) -> Sequence[tuple[int, str]]:
        """The names of a tensor, each time that it was bound, with the moment."""
        for binding in self.bindings[self._looked_at :]:
            for bound, word in binding.tensors:
                self._moments.setdefault(bound, []).append((binding.when, word))
        self._looked_at = len(self.bindings)
        return self._moments.get(tensor, ())

    def with_insides(self, insides: Sequence[BoundNames]) -> BoundNames:
        """These names and those that were bound inside of opened calls, which are in the order of
        time."""
        joined = BoundNames(self._ids)
        parts = [inside.bindings for inside in insides]
        joined.bindings = in_order(self.bindings, parts, attrgetter("when"))
        joined.tensors, joined.tapes = dict(self.tensors), dict(self.tapes)
        joined.of_modules = self.of_modules.union(*(inside.of_modules for inside in insides))
        shared = set[TensorId]()
        for inside in insides:
            shared |= inside.tensors.keys() & joined.tensors.keys()
            joined.tensors.update(inside.tensors)
            for tape, bound in inside.tapes.items():
                joined.tapes[tape] = min(bound, joined.tapes.get(tape, bound))
        for tensor in shared:
            bound_at = [moment for names in (self, *insides) for moment in names.names_of(tensor)]
            names = tuple(dict.fromkeys(word for _, word in sorted(bound_at, key=_moment)))
            joined.tensors[tensor] = names
        return joined


def _moment(bound: tuple[int, str]) -> int:
    return bound[0]
