"""Write text as a terminal does: a progress bar goes back and draws its line again.

``tqdm`` begins with a carriage return; Keras 3 also goes back with backspaces and sets colours by
escape sequences (``keras/src/utils/progbar.py``, in a kernel as in a terminal).
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"(?P<back>\x08+)|(?P<begin>\r)|\x1b\[[0-9;:?]{0,40}(?P<code>[@-~])"
    r"|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|(?P<text>[^\x00-\x08\x0b-\x1f\x7f]+)|[\x00-\x1f\x7f]"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-9;:?]{0,40}|\][^\x07\x1b]{0,200})?\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_NO_UTF8 = "\ufffd"
"""The character that stands for a byte that is no UTF-8."""


def without_chance_letters(text: str) -> str:
    """Put U+FFFD for all that is not ASCII if most of that was no UTF-8.

    Such bytes are no text: one in thirty of random ones is a letter of some script by chance, and
    Qt looks through all fonts of the system for each of these scripts.
    """
    lost = text.count(_NO_UTF8)
    is_text = not lost or 2 * lost < len(_BEYOND_ASCII.findall(text))
    return text if is_text else _BEYOND_ASCII.sub(_NO_UTF8, text)


def has_controls(text: str) -> bool:
    """Whether writing the text is more than to append it."""
    return _CONTROL.search(text) is not None


def split_unfinished(text: str) -> tuple[str, str]:
    """A text and the escape sequence that only begins at its end; the rest of that comes later."""
    found = _UNFINISHED.search(text)
    return (text, "") if found is None else (text[: found.start()], found.group())


def written(line: str, column: int, text: str) -> tuple[str, int]:
    """The line, and the column of the next letter, after a text without line ends was written into
    the line at a column."""
    for token in _TOKEN.finditer(text):
        if token["text"]:
            letters = token["text"]
            line = line[:column].ljust(column) + letters + line[column + len(letters) :]
            column += len(letters)
        elif token["back"]:
            column = max(0, column - len(token["back"]))
        elif token["begin"]:
            column = 0
        elif token["code"] == "K":  # erase the rest of the line
            line = line[:column]
    return line, column
