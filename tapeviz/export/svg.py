"""A drawing in, an SVG file out: text stays text, every look is a CSS class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from ..scene.primitives import Outline, Path, Primitive, PrimitiveGroup, Style, TextRun
from ..scene.sheet import Sheet
from ..scene.text import FACES, clean, text_width
from .drawing import Drawing, Options, sheet_of
from .words import describe

_TAKES = {"M": 1, "L": 1, "C": 3, "Z": 0}
_GENERIC = ("sans-serif", "monospace")


def write(drawing: Drawing, options: Options) -> bytes:
    sheet = sheet_of(drawing, options)
    ground = None if options.is_transparent else drawing.theme.background
    return "\n".join(_document(drawing, sheet, ground, options.scale)).encode("utf-8")


def _document(drawing: Drawing, sheet: Sheet, ground: str | None, scale: float) -> Iterator[str]:
    bounds, classes = sheet.bounds, _Classes()
    body = [line for group in sheet.groups for line in _group(group, classes)]
    width, height = _number(bounds.width * scale), _number(bounds.height * scale)
    box = " ".join(_number(n) for n in (bounds.left, bounds.top, bounds.width, bounds.height))
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="{box}" role="img" aria-labelledby="title desc">'
    )
    yield f'<title id="title">{_text(drawing.scene.title or "Graph")}</title>'
    yield f'<desc id="desc">{_text(describe(drawing))}</desc>'
    yield f"<style>{classes.css()}</style>"
    if ground is not None:
        x, y, w, h = box.split()
        yield f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{ground}"/>'
    yield from body
    yield "</svg>\n"


class _Classes:
    """Names each look once: the role of what has it, numbered where a role has several.

    Rules name the element too, so that a group of the same name hands nothing down.
    """

    def __init__(self) -> None:
        self._rules: dict[tuple[str, str, str], str] = {}
        self._counts: dict[str, int] = {}

    def name(self, element: str, role: str, rule: str) -> str:
        known = self._rules.get((element, role, rule))
        if known is None:
            count = self._counts[role] = self._counts.get(role, 0) + 1
            known = role if count == 1 else f"{role}-{count}"
            self._rules[element, role, rule] = known
        return known

    def css(self) -> str:
        faces = (
            f"text{{white-space:pre}}.{face}{{font-family:{_families(measured.families)}}}"
            for face, measured in FACES.items()
        )
        rules = (f"{element}.{name}{{{rule}}}" for (element, _, rule), name in self._rules.items())
        return "".join((*faces, *rules))


def _families(names: Sequence[str]) -> str:
    return ",".join(name if name in _GENERIC else f"'{name}'" for name in names)


def _group(group: PrimitiveGroup, classes: _Classes) -> Iterator[str]:
    tooltip = f"<title>{_lines(group.tooltip)}</title>" if group.tooltip else ""
    label = f" data-name={_attribute(group.name)}" if group.name else ""
    yield f'<g class="{group.kind}"{label}>{tooltip}'
    for primitive in group.primitives:
        yield _primitive(primitive, classes)
    yield "</g>"


def _primitive(primitive: Primitive, classes: _Classes) -> str:
    if isinstance(primitive, Path):
        name = classes.name("path", primitive.role, _path_rule(primitive.style))
        return f'<path class="{name}" d="{_data(primitive.outline)}"/>'
    return _run(primitive, classes)


def _run(run: TextRun, classes: _Classes) -> str:
    rule = f"fill:{run.colour};font-size:{_number(run.size)}px"
    if run.weight != 400:
        rule += f";font-weight:{run.weight}"
    if run.anchor != "start":
        rule += f";text-anchor:{run.anchor}"
    name = classes.name("text", run.role, rule)
    # Another font than the measured one is squeezed into the room that was made for the text.
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
            if style.dash[0] < 1:
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


def _attribute(text: str) -> str:
    return quoteattr(clean(text))
