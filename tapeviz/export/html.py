"""Write a drawing, or a page about a gradient call, as one self-contained HTML file.

Wheel, drag, + and - move and zoom the picture. A shared page shows source, cards and backward pass
beside it; the left and right arrow keys step through the pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from html import escape
from typing import Any

from ..files.resources import resource
from ..layout.model import Rect
from ..scene.primitives import PrimitiveGroup
from ..scene.sheet import lay_sheet
from ..scene.text import clean
from ..scene.theme import THEMES, Theme
from . import svg
from .drawing import Drawing, Options
from .shared_page import PageCard, PageFold, PageLine, PageRound, PageTable, SharedPage
from .words import sentences

_PAGE = """<!DOCTYPE html>
<html lang="en" class="{theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body class="{kind}">
{body}
<script type="application/json" id="data">{data}</script>
<script>
{script}
</script>
</body>
</html>
"""
_ALIKE = 0.8
"""The part of a common view, across and along, that each round in it has at least."""
_SEPARATOR = re.compile(r"([/._])")
"""The places at which a long name goes on in the next line."""
_SIGNS = {"error": "✕", "target": "◎", "source": "●"}


def write(drawing: Drawing, options: Options) -> bytes:
    """A page with the picture alone."""
    scene = drawing.scene
    rounds = (PageRound(scene.title, (), ((None, scene),)),)
    page = SharedPage(scene.title or "Graph", (), (), (), rounds)
    return _write(page, drawing.theme, options, is_alone=True)


def write_page(page: SharedPage, theme: Theme, options: Options) -> bytes:
    """A page about a gradient call: source, picture, cards and backward pass."""
    return _write(page, theme, options, is_alone=False)


def _write(page: SharedPage, theme: Theme, options: Options, is_alone: bool) -> bytes:
    pictures = _Pictures(options, is_alone)
    frames, bounds = zip(*map(pictures.frames, page.rounds), strict=True)
    views = _views(bounds)
    data = {
        "alone": is_alone,
        "first": page.first,
        "step": page.step,
        "groups": pictures.texts,
        "rounds": [
            {
                "words": clean(round_.words),
                "frames": drawn,
                "view": _box(view),
                "steps": [
                    {name: _cleaned(getattr(step, name)) for name in step.__slots__}
                    for step in round_.steps
                ],
                "folds": list(map(_fold, round_.folds)),
            }
            for round_, drawn, view in zip(page.rounds, frames, views, strict=True)
        ],
    }
    first = page.rounds[page.first]
    *_, seen = (drawn for drawn in frames[page.first] if (drawn["step"] or 0) <= (page.step or 0))
    picture = pictures.svg(first, seen["groups"], views[page.first])
    body = f'<section id="graph"><div id="picture">{picture}</div></section>'
    made = _PAGE.format(
        theme="dark" if theme.is_dark else "light",
        title=_text(page.title),
        style="\n".join((*_variables(), _resource("page.css"), pictures.css(options))),
        kind="alone" if is_alone else "shared",
        body=f"<main>{body}</main>" if is_alone else "\n".join(_body(page, picture)),
        data=_json(data),
        script=_resource("page.js"),
    )
    return made.encode("utf-8")


class _Pictures:
    """Turns scenes into lists of group numbers; each different SVG group is in the page once.

    The groups have CSS classes, which have a rule for each theme.
    """

    def __init__(self, options: Options, is_alone: bool) -> None:
        self._themes = (THEMES["light"], THEMES["dark"])
        self._options, self._is_alone = options, is_alone
        self._classes = svg.Classes[tuple[str, str]]()
        self._numbers: dict[str, int] = {}

    @property
    def texts(self) -> list[str]:
        return list(self._numbers)

    def frames(self, round_: PageRound) -> tuple[list[dict[str, Any]], Rect]:
        """The frames of a round, and the bounds of all of them."""
        made, bounds = [], list[Rect]()
        for step, scene in round_.frames:
            if not self._is_alone:  # the page has the title
                scene = replace(scene, title="")
            has_ground = not self._options.is_transparent
            light, dark = (lay_sheet(scene, theme, has_ground=has_ground) for theme in self._themes)
            bounds.append(light.bounds)
            groups = [
                self._numbers.setdefault(self._group(*pair), len(self._numbers))
                for pair in zip(light.groups, dark.groups, strict=True)
            ]
            made.append({"step": step, "groups": groups})
        return made, _around(bounds)

    def _group(self, light: PrimitiveGroup, dark: PrimitiveGroup) -> str:
        pairs = zip(light.primitives, dark.primitives, strict=True)
        names = [
            self._classes.name(svg.element(a), a.role, (svg.rule(a), svg.rule(b))) for a, b in pairs
        ]
        return "".join(svg.group_lines(light, names))

    def css(self, options: Options) -> str:
        ground = "" if options.is_transparent else "body{background:var(--background)}"
        parts = [svg.face_rules(), ground if self._is_alone else ""]
        for (name, element), (light, dark) in self._classes.rules():
            parts.append(f"{element}.{name}{{{light}}}")
            if light != dark:
                parts.append(f".dark {element}.{name}{{{dark}}}")
        return "".join(parts)

    def svg(self, round_: PageRound, groups: Sequence[int], view: Rect) -> str:
        """An SVG of some groups in a view box."""
        box = " ".join(f"{number:.2f}" for number in _box(view))
        texts = self.texts
        spoken = sentences(round_.frames[0][1])
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" '
            f'aria-label="{_text(spoken)}">'
            f'<g id="drawn">{"".join(texts[group] for group in groups)}</g></svg>'
        )


def _fold(fold: PageFold) -> dict[str, Any]:
    return {
        "first": fold.first,
        "last": fold.last,
        "cells": [clean(cell) for cell in fold.cells],
        "folds": list(map(_fold, fold.folds)),
    }


def _views(bounds: Sequence[Rect]) -> list[Rect]:
    """The part of the drawing that each round shows at first: its own bounds, and those of other
    rounds of nearly the same size, so that boxes which keep their places do so on the screen."""
    groups: list[list[int]] = []
    for number, own in enumerate(bounds):
        for group in groups:
            whole = _around([*(bounds[other] for other in group), own])
            if all(
                _ALIKE * whole.width <= rect.width and _ALIKE * whole.height <= rect.height
                for rect in (own, *(bounds[other] for other in group))
            ):
                group.append(number)
                break
        else:
            groups.append([number])
    views = {number: _around([bounds[n] for n in group]) for group in groups for number in group}
    return [views[number] for number in range(len(bounds))]


def _around(bounds: Sequence[Rect]) -> Rect:
    return Rect.around([rect.sides for rect in bounds])


def _box(view: Rect) -> list[float]:
    return [round(number, 2) for number in (view.left, view.top, view.width, view.height)]


def _variables() -> Iterator[str]:
    """CSS variables for the colours of both themes, named as in the theme files."""
    for selector, theme in ((":root", THEMES["light"]), (".dark", THEMES["dark"])):
        names = [field.name for field in fields(theme) if field.name not in ("name", "is_dark")]
        colours = "".join(f"--{name}:{getattr(theme, name)};" for name in names)
        yield f"{selector}{{{colours}color-scheme:{'dark' if theme.is_dark else 'light'}}}"


def _body(page: SharedPage, picture: str) -> Iterator[str]:
    yield (
        f'<header><h1>{_text(page.title)}</h1><div class="facts">'
        f"{_text(' · '.join(page.facts))}</div>"
        '<button id="theme">Light or dark</button></header><main>'
    )
    yield '<section id="source"><h2>Source</h2><div id="lines" class="scroll" tabindex="0">'
    yield from (_line(number, line) for number, line in enumerate(page.lines, start=1))
    yield "</div></section>"
    words = page.rounds[page.first].words
    yield (
        f'<section id="graph"><h2>Graph<span class="title mono" id="title">{_text(words)}</span>'
        f'</h2><div id="picture">{picture}</div>{_rounds(page)}</section>'
    )
    yield '<section id="cards"><h2>Diagnosis</h2><div class="scroll" tabindex="0">'
    yield from (_card(card) for card in page.cards)
    yield "</div></section>"
    yield '<section id="steps"><div class="controls"><h2>Backprop</h2>'
    for name, sign, words in (
        ("first", "|◀", "First step (Home)"),
        ("back", "◀", "Step back (Left)"),
        ("forward", "▶", "Step forward (Right)"),
        ("last", "▶|", "Last step (End)"),
        ("whole", "Whole flow", "Leave the steps (Esc)"),
    ):
        yield f'<button id="{name}" title="{words}" aria-label="{words}">{sign}</button>'
    yield '<span id="place" role="status"></span></div>'
    yield (
        '<div class="scroll" tabindex="0"><table class="walk"><thead><tr><th></th><th>op</th>'
        "<th>gradient in</th><th>formula</th><th>gradient out</th><th>line</th></tr></thead>"
        '<tbody id="rows"></tbody></table></div></section></main>'
    )


def _rounds(page: SharedPage) -> str:
    if len(page.rounds) == 1:
        return ""
    return (
        '<div class="rounds"><label for="round">Round</label><input id="round" type="range" min="0"'
        f' max="{len(page.rounds) - 1}" value="{page.first}"></div>'
    )


def _line(number: int, line: PageLine) -> str:
    sign = next((name for name in _SIGNS if name in line.marks), "")
    code = "".join(
        f'<span class="{role}">{_code(text)}</span>' if role else _code(text)
        for role, text in line.pieces
    )
    badge = line.badge or ("✂" if "cut" in line.marks else "")
    good = " good" if badge == "flows" else ""
    tip = f' title="{_code(line.tip)}"' if line.tip else ""
    return (
        f'<div id="L{number}" class="{" ".join(line.marks)}"{tip}>'
        f'<span class="sign {sign}">{_SIGNS.get(sign, "")}</span><code>{code}</code>'
        + (f'<span class="badge{good}">{_text(badge)}</span>' if badge else "")
        + "</div>"
    )


def _card(card: PageCard) -> str:
    parts = [f'<article class="{card.status}">']
    if card.title:
        pill = f'<span class="pill">{_text(card.badge)}</span>'
        parts.append(f"<h3><span>{_text(card.title)}</span>{pill}</h3>")
    parts += (f"<p>{_text(words)}</p>" for words in card.words)
    if card.line:
        parts.append(f'<p><a href="#L{card.line}">Line {card.line}</a></p>')
    parts += map(_table, card.tables)
    for fix in card.fixes:
        lines = "".join(
            f'<span class="{ {"+": "plus", "-": "minus"}.get(sign, "") }">{sign} {_code(code)}'
            "</span>"
            for sign, code in fix.lines
        )
        value = f'<div class="note mono">{_text(fix.value)}</div>' if fix.value else ""
        parts.append(
            f'<div class="fix"><strong>{_text(fix.title)}</strong><pre>{lines}</pre>{value}</div>'
        )
    return "".join((*parts, "</article>"))


def _table(table: PageTable) -> str:
    cells = [[_text(cell) for cell in row] for row in table.rows]
    if table.has_names:
        cells = [[_SEPARATOR.sub(r"\1<wbr>", name), *others] for name, *others in cells]
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
    grid = f'<table class="{"names" if table.has_names else "values"}">{rows}</table>'
    grid = grid if rows else ""
    note = f'<div class="note">{_text(table.note)}</div>' if table.note else ""
    return f"<h4>{_text(table.heading)}</h4>{grid}{note}"


def _resource(name: str) -> str:
    return resource("page", name).read_text(encoding="utf-8").strip()


def _json(data: object) -> str:
    """JSON that can stand in a script element: no text in it ends the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _cleaned(value: object) -> object:
    return clean(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    return escape(clean(text))


def _code(text: str) -> str:
    """Escaped text that keeps its tabs and line ends."""
    return "\n".join(
        escape("\t".join(clean(part) for part in line.split("\t"))) for line in text.split("\n")
    )
