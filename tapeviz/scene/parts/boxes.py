"""Draw a box: its outline, words, picture and ring."""

from __future__ import annotations

from collections.abc import Iterator

from ...layout.model import Rect
from ..model import Box, Picture
from ..primitives import Outline, Path, Primitive, Style, TextRun
from ..sizes import CHIP_SIZE, PADDING, SUBTITLE_SIZE, TITLE_SIZE, VALUE_SIZE, cell_size
from ..text import cap_height, fit
from ..theme import Theme, mix
from .doubts import DOUBT_RADIUS, doubt_at, doubt_sign
from .geometry import grown, line, rounded
from .plates import LABEL_SIZE, PLATE_HEIGHT, plate, plate_width

RING_GAP = 4.5
RING_WIDTH = 2.0
_LABEL_IN, _LABEL_OUT = 12.0, 6.0
"""Px from the end of the ring to its words. Beside a short ring the words stand out by
``_LABEL_OUT`` and keep that far from its middle, where wires end."""
RADIUS = 8.0
_DASH = (4.0, 3.0)
_FAINTEST = 0.10
_TITLE_LIFT, _SUBTITLE_DROP = 2.5, 14.5
"""From the middle of the box to the two baselines."""
_SHEET = 2.5
"""How far each sheet of a stack looks out behind the one before it."""
_LEVELS = 24
PLATE_DROP = 4.5
"""How far below the border the middle of the gradient's plate lies."""
PLATE_ROOM = PLATE_DROP + _SHEET + PLATE_HEIGHT / 2 + 1
"""How far a plate reaches out below a box, at most."""


def box_primitives(box: Box, theme: Theme) -> Iterator[Primitive]:
    """Back to front: the ring, the outline, words, the value, the ring's words, signs, and the
    plate with the gradient."""
    ring = list(_ring(box, theme)) if box.ring else []
    yield from ring[:1]
    style = _style(box, theme)
    body = box.rect
    if box.shape == "stack":
        yield from _sheets(box, style)
        body = Rect(box.rect.x, box.rect.y + _SHEET, box.rect.width, box.rect.height - 2 * _SHEET)
    yield Path(_role(box), rounded(body, _radius(box)), style)
    if box.is_small:
        yield from _chip_text(box, theme)
    else:
        yield from _words(box, body, theme)
        yield from _value(box, body, theme, style.fill or theme.background)
    yield from ring[1:]
    if box.opens:
        yield from _plus(box, theme)
    if box.doubt:
        yield from doubt_sign(box.doubt, *doubt_at(box), theme)
    if box.gradient:
        at = plate_rect(box, plate_width(box.gradient))
        yield from plate(at.x, at.y, box.gradient, theme)


def plate_rect(box: Box, width: float) -> Rect:
    """The plate with the gradient of a box, ``width`` px wide. The words of a stack stand lower."""
    drop = PLATE_DROP + (_SHEET if box.shape == "stack" else 0.0)
    rect = box.rect
    return Rect(rect.right - width / 2 - 8, rect.bottom + drop, width, PLATE_HEIGHT)


def plus_rect(box: Box) -> Rect:
    """The part in which a click opens the group."""
    return Rect(box.rect.right - 9.0, box.rect.top + 14.0, 13.0, 13.0)


def minus_rect(box: Box) -> Rect:
    """The part in which a click folds the open group that the box stands in, while the pointer is
    over it."""
    return Rect(box.rect.left + 5.0, box.rect.top + 5.0, 14.0, 14.0)


def _plus(box: Box, theme: Theme) -> Iterator[Primitive]:
    at = plus_rect(box)
    style = Style(None, theme.text_muted, 1.3)
    bars = line((at.x - 3.5, at.y), (at.x + 3.5, at.y))
    yield Path("plus", bars + line((at.x, at.y - 3.5), (at.x, at.y + 3.5)), style)


def ring_rect(box: Box) -> Rect:
    return grown(box.rect, RING_GAP)


