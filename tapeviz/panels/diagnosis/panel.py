"""The diagnosis in, a column of cards out: one for each gradient asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from ...analysis.alike import SourceResult, alike_results
from ...analysis.model import CallDiagnosis
from ...analysis.rounds.call_sites import CallSite, SourceSeries
from ...document import Document
from ...trace.model import EMPTY_TRACE, CallId
from ..look import Theme
from ..outdated import Veil
from ..panel import Panel
from ..widgets import link_button, plain_label
from .cards import Asks
from .findings import ErrorCard, FindingCard, WarningCard

PAGE = 20
"""Cards made at once; the user can ask for the rest."""
MARGIN = 8
SETTLED = 3000
"""Milliseconds without a change of height after which new pages count as laid out."""
NO_GRADIENT = (
    "The snippet asked for no gradient: it called neither gradient nor jacobian. Compute inside "
    "a block  with tf.GradientTape() as tape:  and call  tape.gradient(y, x)  after it."
)


class DiagnosisPanel(Panel):
    """``compare_requested``: emitted with the trouble in words and the fix to compare."""

    title = "Diagnosis"
    name = "diagnosis"
    apply_requested = Signal(object)
    compare_requested = Signal(str, object)
    example_requested = Signal(str, str)
    """The text of an example to open, and its name."""

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__(document, theme)
        self.setMinimumWidth(290)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setAccessibleName("Cards of the diagnosis")
        self._scroll.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # Tab goes from card to card
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.body.addWidget(self._scroll)
        self._veil = Veil(document, theme, self._scroll)
        self._sought: CallId | None = None
        self._stop_seeking_later = QTimer(self)
        self._stop_seeking_later.setSingleShot(True)
        self._stop_seeking_later.setInterval(SETTLED)
        self._stop_seeking_later.timeout.connect(self._stop_seeking)
        self._scroll.verticalScrollBar().rangeChanged.connect(self._seek)
        self._scroll.verticalScrollBar().actionTriggered.connect(self._stop_seeking)
        self._asks = Asks(
            self.apply_requested.emit, self.compare_requested.emit, self.example_requested.emit
        )
        self._seen: object = None
        self._spread: set[tuple[CallId, str]] = set()
        """(call, first source) of the cards that the user split into a card for each source."""
        self._refresh_later = QTimer(self)
        self._refresh_later.setSingleShot(True)
        self._refresh_later.setInterval(0)
        self._refresh_later.timeout.connect(self.refresh)
        self.refresh()
        document.diagnosis_changed.connect(self._refresh_later.start)
        document.status_changed.connect(self._show_summary)
        document.progress_changed.connect(self._show_summary)
        document.call_reveal_requested.connect(self._show_call)
        document.view_changed.connect(self._mark_current)

    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        self._veil.set_theme(theme)
        self.refresh()

    def focus_target(self) -> QWidget:
        cards = (card for card in self._cards if card.focusPolicy() & Qt.FocusPolicy.TabFocus)
        return next(cards, self._scroll)

    @property
    def cards(self) -> list[QWidget]:
        return self._cards

    def refresh(self) -> None:
        """Make the cards again, at most a page, and keep the scroll position."""
        place = self._scroll.verticalScrollBar().value()
        inside = QWidget()
        inside.setObjectName("scrolled")
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(10, 2, 10, 12)
        self._column.setSpacing(10)
        self._more = link_button("")
        self._more.clicked.connect(self._add_page)
        self._summary = plain_label(name="faint", wraps=True)
        self._column.addWidget(self._more)
        self._column.addWidget(self._summary)
        self._column.addStretch(1)
        self._makers = list(self._card_makers())
        self._made = 0
        self._cards: list[QWidget] = []
        self._add_page()
        self._show_summary()
        self._scroll.setWidget(inside)
        before: QWidget = self._scroll
        for reached in inside.findChildren(QWidget):  # Tab goes through the cards as they stand
            if reached.focusPolicy() & Qt.FocusPolicy.TabFocus:
                QWidget.setTabOrder(before, reached)
                before = reached
        self._stop_seeking_later.start()
        QTimer.singleShot(0, self, lambda: self._keep_place(place))

    def _keep_place(self, place: int) -> None:
        """Keep the scroll position; after a run, bring the card of the drawn call into sight."""
        document = self.document
        is_new = not document.is_running and document.trace is not self._seen
        if is_new:
            self._seen = document.trace
            self._spread.clear()
        current = document.current_call
        if is_new and current is not None and document.diagnosis.error is None:
            self._scroll.verticalScrollBar().setValue(0)
            self._show_call(current.call.id)
        else:
            self._scroll.verticalScrollBar().setValue(place)

    def _card_makers(self) -> Iterator[Callable[[], QWidget]]:
        document, diagnosis = self.document, self.document.diagnosis
        if diagnosis.error is not None:
            error = diagnosis.error
            yield lambda: ErrorCard(document, self.theme, error, self._asks)
        for group in diagnosis.groups:
            if group.is_troubled:
                yield from self._group_makers(group)
        for warned in diagnosis.warnings:  # above what flows: they say what it does not count
            yield lambda warned=warned: WarningCard(document, self.theme, warned)  # type: ignore[misc]
        for group in diagnosis.groups:
            if not group.is_troubled:
                yield from self._group_makers(group)

    def _group_makers(self, group: CallSite | CallDiagnosis) -> Iterator[Callable[[], QWidget]]:
        """Makers of a card for each source, or for sources with the same outcome; trouble comes
        first."""
        groups = alike_results(self.document.diagnosis, group)
        for alike in sorted(groups, key=lambda results: not results[0].is_troubled):
            call, first = alike[0].call.call, alike[0].finding
            is_apart = len(alike) == 1 or (call.id, first.source) in self._spread
            for result in alike if is_apart else alike[:1]:
                yield partial(self._finding_card, result, () if is_apart else alike)

    def _finding_card(self, result: SourceResult, alike: Sequence[SourceResult]) -> FindingCard:
        def spread() -> None:
            self._spread.add((result.call.call.id, result.finding.source))
            self.refresh()

        return FindingCard(self.document, self.theme, result, self._asks, alike, spread)

    def _add_page(self) -> None:
        for make in self._makers[self._made : self._made + PAGE]:
            card = make()
            self._cards.append(card)
            self._column.insertWidget(self._column.indexOf(self._more), card)
            self._made += 1
        self._mark_current()
        rest = len(self._makers) - self._made
        self._more.setText(f"Show {min(rest, PAGE)} more of {rest}")
        self._more.setVisible(rest > 0)

    def _mark_current(self) -> None:
        """Mark the cards of the call in the graph, if there are several calls."""
        current = self.document.current_call
        is_one_of_many = len(self.document.diagnosis.groups) > 1
        for card in self._cards:
            if isinstance(card, FindingCard):
                is_current = current is not None and card.shows(current.call.id)
                card.set_current(is_one_of_many and is_current)
                card.follow(current.call.id if current is not None else None)

    def _show_call(self, call: CallId) -> None:
        card = self._card_of(call)
        if card is not None:
            self._bring_into_sight(card)
            if self._stop_seeking_later.isActive():  # the cards were just made and may still move
                self._seek_card(call)
        elif self._made < len(self._makers):
            while self._made < len(self._makers) and self._card_of(call) is None:
                self._add_page()
            self._stop_seeking_later.start()
            self._seek_card(call)  # it has no place yet: the pages are laid out bit by bit

    def _seek_card(self, call: CallId) -> None:
        self._sought = call
        card = self._card_of(call)
        if card is not None:
            card.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the card to bring into sight when cards above it change their height."""
        if event.type() == QEvent.Type.Move:
            self._seek()
        return super().eventFilter(watched, event)

    def _seek(self) -> None:
        """Bring the wanted card into sight again after a layout, which may have moved it."""
        card = None if self._sought is None else self._card_of(self._sought)
        if card is not None:
            self._stop_seeking_later.start()
            QTimer.singleShot(0, card, lambda: self._bring_into_sight(card))

    def _stop_seeking(self) -> None:
        self._sought = None

    def _card_of(self, call: CallId) -> FindingCard | None:
        cards = (card for card in self._cards if isinstance(card, FindingCard))
        return next((card for card in cards if card.shows(call)), None)

    def _bring_into_sight(self, card: QWidget) -> None:
        """Scroll to a card; if it is higher than the panel, to its beginning."""
        bar, room = self._scroll.verticalScrollBar(), self._scroll.viewport().height()
        top, bottom = card.y(), card.y() + card.height()
        if top < bar.value() or bottom - top > room:
            bar.setValue(top - MARGIN)
        elif bottom > bar.value() + room:
            bar.setValue(bottom - room + MARGIN)

    def _show_summary(self) -> None:
        self._summary.setText(self._summary_text())

    def _summary_text(self) -> str:
        document, diagnosis = self.document, self.document.diagnosis
        if document.is_running and not diagnosis.calls:
            return "Running …"
        if "diagnose" in document.background.busy:
            return "Looking for the cause …"
        if document.trace is EMPTY_TRACE:
            return "Each gradient that the snippet asks for gets a card here."
        calls, groups = len(diagnosis.calls), diagnosis.groups
        asked = [
            item.is_troubled if isinstance(item, SourceSeries) else item.status != "flows"
            for group in groups
            for item in (group.sources if isinstance(group, CallSite) else group.findings)
        ]
        if not calls and not diagnosis.error:
            return NO_GRADIENT
        if not calls:
            return "It ended before a gradient was asked for."
        parts = [_count(calls, "call"), _count(len(asked), "source")]
        if len(groups) < calls:
            parts.insert(1, f"from {_count(len(groups), 'place')}")
        troubled = sum(asked)
        verb = "does" if troubled == 1 else "do"
        parts.append(f"{troubled} {verb} not flow" if troubled else "every gradient flows")
        if "fixes" in document.background.busy:
            parts.append("trying fixes …")
        return " · ".join(parts)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' if number != 1 else ''}"
