"""Collect the names that the snippet binds to tensors, variables and tapes."""

from __future__ import annotations

from sys import intern

from .. import events as e
from ..model import Binding, Site, TapeId, TensorId
from .nouns import IdTuples


class BoundNames:
    """``bindings`` in their order; ``tensors`` maps each tensor or variable to its names (``w``,
    ``layers[0]``), ``tapes`` each tape to its first. ``of_modules``: names that were bound outside
    of functions."""

    def __init__(self, ids: IdTuples) -> None:
        self._ids = ids
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}
        """Each combination of names once: in a loop many tensors have the same."""
        self.bindings: list[Binding] = []
        self.tensors: dict[TensorId, tuple[str, ...]] = {}
        self.tapes: dict[TapeId, str] = {}
        self.of_modules: set[str] = set()

    def bound(self, event: e.NameBound, site: Site, when: int) -> None:
        name = intern(event.name)
        words = [name + "".join(f"[{key!r}]" for key in keys) for _, keys in event.tensors]
        tensors = self._ids.of([tensor for tensor, _ in event.tensors])
        bound = tuple(zip(tensors, words, strict=True))
        if tensors and site.frames and not site.frames[0].function.isidentifier():
            self.of_modules.add(name)
        self.bindings.append(Binding(name, site, when, bound, intern(event.value), event.object))
        if event.tape:
            self.tapes.setdefault(TapeId(event.tape), name)
        for tensor, word in bound:
            names = self.tensors.get(tensor, ())
            if word not in names:
                names = (*names, word)
                self.tensors[tensor] = self._known.setdefault(names, names)
