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


def folders(names: str) -> list[Path]:
    """The folders that a cell of the rooms names, of ``panels/*/`` each folder in there."""
    globs = re.findall(r"`([\w/*]+)/`", names)
    found = (path for name in globs for path in PACKAGE.glob(name))
    return [path for path in found if (path / "__init__.py").exists()]


def test_the_rooms_are_the_folders_and_have_the_modules_to_begin_reading_at() -> None:
    missing = [
        (names, name)
        for names, _, begin in rows("The rooms")
        for name in re.findall(r"`([\w/]+\.py)`", begin)
        if not any((place / name).exists() for place in (*folders(names), PACKAGE))
    ]
    assert missing == []
    listed = [folder for names, _, _ in rows("The rooms") for folder in folders(names)]
    there = {path.parent for path in PACKAGE.rglob("__init__.py")} - {PACKAGE}
    assert sorted(listed) == sorted(there)


def test_files_that_the_guide_names_are_there() -> None:
    named = set(re.findall(r"`(\w[\w/.-]+\.\w+|\w[\w/]+/)`", GUIDE))
    files = {name for name in named if "/" in name and not re.search("NAME|KIND|VERB", name)}
    assert len(files) > 50
    roots = (PACKAGE, ROOT, PACKAGE / "analysis")
    assert sorted(name for name in files if not any((r / name).exists() for r in roots)) == []
