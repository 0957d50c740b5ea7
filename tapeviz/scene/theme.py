"""Read every colour of the drawing and the window from a theme file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ..files.resources import resource


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours as ``#rrggbb``, named by what they colour.

    ``X`` is for lines and areas, ``X_text`` for words, ``X_fill`` for the ground of such words.
    Texts have a contrast of at least 4.5 on ``panel``, ``background`` and their fill.
    ``value_ramp`` and ``gradient_ramp`` are the strong ends of the colour scales of pictures.
    """

    name: str
    is_dark: bool
    window: str
    background: str
    panel: str
    border: str
    grid: str
    text: str
    text_muted: str
    text_faint: str
    op_fill: str
    op_stroke: str
    variable_fill: str
    variable_stroke: str
    constant_fill: str
    constant_stroke: str
    group_fill: str
    group_stroke: str
    gradient: str
    gradient_text: str
    gradient_pale: str
    gradient_fill: str
    recorded: str
    unrecorded: str
    cut: str
    bridge: str
    trouble: str
    trouble_text: str
    trouble_fill: str
    warning: str
    warning_text: str
    warning_fill: str
    accent: str
    accent_text: str
    accent_fill: str
    on_accent: str
    success: str
    success_text: str
    success_fill: str
    value_ramp: str
    gradient_ramp: str
    code_keyword: str
    code_string: str
    code_number: str
    code_comment: str


def load_theme(name: str) -> Theme:
    """The theme of ``resources/themes/<name>.json``; it has exactly the fields of `Theme`."""
    data = json.loads(resource("themes", f"{name}.json").read_text(encoding="utf-8"))
    return Theme(**data)


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green, blue (0…255) of ``#rrggbb``."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def mix(under: str, over: str, share: float) -> str:
    """``over`` laid on ``under`` with the opacity ``share`` (0…1), as an opaque colour."""
    pairs = zip(rgb(under), rgb(over), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def contrast(colour: str, other: str) -> float:
    """WCAG 2 contrast ratio, 1…21."""
    low, high = sorted((_luminance(colour), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (channel / 255 for channel in rgb(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


THEMES: Mapping[str, Theme] = {name: load_theme(name) for name in ("light", "dark")}
