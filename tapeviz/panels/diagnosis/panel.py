"""A column of cards: one for each gradient asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

from ...document import Document
from ...trace.ids import CallId
from ..look import Theme
from ..outdated import Veil
from ..panel import Panel
from ..rows import in_column
from ..widgets import link_button, plain_label
from .cards import Asks, Card
from .choosing import CardChooser, WantedCard
from .findings import FindingCard
from .kept_place import KeptPlace
from .summary import outcomes_of, summary_words

PAGE = 20
"""Cards shown; the user can ask for the rest."""
LOW = 300
"""Px of height of a panel in which cards stand closer together."""
SLICE = 0.008
"""Seconds after which the next step towards the cards is done in another turn of the event loop."""
MARGIN = 8
SETTLED = 3000
"""Milliseconds without a change of height after which new pages count as laid out."""


class DiagnosisPanel(Panel):
    """The column of cards. ``compare_requested``: emitted with the trouble in words and the fix to
    compare."""

    title = "Diagnosis"
    name = "diagnosis"
    apply_requested = Signal(object)
    compare_requested = Signal(str, object)
    example_requested = Signal(str, str)
    """The text of an example to open, and its name."""
    interpreter_requested = Signal()

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__(document, theme)
        self.setMinimumWidth(290)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setAccessibleName("Cards of the diagnosis")
        self._scroll.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # Tab goes from card to card
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._inside = _Inside()
        self._inside.setObjectName("scrolled")
        self._more = link_button("")
        self._more.clicked.connect(self._add_page)
        self._summary = plain_label(name="faint", wraps=True)
        below = (self._more, self._summary, ...)
        self._column = in_column(self._inside, *below, margins=(10, 2, 10, 12), spacing=10)
        self._scroll.setWidget(self._inside)
        self.body.addWidget(self._scroll)
        self.next_trouble = link_button("", "Go to the next of them")
        self.next_trouble.clicked.connect(self._show_next_trouble)
        self.header_row.addWidget(self.next_trouble)
        self._visited: FindingCard | None = None
        """The card of trouble gone to last."""
        self._wanted: list[WantedCard] = []
        """The first of the cards to show, up to the goal; the next come from ``_rest``."""
        self._rest: Iterator[WantedCard] = iter(())
        self._count = 0
        """The number of cards to show in all."""
        self._cards: list[Card] = []
        """The cards of the first of them."""
        self._made: dict[tuple[int, ...], tuple[WantedCard, Card]] = {}
        """The cards by the ids of what they were made from; the wanted card keeps these objects, so
        that no other object gets their ids."""
        self._goal = PAGE
        self._leaving: list[Card] = []
        """Cards of before, each in sight until another one is in its place."""
        self._place = 0
        self._veil = Veil(document, theme, self._scroll)
        self._kept_place = KeptPlace(self._scroll)
        self._sought: CallId | None = None
        self._stop_seeking_later = QTimer(self, singleShot=True, interval=SETTLED)
        self._stop_seeking_later.timeout.connect(self._stop_seeking)
        self._scroll.verticalScrollBar().rangeChanged.connect(self._seek)
        self._scroll.verticalScrollBar().actionTriggered.connect(self._stop_seeking)
        asks = Asks(
            self.apply_requested.emit,
            self.compare_requested.emit,
            self.example_requested.emit,
            self.interpreter_requested.emit,
        )
        self._chooser = CardChooser(document, asks, self.refresh)
        self._has_seen = False
        """The card of the drawn call was brought into sight for this trace."""
        self.refresh()
        document.trace_changed.connect(self._take_trace)
        document.diagnosis_changed.connect(self._show_summary)
        document.diagnosis_changed.connect(lambda: document.jobs.ask(self.refresh))
        document.status_changed.connect(self._show_summary)
        document.progress_changed.connect(self._show_summary)
        document.call_reveal_requested.connect(self._show_call)
        document.view_changed.connect(self._mark_current)

    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        for card in self._cards:  # others come in later turns of the event loop
            card.set_theme(theme)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for card in self._cards:
            card.set_low(self._is_low)

    @property
    def _is_low(self) -> bool:
        return self.height() < LOW

    def focus_target(self) -> QWidget:
        cards = (card for card in self._cards if card.focusPolicy() & Qt.FocusPolicy.TabFocus)
        return next(cards, self._scroll)

    @property
    def cards(self) -> list[Card]:
        return self._cards

    @property
    def is_settled(self) -> bool:
        """Whether all cards that are to be shown are made."""
        jobs = self.document.jobs
        return not (jobs.awaits(self.refresh) or jobs.awaits(self._add_cards))

    def refresh(self) -> None:
        """Show a card for each gradient, at most a page, and keep the scroll position.

        Cards that would come out the same stay: the user may be reading one when a fix arrives.
        """
        until = time.perf_counter() + SLICE
        if self.is_settled:
            self._place = self._scroll.verticalScrollBar().value()
        if self._is_new:
            self._chooser.share_again()
        self._wanted = []
        self._count, self._rest = self._chooser.choose(self.theme)
        self._set_goal(PAGE)
        wanted = {card.key for card in self._wanted}
        self._leaving = [card for key, (_, card) in self._made.items() if key not in wanted]
        self._cards = []
        self._show_summary()
        # To find which of many sources are alike takes as long as a card.
        if time.perf_counter() > until or self._add_cards():
            self.document.jobs.ask(self._add_cards)

    @property
    def _is_new(self) -> bool:
        """Whether the cards are the first of a run that is over; those of a part of it go soon."""
        is_part = self.document.is_running or "diagnose" in self.document.background.busy
        return not (is_part or self._has_seen)

    def _take_trace(self) -> None:
        self._has_seen = False

    def _finish(self) -> None:
        """All cards are made: drop those of before, and bring the card of the call into sight."""
        kept = set(self._cards)
        for card in [card for _, card in self._made.values() if card not in kept]:
            self._drop(card)
        self._leaving = []
        self._order_keys()
        rest = self._count - len(self._cards)
        self._more.setText(f"Show {min(rest, PAGE)} more of {rest}")
        self._more.setVisible(rest > 0)
        self._stop_seeking_later.start()
        QTimer.singleShot(0, self, self._keep_place)

    def _drop(self, card: Card) -> None:
        self._made = {key: known for key, known in self._made.items() if known[1] is not card}
        self._column.removeWidget(card)
        focused = QApplication.focusWidget()
        if focused is not None and (focused is card or card.isAncestorOf(focused)):
            self._scroll.setFocus()  # Tab leads from here to the new cards
        card.hide()
        card.deleteLater()

    def _keep_place(self) -> None:
        """Keep the scroll position; after a run, bring the card of the drawn call into sight."""
        if not self.is_settled:
            return  # other cards come, and this again
        document, bar = self.document, self._scroll.verticalScrollBar()
        is_new = self._is_new
        self._has_seen = self._has_seen or is_new
        current = document.current_call
        if is_new and current is not None and document.diagnosis.error is None:
            bar.setValue(0)
            card, states = self._card_of(current.call.id), {card.state for card in self._cards}
            if card is None or card.state != "good" or states == {"good"}:  # else trouble is above
                self._show_call(current.call.id)
        elif self._sought is None:
            bar.setValue(self._place)
        else:
            self._seek_card(self._sought)
            self._seek()

    def _set_goal(self, goal: int) -> None:
        """Show this many cards, or all if there are fewer."""
        self._goal = goal
        self._wanted += islice(self._rest, max(goal - len(self._wanted), 0))

    def _add_page(self) -> None:
        self._set_goal(len(self._cards) + PAGE)
        self.document.jobs.ask(self._add_cards)

    def _add_cards(self) -> bool:
        """Show the next cards, as many as there is time for; returns whether there are more. Those
        of a diagnosis that another has replaced are not made."""
        if self.document.jobs.awaits(self.refresh):
            return False
        until = time.perf_counter() + SLICE
        wanted = self._wanted[: self._goal]
        while len(self._cards) < len(wanted):
            self._add_card(wanted[len(self._cards)])
            if time.perf_counter() > until:
                break
        self._mark_current()
        self._lay_out()
        is_sought = self._sought is not None and self._card_of(self._sought) is None
        if len(self._cards) == len(wanted) < self._count and is_sought:
            self._set_goal(self._goal + PAGE)
        is_done = len(self._cards) == min(self._goal, self._count)
        if is_done:
            self._finish()
        return not is_done

    def _add_card(self, wanted: WantedCard) -> None:
        """Make the next card, or show it, if it is made: each may take half of a slice and more."""
        if wanted.key not in self._made:
            self._made[wanted.key] = (wanted, wanted.make())
            return
        _, card = self._made[wanted.key]
        place = len(self._cards)
        card.show_fixes(wanted.fixes, wanted.not_tried)
        if card.parent() is None:
            card.set_low(self._is_low)
            self._column.insertWidget(place, card)
            card.show()  # now, and not in a later turn: its words have their font then
            if self._leaving:
                self._drop(self._leaving.pop(0))
        elif self._column.indexOf(card) != place:
            self._column.insertWidget(place, card)
        self._made[wanted.key] = (wanted, card)
        self._cards.append(card)

    def _order_keys(self) -> None:
        """Let Tab go through the cards as they stand."""
        before: QWidget = self._scroll
        for place in (*self._cards, self._more):
            for reached in (place, *place.findChildren(QWidget)):
                if reached.focusPolicy() & Qt.FocusPolicy.TabFocus:
                    QWidget.setTabOrder(before, reached)
                    before = reached

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
        elif len(self._cards) < self._count:
            self._stop_seeking_later.start()
            self._sought = call  # it comes with the next pages
            self.document.jobs.ask(self._add_cards)

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
        if self._sought is not None:
            self._stop_seeking_later.start()
            QTimer.singleShot(0, self, self._bring_sought)

    def _bring_sought(self) -> None:
        card = None if self._sought is None else self._card_of(self._sought)
        if card is not None:
            self._bring_into_sight(card)

    def _stop_seeking(self) -> None:
        self._sought = None

    def _card_of(self, call: CallId) -> FindingCard | None:
        cards = (card for card in self._cards if isinstance(card, FindingCard))
        return next((card for card in cards if card.shows(call)), None)

    def _bring_into_sight(self, card: QWidget) -> None:
        """Scroll to the beginning of a card, if it is not in sight as a whole."""
        self._kept_place.forget()
        bar, room = self._scroll.verticalScrollBar(), self._scroll.viewport().height()
        if card.y() < bar.value() or card.y() + card.height() > bar.value() + room:
            bar.setValue(card.y() - MARGIN)

    def _show_next_trouble(self) -> None:
        """Give the keyboard to the next card of a gradient that does not flow, and show its call;
        after the last one the first."""
        findings = (card for card in self._cards if isinstance(card, FindingCard))
        cards = [card for card in findings if card.state == "trouble"]
        if cards:
            at = cards.index(self._visited) if self._visited in cards else -1
            self._visited = cards[(at + 1) % len(cards)]
            self._visited.setFocus()
            self._visited.show_call()
            self._stop_seeking()
            self._kept_place.forget()
            self._scroll.verticalScrollBar().setValue(self._visited.y() - MARGIN)

    def _show_summary(self) -> None:
        outcomes = outcomes_of(self.document)
        asked, troubled = outcomes.asked, outcomes.troubled
        verb = "does" if troubled == 1 else "do"
        self.next_trouble.setText(f"{troubled:,} of {asked:,} {verb} not flow")
        self.next_trouble.setVisible(bool(troubled) and asked > 1)
        words = summary_words(self.document, outcomes)
        if words != self._summary.text():
            self._summary.setText(words)
            self._lay_out()

    def _lay_out(self) -> None:
        """Give cards and summary their heights now: else they are painted once at those that they
        had before their words came."""
        inside, room = self._inside, self._scroll.viewport().height()
        self._column.activate()
        inside.resize(inside.width(), max(self._column.totalHeightForWidth(inside.width()), room))


class _Inside(QWidget):
    """The column that is scrolled. A scroll area asks it for its size hint whenever its height
    changes, for which Qt would lay out all cards in another width (``QLayout::totalSizeHint``,
    Qt 6.11)."""

    def sizeHint(self) -> QSize:
        column = self.layout()
        assert column is not None
        return column.sizeHint()
