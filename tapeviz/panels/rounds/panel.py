"""Plots of gradients by round, by layer and by turn."""

from __future__ import annotations

from functools import cached_property
from typing import TypeVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from ...analysis.rounds.call_sites import CallSite
from ...analysis.rounds.over_time import TurnShares, plot_sentences, turn_shares
from ...document import Document
from ...document.background import are_same
from ..look import Theme
from ..panel import Panel
from ..rows import fill, in_column, in_row
from ..tensor.plots import ThemedPlot
from ..widgets import isolated, plain_label
from .plots import BarPlot, HeatMap, PlotByRound, RoundPlot, has_norms, has_numbers

_Plot = TypeVar("_Plot", bound=ThemedPlot)

EMPTY = (
    "How gradients change from round to round appears here, once a place in the snippet asks for "
    "them several times, as in a training loop; and turn by turn, when a loop inside the tape uses "
    "a variable again and again."
)
NO_NORMS = "No round has a gradient to plot: each is None, NaN or infinite."
BY_ROUND, BY_LAYER, BY_TURN = "by round", "by layer", "by turn"


class OverTimePanel(Panel):
    """A panel with a plot on the left and its words on the right."""

    title = "Over time"
    name = "over_time"

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__(document, theme)
        self.choice = QComboBox()
        self.choice.setAccessibleName("What is plotted")
        self.choice.setMinimumWidth(96)
        self.choice.activated.connect(self._show_plot)
        self.header_row.addWidget(self.choice)
        self.plots = QStackedWidget()
        self.words = plain_label(wraps=True, is_selectable=True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.empty = plain_label(EMPTY, "empty", wraps=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setContentsMargins(24, 24, 24, 24)
        self._lay_out()
        self._shares: tuple[TurnShares, ...] = ()
        self._seen: tuple[object, ...] = ()
        self._is_stale = True
        document.diagnosis_changed.connect(self._refresh)
        document.view_changed.connect(self._refresh)
        self._refresh()

    def _lay_out(self) -> None:
        beside = QScrollArea()
        beside.setWidgetResizable(True)
        beside.setAccessibleName("What the plots show")
        self.words.setAccessibleName("What the plots show")
        beside.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside = QWidget()
        inside.setObjectName("scrolled")
        in_column(inside, self.words, ..., margins=(12, 8, 12, 8))
        beside.setWidget(inside)
        beside.setMinimumWidth(190)
        self.beside = beside
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.addWidget(self.plots)
        self.split.addWidget(beside)
        self.split.setStretchFactor(0, 3)
        self.split.setStretchFactor(1, 2)
        self.split.setChildrenCollapsible(False)
        row = in_row(None, self.split, margins=(10, 4, 4, 4))
        fill(self.body, (row, 1), (self.empty, 1))

    @cached_property
    def by_round(self) -> RoundPlot:
        """Made when it is first shown, as the others: most windows show none of them."""
        return self._added(RoundPlot(self.theme))

    @cached_property
    def by_layer(self) -> HeatMap:
        return self._added(HeatMap(self.theme))

    @cached_property
    def by_turn(self) -> BarPlot:
        return self._added(BarPlot(self.theme))

    def _added(self, plot: _Plot) -> _Plot:
        if isinstance(plot, PlotByRound):
            plot.round_picked.connect(self.document.select_round)
        self.plots.addWidget(plot)
        return plot

    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        self._refresh()

    def focus_target(self) -> QWidget:
        return self.choice

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._is_stale:  # a tab behind another one is never painted
            QTimer.singleShot(0, self, self._refresh)

    def _refresh(self) -> None:
        """Refresh only if visible: finding turns reads the whole backward pass."""
        self._is_stale = self.visibleRegion().isEmpty()
        if self._is_stale:
            return
        document = self.document
        current, site = document.current_call, document.site
        seen = (document.diagnosis, current, site, self.theme)
        if are_same(seen, self._seen):
            return
        self._seen = seen
        self._shares = () if current is None else turn_shares(document.trace, current)
        plotted = site if site is not None and has_numbers(site) else None
        has_any = plotted is not None or bool(self._shares)
        self.split.setVisible(has_any)
        self.choice.setVisible(has_any)
        self.empty.setVisible(not has_any)
        self.empty.setText(EMPTY if site is None else NO_NORMS)
        self._offer(plotted)
        words = plot_sentences(
            document.trace, document.diagnosis, site, document.round, self._shares
        )
        self.words.setText(isolated("\n\n".join(words)))
        self.beside.setVisible(bool(words))
        self._show_plot()

    def _offer(self, site: CallSite | None) -> None:
        """Offer the plots that have data; the chosen one stays if it can."""
        offered = [BY_ROUND] if site is not None else []
        if site is not None and len(site.sources) > 1 and has_norms(site):
            offered.append(BY_LAYER)
        if self._shares:
            offered.append(BY_TURN)
        chosen = self.choice.currentText()
        if [self.choice.itemText(n) for n in range(self.choice.count())] != offered:
            self.choice.clear()
            self.choice.addItems(offered)
        self.choice.setCurrentIndex(max(offered.index(chosen) if chosen in offered else 0, 0))

    def _show_plot(self) -> None:
        site, number = self.document.site, self.document.round
        chosen = self.choice.currentText()
        if chosen == BY_TURN:
            self.plots.setCurrentWidget(self.by_turn)
            self.by_turn.show_shares(self._shares)
        elif chosen == BY_LAYER and site is not None:
            self.plots.setCurrentWidget(self.by_layer)
            self.by_layer.show_site(site, number)
        elif site is not None:
            self.plots.setCurrentWidget(self.by_round)
            self.by_round.show_site(site, number)
