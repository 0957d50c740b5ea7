"""Write a drawing as SVG: text stays text, every look is a CSS class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar
from xml.sax.saxutils import escape, quoteattr

from ..scene.primitives import Outline, Path, Primitive, PrimitiveGroup, Style, TextRun
from ..scene.sheet import Sheet
from ..scene.text import FACES, clean, text_width
from .drawing import Drawing, Options, sheet_of
from .words import sentences

_TAKES = {"M": 1, "L": 1, "C": 3, "Z": 0}
Look = TypeVar("Look")
_GENERIC = ("sans-serif", "monospace")


def write(drawing: Drawing, options: Options) -> bytes:
    sheet = sheet_of(drawing, options)
    ground = None if options.is_transparent else drawing.theme.background
    return "\n".join(_document(drawing, sheet, ground, options.scale)).encode("utf-8")


def _document(drawing: Drawing, sheet: Sheet, ground: str | None, scale: float) -> Iterator[str]:
    bounds, classes = sheet.bounds, Classes[str]()
    body = [
        line
        for group in sheet.groups
        for line in group_lines(
            group, [classes.name(element(p), p.role, rule(p)) for p in group.primitives]
        )
    ]
    width, height = _number(bounds.width * scale), _number(bounds.height * scale)
    box = " ".join(_number(n) for n in (bounds.left, bounds.top, bounds.width, bounds.height))
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="{box}" role="img" aria-labelledby="title desc">'
    )
    yield f'<title id="title">{_text(drawing.scene.title or "Graph")}</title>'
    yield f'<desc id="desc">{_text(sentences(drawing.scene))}</desc>'
    rules = (f"{name}.{each}{{{look}}}" for (each, name), look in classes.rules())
    yield f"<style>{face_rules()}{''.join(rules)}</style>"
    if ground is not None:
        x, y, w, h = box.split()
        yield f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{ground}"/>'
    yield from body
    yield "</svg>\n"


class Classes(Generic[Look]):
    """CSS classes: one for each look, named by role, with a number if a role has several looks.

    A rule names the element too, so that it does not match a group with the same class.
    """

    def __init__(self) -> None:
        self._names: dict[tuple[str, str, Look], str] = {}
        self._counts: dict[str, int] = {}

    def name(self, element: str, role: str, look: Look) -> str:
        known = self._names.get((element, role, look))
        if known is None:
            count = self._counts[role] = self._counts.get(role, 0) + 1
            known = role if count == 1 else f"{role}-{count}"
            self._names[element, role, look] = known
        return known

    def rules(self) -> Iterator[tuple[tuple[str, str], Look]]:
        """((class, element), look) of each rule."""
        for (element, _, look), name in self._names.items():
            yield (name, element), look


def face_rules() -> str:
    faces = (
        f".{face}{{font-family:{_families(measured.families)}}}" for face, measured in FACES.items()
    )
    return "".join(("text{white-space:pre}", *faces))


def _families(names: Sequence[str]) -> str:
    return ",".join(name if name in _GENERIC else f"'{name}'" for name in names)


def group_lines(group: PrimitiveGroup, names: Sequence[str]) -> Iterator[str]:
    """The elements of a group; ``names``: the class of each of its primitives."""
    tooltip = f"<title>{_lines(group.tooltip)}</title>" if group.tooltip else ""
    label = f" data-name={quoteattr(clean(group.name))}" if group.name else ""
    yield f'<g class="{group.kind}"{label}>{tooltip}'
    for primitive, name in zip(group.primitives, names, strict=True):
        if isinstance(primitive, Path):
            yield f'<path class="{name}" d="{_data(primitive.outline)}"/>'
        else:
            yield _run(primitive, name)
    yield "</g>"


def element(primitive: Primitive) -> str:
    return "path" if isinstance(primitive, Path) else "text"


def rule(primitive: Primitive) -> str:
    """The CSS declarations for the look of a primitive."""
    if isinstance(primitive, Path):
        return _path_rule(primitive.style)
    look = f"fill:{primitive.colour};font-size:{_number(primitive.size)}px"
    if primitive.weight != 400:
        look += f";font-weight:{primitive.weight}"
    if primitive.anchor != "start":
        look += f";text-anchor:{primitive.anchor}"
    return look


def _run(run: TextRun, name: str) -> str:
    # A viewer without our fonts squeezes the text into the width that was measured.
    length = _number(text_width(run.text, run.font, run.size)) if len(run.text) > 1 else ""
    fitted = f' textLength="{length}"' if length else ""
    place = f'x="{_number(run.x)}" y="{_number(run.y)}"'
    return f'<text class="{run.font} {name}" {place}{fitted}>{_text(run.text)}</text>'


def _path_rule(style: Style) -> str:
    rule = f"fill:{style.fill or 'none'}"
    if style.stroke is not None:
        rule += f";stroke:{style.stroke};stroke-width:{_number(style.width)}"
        rule += ";stroke-linejoin:round"
        if style.dash:
            rule += f";stroke-dasharray:{' '.join(_number(n) for n in style.dash)}"
            if style.is_dotted:
                rule += ";stroke-linecap:round"
    return rule


def _data(outline: Outline) -> str:
    points = iter(outline.points)
    parts: list[str] = []
    for verb in outline.verbs:
        pairs = (next(points) for _ in range(_TAKES[verb]))
        parts.append(verb + " ".join(f"{_number(x)} {_number(y)}" for x, y in pairs))
    return "".join(parts)


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _text(text: str) -> str:
    return escape(clean(text))


def _lines(text: str) -> str:
    return "\n".join(_text(line) for line in text.split("\n"))
