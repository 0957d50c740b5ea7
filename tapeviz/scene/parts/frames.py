"""Draw frames around groups, with their buttons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import networkx as nx

from ...analysis.inside_words import inside_words, run_words, short_words
from ...graph.model import Frame
from ...graph.words import joined, line_words, user_name
from ...layout.model import Layout, Point, Rect
from ...trace.model import Trace
from ..model import FrameBox
from ..primitives import Path, Primitive, PrimitiveGroup, Style, TextRun
from ..text import cap_height, fit, text_width
from ..theme import Theme
from .geometry import line, rounded

TITLE_SIZE = 14.0
NOTE_SIZE = 14.0
RADIUS = 12.0
_HEADER_MIDDLE = 18.0
_MARGIN = 14.0
_BUTTON = 20.0
_SHEET = 4.0
_BAR = 1.0
"""Px of the border of a frame around its header, which covers the wires that run behind it."""
_MOST_OTHERS = 3
_SHORT_TITLE, _SHORT_NOTE = 176.0, 128.0
"""Px of a title and of the words beside it that a header has room for at least: a narrow frame lets
a picture be larger, and the tooltip has all of them."""
_FROM_TO = " … "
_BETWEEN = " · "
"""Between the parts of a note."""
_DIFFER, _SOME = re.compile(r"turns? [\d, …]+ differs?"), "some differ"
"""Words about turns of another shape than most, and what is left of them where room is short."""
_RUN = 92.0
"""Room for ``call 17 of 50``."""
_BESIDE = 6.0
_HEIGHTS = (0.5, 0.35, 0.65, 0.2, 0.8)
"""Parts of the height of a wire that runs back at which its words may stand."""

FrameButton = Literal["back", "forward", "fold"]


def frames_of(graph: nx.MultiDiGraph, layout: Layout, trace: Trace) -> tuple[FrameBox, ...]:
    """The frames that the layout has a rectangle for, outer ones first."""
    frames: tuple[Frame, ...] = graph.graph.get("frames", ())
    carried = _carried(graph, layout, trace) if frames else {}
    return tuple(
        FrameBox(
            frame.path,
            layout.frames[frame.path],
            frame.title,
            frame.line,
            frame.turn,
            frame.count,
            joined((_note(frame), *_run(frame, trace))),
            "\n".join(filter(None, (_tooltip(frame), _run_tooltip(frame, trace)))),
            tuple(carried.get(frame.path, ())),
        )
        for frame in frames
        if frame.path in layout.frames
    )


def _run(frame: Frame, trace: Trace) -> tuple[str, ...]:
    """Words of an opened call of a compiled function: which call it is, and doubts about its
    values."""
    op = trace.op(frame.entry)
    return (run_words(trace, op), short_words(op.inside)) if op is not None and op.runs else ()


def _run_tooltip(frame: Frame, trace: Trace) -> str:
    op = trace.op(frame.entry)
    return inside_words(trace, op) if op is not None else ""


def _carried(
    graph: nx.MultiDiGraph, layout: Layout, trace: Trace
) -> dict[str, list[tuple[str, Point]]]:
    """The words of each frame for the values that go from turn to turn, beside the wires that run
    back, where they cover neither box nor wire. Wires that run back side by side share their
    words."""
    found: dict[str, list[tuple[str, Point]]] = {}
    wires = _pieces(layout)
    for frame, back in _wires_back(graph, layout, trace).items():
        for beside in _side_by_side(back):
            words = _going_on([wire.name for wire in beside])
            free = _free_places(layout, layout.frames[frame], beside, words)
            clear = (at for rect, at in free if not any(rect.meets(piece) for piece in wires))
            if (at := next(clear, None)) is not None:
                found.setdefault(frame, []).append((words, at))
    return found


def _free_places(
    layout: Layout, frame: Rect, beside: list[_WireBack], words: str
) -> Iterator[tuple[Rect, Point]]:
    """The places beside some wires, in the frame, where words cover no box and no header; the best
    first."""
    covered = [*layout.rects.values(), *map(header_in, layout.frames.values())]
    top, bottom = min(wire.top for wire in beside), max(wire.bottom for wire in beside)
    width = text_width(words, "sans", NOTE_SIZE)
    for share in _HEIGHTS:
        y = top + share * (bottom - top)
        for left in (beside[0].x - _BESIDE - width, beside[-1].x + _BESIDE):
            rect = Rect(left + width / 2, y, width + _BESIDE, _BUTTON)
            is_inside = frame.left < left < frame.right - width
            if is_inside and not any(rect.meets(other) for other in covered):
                yield rect, (left, y)


def _pieces(layout: Layout) -> list[Rect]:
    """The bounding boxes of the pieces of all wires."""
    return [
        Rect((x + other) / 2, (y + low) / 2, abs(x - other), abs(y - low))
        for points in layout.routes.values()
        for (x, y), (other, low) in pairwise(points)
    ]


class _WireBack(NamedTuple):
    """The upright part of the wire of a value that goes from turn to turn."""

    name: str
    x: float
    top: float
    bottom: float


def _wires_back(graph: nx.MultiDiGraph, layout: Layout, trace: Trace) -> dict[str, list[_WireBack]]:
    """The wires of each frame whose values go from turn to turn, from left to right."""
    found: dict[str, list[_WireBack]] = {}
    named: set[str] = set()
    carried: dict[str, dict[str, None]] = {}
    """For each node the names of its values that go from turn to turn."""
    for source, _, edge in graph.edges(data="edge"):
        if edge.is_carried:
            names = (user_name(trace, tensor) for tensor, _ in edge.links)
            carried.setdefault(source, {}).update(dict.fromkeys(filter(None, names)))
    for source, target, key, edge in graph.edges(keys=True, data="edge"):
        if not edge.is_carried:
            continue
        points = layout.routes.get((source, target, key), ())
        name = ", ".join(carried[source]) or graph.nodes[source]["node"].name
        if not name or source in named or len(points) < 4:
            continue
        (x, low), (other, high) = points[2], points[3]
        around = [path for path, rect in layout.frames.items() if _holds(rect, x, (low + high) / 2)]
        if x == other and around:
            named.add(source)
            frame = min(around, key=lambda path: layout.frames[path].width)
            wire = _WireBack(name, x, min(low, high), max(low, high))
            found.setdefault(frame, []).append(wire)
    return {frame: sorted(wires, key=lambda wire: wire.x) for frame, wires in found.items()}


def _side_by_side(wires: list[_WireBack]) -> list[list[_WireBack]]:
    """Group wires, which come from left to right, that have no room for words in between."""
    groups: list[list[_WireBack]] = []
    for wire in wires:
        before = groups[-1][-1] if groups else None
        is_level = before and wire.top < before.bottom and before.top < wire.bottom
        if before and is_level and wire.x - before.x < _BUTTON:
            groups[-1].append(wire)
        else:
            groups.append([wire])
    return groups


def _going_on(names: list[str]) -> str:
    some = [*names[:_MOST_OTHERS], *("…" for _ in names[_MOST_OTHERS:][:1])]
    return f"{', '.join(some)} → next turn"


def _holds(rect: Rect, x: float, y: float) -> bool:
    return rect.left < x < rect.right and rect.top < y < rect.bottom


def _note(frame: Frame) -> str:
    words = line_words(frame.line)
    words = "" if frame.title.startswith("line ") or frame.title.endswith(words) else words
    if not frame.others:
        return words
    some = _numbers(frame.others[:_MOST_OTHERS])
    more = ", …" if len(frame.others) > _MOST_OTHERS else ""
    differ = f"turns {some}{more} differ" if len(frame.others) > 1 else f"turn {some} differs"
    return f"{words} · {differ}" if words else differ


def _numbers(turns: Sequence[int]) -> str:
    return ", ".join(f"{turn:,}" for turn in turns)


def _tooltip(frame: Frame) -> str:
    words = joined((frame.title, line_words(frame.line)))
    if frame.count:
        words += f": one of {frame.count:,} turns"
    if frame.others:
        numbers = _numbers(frame.others[:40]) + (", …" if len(frame.others) > 40 else "")
        words += f"\nof another shape: turn {numbers}"
    return words


def _picker(frame: FrameBox | Frame) -> str:
    return f"turn {frame.turn:,} of {frame.count:,}" if frame.count else ""


def frame_width(frame: Frame) -> tuple[float, float]:
    """Px that a header needs: for the words on the left, and for the buttons on the right. Long
    words are shortened where what is in the frame is not wider."""
    title = min(text_width(frame.title, "mono", TITLE_SIZE), _SHORT_TITLE)
    note = min(text_width(_note(frame), "sans", NOTE_SIZE), _SHORT_NOTE)
    note += _RUN if frame.entry is not None else 0.0
    picker = text_width(_picker(frame), "sans", NOTE_SIZE) + 2 * _BUTTON if frame.count else 0.0
    return title + (note + _MARGIN if note else 0.0) + 2 * _MARGIN, picker + _BUTTON + _MARGIN


def frame_header(frame: FrameBox) -> Rect:
    """The part of a frame with its words and buttons."""
    return header_in(frame.rect)


def header_in(rect: Rect) -> Rect:
    """The part of a frame with this rectangle that has its words and buttons."""
    return Rect.from_sides(rect.left, rect.top, rect.right, rect.top + 2 * _HEADER_MIDDLE)


def frame_buttons(frame: FrameBox) -> dict[FrameButton, Rect]:
    """The rectangles of the buttons: ``−`` folds the frame, ``‹`` and ``›`` change the turn."""
    y = frame.rect.top + _HEADER_MIDDLE
    x = frame.rect.right - _MARGIN / 2 - _BUTTON / 2
    buttons: dict[FrameButton, Rect] = {"fold": Rect(x, y, _BUTTON, _BUTTON)}
    if frame.count:
        words = text_width(_picker(frame), "sans", NOTE_SIZE)
        x -= _BUTTON + 6
        buttons["forward"] = Rect(x, y, _BUTTON, _BUTTON)
        buttons["back"] = Rect(x - words - _BUTTON, y, _BUTTON, _BUTTON)
    return buttons


def button_at(frames: tuple[FrameBox, ...], point: Point) -> tuple[FrameBox, FrameButton] | None:
    """The button of a frame at a point of the scene; the innermost frame's first."""
    x, y = point
    for frame in reversed(frames):
        for name, rect in frame_buttons(frame).items():
            if rect.left <= x <= rect.right and rect.top <= y <= rect.bottom:
                return frame, name
    return None


