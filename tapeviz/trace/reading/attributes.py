"""Tell the attributes of objects that tensors and variables were given to, object by object.

``self.w`` of two layers is one name and two attributes; ``self.w`` in a method and ``net.w``
outside of it are two names and one attribute.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from ...text.source import SourceText, TextSpan
from ...text.statements import MODULE, read_text
from ..ids import TensorId
from ..model import Binding
from ..sites import Site

_Place = tuple[str, tuple[TextSpan, ...]]
_MODULE: _Place = ("<module>", ())


class Attribute(NamedTuple):
    """An attribute of an object of the snippet. ``owner``: the number of the object in its process;
    ``path``: ``w``, ``heads[0]``."""

    owner: int
    path: str


class Given(NamedTuple):
    """The moment at which something was given a tensor, and the line."""

    when: int
    tensor: TensorId
    line: int


@dataclass(frozen=True, slots=True)
class ObjectAttributes:
    """The values that the attributes of the snippet's objects were given. ``given``: what each
    attribute was given, in that order; ``named``: the attributes that each tensor was given to,
    with the name by which that was done (``self.w``); ``owners``: the last name outside of
    functions of each object, or that of the object that it is an attribute of (``critic.l1``)."""

    given: Mapping[Attribute, Sequence[Given]]
    named: Mapping[TensorId, Mapping[str, Attribute]]
    owners: Mapping[int, str]

    def paths(self, tensor: TensorId) -> tuple[str, ...]:
        """The names outside of functions: ``net.w`` of what a method calls ``self.w``."""
        known = dict.fromkeys(self.named.get(tensor, {}).values())
        return tuple(
            f"{self.owners[owner]}.{path}" for owner, path in known if owner in self.owners
        )


def attributes_of(bindings: Iterable[Binding], text: SourceText) -> ObjectAttributes:
    """The attributes of modules and Keras objects, whose identity is recorded; of other objects
    those that a constructor gave, by the call that ran it, unless that made several."""
    objects: dict[tuple[str, _Place], int] = {}
    given: dict[Attribute, list[Given]] = {}
    named: dict[TensorId, dict[str, Attribute]] = {}
    owners: dict[int, str] = {}
    parts: dict[int, Attribute] = {}
    made: dict[tuple[str, _Place], int] = {}
    for binding in bindings:
        place = _place_of(binding.site)
        if binding.object:
            objects[binding.name, place] = binding.object
            if place == _MODULE:
                owners[binding.object] = binding.name
            root, _, path = binding.name.partition(".")
            holder = objects.get((root, place))
            if path and holder:
                parts.setdefault(binding.object, Attribute(holder, path))
        for tensor, name in binding.tensors:
            root, _, path = name.partition(".")
            owner = objects.get((root, place))
            if not owner and read_text(text).owner(binding.site.line, root) == MODULE:
                owner = objects.get((root, _MODULE))
            if path and not owner and place[0] == "__init__":
                owner = made.setdefault((root, place), -1 - len(made))
                if root == "self":
                    owners.setdefault(owner, _name_of_made(text, binding.site))
            if path and owner:
                attribute = Attribute(owner, path)
                held = Given(binding.when, tensor, binding.site.line)
                given.setdefault(attribute, []).append(held)
                named.setdefault(tensor, {})[name] = attribute
    for part in parts.keys() - owners.keys():
        owners[part] = _name_of_part(part, parts, owners)
    several = {each.owner for each, held in given.items() if each.owner < 0 and len(held) > 1}
    return ObjectAttributes(
        given,
        {tensor: _of_others(known, several) for tensor, known in named.items()},
        {owner: name for owner, name in owners.items() if name},
    )


def _name_of_part(part: int, parts: Mapping[int, Attribute], owners: Mapping[int, str]) -> str:
    """``critic.l1`` for an object that is an attribute of another one, or of one in that; empty if
    the outermost has no name outside of functions."""
    path: list[str] = []
    while part not in owners:
        if part not in parts or len(path) == len(parts):
            return ""
        part, name = parts[part]
        path.append(name)
    return ".".join((owners[part], *reversed(path))) if owners[part] else ""


def _of_others(known: Mapping[str, Attribute], several: Set[int]) -> Mapping[str, Attribute]:
    return {name: each for name, each in known.items() if each.owner not in several}


def _name_of_made(text: SourceText, site: Site) -> str:
    """``net`` of ``net = Net()`` outside of functions, for a place in ``__init__``; else empty."""
    caller = site.frames[1] if len(site.frames) == 2 else None
    statement = text.statement(caller.line) if caller is not None else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return ""
    target = statement.targets[0]
    is_made = isinstance(statement.value, ast.Call) and isinstance(target, ast.Name)
    return target.id if is_made and isinstance(target, ast.Name) else ""


def _place_of(site: Site) -> _Place:
    """The call of a function that a name belongs to: the function and where its callers stand."""
    if not site.frames or site.frames[0].function == "<module>":
        return _MODULE
    return site.frames[0].function, tuple(frame.span for frame in site.frames[1:])
