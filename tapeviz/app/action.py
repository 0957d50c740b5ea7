"""A row of the table of actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .window import Window

Act = Callable[["Window"], object]
Ask = Callable[["Window"], bool]
ACROSS = "Draw the gradient as it would be without the cut"
EditVerb = Literal["cut", "copy", "paste", "selectAll"]


def filled_on_opening(window: Window) -> None:
    """The act of a submenu, which is filled when it opens (see `Menus`)."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that the user can do. ``keys``: its shortcuts, with a space between; the first one
    is shown. ``is_there``: whether it can be used now; ``is_on``: whether it is checked (None: it
    cannot be). ``menu``: its menu; a ``/`` leads to a submenu; ``follows_line``: a separator comes
    before it."""

    id: str
    text: str
    act: Act
    keys: str = ""
    tip: str = ""
    is_there: Ask | None = None
    is_on: Ask | None = None
    is_own_key: bool = False
    """The widget with the keyboard handles the shortcut itself: the menu only shows it."""
    menu: str = ""
    follows_line: bool = False

    @property
    def shortcuts(self) -> tuple[str, ...]:
        return tuple(self.keys.split())


def section(menu: str, *rows: Action, follows_line: bool = False) -> Iterator[Action]:
    """Rows of a menu; ``follows_line``: a separator comes before the first."""
    for place, row in enumerate(rows):
        yield replace(row, menu=menu, follows_line=follows_line and place == 0)
