"""The numbers of a card: the gradient of each of its sources, or the one across the cut."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QLayout, QWidget

from ...analysis.alike import SourceResult
from ...analysis.findings import Finding
from ...analysis.run_words import bridge_heading, result_in_a_line, trust_words
from ...document import Document
from ...graph.words import shape_words
from ...scene.parts.numbers import type_text
from ...trace.ids import TensorId
from ...trace.stats import Array
from ..look import Theme
from ..rows import fill, in_column, in_row
from ..tensor.values import MOST_CELLS, ValueTable, as_table
from ..widgets import ShortLabel, isolated, link_button, plain_label
from .cards import breakable, rule

MOST_ROWS, MOST_COLUMNS = 8, 5
NARROW = 140
"""Px; a table of values that is wider has its words below it."""
MOST_ALIKE = 6
"""Sources with the same outcome that a card names, at most."""
NORM = "norm "
NAME, OUTCOME = 92, 120
"""Px that the name of such a source has at least if it is as long, and the number beside it:
together what the narrowest card has room for. A longer name is broken over several lines."""


class Gradients(QWidget):
    """A widget with the numbers of a card. ``title``: of the card, which names its first
    sources."""

    def __init__(self, document: Document, theme: Theme, title: str) -> None:
        super().__init__()
        self._document, self._theme, self._title = document, theme, title
        self._column = in_column(self, spacing=9)

    def show_results(
        self, results: Sequence[SourceResult], names: Sequence[str], in_round: int
    ) -> None:
        """Show the gradients of one or several sources, with their ``names``. ``in_round``: of a
        loop the round that they are of, 0 outside of loops."""
        _clear(self._column)
        if len(results) > 1:
            self._add_alike(results, names, in_round)
        else:
            finding = results[0].finding
            if results[0].series is None:
                self._add_gradient(finding)
            self._add_bridge(finding, in_round)
        self.setVisible(self._column.count() > 0)

    def _add_gradient(self, finding: Finding) -> None:
        if finding.tensor is None or self._document.trace.words.get(finding.tensor) == "unknown":
            return
        self._column.addWidget(rule())
        kind = type_text(finding.dtype, finding.shape)
        self._column.addWidget(plain_label(f"Gradient · {kind}", "heading"))
        self._add_values(finding.tensor)

    def _add_bridge(self, finding: Finding, in_round: int) -> None:
        across = finding.across
        if across is None:
            self._add_no_bridge(finding)
            return
        self._column.addWidget(rule())
        heading, trust = bridge_heading(finding, in_round), trust_words(finding)
        trust = trust[:1].upper() + trust[1:]
        if isinstance(across, int):
            self._add_values(across, trust, heading)
        else:
            self._add_array(across, trust, heading)

    def _add_no_bridge(self, finding: Finding) -> None:
        if finding.no_bridge:
            words = f"No gradient across the cut: {finding.no_bridge}."
            self._column.addWidget(plain_label(words, "muted", wraps=True))

    def _add_alike(
        self, results: Sequence[SourceResult], names: Sequence[str], in_round: int
    ) -> None:
        """A row for each of the first sources, unless the rows would only repeat the names of the
        title."""
        first = results[0]
        self._column.addWidget(rule())
        if first.finding.across is not None:
            heading = bridge_heading(first.finding, in_round)
            self._column.addWidget(plain_label(heading, "heading", wraps=True))
        else:
            self._add_no_bridge(first.finding)
        rows = QGridLayout()
        rows.setHorizontalSpacing(14)
        rows.setVerticalSpacing(3)
        rows.setColumnStretch(1, 1)
        shown = [result_in_a_line(self._document.trace, result) for result in results[:MOST_ALIKE]]
        is_series = first.series is not None and first.finding.across is None
        if first.series is not None and shown[0].startswith(NORM):
            shown = [words.removeprefix(NORM) for words in shown]  # the line above says it
        says_more = any(shown) or names[0] not in self._title
        for row, words in enumerate(shown if says_more else ()):
            called = _Name(names[row])
            # Of a single gradient the whole shape is shown, or none.
            label = ShortLabel("muted", between=", " if is_series else ", [")
            label.setText(words)
            label.keeps = OUTCOME
            label.wants_least = True
            rows.addWidget(called, row, 0, Qt.AlignmentFlag.AlignTop)
            rows.addWidget(label, row, 1, Qt.AlignmentFlag.AlignTop)
        self._column.addLayout(rows)

    def _add_values(self, tensor: TensorId, beside: str = "", heading: str = "") -> None:
        value = self._document.values.value_of(tensor)
        if value is None or value.size > MOST_CELLS or value.size == 0:
            if heading:
                self._column.addWidget(plain_label(heading, "heading", wraps=True))
            self._add_summary(tensor)
            if beside:
                self._column.addWidget(plain_label(beside, "muted", wraps=True))
            return
        self._add_array(value, beside, heading)

    def _add_array(self, value: Array, beside: str = "", heading: str = "") -> None:
        """``heading``, ``beside``: what the numbers are, and what is known about them; beside a
        narrow table, else above and below it."""
        shown = as_table(value)[:MOST_ROWS, :MOST_COLUMNS]
        cells = ValueTable(self._theme, True, (54, 27))
        cells.soften()
        cells.show_array(shown, True)
        words = [
            plain_label(text, name, wraps=True)
            for text, name in ((heading, "heading"), (beside, "muted"))
            if text
        ]
        if words and cells.sizeHint().width() <= NARROW:
            column = in_column(None, *words, ..., spacing=2)
            top = Qt.AlignmentFlag.AlignTop
            self._column.addLayout(in_row(None, (cells, top), (column, 1), spacing=12))
        else:
            above = 1 if heading else 0
            fill(self._column, *words[:above], cells, *words[above:])
        if shown.size < value.size:
            about = f"the first of {shape_words(value.shape)}"
            self._column.addWidget(plain_label(about, "faint"))

    def _add_summary(self, tensor: TensorId) -> None:
        trace = self._document.trace
        known, stats = trace.tensors.get(tensor), trace.stats(tensor)
        shape = shape_words(known.shape) if known is not None else ""
        parts = [shape] if shape else []
        if stats is not None and stats.norm is not None:
            numbers = ("norm", stats.norm), ("min", stats.min), ("max", stats.max)
            parts += [f"{name} {value:.4g}" for name, value in numbers if value is not None]
        button = link_button("Look at it", "Show it in the Tensor panel")
        button.clicked.connect(lambda: self._document.selecting.select_tensor(tensor, "value"))
        self._column.addWidget(plain_label(" · ".join(parts), "muted", wraps=True))
        self._column.addWidget(button)


class _Name(QLabel):
    """The name of a source, on one line where there is room for it, else broken at its joints."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName("code")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(isolated(breakable(name)))
        self.setWordWrap(True)

    def sizeHint(self) -> QSize:
        # Qt's own hint for text that wraps is a quarter of a line of 80 letters.
        return QSize(
            self.fontMetrics().horizontalAdvance(self.text()) + 2, super().sizeHint().height()
        )

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self.sizeHint().width(), NAME), super().minimumSizeHint().height())


def _clear(layout: QLayout) -> None:
    """Take everything out of a layout."""
    while (item := layout.takeAt(0)) is not None:
        inner, widget = item.layout(), item.widget()
        if inner is not None:
            _clear(inner)
        if widget is not None:
            widget.hide()
            widget.deleteLater()
