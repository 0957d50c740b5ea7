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
    """``menu``: its menu; a ``/`` leads to a submenu. ``shortcuts``: the first one is shown.
    ``is_on``: whether it is checked (None: it cannot be); ``is_there``: whether it can be used
    now; ``follows_line``: a separator comes before it."""

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
    """The widget with the keyboard handles the shortcut itself: the menu only shows it."""
