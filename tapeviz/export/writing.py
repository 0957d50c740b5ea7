"""Write a drawing to a path; the table of writers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import TapevizError
from ..scene.theme import Theme
from ..system_libraries import missing_words
from ..whole_files import write_whole
from .drawing import Drawing, Options
from .shared_page import SharedPage

MOST_FRAMES = 240
"""Frames of a GIF at most: more take too long to watch, and make the file too large to send."""


@dataclass(frozen=True, slots=True)
class Writer:
    """``module``: a module of this package with ``write(drawing, options) -> bytes``; ``entry``,
    ``tip``: its line in the menu (with a mnemonic) and the tooltip."""

    module: str
    entry: str
    tip: str

    def write(self, drawing: Drawing, options: Options) -> bytes:
        """Write with the module, which is imported now: PNG, PDF and GIF need Qt, others do not."""
        made: bytes = _loaded(self.module).write(drawing, options)
        return made


def _loaded(module: str) -> Any:
    """A module of this package. Raises :class:`TapevizError` if Qt lacks a system library."""
    try:
        return import_module(f".{module}", __package__)
    except ImportError as error:
        missing = missing_words("offscreen")
        raise (TapevizError(missing) if missing else error) from error


WRITERS: Mapping[str, Writer] = {
    "png": Writer("png", "&PNG", "The picture in pixels, twice as sharp as the screen"),
    "svg": Writer("svg", "&SVG", "The picture as vectors, text stays text"),
    "pdf": Writer("pdf", "P&DF", "The picture as a page"),
    "dot": Writer("dot", "D&OT", "The graph for Graphviz"),
    "json": Writer("node_link", "&JSON", "The graph with its places, as networkx node-link data"),
    "graphml": Writer("graphml", "Graph&ML", "The graph for yEd, Gephi or Cytoscape"),
    "html": Writer("html", "&HTML", "A page to share: source, picture, diagnosis, and the steps"),
    "gif": Writer("gif", "&GIF", "A film of the backward pass, a second for each step"),
}


def render(
    drawing: Drawing,
    suffix: str,
    *,
    scale: float = 1.0,
    transparent: bool = False,
    title: bool = True,
    legend: bool = True,
) -> bytes:
    """The bytes of a file with this suffix (``svg`` or ``.svg``).

    ``scale`` multiplies the size of a PNG, SVG, PDF or GIF. Raises :class:`TapevizError` for an
    unknown suffix or a scale outside 0.01…100.
    """
    writer = WRITERS[check_suffix(suffix)]
    _check_scale(scale)
    return writer.write(drawing, Options(scale, transparent, title, legend))


def write_picture(
    drawing: Drawing,
    path: str | Path,
    suffix: str | None = None,
    *,
    scale: float = 1.0,
    transparent: bool = False,
    title: bool = True,
) -> None:
    """Write a picture; the file is complete or, if :class:`TapevizError` is raised, unchanged.

    ``suffix``: the format, if the path's suffix does not say it.
    """
    path = Path(path)
    suffix = suffix or path.suffix
    write_whole(path, render(drawing, suffix, scale=scale, transparent=transparent, title=title))


def write_shared_page(
    page: SharedPage, path: str | Path, theme: Theme, *, transparent: bool = False
) -> None:
    """Write an HTML page about a gradient call, which needs neither a network nor tapeviz."""
    options = Options(1.0, transparent, False)
    write_whole(Path(path), _loaded("html").write_page(page, theme, options))


def write_animation(
    drawings: Sequence[Drawing],
    path: str | Path,
    *,
    scale: float = 1.0,
    report: Callable[[int, int], None] | None = None,
    seconds: float = 1.0,
) -> None:
    """Write a GIF of the drawings, each shown for ``seconds``; otherwise like `write_picture`.

    ``report(done, known)`` is called after each frame; an exception that it raises ends the work.
    """
    if not drawings:
        raise TapevizError("there is nothing to animate: no backward pass was walked")
    _check_scale(scale)
    animate = _loaded("gif").animate
    more = {"report": report} if report else {}
    made = animate(drawings, Options(scale, False, True), seconds=seconds, **more)
    write_whole(Path(path), made)


def steps_filmed(count: int) -> list[int]:
    """The numbers of walked steps that get a frame: 0 to ``count``, or 240 evenly spread ones."""
    if count < MOST_FRAMES:
        return list(range(count + 1))
    return [round(frame * count / (MOST_FRAMES - 1)) for frame in range(MOST_FRAMES)]


def _check_scale(scale: float) -> None:
    if not (math.isfinite(scale) and 0.01 <= scale <= 100):
        raise TapevizError(f"the scale must be between 0.01 and 100, not {scale:g}")


def check_suffix(suffix: str) -> str:
    """The key in `WRITERS` of ``svg`` or ``.SVG``. Raises :class:`TapevizError` without one."""
    name = suffix.lower().lstrip(".")
    if not name:
        raise TapevizError(f"the output's name needs a suffix, one of {_known()}")
    if name not in WRITERS:
        raise TapevizError(f"cannot write .{name} files; there are {_known()}")
    return name


def _known() -> str:
    return ", ".join(WRITERS)
