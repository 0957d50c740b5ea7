"""Measure strings in a font, and cut them to fit, without Qt."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from ..files.resources import resource

Font = Literal["sans", "mono"]
"""sans: words; mono: names, code and numbers of the snippet."""
Anchor = Literal["middle", "end"]
ELLIPSIS = "…"

_UNITS = 1000
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_PARTS = re.compile(r"( … |[./])")
"""Between the parts of a name."""
_HEAD = re.compile(r"[^ ]*?(?=(?:_\d+)?$)")
"""A part of a name without the number at its end."""
_LEAST_PART = 4
"""Characters that a part keeps at least, besides its number."""
_BREAKS = re.compile(r"[\t\n\r\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Face:
    """Measures of a font in thousandths of an em, and the families to ask for, best first."""

    families: tuple[str, ...]
    descent: int
    cap_height: int
    usual: int
    advances: Mapping[str, int]


def _load_face(data: Mapping[str, Any]) -> Face:
    advances = dict.fromkeys(data["known"], data["usual"]) | data["advances"]
    return Face(
        tuple(data["families"]), data["descent"], data["cap_height"], data["usual"], advances
    )


FACES: Mapping[Font, Face] = {
    face: _load_face(data)
    for face, data in json.loads(
        resource("fonts", "metrics.json").read_text(encoding="utf-8")
    ).items()
}


def clean(text: str) -> str:
    """``text`` on one line: line breaks and tabs become a space; control characters and others that
    XML forbids are removed."""
    return _CONTROLS.sub("", _BREAKS.sub(" ", text))


def text_width(text: str, font: Font, size: float) -> float:
    """Width in px of one line of ``text`` at ``size`` px."""
    return _units(text, font) * size / _UNITS


def cap_height(font: Font, size: float) -> float:
    """Height in px of a capital letter; half of it below the middle is the baseline of a centred
    line."""
    return FACES[font].cap_height * size / _UNITS


@lru_cache(maxsize=8192)
def _units(text: str, font: Font) -> int:
    face = FACES[font]
    return sum(
        face.advances[char] if char in face.advances else _foreign(char, face) for char in text
    )


def _foreign(char: str, face: Face) -> int:
    """The advance of a glyph that our font lacks, in thousandths of an em."""
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    if unicodedata.east_asian_width(char) in "WF":
        return _UNITS
    return max(face.usual, 600)


def fit(text: str, font: Font, size: float, width: float, side: Anchor = "middle") -> str:
    """``text``, cleaned, and shortened with ``…`` if it is wider than ``width`` px.

    ``side``: where the ellipsis goes: in the middle for names, at the end for sentences. A text
    that ends with an ellipsis is shortened at its end, so that it has one.
    """
    text = clean(text)
    if text_width(text, font, size) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        keep = (low + high + 1) // 2
        if text_width(_shorten(text, keep, side), font, size) <= width:
            low = keep
        else:
            high = keep - 1
    return _shorten(text, low, side)


def shorten(text: str, length: int, side: Anchor = "middle") -> str:
    """``text``, cleaned, in at most ``length`` characters, ``…`` among them."""
    text = clean(text)
    return text if len(text) <= length else _shorten(text, length - 1, side)


def _shorten(text: str, keep: int, side: Anchor) -> str:
    if side == "end" or text.endswith(ELLIPSIS):
        return text[:keep].rstrip() + ELLIPSIS
    if (named := _with_short_parts(_PARTS.split(text), keep + 1)) is not None:
        return named
    head = (keep + 1) // 2
    return text[:head] + ELLIPSIS + text[len(text) - (keep - head) :]


def _with_short_parts(parts: list[str], length: int) -> str | None:
    """A name of several parts in at most ``length`` characters, the longest parts cut before the
    numbers at their ends; None where that is not enough.

    Names of layers that are alike differ by such a number, and by the other parts."""
    heads = [found.end() if (found := _HEAD.match(part)) else 0 for part in parts]
    for place in sorted(range(len(parts)), key=lambda place: -heads[place]):
        over = sum(map(len, parts)) - length
        room, end = max(heads[place] - over - 1, _LEAST_PART), heads[place]
        if over > 0 and room < end - 1:
            parts[place] = parts[place][:room] + ELLIPSIS + parts[place][end:]
    return "".join(parts) if len(parts) > 1 and sum(map(len, parts)) <= length else None
