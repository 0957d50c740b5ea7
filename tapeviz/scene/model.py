"""The nouns of a scene: frozen shapes in drawing order, in scene units (px, y downwards).

Painters (canvas, SVG, PDF, PNG) turn shapes into strokes and know nothing of TensorFlow.
Colours are names of a theme (:mod:`tapeviz.scene.theme`), so one scene serves both themes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..analysis.inside_words import Doubt
from ..layout.model import EdgeKey, Point, Rect

BoxShape = Literal["rounded", "capsule", "chip", "stack"]
"""op, variable, constant, folded group"""
WireState = Literal["gradient", "recorded", "unrecorded", "cut", "bridge"]
Axis = Literal["", "x", "y"]
LabelSide = Literal["above-left", "above-right", "below-left", "below-right"]
MARK_RADIUS = 12.0
MarkKind = Literal["scissors", "source", "target", "nonfinite"]


@dataclass(frozen=True, slots=True)
class Picture:
    """A small picture of an array: rows of values in 0…1 (None: not finite)."""

    rows: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Box:
    """A node. ``ring``: the mark around it; ``ring_label``: its meaning in words, at
    ``label_side``. ``is_pale``: no tape recorded it; ``is_dashed``: it writes a variable;
    ``is_small``: it shows its title alone. ``value``: a number as text. ``gradient``: the gradient
    that has reached it by the step shown, as text; ``gradient_picture``: the same as a picture,
    drawn in place of the value's.
    """

    node: str
    rect: Rect
    shape: BoxShape
    title: str
    subtitle: str
    value: str = ""
    picture: Picture | None = None
    gradient: str = ""
    ring: Literal["", "source", "target", "cut", "nonfinite", "raised"] = ""
    is_pale: bool = False
    is_dashed: bool = False
    is_current: bool = False
    is_selected: bool = False
    tooltip: str = ""
    ring_label: str = ""
    gradient_picture: Picture | None = None
    is_small: bool = False
    label_side: LabelSide = "above-left"
    opens: bool = False
    """It is a folded group: a click on its plus opens it."""
    doubt: Doubt = ""
    """Why the value of an op in a compiled function may not be exact; empty if it is."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A stretch of a wire near points where it crosses wires of other boxes; ``is_framed``: it
    lies in the frame of an open group."""

    points: tuple[Point, ...]
    is_framed: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    """An edge. ``points``: a polyline, rounded by the painter. ``width`` in px.

    ``label``: a gradient's value, centred at ``label_at``. ``is_lit``: the stepper has walked it,
    or no step is shown. ``axis``: it leaves and enters its boxes along y or x; empty: its bends
    are rounded.
    """

    edge: EdgeKey
    points: tuple[Point, ...]
    state: WireState
    width: float
    label: str = ""
    is_lit: bool = True
    tooltip: str = ""
    axis: Axis = ""
    label_at: Point | None = None
    is_carried: bool = False
    """It runs from one turn of a repeat back into the next."""
    crossings: tuple[Crossing, ...] = ()
    strand: str = ""
    """The same for wires that may lie on each other: of one box, or of one trunk; empty where
    wires have no crossings."""

    @property
    def is_joined(self) -> bool:
        """Whether it runs in a trunk, with wires of other boxes."""
        return self.strand not in ("", self.edge[0])


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign on an edge, or right beside a short one, in a disc centred at ``x, y``; ``others``:
    further edges that it stands on, where they have joined."""

    kind: MarkKind
    x: float
    y: float
    edge: EdgeKey
    tooltip: str = ""
    radius: float = MARK_RADIUS
    others: tuple[EdgeKey, ...] = ()

    @property
    def rect(self) -> Rect:
        return Rect(self.x, self.y, 2 * self.radius, 2 * self.radius)


@dataclass(frozen=True, slots=True)
class FrameBox:
    """The border around an open group. ``turn`` of ``count``: the turn shown of a repeat, 0 of 0
    for other groups; ``note``: more words for the header; ``carried``: the words for each value
    that goes from turn to turn, and where they stand (left end, middle line)."""

    path: str
    rect: Rect
    title: str
    line: int
    turn: int = 0
    count: int = 0
    note: str = ""
    tooltip: str = ""
    carried: tuple[tuple[str, Point], ...] = ()


ChangeKind = Literal["removed", "added", "turned", "inside"]


@dataclass(frozen=True, slots=True)
class Change:
    """A node's change between two pictures side by side. ``rect``: its box or the ring around it;
    kind ``turned``: a tape recorded it in only one of the two runs."""

    kind: ChangeKind
    rect: Rect
    node: str
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """Words above a part of the picture. ``x``: their left end; ``y``: the baseline of the first
    line; ``width``: room for them, px."""

    text: str
    note: str
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A line of the legend. ``state``: what it explains: a `WireState`, ``pending`` (a gradient
    that the stepper has not walked yet), a `ChangeKind` or a `Doubt`."""

    state: str
    text: str


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything to draw, each tuple back to front; ``bounds`` holds all of it."""

    bounds: Rect
    wires: tuple[Wire, ...] = ()
    boxes: tuple[Box, ...] = ()
    marks: tuple[Mark, ...] = ()
    legend: tuple[LegendEntry, ...] = ()
    title: str = ""
    changes: tuple[Change, ...] = ()
    headings: tuple[Heading, ...] = ()
    frames: tuple[FrameBox, ...] = ()


EMPTY_SCENE = Scene(Rect(0.0, 0.0, 0.0, 0.0))


@dataclass(frozen=True, slots=True)
class Overlay:
    """The parts of a picture that are shown over the layout and never move it.

    ``call``: the id of the gradient call, None for the first one in trouble, else the last;
    ``step``: how many steps of its backward pass have been walked, None for the whole flow.
    """

    call: int | None = None
    step: int | None = None
    show_bridge: bool = False
    selected_nodes: frozenset[str] = field(default_factory=frozenset)
