"""Find the names that fit at a place in a Python text: a process of its own, for jedi.

It reads a JSON object a line, ``{"id", "text", "line", "column"}`` (line from 1, column from 0, in
characters), and answers each with ``{"id", "names"}``. jedi reads the text and the sources of the
libraries it imports, and runs none of it; the first question about a large library takes seconds.
"""

from __future__ import annotations

import contextlib
import json
import pickle
import re
import sys
from collections.abc import Iterable
from typing import TextIO

from platformdirs import user_cache_path

MOST = 5_000
"""Names of an answer, at most. The list is narrowed as a name is typed; ``tf`` has over 300."""
_IMPORTED = re.compile(r"^\s*import\s+tensorflow(?:\s+as\s+(\w+))?\s*$", re.MULTILINE)
_NOT_IMPORTED = ("import tensorflow as tf", "import numpy as np", "import keras")
"""Names that snippets use without an import; Keras also in place of TensorFlow's lazy
``tf.keras`` (2.15 to 2.21), which cannot be read without running it."""


def names_at(text: str, line: int, column: int) -> list[str]:
    """The names that may stand at a place of a text, the likeliest first; empty when unknown."""
    text, column = _with_keras(text, line, column)
    text = "\n".join(_NOT_IMPORTED) + "\n" + text
    try:
        return _completed(text, line + len(_NOT_IMPORTED), column)
    except (EOFError, pickle.UnpicklingError):  # a file that a killed process had begun to write
        _forget_parsed_files()
        return _completed(text, line + len(_NOT_IMPORTED), column)


def _completed(text: str, line: int, column: int) -> list[str]:
    import jedi

    jedi.settings.cache_directory = str(user_cache_path("tapeviz", appauthor=False) / "jedi")
    project = jedi.Project(sys.prefix, smart_sys_path=False)
    found = jedi.Script(text, project=project).complete(line, column)
    return [name.name for name in found[:MOST]]


def _forget_parsed_files() -> None:
    import jedi
    import parso.cache

    with contextlib.suppress(OSError):
        parso.cache.clear_cache(jedi.settings.cache_directory)
    parso.cache.parser_cache.clear()


def _with_keras(text: str, line: int, column: int) -> tuple[str, int]:
    """The text with ``keras`` where it has ``tf.keras``, and where the column is then."""
    alias = next((m.group(1) or "tensorflow" for m in _IMPORTED.finditer(text)), "tf")
    lazy = re.compile(rf"(?<![\w.]){re.escape(alias)}\.keras\b(?=\.)")
    lines = text.split("\n")
    before = lines[line - 1][:column]
    shorter = lazy.sub("keras", before)
    lines = [lazy.sub("keras", text) for text in lines]
    return "\n".join(lines), column - (len(before) - len(shorter))


def serve(questions: Iterable[str], answers: TextIO) -> None:
    """Answer requests until their stream ends."""
    for question in questions:
        asked = json.loads(question)
        try:
            names = names_at(asked["text"], asked["line"], asked["column"])
        except Exception:  # jedi meets texts in the middle of being typed
            names = []
        answers.write(json.dumps({"id": asked["id"], "names": names}) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