def outer_rect(box: Box) -> Rect:
    """The box with its ring, the ring's words, sign and plate."""
    rect = box.rect
    left, top, right, bottom = rect.sides
    if box.gradient:
        bottom = plate_rect(box, 0.0).bottom + 1
    if box.doubt:
        left = min(left, doubt_at(box)[0] - DOUBT_RADIUS - 1)
        bottom = max(bottom, doubt_at(box)[1] + DOUBT_RADIUS + 1)
    if box.ring:
        edge = RING_GAP + RING_WIDTH / 2
        left, right = min(left, rect.left - edge), right + edge
        top, bottom = min(top, rect.top - edge), max(bottom, rect.bottom + edge)
    if box.ring_label:
        label = label_rect(box)
        left, right = min(left, label.left), max(right, label.right)
        top, bottom = min(top, label.top), max(bottom, label.bottom)
    return Rect.from_sides(left, top, right, bottom)


def label_rect(box: Box) -> Rect:
    """The rectangle of the ring's words, which stand on the line of the ring."""
    ring = ring_rect(box)
    width = plate_width(box.ring_label)
    is_left, is_below = box.label_side.endswith("left"), box.label_side.startswith("below")
    aside = max(-_LABEL_OUT, min(_LABEL_IN, ring.width / 2 - _LABEL_OUT - width))
    x = ring.left + aside + width / 2 if is_left else ring.right - aside - width / 2
    y = ring.bottom + 3 if is_below else ring.top - 2
    return Rect(x, y, width, PLATE_HEIGHT)


def words_on(box: Box) -> list[Rect]:
    """The rectangles of the words that stand on the border: those of the ring, and the gradient."""
    words = [label_rect(box)] if box.ring_label else []
    return [*words, plate_rect(box, plate_width(box.gradient))] if box.gradient else words


def _radius(box: Box) -> float:
    return RADIUS if box.shape in ("rounded", "stack") else box.rect.height / 2


def _role(box: Box) -> str:
    kind = {"rounded": "op", "capsule": "variable", "chip": "constant", "stack": "group"}[box.shape]
    return "assign" if box.is_dashed else f"{kind}-pale" if box.is_pale else kind


def box_colours(box: Box, theme: Theme) -> tuple[str, str]:
    """Fill and stroke of a kind of box; selection, step and recording do not count."""
    return {
        "rounded": (theme.op_fill, theme.op_stroke),
        "capsule": (theme.variable_fill, theme.variable_stroke),
        "chip": (theme.constant_fill, theme.constant_stroke),
        "stack": (theme.group_fill, theme.group_stroke),
    }[box.shape]


def _style(box: Box, theme: Theme) -> Style:
    fill, stroke = box_colours(box, theme)
    width = 1.0 if box.is_small else 1.25
    if box.is_pale or box.is_dashed:
        fill = theme.background
        stroke = theme.recorded if box.is_dashed else theme.unrecorded
    if box.is_current:
        fill, stroke, width = theme.gradient_fill, theme.gradient, 2.2
    if box.is_selected:
        stroke, width = theme.accent, 2.4
        fill = fill if box.is_current else theme.accent_fill
    return Style(fill, stroke, width, _DASH if box.is_dashed else ())


def _sheets(box: Box, style: Style) -> Iterator[Primitive]:
    """Two sheets behind a folded group, within its rectangle, so that wires end on the top one."""
    rect = box.rect
    for level in (2, 1):
        height = rect.height - 2 * _SHEET
        top = rect.top + (2 - level) * _SHEET
        sheet = Rect(rect.x, top + height / 2, rect.width - 8 * level, height)
        yield Path("group-sheet", rounded(sheet, RADIUS), style)


def _ring(box: Box, theme: Theme) -> Iterator[Primitive]:
    colour = {
        "source": theme.gradient,
        "target": theme.accent,
        "cut": theme.trouble,
        "nonfinite": theme.trouble,
        "raised": theme.trouble,
    }[box.ring or "source"]
    words = {"source": theme.gradient_text, "target": theme.accent_text}.get(
        box.ring, theme.trouble_text
    )
    rect = ring_rect(box)
    radius = min(_radius(box) + RING_GAP, 16.0)
    yield Path(f"ring-{box.ring}", rounded(rect, radius), Style(None, colour, RING_WIDTH))
    if box.ring_label:
        label, text = label_rect(box), box.ring_label
        ground = Style(theme.background, colour, 1.0)
        yield Path("ring-label-ground", rounded(label, PLATE_HEIGHT / 2), ground)
        y = label.y + cap_height("sans", LABEL_SIZE) / 2
        yield TextRun("ring-label", label.x, y, text, "sans", LABEL_SIZE, words, 500, "middle")


