"""List the primitives of shapes in drawing order: every painter draws these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, Literal

from .model import Box, Change, FrameBox, Heading, Mark, Scene, Wire
from .parts.boxes import box_primitives
from .parts.changes import change_group, heading_group, outline_group
from .parts.crossings import MARGIN
from .parts.frames import frame_group, header_group
from .parts.geometry import arrow, circle, curve, cut_back, end_direction, line
from .parts.plates import plate
from .parts.scissors import scissors
from .primitives import Path, PrimitiveGroup, Style
from .theme import Theme

_CUT_DASH = (5.0, 4.0)
_CARRIED_DASH = (6.0, 4.0)
_CARRIED_WIDTH = 2.2
_SCISSORS = 14 / 12
"""The length of the scissors for each px of the radius of their disc."""


Layer = Literal[
    "frame", "margin", "wire", "header", "outline", "box", "label", "mark", "change", "heading"
]
DrawnShape = FrameBox | Wire | Box | Mark | Change | Heading


def drawing_order(scene: Scene) -> Iterator[tuple[Layer, DrawnShape]]:
    """All shapes of a scene, back to front; title and legend are not among them."""
    labelled = [wire for wire in scene.wires if wire.label and wire.label_at is not None]
    yield from (("frame", frame) for frame in scene.frames)
    for _, wires in groupby(
        scene.wires, key=lambda wire: (wire.strand or wire.edge[0], wire_look(wire))
    ):
        of_one = list(wires)
        yield from (("margin", wire) for wire in of_one if wire.crossings)
        yield from (("wire", wire) for wire in of_one)
    yield from (("header", frame) for frame in scene.frames)
    yield from (("outline", change) for change in scene.changes)
    yield from (("box", box) for box in scene.boxes)
    yield from (("label", wire) for wire in labelled)
    yield from (("mark", mark) for mark in scene.marks)
    yield from (("change", change) for change in scene.changes)
    yield from (("heading", heading) for heading in scene.headings)


def group_of(layer: Layer, shape: DrawnShape, theme: Theme) -> PrimitiveGroup:
    """The primitives of one layer of a shape: a wire has a line and a label, a frame a header."""
    return _GROUPS[layer](shape, theme)


def box_group(box: Box, theme: Theme) -> PrimitiveGroup:
    return PrimitiveGroup("node", box.node, tuple(box_primitives(box, theme)), box.tooltip)


def wire_group(wire: Wire, theme: Theme) -> PrimitiveGroup:
    """The curve and its arrow head."""
    role = f"wire-{wire_look(wire)}"
    colour = look_colour(wire_look(wire), theme)
    direction = end_direction(wire.points, wire.axis)
    length, half = 6.0 + 0.7 * wire.width, 3.0 + 0.75 * wire.width
    head = arrow(wire.points[-1], direction, length, half)
    body = curve(cut_back(wire.points, direction, length * 0.8), wire.axis)
    width = min(wire.width, _CARRIED_WIDTH) if wire.is_carried else wire.width
    dash = look_dash(wire.state, wire.width) or (_CARRIED_DASH if wire.is_carried else ())
    style = Style(None, colour, width, dash)
    name = "{} → {}".format(*wire.edge[:2])
    return PrimitiveGroup(
        "edge",
        name,
        (Path(role, body, style), Path(f"{role}-head", head, Style(colour))),
        wire.tooltip,
    )


def margin_group(wire: Wire, theme: Theme) -> PrimitiveGroup:
    """Ground on both sides of a wire where it crosses wires of other boxes: it passes over them."""
    width = wire.width + 2 * MARGIN
    made = []
    for crossing in wire.crossings:
        ground = theme.group_fill if crossing.is_framed else theme.background
        made.append(Path("margin", line(*crossing.points), Style(None, ground, width)))
    return PrimitiveGroup("margin", "", tuple(made))


def wire_look(wire: Wire) -> str:
    """A `WireState`, or ``pending`` for a gradient that the stepper has not walked yet."""
    return wire.state if wire.is_lit or wire.state != "gradient" else "pending"


def look_colour(look: str, theme: Theme) -> str:
    """The colour of a `wire_look`."""
    colour: str = getattr(theme, "gradient_pale" if look == "pending" else look)
    return colour


def look_dash(look: str, width: float) -> tuple[float, ...]:
    """Lengths on and off in px of a line ``width`` px wide, empty if solid; a bridge is dotted."""
    if look == "bridge":
        return (0.01, 2.2 * width)
    return _CUT_DASH if look == "cut" else ()


def label_group(wire: Wire, theme: Theme) -> PrimitiveGroup:
    """A gradient's value in a small plate on its wire."""
    x, y = wire.label_at or wire.points[0]
    return PrimitiveGroup("label", "", tuple(plate(x, y, wire.label, theme)))


def mark_group(mark: Mark, theme: Theme) -> PrimitiveGroup:
    """Scissors in a disc."""
    name = "{} → {}".format(*mark.edge[:2])
    disc = Style(theme.trouble_fill, theme.trouble, 1.3)
    stroked, filled = scissors(mark.x, mark.y, _SCISSORS * mark.radius)
    return PrimitiveGroup(
        "mark",
        name,
        (
            Path("mark", circle(mark.x, mark.y, mark.radius), disc),
            Path("scissors", stroked, Style(None, theme.trouble, 1.3)),
            Path("scissors-blade", filled, Style(theme.trouble)),
        ),
        mark.tooltip,
    )


_GROUPS: dict[Layer, Callable[[Any, Theme], PrimitiveGroup]] = {
    "frame": frame_group,
    "margin": margin_group,
    "wire": wire_group,
    "header": header_group,
    "outline": outline_group,
    "box": box_group,
    "label": label_group,
    "mark": mark_group,
    "change": change_group,
    "heading": heading_group,
}
