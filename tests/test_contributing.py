"""The guide names what is there: the places of the glossary, and where to begin reading."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tapeviz"
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def rows(heading: str) -> Iterator[list[str]]:
    """The cells of the tables under a heading of the guide, without heads and rules."""
    section = GUIDE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and "`" in line:
            yield cells


def defined(path: Path) -> set[str]:
    """The names that a module defines, also in its classes, without those that it imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def is_there(reference: str) -> bool:
    """Whether ``graph/scope.py``, ``panels/`` or ``graph.model.Node`` is something of tapeviz."""
    if "/" in reference or reference.endswith(".py"):
        return (PACKAGE / reference).exists()
    parts = reference.split(".")
    for depth in range(len(parts), 0, -1):
        module = PACKAGE.joinpath(*parts[:depth])
        for path in (module.with_suffix(".py"), module / "__init__.py"):
            if path.exists():
                return defined(path).issuperset(parts[depth:])
    return False


def test_what_the_glossary_names_is_there() -> None:
    missing = []
    for term, _, places in rows("Glossary"):
        before = ""
        for reference in re.findall(r"`([^`]+)`", places):
            module = before.rpartition(".")[0]  # `trace.sites.Site`, `StackFrame`: both in there
            if not (is_there(reference) or is_there(f"{module}.{reference}")):
                missing.append((term, reference))
            before = reference
    assert missing == []


def test_modules_to_begin_reading_at_are_there() -> None:
    missing = []
    for rooms, _, begin in rows("The rooms"):
        places = [PACKAGE / name for name in re.findall(r"`([\w/]+/)`", rooms)] + [PACKAGE]
        for name in re.findall(r"`(\w+\.py)`", begin):
            around = [*places, *(place.parent for place in places)]
            if not any((place / name).exists() for place in around) and "*" not in rooms:
                missing.append((rooms, name))
    assert missing == []
