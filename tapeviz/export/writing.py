"""Write a drawing to a path, by its suffix."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import TapevizError
from ..files.whole import write_whole
from ..formats import WRITERS
from ..scene.theme import Theme
from ..system_libraries import missing_words
from .drawing import Drawing, Options
from .shared_page import SharedPage

MOST_DRAWINGS = 240
"""Drawings of a GIF at most: more take too long to watch, and make the file too large to send."""


def _module(suffix: str) -> Any:
    """The module that writes files with this suffix, imported now: PNG, PDF and GIF need Qt.

    Raises :class:`TapevizError` for an unknown suffix, and if Qt lacks a system library.
    """
    try:
        return import_module(f".{WRITERS[check_suffix(suffix)].module}", __package__)
    except ImportError as error:
        missing = missing_words("offscreen")
        raise (TapevizError(missing) if missing else error) from error


def render(
    drawing: Drawing,
    suffix: str,
    *,
    scale: float = 1.0,
    transparent: bool = False,
) -> bytes:
    """The bytes of a file with this suffix (``svg`` or ``.svg``).

    ``scale`` multiplies the size of a PNG, SVG, PDF or GIF. Raises :class:`TapevizError` for an
    unknown suffix or a scale outside 0.01…100.
    """
    module = _module(suffix)
    _check_scale(scale)
    made: bytes = module.write(drawing, Options(scale, transparent))
    return made


def write_picture(
    drawing: Drawing,
    path: str | Path,
    suffix: str | None = None,
    *,
    scale: float = 1.0,
    transparent: bool = False,
) -> None:
    """Write a picture; the file is complete or, if :class:`TapevizError` is raised, unchanged.

    ``suffix``: the format, if the path's suffix does not say it.
    """
    path = Path(path)
    suffix = suffix or path.suffix
    write_whole(path, render(drawing, suffix, scale=scale, transparent=transparent))


def write_shared_page(
    page: SharedPage, path: str | Path, theme: Theme, *, transparent: bool = False
) -> None:
    """Write an HTML page about a gradient call, which needs neither a network nor tapeviz."""
    options = Options(1.0, transparent)
    path = Path(path)
    write_whole(path, _module(path.suffix).write_page(page, theme, options))


def write_animation(
    drawings: Sequence[Drawing],
    path: str | Path,
    *,
    scale: float = 1.0,
    report: Callable[[int, int], None] | None = None,
    seconds: float = 1.0,
) -> None:
    """Write a GIF of the drawings, each shown for ``seconds``; otherwise like `write_picture`.

    ``report(done, known)`` is called after each drawing; an exception that it raises ends the work.
    """
    if not drawings:
        raise TapevizError("there is nothing to animate: no backward pass was walked")
    _check_scale(scale)
    path = Path(path)
    more = {"report": report} if report else {}
    animate = _module(path.suffix).animate
    write_whole(path, animate(drawings, Options(scale), seconds=seconds, **more))


def steps_filmed(count: int) -> list[int]:
    """The numbers of walked steps that get a drawing: 0 to ``count``, or 240 evenly spread ones."""
    if count < MOST_DRAWINGS:
        return list(range(count + 1))
    return [round(place * count / (MOST_DRAWINGS - 1)) for place in range(MOST_DRAWINGS)]


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
