"""Plot rounds, layers or turns of a call site, by pyqtgraph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics

from ...analysis.rounds.call_sites import CallSite, Numbers
from ...analysis.rounds.over_time import TurnShares
from ...analysis.rounds.round_words import number_text
from ...scene.theme import rgb
from ..look import Theme, font, mix
from ..tensor.plots import LABEL, ThemedPlot, colour_map
from .sparkline import logarithms, scaled, spans_decades

_DASHES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine)
MOST_LINES = 12
MOST_ROUNDS_DRAWN = 4_000
LONGEST_NAME = 22
LEGEND_ROW, LEGEND_EDGE, AXIS = 20, 22, 28
"""Px of height: a row of names, the edges around them, and the axis with its numbers."""
ROOM_FOR_LEGEND = (330, 130)
LEGEND_COLUMNS, LEGEND_SAMPLE, LEGEND_TEXT = 3, 44, 11
"""Columns of names at most; px of width of a sample with its margins, and of height of a name."""
LEGEND_PART = 0.5
"""The part of the plot's height that the legend takes at most."""
_DECADES = 1.0
"""Decades from which the powers of ten alone are labelled."""
APART = 8.0
"""Lines whose highest points differ by this factor have a logarithmic axis."""
FEW_ROUNDS = 12
"""Up to this many rounds each have a number on the axis, whatever the width."""


class PlotByRound(ThemedPlot):
    """Rounds from left to right, a line at the one that is shown; a click shows another."""

    round_picked = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setMouseEnabled(False, False)
        self._theme = theme
        self._site: CallSite | None = None
        self._here: Any = None
        self.scene().sigMouseClicked.connect(self._pick)

    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        self._theme, self._site = theme, None

    def show_site(self, site: CallSite, number: int) -> None:
        """Draws the rounds of a call site, and marks one of them (from 1)."""
        if site is not self._site:
            self._site = site
            self.clear()
            self.draw(site)
            every = [(float(n), str(n)) for n in range(1, len(site) + 1)]
            self.getAxis("bottom").setTicks([every] if len(site) <= FEW_ROUNDS else None)
            self._here = pg.InfiniteLine(0, pen=pg.mkPen(self._theme.text, width=1.2))
            self.addItem(self._here)
        self._here.setValue(number)

    def draw(self, site: CallSite) -> None:
        raise NotImplementedError

    def _pick(self, event: Any) -> None:
        if self._site is not None:
            x = self.getPlotItem().getViewBox().mapSceneToView(event.scenePos()).x()
            self.round_picked.emit(max(1, min(len(self._site), round(x))))