def frame_group(frame: FrameBox, theme: Theme) -> PrimitiveGroup:
    """The border, for a repeat with two sheets behind it. Wires are drawn over it."""
    return PrimitiveGroup("frame", frame.path, tuple(_border(frame, theme)), frame.tooltip)


def header_group(frame: FrameBox, theme: Theme) -> PrimitiveGroup:
    """Title, line, picker and minus. They are drawn over the wires."""
    return PrimitiveGroup("frame-header", frame.path, tuple(_header(frame, theme)), frame.tooltip)


def _border(frame: FrameBox, theme: Theme) -> Iterator[Primitive]:
    rect = frame.rect
    style = Style(theme.group_fill, theme.group_stroke, 1.25)
    if frame.count:
        for level in (2, 1):
            sheet = Rect(rect.x + _SHEET * level, rect.y - _SHEET * level, rect.width, rect.height)
            yield Path("frame-sheet", rounded(sheet, RADIUS), style)
    yield Path("frame", rounded(rect, RADIUS), style)


def _header(frame: FrameBox, theme: Theme) -> Iterator[Primitive]:
    rect = frame.rect
    baseline = rect.top + _HEADER_MIDDLE
    buttons = frame_buttons(frame)
    bar = Rect.from_sides(
        rect.left + _BAR, rect.top + _BAR, rect.right - _BAR, rect.top + 2 * _HEADER_MIDDLE
    )
    yield Path("plate", rounded(bar, RADIUS - _BAR), Style(theme.group_fill))
    rule = line((rect.left, bar.bottom), (rect.right, bar.bottom))
    yield Path("frame-rule", rule, Style(None, theme.group_stroke, 0.75))
    first = buttons.get("back", buttons["fold"])
    x = rect.left + _MARGIN
    room = first.left - x - _MARGIN
    title_room = room
    if text_width(frame.title, "mono", TITLE_SIZE) > room:
        beside = text_width(frame.note, "sans", NOTE_SIZE) + _MARGIN if frame.note else 0.0
        title_room = max(room - beside, min(room, _SHORT_TITLE))
    # The header of a loop begins with its names; of layers the first and the last say most.
    title = (
        fit(frame.title, "mono", TITLE_SIZE, title_room)
        if _FROM_TO in frame.title
        else fit(frame.title, "mono", TITLE_SIZE, title_room, "end")
    )
    y = baseline + cap_height("mono", TITLE_SIZE) / 2
    yield TextRun("frame-title", x, y, title, "mono", TITLE_SIZE, theme.text, 600)
    x += text_width(title, "mono", TITLE_SIZE) + _MARGIN
    note = _fitting(frame.note, first.left - x - 4)
    y = baseline + cap_height("sans", NOTE_SIZE) / 2
    if len(note) > 1:
        yield TextRun("frame-note", x, y, note, "sans", NOTE_SIZE, theme.text_muted)
    if frame.count:
        yield from _picker_primitives(frame, theme, buttons["back"], buttons["forward"], y)
    middle = buttons["fold"]
    minus = line((middle.x - 4, middle.y), (middle.x + 4, middle.y))
    yield Path("frame-fold", minus, Style(None, theme.text_muted, 1.6))
    for words, (left, across) in frame.carried:
        y = across + cap_height("sans", NOTE_SIZE) / 2
        yield _ground(left, across, text_width(words, "sans", NOTE_SIZE), theme)
        yield TextRun("frame-carried", left, y, words, "sans", NOTE_SIZE, theme.text_muted)


