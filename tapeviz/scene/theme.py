"""Read every colour of the drawing and the window from a theme file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ..files.resources import resource


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours as ``#rrggbb``: of the picture, in the window and in all exports; of the window
    around it; of HTML pages.

    ``X`` is for lines and areas, ``X_text`` for words, ``X_fill`` for the ground of such words;
    ``X_fill`` and ``X_stroke`` of a kind of box are its inside and its border. Texts have a
    contrast of at least 4.5 on ``panel``, ``background`` and their fill.
    """

    name: str
    is_dark: bool

    # Grounds, from the back to the front, and lines between them
    window: str
    background: str
    """The ground of the picture."""
    panel: str
    """Docks, cards, menus and tooltips."""
    border: str
    grid: str
    """The ground of the row of Backprop that is chosen."""
    text: str
    text_muted: str
    text_faint: str

    # Boxes and frames of the picture
    op_fill: str
    op_stroke: str
    variable_fill: str
    variable_stroke: str
    constant_fill: str
    constant_stroke: str
    group_fill: str
    group_stroke: str

    # Wires of the picture: `WireState` names the field, but for ``gradient_pale``
    gradient: str
    """A gradient flows; also the ring of a source, and the box of the step that is shown."""
    gradient_text: str
    gradient_pale: str
    """A gradient that the stepper has not reached yet."""
    gradient_fill: str
    recorded: str
    """Recorded by a tape, but no gradient was asked through it."""
    unrecorded: str
    """Recorded by no tape."""
    cut: str
    """The dashed wire; its scissors and the ring of its source have the colour ``trouble``."""
    bridge: str
    """The dotted arc of the gradient across a cut."""

    # Meanings, alike in the picture and in panels
    trouble: str
    """None, zero, NaN, an error; an op that only the first of two runs has."""
    trouble_text: str
    trouble_fill: str
    warning: str
    """A number that looks right and is wrong."""
    warning_text: str
    warning_fill: str
    accent: str
    """The selection, the focus, and the ring of a target."""
    accent_text: str
    accent_fill: str
    on_accent: str
    """Words on ``accent``, as on the Run button."""
    success: str
    """A gradient that flows in a card; an op that only the second of two runs has."""
    success_text: str
    success_fill: str

    # The strong ends of the colour scales of arrays
    value_ramp: str
    gradient_ramp: str

    # Source text
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
