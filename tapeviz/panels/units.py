"""Count the characters of a text as Qt does."""

from __future__ import annotations


def utf16_units(text: str) -> int:
    """The length of a text in UTF-16 units, in which Qt counts positions."""
    return len(text) + sum(ord(char) > 0xFFFF for char in text)
