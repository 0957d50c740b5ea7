"""The content of a page to share: source lines with marks, cards, rounds with steps and frames."""

from __future__ import annotations

from dataclasses import dataclass

from ..scene.model import Scene


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line of the source. ``pieces``: (role, text), see ``text.code_roles``; ``marks``: any of
    ``cut``, ``trouble``, ``call``, ``source``, ``target``, ``error``, ``left-out``; ``badge``: a
    word at its end; ``tip``: the meaning of the marks."""

    pieces: tuple[tuple[str, str], ...]
    marks: tuple[str, ...] = ()
    badge: str = ""
    tip: str = ""


@dataclass(frozen=True, slots=True)
class PageTable:
    """The numbers of a gradient; ``rows`` is empty if they stayed in the kernel. ``has_names``:
    each row has the name of a source, and what is known about its gradient."""

    heading: str
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    has_names: bool = False


@dataclass(frozen=True, slots=True)
class PageFix:
    """An edit that was tried. ``lines``: (sign, code), the signs ``+``, ``-`` and ``⋯``."""

    title: str
    lines: tuple[tuple[str, str], ...]
    value: str = ""


@dataclass(frozen=True, slots=True)
class PageCard:
    """The outcome of one gradient, or an error or a warning. ``status``: of the finding, or
    ``error`` or ``warning``; ``line``: where to look, 0 for nowhere."""

    title: str
    status: str
    badge: str
    words: tuple[str, ...]
    line: int = 0
    tables: tuple[PageTable, ...] = ()
    fixes: tuple[PageFix, ...] = ()


@dataclass(frozen=True, slots=True)
class PageStep:
    """A row of the backward pass: op, gradient in, formula, gradient out, line (0: unknown)."""

    kind: str
    op: str
    upstream: str
    formula: str
    downstream: str
    line: int


@dataclass(frozen=True, slots=True)
class PageFold:
    """A row that stands for the steps ``first`` to ``last`` (from 0): a turn of a loop, or several
    turns, each of which is one of ``folds``. ``cells``: as of a :class:`PageStep`, the number of
    steps in place of a formula."""

    first: int
    last: int
    cells: tuple[str, str, str, str, str]
    folds: tuple[PageFold, ...] = ()


@dataclass(frozen=True, slots=True)
class PageRound:
    """A gradient call. ``frames``: (steps walked, scene), ascending; the first is (None, the scene
    with the whole flow). The frames of a page share their coordinates. ``folds``: the steps that
    have no row of their own at first."""

    words: str
    steps: tuple[PageStep, ...]
    frames: tuple[tuple[int | None, Scene], ...]
    folds: tuple[PageFold, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedPage:
    """The content of a page about a gradient call. ``facts``: about the run, a line each;
    ``first``: the index of the round shown at first, and ``step`` the number of steps walked in it;
    None: the whole flow."""

    title: str
    facts: tuple[str, ...]
    lines: tuple[PageLine, ...]
    cards: tuple[PageCard, ...]
    rounds: tuple[PageRound, ...]
    first: int = 0
    step: int | None = None
