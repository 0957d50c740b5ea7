"""Keep choices and sizes of a window for its next start: a row of :data:`KEPT` for each."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from ...graph.groups.tree import GROUPINGS
from ...layout import LAYOUTS
from ..menus import DIRECTIONS
from ..sizes import SizesByHand
from ..stage import VERSION
from .settings import Settings

if TYPE_CHECKING:
    from ..window import Window


class Kept(NamedTuple):
    """A choice or a size, kept under its ``name`` in the settings file.

    ``value``: what it is now, a bool, an int, a text or bytes of Qt; in a new window its default.
    ``put``: gives the window another value of that type, which an older tapeviz may have kept.
    """

    name: str
    value: Callable[[Window], Any]
    put: Callable[[Window, Any], object]


def _attribute(name: str, of: Callable[[Window], object], attribute: str) -> Kept:
    return Kept(
        name,
        lambda window: getattr(of(window), attribute),
        lambda window, value: setattr(of(window), attribute, value),
    )


def _form(name: str, known: Collection[str]) -> Kept:
    """A choice on which the layout depends; ``known``: the choices that there are."""

    def put(window: Window, value: str) -> None:
        if value in known:
            window.document.change_form(**{name: value})

    return Kept(name, lambda window: getattr(window.document.view, name), put)


def _put_docks(window: Window, state: Any) -> None:
    if not window.stage.restoreState(state, VERSION):  # kept by a tapeviz with other docks
        window.stage.fits_content = True


KEPT: tuple[Kept, ...] = (
    _attribute("theme", lambda w: w, "theme_choice"),
    Kept("geometry", lambda w: w.saveGeometry(), lambda w, state: w.restoreGeometry(state)),
    _attribute("fits-content", lambda w: w.stage, "fits_content"),  # before the docks
    Kept("docks", lambda w: w.stage.saveState(VERSION), _put_docks),
    Kept(
        "sizes",
        lambda w: w.stage.by_hand.text(),
        lambda w, text: setattr(w.stage, "by_hand", SizesByHand(text)),
    ),
    _attribute("lower-panels-open", lambda w: w.stage, "is_drawer_open"),
    Kept(
        "text-size",
        lambda w: w.source.editor.size_px,
        lambda w, size: w.source.editor.set_size(size),
    ),
    _attribute("fixes", lambda w: w.document.fix_trials, "is_on"),
    _form("layout", LAYOUTS),
    _form("direction", DIRECTIONS),
    _form("grouping", GROUPINGS),
    Kept(
        "shows-all",
        lambda w: w.document.view.shows_all,
        lambda w, shows_all: w.document.change_form(shows_all=shows_all),
    ),
    Kept(
        "speed",
        lambda w: w.backprop.speed.currentIndex(),
        lambda w, index: w.backprop.speed.setCurrentIndex(index),
    ),
)
"""In the order in which they are restored."""


def restore(window: Window, settings: Settings) -> None:
    """Give a new window what the last one kept."""
    for kept in KEPT:
        present = kept.value(window)
        value = settings.kept(kept.name, present)
        if value != present:
            kept.put(window, value)


def keep(window: Window, settings: Settings) -> None:
    """Keep what the next window should be given."""
    for kept in KEPT:
        settings.keep(kept.name, kept.value(window))