def _chip_text(box: Box, theme: Theme) -> Iterator[Primitive]:
    room = box.rect.width - 8
    text = fit(box.title, "mono", CHIP_SIZE, room)
    baseline = box.rect.y + cap_height("mono", CHIP_SIZE) / 2
    is_pale = box.shape == "chip" and not box.is_selected
    colour = theme.text_muted if is_pale else theme.text
    yield TextRun(
        "constant-text", box.rect.x, baseline, text, "mono", CHIP_SIZE, colour, anchor="middle"
    )


def _words(box: Box, body: Rect, theme: Theme) -> Iterator[Primitive]:
    padding = PADDING[box.shape]
    x, room = body.left + padding, body.width - 2 * padding + 1
    colour = theme.text_muted if box.is_pale or box.is_dashed else theme.text
    title = fit(box.title, "mono", TITLE_SIZE, room)
    if not box.subtitle:
        y = body.y + cap_height("mono", TITLE_SIZE) / 2
        yield TextRun("title", x, y, title, "mono", TITLE_SIZE, colour, 500)
        return
    yield TextRun("title", x, body.y - _TITLE_LIFT, title, "mono", TITLE_SIZE, colour, 500)
    subtitle = fit(box.subtitle, "sans", SUBTITLE_SIZE, room, "end")
    y = body.y + _SUBTITLE_DROP
    yield TextRun("subtitle", x, y, subtitle, "sans", SUBTITLE_SIZE, theme.text_muted)


def _value(box: Box, body: Rect, theme: Theme, ground: str) -> Iterator[Primitive]:
    right = body.right - PADDING[box.shape] - (8.0 if box.opens else 0.0)
    if box.gradient_picture is not None:
        yield from _cells(box.gradient_picture, right, body.y, theme.gradient_ramp, ground, theme)
    elif box.picture is not None:
        yield from _cells(box.picture, right, body.y, theme.value_ramp, ground, theme)
    elif box.value:
        y = body.y + cap_height("mono", VALUE_SIZE) / 2
        colour = theme.text_muted if box.is_pale else theme.text
        yield TextRun("value", right, y, box.value, "mono", VALUE_SIZE, colour, 500, anchor="end")


def _cells(
    picture: Picture, right: float, middle: float, ramp: str, ground: str, theme: Theme
) -> Iterator[Primitive]:
    """The cells of a picture, right-aligned, as one path for each shade; a cell that is not finite
    is crossed out in red."""
    rows, columns = len(picture.rows), len(picture.rows[0])
    side = cell_size(rows, columns)
    gap = 1.0 if side >= 8 else 0.5
    left, top = right - side * columns, middle - side * rows / 2
    shades: dict[int, Outline] = {}
    for i, row in enumerate(picture.rows):
        for j, value in enumerate(row):
            level = -1 if value is None else round(value * _LEVELS)
            x, y = left + (j + 0.5) * side, top + (i + 0.5) * side
            cell = rounded(Rect(x, y, side - gap, side - gap), 0.0)
            if value is None:
                shades[-2] = shades.get(-2, Outline("", ())) + _cross(x, y, side * 0.28)
            shades[level] = shades.get(level, Outline("", ())) + cell
    for level in sorted(shades, reverse=True):
        if level == -2:
            style = Style(None, theme.trouble, max(1.0, side / 9))
        elif level == -1:
            style = Style(theme.trouble_fill, theme.trouble, 0.5)
        else:
            share = _FAINTEST + (1 - _FAINTEST) * level / _LEVELS
            style = Style(mix(ground, ramp, share))
        yield Path("cell" if level >= 0 else "cell-not-finite", shades[level], style)


def _cross(x: float, y: float, reach: float) -> Outline:
    falling = line((x - reach, y - reach), (x + reach, y + reach))
    return falling + line((x - reach, y + reach), (x + reach, y - reach))
