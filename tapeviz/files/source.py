"""Read and write files of Python text, in the encoding that Python reads them in.

That is UTF-8, or what a line such as ``# -*- coding: latin-1 -*-`` at the top says (PEP 263).
"""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

from ..errors import TapevizError, reading_words

LARGEST = 5_000_000
"""Bytes of a file, or characters of a pasted text, that an editor should take."""


def read_text(path: Path) -> str:
    """The characters of a file; :class:`TapevizError` says what is wrong with it."""
    try:
        if path.stat().st_size > LARGEST:
            raise TapevizError(f"{path} is larger than {LARGEST // 1_000_000} MB: not a snippet")
        raw = path.read_bytes()
    except OSError as error:
        raise TapevizError(f"cannot read {path}: {reading_words(error)}") from None
    try:
        text = raw.decode(_encoding(raw))
    except (UnicodeError, LookupError):  # of a codec that gives no text, as ``rot13``: LookupError
        raise TapevizError(f"{path} is not UTF-8 text; save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def encoded(text: str) -> bytes:
    """The text as :func:`read_text` finds it again."""
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise TapevizError(f"line {line} has half of a character, which no file can hold") from None
    try:
        return text.encode(_encoding(raw))
    except (UnicodeError, LookupError):
        raise TapevizError("its coding line names an encoding without these characters") from None


def _encoding(raw: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(raw).readline)[0]
    except SyntaxError:  # an encoding that nobody knows, or bytes that no UTF-8 has
        return "utf-8-sig"
