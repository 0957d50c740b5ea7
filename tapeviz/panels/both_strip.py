"""The bar above the picture of two runs, with their differences and a way back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from ..analysis.comparing import Asked, GradientPair
from ..analysis.status import word_of
from ..document import Document
from ..document.comparing import ComparedRuns
from ..scene.model import ChangeKind
from .look import Theme
from .rows import in_row
from .widgets import IconButton, ShortLabel, link_button

MOST_GRADIENTS = 2


class BothStrip(QFrame):
    """Hidden while nothing is compared. ``apply_requested``: the fix that is compared, to be
    taken; ``texts_requested``: both texts, to be read side by side."""

    apply_requested = Signal(object)
    texts_requested = Signal()

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("strip")
        self.setProperty("place", "above")
        self._comparing = document.comparing
        self.words = ShortLabel()
        self.apply = link_button("Apply the fix", "Take the edit and run it; Ctrl+Z brings it back")
        self.apply.clicked.connect(self._apply)
        self.texts = link_button("Texts", "Both texts side by side")
        self.texts.clicked.connect(self.texts_requested)
        self.back = link_button("Back", "Show this run alone (Escape)")
        self.back.clicked.connect(self._comparing.leave)
        self.close_button = IconButton("close", "Show this run alone (Escape)", theme)
        self.close_button.clicked.connect(self._comparing.leave)
        buttons = (self.apply, self.texts, self.back, self.close_button)
        in_row(self, (self.words, 1), *buttons, margins=(14, 5, 6, 5), spacing=14)
        self._comparing.changed.connect(self._show)
        self._show()

    def _apply(self) -> None:
        both = self._comparing.both
        if both is not None and both.fix is not None:
            self.apply_requested.emit(both.fix)

    def _show(self) -> None:
        comparing, both = self._comparing, self._comparing.both
        self.setVisible(both is not None or bool(comparing.awaited))
        self.texts.setVisible(both is not None)
        self.apply.setVisible(both is not None and both.fix is not None)
        if both is not None:
            self.words.setText(" · ".join(said_of(both)))
        elif comparing.awaited:
            self.words.setText(f"Running it to compare: {comparing.awaited} …")


def said_of(both: ComparedRuns) -> Iterator[str]:
    """``∂o/∂patch: None → flows``, ``2 only before, 2 only after``, … or that nothing differs.

    Another outcome comes before other numbers; what many rounds of a loop have in common is said
    once.
    """
    comparison = both.comparison
    changed = [pair for pair in comparison.gradients if not pair.is_same]
    words = Counter(map(_gradient, sorted(changed, key=_rank)))
    said = list(words.items())[:MOST_GRADIENTS]
    yield from (name if n == 1 else f"{name} ({n:,} times)" for name, n in said)
    rest = len(changed) - sum(n for _, n in said)
    if rest:
        yield f"{rest:,} more {'gradient differs' if rest == 1 else 'gradients differ'}"
    if not changed and comparison.gradients:
        yield "the same gradients"
    yield _signs(both)


def _rank(pair: GradientPair) -> int:
    if pair.before is None or pair.after is None:
        return 1
    was, now = _outcomes(pair.before, pair.after)
    return 0 if was != now else 2


def _gradient(pair: GradientPair) -> str:
    known = pair.after or pair.before
    assert known is not None
    name = _name(known)
    if pair.before is None or pair.after is None:
        return f"{name}: only {'before' if pair.after is None else 'after'}"
    if _name(pair.before) != name:
        return f"{_name(pair.before)} → {name}"
    was, now = _outcomes(pair.before, pair.after)
    return f"{name}: {was} → {now}" if was != now else f"{name}: other numbers"


def _outcomes(before: Asked, after: Asked) -> tuple[str, str]:
    return word_of(before.finding), word_of(after.finding)


def _name(asked: Asked) -> str:
    return f"∂{asked.finding.target}/∂{asked.finding.source}"


def _signs(both: ComparedRuns) -> str:
    """The number of boxes with each sign."""
    counts = Counter(change.kind for change in both.scene.changes)
    known: tuple[tuple[ChangeKind, str], ...] = (
        ("removed", "only before"),
        ("added", "only after"),
        ("turned", "recorded in one only"),
        ("inside", "with a difference inside"),
    )
    return ", ".join(f"{counts[kind]} {words}" for kind, words in known if counts[kind]) or (
        "the same graph"
    )
