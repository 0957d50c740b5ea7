"""A drawing in, one HTML page out: the picture, to be dragged and zoomed, without any network."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from ..scene.text import clean
from . import svg
from .drawing import Drawing, Options, Told, never_mind

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title}</title>
<style>
html,body{{margin:0;height:100%;background:{ground};overflow:hidden}}
svg{{width:100%;height:100%;cursor:grab;touch-action:none}}
svg:active{{cursor:grabbing}}
#films{{position:fixed;left:0;right:0;bottom:0;display:flex;gap:12px;align-items:center;\
padding:10px 20px;background:{ground};color:{text};font:13px sans-serif}}
#films input{{flex:1;accent-color:{accent}}}
.node:hover>path,.edge:hover>path{{filter:brightness({hover})}}
</style>
</head>
<body>
{picture}
{film}<script>
{script}
</script>
</body>
</html>
"""
_SCRIPT = """const svg = document.querySelector("svg"), box = svg.viewBox.baseVal;
const home = [box.x, box.y, box.width, box.height];
const px = () => Math.max(box.width / svg.clientWidth, box.height / svg.clientHeight);
const at = (e) => new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
const zoom = (factor, p) => {
  box.x = p.x - (p.x - box.x) * factor; box.y = p.y - (p.y - box.y) * factor;
  box.width *= factor; box.height *= factor;
};
const middle = () => ({x: box.x + box.width / 2, y: box.y + box.height / 2});
const fit = () => { [box.x, box.y, box.width, box.height] = home; };
svg.addEventListener("wheel", (e) => {
  e.preventDefault(); zoom(Math.exp(e.deltaY * 0.0015), at(e));
}, {passive: false});
let held = false;
svg.addEventListener("pointerdown", (e) => { held = true; svg.setPointerCapture(e.pointerId); });
svg.addEventListener("pointerup", () => { held = false; });
svg.addEventListener("pointermove", (e) => {
  if (held) { box.x -= e.movementX * px(); box.y -= e.movementY * px(); }
});
svg.addEventListener("dblclick", fit);
addEventListener("keydown", (e) => {
  const step = 60 * px();
  const keys = {
    "+": () => zoom(0.8, middle()), "=": () => zoom(0.8, middle()), "-": () => zoom(1.25, middle()),
    "0": fit, ArrowLeft: () => { box.x -= step; }, ArrowRight: () => { box.x += step; },
    ArrowUp: () => { box.y -= step; }, ArrowDown: () => { box.y += step; },
  };
  if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
});"""

_FILM_SCRIPT = """
const frames = [...document.querySelectorAll("template")], slider = document.querySelector("input");
const words = document.querySelector("output");
const show = () => {
  const frame = frames[slider.value].content.querySelector("svg");
  svg.replaceChildren(...frame.cloneNode(true).childNodes);
  words.textContent = frames[slider.value].dataset.title;
};
slider.addEventListener("input", show);
slider.addEventListener("keydown", (e) => e.stopPropagation());
show();"""


def write(drawing: Drawing, options: Options) -> bytes:
    """Wheel, drag, arrow keys, + and - move and zoom; 0 or a double click shows everything."""
    return _page(drawing, options, "", _SCRIPT)


def animate(
    drawings: Sequence[Drawing], options: Options, told: Told = never_mind, seconds: float = 1.0
) -> bytes:
    """A page with a slider over the drawings; the last is shown first. All stand in one place, so
    that the camera stays where it is. ``seconds`` is for films that play by themselves."""
    templates = []
    for number, drawing in enumerate(drawings, start=1):
        title = escape(clean(drawing.scene.title), {'"': "&quot;"})
        templates.append(f'<template data-title="{title}">{_svg(drawing, options)}</template>\n')
        told(number, len(drawings))
    last = len(drawings) - 1
    slider = f'<input type="range" min="0" max="{last}" value="{last}" aria-label="Round">'
    film = f'{"".join(templates)}<div id="films">{slider}<output></output></div>\n'
    return _page(drawings[-1], options, film, _SCRIPT + _FILM_SCRIPT)


def _svg(drawing: Drawing, options: Options) -> str:
    return svg.write(drawing, options).decode("utf-8").partition("\n")[2].strip()


def _page(drawing: Drawing, options: Options, film: str, script: str) -> bytes:
    theme = drawing.theme
    page = _PAGE.format(
        title=escape(clean(drawing.scene.title) or "Graph"),
        ground="transparent" if options.is_transparent else theme.background,
        hover=1.15 if theme.is_dark else 0.95,
        text=theme.text,
        accent=theme.accent,
        picture=_svg(drawing, options),
        film=film,
        script=script,
    )
    return page.encode("utf-8")
