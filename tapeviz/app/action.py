"""A row of the table of actions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .window import Window

Act = Callable[["Window"], object]
Ask = Callable[["Window"], bool]
EditVerb = Literal["cut", "copy", "paste", "selectAll"]


@dataclass(frozen=True, slots=True)
class Action:
    """``menu``: where it stands; a ``/`` leads to a submenu. ``is_on``: makes it checkable;
    ``is_there``: whether it can be used now. ``shortcuts``: the first is shown."""

    id: str
    menu: str
    text: str
    shortcuts: tuple[str, ...]
    tip: str
    act: Act
    is_on: Ask | None = None
    is_there: Ask | None = None
    follows_line: bool = False
    is_own_key: bool = False
    """The widget that has the keyboard hears the shortcut itself: the menu only shows it."""