def _fitting(note: str, room: float) -> str:
    """A note in so many px: without its first parts, and without the numbers of turns that differ,
    before the last one is cut. The tooltip has all of it."""
    while _BETWEEN in note and text_width(note, "sans", NOTE_SIZE) > room:
        note = note.partition(_BETWEEN)[2]
    if _DIFFER.fullmatch(note) and text_width(note, "sans", NOTE_SIZE) > room:
        note = _SOME if text_width(_SOME, "sans", NOTE_SIZE) <= room else ""
    return fit(note, "sans", NOTE_SIZE, room, "end") if note else ""


def _ground(x: float, y: float, width: float, theme: Theme) -> Path:
    """The ground of some words, which hides the wire beneath them."""
    ground = Rect(x + width / 2, y, width + 8, _BUTTON)
    return Path("plate", rounded(ground, 6.0), Style(theme.group_fill))


def _picker_primitives(
    frame: FrameBox, theme: Theme, back: Rect, forward: Rect, y: float
) -> Iterator[Primitive]:
    pill = Rect.from_sides(back.left, back.top, forward.right, back.bottom)
    yield Path("frame-picker", rounded(pill, pill.height / 2), Style(theme.accent_fill))
    words = _picker(frame)
    colour = theme.accent_text
    yield TextRun("frame-turn", pill.x, y, words, "sans", NOTE_SIZE, colour, 500, "middle")
    for button, tip, on in ((back, -2.5, frame.turn > 1), (forward, 2.5, frame.turn < frame.count)):
        chevron = line(
            (button.x - tip, button.y - 4),
            (button.x + tip, button.y),
            (button.x - tip, button.y + 4),
        )
        stroke = Style(None, colour if on else theme.text_muted, 1.6)
        yield Path("frame-button", chevron, stroke)
