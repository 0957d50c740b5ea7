"""The parts of a card: words, links, an explanation, tried fixes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from ...analysis.findings import Fix
from ...analysis.run_words import fix_words
from ...files.explanations import Explanation
from ...scene.parts.numbers import array_text
from ...wording import shortened
from ..look import Theme, colour, mix
from ..rows import in_column, in_row
from ..widgets import link_button, plain_label
from .diff_view import DiffView

LONGEST_VALUE = 60
MOST_LINKS, LINKS_IN_ROW = 6, 3
"""Links of a card to places that are alike, at most, in all and in a row."""
LONG_NAME, LONG_WORD = 14, 30
"""Letters of a name that a row of a narrow card has room for: beside the outcome, and alone."""
_JOINT = re.compile(r"([_.](?=\w)|[a-z](?=[A-Z]))")


@dataclass(frozen=True, slots=True)
class Asks:
    """Callbacks of a card: apply a fix, compare it, open an example (text, name), choose another
    interpreter."""

    apply: Callable[[Fix], object]
    compare: Callable[[str, Fix], object]
    example: Callable[[str, str], object]
    interpreter: Callable[[], object]


def breakable(text: str, longest: int = LONG_NAME) -> str:
    """The text with places at which a label may break the names of more letters than this: behind a
    slash, and where a part is still longer than that at the other joints."""
    return " ".join(
        "/\u200b".join(
            _JOINT.sub("\\1\u200b", part) if len(part) > longest else part
            for part in word.split("/")
        )
        if len(word) > longest
        else word
        for word in shortened(text).split(" ")
    )


def rule() -> QFrame:
    line = QFrame()
    line.setObjectName("rule")
    line.setFixedHeight(1)
    return line


class Card(QFrame):
    """A frame with a coloured edge; ``state``: ``trouble``, ``warning`` or ``good``, or
    ``harmless`` where a gradient does not flow in all rounds, as it should be."""

    def __init__(self, state: str, theme: Theme) -> None:
        super().__init__()
        self.state = state
        self.set_theme(theme)
        self._is_current = False
        self.column = QVBoxLayout(self)
        self._stand(False)

    def set_theme(self, theme: Theme) -> None:
        """Paint the frame in the colours of a theme."""
        self._theme = theme
        edges = {"trouble": theme.trouble, "warning": theme.warning, "good": theme.success}
        self._edge = edges.get(self.state, theme.text_faint)
        self.update()

    def set_low(self, is_low: bool) -> None:
        """Stand closer together, in a panel of little height."""
        self._stand(is_low)

    def _stand(self, is_low: bool) -> None:
        self.column.setContentsMargins(14, *((6, 12, 6) if is_low else (12, 12, 12)))
        self.column.setSpacing(5 if is_low else 9)
        for fixes in self.findChildren(FixList):
            fixes.set_low(is_low)

    def set_current(self, is_current: bool) -> None:
        """Mark the card, if it is of the call that the graph shows."""
        if is_current != self._is_current:
            self._is_current = is_current
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        border = mix(theme.panel, theme.text, 0.45) if self._is_current else theme.border
        ring = (theme.accent, 2) if self.hasFocus() else (border, 1)
        painter.setPen(QPen(colour(ring[0]), ring[1]))
        painter.setBrush(colour(self._theme.panel))
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(rect, 6, 6)
        painter.setClipRect(QRectF(0, 0, 3.5, self.height()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour(self._edge))
        painter.drawRoundedRect(QRectF(self.rect()), 6, 6)
        painter.end()

    def add_title(self, text: str, beside: QWidget | None = None) -> None:
        title = plain_label(breakable(text), "findingTitle", wraps=True, is_selectable=True)
        more = [(beside, Qt.AlignmentFlag.AlignTop)] if beside is not None else []
        self.column.addLayout(in_row(None, (title, 1), *more, spacing=8))

    def add_words(self, text: str, name: str = "") -> None:
        words = plain_label(breakable(text, LONG_WORD), name, wraps=True, is_selectable=True)
        self.column.addWidget(words)

    def add_links(self, *links: tuple[str, Callable[[], object], str]) -> QHBoxLayout:
        buttons = [link_button(text, tip) for text, _, tip in links]
        for button, (_, act, _) in zip(buttons, links, strict=True):
            button.clicked.connect(act)
        row = in_row(None, *buttons, ..., spacing=16)
        self.column.addLayout(row)
        return row

    def add_rows_of_links(self, links: Sequence[tuple[str, Callable[[], object], str]]) -> None:
        """Add the first links to places that are alike, such as rounds or lines."""
        for start in range(0, min(len(links), MOST_LINKS), LINKS_IN_ROW):
            self.add_links(*links[start : min(start + LINKS_IN_ROW, MOST_LINKS)])

    def add_explanation(self, row: QHBoxLayout, page: Explanation, asks: Asks) -> None:
        """Add a link that unfolds the page about a cause, with its example."""
        toggle = link_button("Why?", "What TensorFlow does, and why")
        toggle.setCheckable(True)
        row.insertWidget(row.count() - 1, toggle)
        inside = QWidget()
        title = plain_label(page.title, "fixTitle", wraps=True)
        words = (plain_label(paragraph, "muted", wraps=True) for paragraph in page.paragraphs)
        column = in_column(inside, title, *words, margins=(0, 4, 0, 0), spacing=8)
        if page.code:
            example = link_button("Open its example", "Run a small snippet that shows it")
            example.clicked.connect(lambda: asks.example(page.code, f"{page.kind}.py"))
            column.addWidget(example)
        inside.hide()
        toggle.toggled.connect(inside.setVisible)
        self.column.addWidget(inside)

    def show_fixes(self, fixes: Sequence[Fix], not_tried: str = "") -> None:
        """Show the fixes that were tried, or why none were; on a card with a list for them."""
        for shown in self.findChildren(FixList):
            shown.show_fixes(fixes, not_tried)


class FixList(QWidget):
    """The fixes that were tried, in their order. ``title``: of the gradient that they mend, or
    empty; ``number``: the round of a loop that their results are of, 0 outside of loops."""

    def __init__(self, title: str, asks: Asks, theme: Theme, number: int = 0) -> None:
        super().__init__()
        self._title, self._number, self._asks, self._theme = title, number, asks, theme
        self._frames: list[tuple[Fix, QFrame]] = []
        self._is_low = False
        self._heading = plain_label("Tried fixes", "heading")
        self._rule = rule()
        self._not_tried = plain_label("", "muted", wraps=True)
        self._column = in_column(self, self._rule, self._heading, self._not_tried, spacing=9)
        self.show_fixes((), "")

    def set_low(self, is_low: bool) -> None:
        """Leave out the heading, in a panel of little height."""
        self._is_low = is_low
        for part in (self._rule, self._heading):
            part.setVisible(bool(self._frames) and not is_low)

    def show_fixes(self, fixes: Sequence[Fix], not_tried: str) -> None:
        """Show these fixes; frames of fixes that were there before stay."""
        before, self._frames = self._frames, []
        for place, fix in enumerate(fixes, self._column.indexOf(self._heading) + 1):
            frame = next((frame for known, frame in before if _are_one(known, fix)), None)
            if frame is None:
                frame = fix_frame(fix, self._title, self._number, self._asks, self._theme)
            self._frames.append((fix, frame))
            if self._column.indexOf(frame) != place:
                self._column.insertWidget(place, frame)
        stay = {frame for _, frame in self._frames}
        for _, frame in before:
            if frame not in stay:
                self._column.removeWidget(frame)
                frame.hide()
                frame.deleteLater()
        self.set_low(self._is_low)
        self._not_tried.setText(f"Fixes were {not_tried}." if not_tried else "")
        self._not_tried.setVisible(bool(not_tried))
        self.setVisible(bool(fixes) or bool(not_tried))


def _are_one(fix: Fix, other: Fix) -> bool:
    return fix is other or (fix == other and fix.value is other.value)


def fix_frame(fix: Fix, title: str, number: int, asks: Asks, theme: Theme) -> QFrame:
    """A frame with a fix: its title beside the button that applies it, its lines, its result, and a
    link to compare it."""
    frame = QFrame()
    frame.setObjectName("fix")
    title_label = plain_label(breakable(fix.title, LONG_WORD), "fixTitle", wraps=True)
    apply = QPushButton("Apply")
    apply.setObjectName("primary")
    apply.setAccessibleName(f"Apply: {fix.title}")
    apply.setToolTip("Take the edit and run it; Ctrl+Z brings the text back")
    apply.clicked.connect(lambda: asks.apply(fix))
    row = in_row(None, (title_label, 1), (apply, Qt.AlignmentFlag.AlignTop), spacing=8)
    diff = DiffView(fix.diff, theme)
    column = in_column(frame, row, diff, margins=(12, 10, 10, 10), spacing=4)
    text = array_text(fix.value, LONGEST_VALUE) if fix.value is not None else ""
    if text and title:
        when = fix_words(fix, number)
        words = f"{title} = {text}" + (f"   ({when})" if when else "")
        column.addWidget(plain_label(words, "code", wraps=True))
    if fix.is_estimate:
        words = "An estimate: it computes another value, or takes another slope, than was written."
        column.addWidget(plain_label(words, "muted", wraps=True))
    beside = link_button("Compare side by side")
    beside.setAccessibleName(f"Compare side by side: {fix.title}")
    beside.clicked.connect(lambda: asks.compare(title, fix))
    column.addWidget(beside, 0, Qt.AlignmentFlag.AlignLeft)
    return frame
