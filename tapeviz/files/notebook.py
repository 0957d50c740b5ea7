"""Read the code cells of a Jupyter notebook as one text, cell after cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import TapevizError, reading_words

_LARGEST = 200_000_000
"""Bytes: a notebook holds its pictures, too."""

# These run the cell as Python; all others hand it to another program.
_PYTHON_CELL = re.compile(r"%%(?:time|timeit|capture|prun|memit|mprun|python3?|debug)\b")
_OTHER_CELL = re.compile(r"\s*%%\w")


def read_notebook(path: Path) -> str:
    """The code of the ``.ipynb`` at ``path``; a TapevizError says why there is none."""
    try:
        if path.stat().st_size > _LARGEST:
            raise TapevizError(f"{path.name} is too large for a notebook (over 200 MB)")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise TapevizError(f"cannot read {path}: {reading_words(error)}") from error
    except UnicodeDecodeError as error:
        raise TapevizError(f"{path.name} is not a notebook: it is not UTF-8 text") from error
    try:
        return notebook_source(text)
    except TapevizError as error:
        raise TapevizError(f"{path.name}: {error}") from error


def notebook_source(text: str) -> str:
    """The code of a notebook's text (nbformat 3 and 4), a ``# %%`` line before each cell."""
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TapevizError(f"not a notebook: {_json_words(error)}") from error
    if not isinstance(notebook, dict):
        raise TapevizError("not a notebook: no cells in it")
    language = _language(notebook)
    if language not in ("", "python", "ipython"):
        raise TapevizError(f"a notebook in {language}: tapeviz reads Python")
    sources = [source for source in _code(notebook) if source.strip()]
    if not sources:
        raise TapevizError("a notebook without code cells")
    return "\n".join(f"# %%\n{_python(source)}\n" for source in sources)


def code_in(text: str) -> str:
    """A pasted text; of one that is a whole notebook, as an editor shows its file, the code."""
    if not text.lstrip().startswith("{") or '"cells"' not in text or len(text) > _LARGEST:
        return text
    try:
        return notebook_source(text)
    except TapevizError:
        return text


def _code(notebook: dict[str, Any]) -> Iterator[str]:
    for cell in _cells(notebook):
        if not isinstance(cell, dict):
            raise TapevizError("not a notebook: a cell in it is no object")
        if cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            source = "".join(source)
        if not isinstance(source, str):
            raise TapevizError("not a notebook: the source of a cell is no text")
        yield source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def _cells(notebook: dict[str, Any]) -> list[Any]:
    cells = notebook.get("cells")
    if cells is None:  # nbformat 3
        sheets = notebook.get("worksheets")
        if not isinstance(sheets, list) or not all(isinstance(sheet, dict) for sheet in sheets):
            raise TapevizError("not a notebook: no cells in it")
        found = [sheet.get("cells", []) for sheet in sheets]
        if not all(isinstance(cells, list) for cells in found):
            raise TapevizError("not a notebook: no cells in it")
        return [cell for cells in found for cell in cells]
    if not isinstance(cells, list):
        raise TapevizError("not a notebook: no cells in it")
    return cells


def _language(notebook: dict[str, Any]) -> str:
    """The language as the notebook names it, in lower case; empty when it does not."""
    metadata = notebook.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    for place, key in (("language_info", "name"), ("kernelspec", "language")):
        found = metadata.get(place)
        name = found.get(key) if isinstance(found, dict) else None
        if isinstance(name, str):
            return name.lower()
    return ""


def _python(source: str) -> str:
    """The cell; as comments where its magic hands it to another language."""
    if _OTHER_CELL.match(source) and not _PYTHON_CELL.match(source.lstrip()):
        return "\n".join(f"# {line}".rstrip() for line in source.split("\n"))
    return source


def _json_words(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} on line {error.lineno}"
    return "nested too deeply" if isinstance(error, RecursionError) else "no JSON in it"
