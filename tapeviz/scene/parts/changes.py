"""Draw the frames and signs that mark the changes between two pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from ...layout.model import Rect
from ..model import Change, ChangeKind, Heading
from ..primitives import Path, Primitive, PrimitiveGroup, Style, TextRun
from ..text import clean, fit
from ..theme import Theme
from .geometry import circle, grown, line, rounded

SIGN_RADIUS = 8.0
HEADING_SIZE = 13.0
NOTE_SIZE = 11.0
NOTE_DROP = 17.0
FRAME_GAP = 4.5
_ARM = 3.8
_DASH = (6.0, 4.0)

CHANGES: tuple[ChangeKind, ...] = get_args(ChangeKind)


def outline_group(change: Change, theme: Theme) -> PrimitiveGroup:
    """A frame around the box, dashed for a removed one; the words of a ring stand on it."""
    colour, _ = change_colours(change.kind, theme)
    frame = frame_rect(change)
    dash = _DASH if change.kind == "removed" else ()
    outline = rounded(frame, min(14.0, frame.height / 2))
    path = Path(f"change-{change.kind}", outline, Style(None, colour, 1.8, dash))
    return PrimitiveGroup("outline", change.node, (path,))


def change_group(change: Change, theme: Theme) -> PrimitiveGroup:
    """The sign of a change, on the upper right corner of the frame around its box."""
    frame = frame_rect(change)
    corner = frame.right - 4, frame.top + 4
    signs = tuple(sign(change.kind, *corner, theme))
    return PrimitiveGroup("change", change.node, signs, change.tooltip)


def frame_rect(change: Change) -> Rect:
    return grown(change.rect, FRAME_GAP)


def sign(kind: str, x: float, y: float, theme: Theme) -> Iterator[Primitive]:
    """The sign of a `ChangeKind`: a minus, a plus, a dot, or for what is inside a ring, on a
    disc."""
    colour, fill = change_colours(kind, theme)
    yield Path(f"sign-{kind}", circle(x, y, SIGN_RADIUS), Style(fill, colour, 1.5))
    if kind == "turned":
        yield Path("sign-dot", circle(x, y, 2.6), Style(colour))
        return
    if kind == "inside":
        yield Path("sign-ring", circle(x, y, 2.9), Style(None, colour, 1.6))
        return
    strokes = line((x - _ARM, y), (x + _ARM, y))
    if kind == "added":
        strokes += line((x, y - _ARM), (x, y + _ARM))
    yield Path("sign-stroke", strokes, Style(None, colour, 2.0))


def change_colours(kind: str, theme: Theme) -> tuple[str, str]:
    """Colours of a `ChangeKind`: of the frame, and of the ground under its sign."""
    return {
        "removed": (theme.trouble, theme.trouble_fill),
        "added": (theme.success, theme.success_fill),
        "turned": (theme.accent, theme.accent_fill),
        "inside": (theme.accent, theme.accent_fill),
    }[kind]


def heading_group(heading: Heading, theme: Theme) -> PrimitiveGroup:
    x, y = heading.x, heading.y
    text, note = (
        fit(clean(words), "mono", size, heading.width, "end")
        for words, size in ((heading.text, HEADING_SIZE), (heading.note, NOTE_SIZE))
    )
    runs = [TextRun("heading", x, y, text, "mono", HEADING_SIZE, theme.text, 600)]
    if note:
        below = y + NOTE_DROP
        runs.append(TextRun("heading-note", x, below, note, "mono", NOTE_SIZE, theme.text_muted))
    return PrimitiveGroup("heading", "", tuple(runs))
