"""The user's choices of what to see: one frozen value, changed by ``dataclasses.replace``."""

from __future__ import annotations

from dataclasses import dataclass, field

from .scene.model import Overlay


@dataclass(frozen=True, slots=True)
class View:
    """``layout``, ``direction``, ``grouping``, ``folded``, ``unfolded`` and ``shows_all`` decide
    where things stand; ``overlay`` lies over it and never moves anything.

    ``grouping``: a key of ``graph.tree.GROUPINGS`` or ``""``; ``turns``: of repeats (paths) the
    turn to show, from 1; ``folded``/``unfolded``: paths of
    groups that the user closed or opened himself. ``shows_all``: also ops that no gradient call
    touches.
    """

    layout: str = "layered"
    direction: str = "down"
    grouping: str = ""
    folded: frozenset[str] = frozenset()
    unfolded: frozenset[str] = frozenset()
    shows_all: bool = False
    turns: tuple[tuple[str, int], ...] = ()
    overlay: Overlay = field(default_factory=Overlay)


DEFAULT_VIEW = View()
