"""Write a drawing as Graphviz DOT: states are styles, Graphviz makes the layout."""

from __future__ import annotations

from collections.abc import Iterator

from ..scene.model import Box, Wire
from ..scene.parts.boxes import box_colours
from ..scene.sizes import SUBTITLE_SIZE
from ..scene.strokes import look_colour, wire_look
from ..scene.text import FACES, clean
from ..scene.theme import Theme
from .drawing import Drawing, Options

_RANKS = {"down": "TB", "up": "BT", "right": "LR", "left": "RL"}
_SHAPES = {"rounded": "box", "capsule": "box", "chip": "box", "stack": "box3d"}
_LINES = {"cut": "dashed", "bridge": "dotted"}
_PIXELS_PER_INCH = 96


def write(drawing: Drawing, options: Options) -> bytes:
    return ("\n".join(_document(drawing, options)) + "\n").encode("utf-8")


def _document(drawing: Drawing, options: Options) -> Iterator[str]:
    theme, scene = drawing.theme, drawing.scene
    ground = "transparent" if options.is_transparent else theme.background
    rank = _RANKS.get(drawing.layout.direction, "TB")
    font, mono = FACES["sans"].families[0], FACES["mono"].families[0]
    yield "digraph tapeviz {"
    yield f"  graph [{_attributes(rankdir=rank, bgcolor=ground, fontname=mono)}]"
    if scene.title and not scene.headings:
        title = _attributes(label=scene.title, labelloc="t", fontcolor=theme.text)
        yield f"  graph [{title}]"
    yield f"  node [{_attributes(fontname=font, fontsize=SUBTITLE_SIZE, fontcolor=theme.text)}]"
    yield f"  edge [{_attributes(fontname=font, fontsize=10, arrowsize=0.7)}]"
    for box in scene.boxes:
        yield f"  {_quoted(box.node)} [{_node(box, theme)}]"
    yield from _clusters(drawing, "", "  ")
    for wire in scene.wires:
        source, target, _ = wire.edge
        yield f"  {_quoted(source)} -> {_quoted(target)} [{_edge(wire, theme)}]"
    yield "}"


def _clusters(drawing: Drawing, parent: str, indent: str) -> Iterator[str]:
    """The frames as nested clusters."""
    homes = drawing.graph.nodes(data="frame", default="")
    for frame in drawing.graph.graph.get("frames", ()):
        if frame.parent != parent:
            continue
        words = (
            f"{frame.title} · turn {frame.turn:,} of {frame.count:,}"
            if frame.count
            else frame.title
        )
        yield f"{indent}subgraph {_quoted('cluster ' + frame.path)} {{"
        look = _attributes(label=words, style="rounded", color=drawing.theme.group_stroke)
        yield f"{indent}  graph [{look}]"
        for name, home in homes:
            if home == frame.path:
                yield f"{indent}  {_quoted(name)}"
        yield from _clusters(drawing, frame.path, indent + "  ")
        yield f"{indent}}}"


def _node(box: Box, theme: Theme) -> str:
    fill, stroke = box_colours(box, theme)
    style = "filled" if box.shape == "stack" else "rounded,filled"
    ring = {
        "": stroke,
        "source": theme.gradient,
        "target": theme.accent,
        "cut": theme.trouble,
        "nonfinite": theme.trouble,
        "raised": theme.trouble,
    }[box.ring]
    is_pale = box.is_pale or box.is_dashed
    words = (box.title, box.subtitle, box.value, box.gradient, box.ring_label)
    return _attributes(
        label="\n".join(word for word in words if word),
        shape=_SHAPES[box.shape],
        style=style + (",dashed" if box.is_dashed else ""),
        fillcolor=theme.background if is_pale else fill,
        color=ring,
        penwidth=2 if box.ring else 1,
        tooltip=box.tooltip,
        width=round(box.rect.width / _PIXELS_PER_INCH, 3),
        height=round(box.rect.height / _PIXELS_PER_INCH, 3),
    )


def _edge(wire: Wire, theme: Theme) -> str:
    return _attributes(
        color=look_colour(wire_look(wire), theme),
        style="dashed" if wire.is_carried else _LINES.get(wire.state, "solid"),
        constraint="false" if wire.is_carried else "",
        penwidth=round(wire.width, 2),
        label=wire.label,
        fontcolor=theme.gradient_text,
        tooltip=wire.tooltip,
        **{"class": wire.state},
    )


def _attributes(**values: str | float) -> str:
    return ", ".join(f"{name}={_quoted(value)}" for name, value in values.items() if value != "")


def _quoted(value: str | float) -> str:
    """A quoted string of the DOT language; ``&`` would begin an HTML entity, ``\\`` an escape."""
    if not isinstance(value, str):
        return f"{value:g}"
    lines = (clean(line) for line in value.split("\n"))
    escaped = (
        line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines
    )
    return '"' + "\\n".join(escaped) + '"'