class RoundPlot(PlotByRound):
    """The norm of each source's gradient, on the left axis, and the value of the target, on the
    right one: they are no numbers of one kind."""

    def __init__(self, theme: Theme) -> None:
        self._drawn: list[tuple[Any, Numbers]] = []
        """(view box, the heights in it)."""
        self._named: list[tuple[Any, str]] = []
        """(pen, name) of each line."""
        self._right = pg.ViewBox(enableMenu=False)
        super().__init__(theme)
        self._right.setMouseEnabled(False, False)
        item, axis = self.getPlotItem(), self.getAxis("right")
        item.scene().addItem(self._right)
        axis.linkToView(self._right)
        self._right.setXLink(item)
        item.getViewBox().sigResized.connect(self._overlay)
        self.setAccessibleName("Norms of the gradients and value of the target by round")

    @property
    def boxes(self) -> tuple[Any, Any]:
        """The view boxes of the left and of the right axis."""
        return self.getPlotItem().getViewBox(), self._right

    def _overlay(self) -> None:
        self._right.setGeometry(self.getPlotItem().getViewBox().sceneBoundingRect())

    def draw(self, site: CallSite) -> None:
        theme = self._theme
        series = sorted(site.sources, key=lambda series: -float(np.nansum(series.norms)))[
            :MOST_LINES
        ]
        left, right = self.boxes
        self._right.clear()
        self._named = []
        rounds = np.arange(1.0, len(site) + 1)
        has_target = bool(np.isfinite(site.target_values).any())
        self.showAxis("right", has_target)
        values = site.target_values
        pen = pg.mkPen(theme.accent, width=2)
        if has_target:
            is_log = spans_decades(values)
            axis = self.getAxis("right")
            axis.setLogMode(is_log)
            axis.setTextPen(theme.accent)
            axis.setStyle(tickFont=font("sans", 11), tickLength=-4)
            axis.setPen(theme.border)
            values = logarithms(values) if is_log else values
            curve = pg.PlotDataItem(rounds, values, pen=pen, connect="finite")
            self._thin_out(curve, rounds)
            self._right.addItem(curve)
            self._named.append((pen, f"{site.target} (right)"))
        self.showAxis("left", has_norms(site))
        table = np.stack([each.norms for each in series]) if series else np.zeros((0, len(site)))
        is_log = spans_decades(table) or are_apart(table)
        self.getAxis("left").setLogMode(is_log)
        table = logarithms(table) if is_log else table
        for place, each in enumerate(series):
            tone = mix(theme.gradient, theme.text_muted, place / max(len(series), 2))
            pen = pg.mkPen(tone, width=1.6, style=_DASHES[place % len(_DASHES)])
            self._thin_out(self.plot(rounds, table[place], pen=pen, connect="finite"), rounds)
            if np.isfinite(each.norms).any():
                self._named.append((pen, f"‖∂{shortened(each.source)}‖"))
        for number in site.special:
            self.addItem(pg.InfiniteLine(number, pen=pg.mkPen(theme.trouble, style=_DASHES[2])))
        self.setXRange(1, max(len(site), 2), padding=0.02)
        self._drawn = [(left, table), (right, values)]
        self._leave_room()
        self._label_decades(table, is_log)

    def _label_decades(self, heights: Numbers, is_log: bool) -> None:
        """Label powers of ten alone where the axis has several: with others between them the labels
        of a low plot overlap."""
        known = heights[np.isfinite(heights)]
        has_several = is_log and known.size > 0 and float(np.ptp(known)) >= _DECADES
        self.getAxis("left").setStyle(maxTextLevel=0 if has_several else 2)

    def _leave_room(self) -> None:
        """The legend stands above the lines."""
        rows = self._fill_legend()
        part = (LEGEND_ROW * rows + LEGEND_EDGE) / max(self.height() - AXIS, 1)
        above = part / (1 - part) if rows else 0.04
        for box, heights in self._drawn:
            known = heights[np.isfinite(heights)]
            low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
            span = (high - low) or abs(high) or 1.0
            box.setYRange(low - 0.04 * span, high + above * span, padding=0)

    def _thin_out(self, curve: Any, rounds: Numbers) -> None:
        if len(rounds) > MOST_ROUNDS_DRAWN:
            curve.setDownsampling(auto=True, method="peak")

    @property
    def _has_room(self) -> bool:
        width, height = ROOM_FOR_LEGEND
        return bool(self.width() >= width and self.height() >= height)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if self._drawn:  # it may have been drawn while it could not be seen
            self._leave_room()

    def _fill_legend(self) -> int:
        """Name as many lines as there is room for above them; gives the number of rows."""
        legend = self._new_legend()
        names = [name for _, name in self._named]
        rows = int((LEGEND_PART * (self.height() - AXIS) - LEGEND_EDGE) // LEGEND_ROW)
        if not (self._has_room and names and rows > 0):
            return 0
        font = QFont(self.font())
        font.setPixelSize(LEGEND_TEXT)
        widest = max(map(QFontMetrics(font).horizontalAdvance, names)) + LEGEND_SAMPLE
        columns = int(min(max((self.width() - AXIS) // widest, 1), LEGEND_COLUMNS))
        shown = self._named if len(names) <= rows * columns else self._named[: rows * columns - 1]
        legend.setColumnCount(columns)
        for pen, name in shown:
            legend.addItem(pg.PlotDataItem(pen=pen), name)
        if len(shown) < len(names):
            legend.addItem(pg.PlotDataItem(pen=None), f"and {len(names) - len(shown)} more")
        return -(-min(len(shown) + 1, len(names)) // columns)

    def _new_legend(self) -> Any:
        item = self.getPlotItem()
        if item.legend is not None:
            item.legend.scene().removeItem(item.legend)
            item.legend = None
        theme = self._theme
        ground = pg.mkBrush(*rgb(theme.panel), 225)  # a line behind words does not cross them out
        legend = item.addLegend(offset=(-8, 6), labelTextColor=theme.text_muted, brush=ground)
        legend.setLabelTextSize(f"{LEGEND_TEXT}px")
        return legend


class HeatMap(PlotByRound):
    """Sources down: the norms, by their logarithm where they span decades."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setAccessibleName("Norms of the gradients by layer and round")
        self.getPlotItem().getViewBox().invertY(True)
        self.getPlotItem().setContentsMargins(0, LABEL, 0, 0)  # half of the first name reaches out

    def draw(self, site: CallSite) -> None:
        theme = self._theme
        table = np.stack([series.norms for series in site.sources])
        heights = scaled(table)
        known = heights[np.isfinite(heights)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        image = pg.ImageItem(heights, axisOrder="row-major", levels=(low, max(high, low + 1e-9)))
        image.setColorMap(colour_map(theme, True, False))
        image.setRect(0.5, 0, len(site), len(site.sources))
        self.addItem(image)
        names = [(n + 0.5, shortened(series.source)) for n, series in enumerate(site.sources)]
        step = max(1, len(names) // 14)
        self.getAxis("left").setTicks([names[::step]])
        ends = table[np.isfinite(heights)]
        words = "round"
        if ends.size:
            words += f" · norms from {number_text(ends.min())} (pale) to {number_text(ends.max())}"
        self.getAxis("bottom").setLabel(words, color=theme.text_muted)
        self.setXRange(0.5, len(site) + 0.5, padding=0)
        self.setYRange(0, len(site.sources), padding=0)


class BarPlot(ThemedPlot):
    """Draw the share of each turn of a loop in a gradient, in per cent of all turns."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setAccessibleName("Shares of the gradient by turn")
        self.setMouseEnabled(False, False)
        self._theme = theme

    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        self._theme = theme

    def show_shares(self, shares: Sequence[TurnShares]) -> None:
        theme = self._theme
        self.clear()
        count = len(shares)
        for place, share in enumerate(shares):
            turns = np.arange(1, len(share.norms) + 1) + (place + 0.5) / count * 0.8 - 0.4
            tone = mix(theme.gradient, theme.text_muted, place / max(count, 2))
            bars = pg.BarGraphItem(
                x=turns, height=100 * share.parts, width=0.8 / count, brush=tone, pen=None
            )
            self.addItem(bars)
        most = max((len(share.norms) for share in shares), default=1)
        self.setXRange(0.5, most + 0.5, padding=0.01)
        self.getPlotItem().getViewBox().enableAutoRange(axis="y")
        names = ", ".join(f"∂{share.source} (line {share.line})" for share in shares[:4])
        self.getAxis("bottom").setLabel(f"turn · share in % of {names}", color=theme.text_muted)


def has_norms(site: CallSite) -> bool:
    """Whether a round of any source has a finite gradient."""
    return any(bool(np.isfinite(series.norms).any()) for series in site.sources)


def has_numbers(site: CallSite) -> bool:
    """Whether there is anything to plot by round."""
    return has_norms(site) or bool(np.isfinite(site.target_values).any())


def are_apart(table: Numbers) -> bool:
    """Whether a line of positive numbers, drawn beside the others, would be flat at the bottom."""
    known = np.where(np.isfinite(table), table, 0.0)
    highest = known.max(axis=1, initial=0.0)
    highest = highest[highest > 0]
    return bool(highest.size and (known >= 0).all() and highest.max() >= APART * highest.min())


def shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]
