"""The gallery in ``resources/examples``: what each example shows, and its text."""

from __future__ import annotations

import ast
import difflib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..errors import TapevizError
from ..text.trees import parse_module
from .resources import resource


@dataclass(frozen=True, slots=True)
class Example:
    """A snippet of the gallery. ``title`` and ``about`` are its docstring's first line and rest."""

    name: str
    group: str
    title: str
    about: str
    text: str
    path: Path


@cache
def examples() -> tuple[Example, ...]:
    """All examples in the gallery's order; those of one group stand together."""
    index = json.loads(resource("examples", "index.json").read_text(encoding="utf-8"))
    return tuple(_read(name, group) for group, names in index.items() for name in names)


def example(name: str) -> Example:
    """The example called ``name``; if none is, :class:`TapevizError` tells the nearest names."""
    by_name = {each.name: each for each in examples()}
    if name in by_name:
        return by_name[name]
    near = difflib.get_close_matches(name, by_name, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "tapeviz examples lists them"
    raise TapevizError(f"there is no example {name!r}: {hint}")


def default_example() -> Example:
    """The first of the gallery, which a first window opens with."""
    return examples()[0]


def _read(name: str, group: str) -> Example:
    path = resource("examples", f"{name}.py")
    text = path.read_text(encoding="utf-8")
    title, _, about = (ast.get_docstring(parse_module(text)) or name).partition("\n")
    return Example(name, group, title, " ".join(about.split()), text, path)
