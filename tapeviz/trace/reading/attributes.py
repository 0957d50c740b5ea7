"""Tell the attributes of objects that tensors and variables were given to, object by object.

``self.w`` of two layers is one name and two attributes; ``self.w`` in a method and ``net.w``
outside of it are two names and one attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..model import Binding, Site, TensorId

_Place = tuple[str, tuple[int, ...]]
_MODULE: _Place = ("<module>", ())


class Attribute(NamedTuple):
    """``owner``: the number of the object in its process; ``path``: ``w``, ``heads[0]``."""

    owner: int
    path: str


class Given(NamedTuple):
    """The moment at which something was given a tensor, and the line."""

    when: int
    tensor: TensorId
    line: int


@dataclass(frozen=True, slots=True)
class ObjectAttributes:
    """``given``: what each attribute was given, in that order; ``named``: the attributes that each
    tensor was given to, with the name by which that was done (``self.w``); ``owners``: the last
    name outside of functions of each object."""

    given: Mapping[Attribute, Sequence[Given]]
    named: Mapping[TensorId, Mapping[str, Attribute]]
    owners: Mapping[int, str]

    def paths(self, tensor: TensorId) -> tuple[str, ...]:
        """The names outside of functions: ``net.w`` of what a method calls ``self.w``."""
        known = dict.fromkeys(self.named.get(tensor, {}).values())
        return tuple(
            f"{self.owners[owner]}.{path}" for owner, path in known if owner in self.owners
        )


def attributes_of(bindings: Iterable[Binding]) -> ObjectAttributes:
    """The attributes of modules and Keras objects: of other objects no identity is recorded."""
    objects: dict[tuple[str, _Place], int] = {}
    given: dict[Attribute, list[Given]] = {}
    named: dict[TensorId, dict[str, Attribute]] = {}
    owners: dict[int, str] = {}
    for binding in bindings:
        place = _place_of(binding.site)
        if binding.object:
            objects[binding.name, place] = binding.object
            if place == _MODULE:
                owners[binding.object] = binding.name
        for tensor, name in binding.tensors:
            root, _, path = name.partition(".")
            owner = objects.get((root, place)) or objects.get((root, _MODULE))
            if path and owner:
                attribute = Attribute(owner, path)
                held = Given(binding.when, tensor, binding.site.line)
                given.setdefault(attribute, []).append(held)
                named.setdefault(tensor, {})[name] = attribute
    return ObjectAttributes(given, named, owners)


def _place_of(site: Site) -> _Place:
    """The call of a function that a name belongs to: the function and the lines of its callers."""
    if not site.frames or site.frames[0].function == "<module>":
        return _MODULE
    return site.frames[0].function, tuple(frame.line for frame in site.frames[1:])
