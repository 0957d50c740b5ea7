"""Read the code of a file, by its suffix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from .notebook import read_notebook
from .source import read_text

READERS: Mapping[str, Callable[[Path], str]] = MappingProxyType({".ipynb": read_notebook})
"""Suffix → reader, for files that hold more than code; the text of any other file is its code."""


def read_code(path: Path) -> str:
    """The Python code of a file. Raises :class:`TapevizError` with what is wrong with it."""
    return READERS.get(path.suffix, read_text)(path)
