"""The user's choices of what to see: one frozen value, changed by ``dataclasses.replace``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .scene.model import Overlay

ROOM = (940.0, 610.0)
"""Px of a picture of which no window says how large it will be seen."""


@dataclass(frozen=True, slots=True)
class View:
    """The choices of the user. ``layout``, ``direction``, ``grouping``, ``folded``, ``unfolded``,
    ``shows_all`` and ``room`` decide where things stand; ``overlay`` lies over it and never moves
    anything.

    ``grouping``: a key of ``graph.groups.tree.GROUPINGS``, or empty for all kinds of groups.
    ``folded``, ``unfolded``: paths of groups that the user closed or opened himself. ``turns``: the
    turns to show of repeats, (path, number from 1) each. ``shows_all``: also ops that no gradient
    call touches.
    ``room``: width and height in px that the first view should fill with text of 10 px.
    """

    layout: str = "layered"
    direction: str = "down"
    grouping: str = ""
    folded: frozenset[str] = frozenset()
    unfolded: frozenset[str] = frozenset()
    shows_all: bool = False
    room: tuple[float, float] = ROOM
    turns: tuple[tuple[str, int], ...] = ()
    overlay: Overlay = field(default_factory=Overlay)

    @property
    def form(self) -> View:
        """The view without its overlay: all that a layout depends on."""
        return replace(self, overlay=Overlay())

    def opened(self, path: str) -> View:
        """The view in which the user opened a group."""
        return replace(self, folded=self.folded - {path}, unfolded=self.unfolded | {path})

    def closed(self, path: str) -> View:
        """The view in which the user closed a group, with all in it."""
        inner = {known for known in self.unfolded if f"{known}/".startswith(f"{path}/")}
        return replace(self, folded=self.folded | {path}, unfolded=self.unfolded - inner)

    def turned(self, turns: Mapping[str, int]) -> View:
        """The view with these turns (by path, from 1) in place of those of the same repeats."""
        return replace(self, turns=tuple(sorted((dict(self.turns) | dict(turns)).items())))


DEFAULT_VIEW = View()
