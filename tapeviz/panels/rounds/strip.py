"""The strip above the graph, from which the round of a call site is chosen.

For gradients that were asked for in a compiled function: which of its calls to look into.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame

from ...analysis.inside_words import short_words, traces_words
from ...analysis.rounds.call_sites import CallSite
from ...analysis.rounds.round_words import number_text
from ...analysis.status import round_word
from ...document import Document
from ...document.compiled.function_calls import ShownCall
from ..look import Theme
from ..rows import in_column, in_row
from ..widgets import IconButton, ShortLabel, plain_label
from .slider import RoundSlider, shape_words, trouble_words

MOST_NORMS = 3
ROOMY = 560
"""Px of height of the panel around it from which the slider has a row of its own,"""
WIDE = 480
"""and of width from which a single row has room for the numbers."""

BETWEEN = "   "
"""Between two numbers of the strip."""
LEAST_SLIDER = 96
"""Px of width that the slider keeps in a single row."""


class RoundStrip(QFrame):
    """Is there when the call that is drawn is one of several rounds, or was made in a compiled
    function that was called several times."""

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("rounds")
        self._document = document
        self.back = IconButton("left", "", theme)
        self.forward = IconButton("right", "", theme)
        self.back.clicked.connect(lambda: document.select_round(document.round - 1))
        self.forward.clicked.connect(lambda: document.select_round(document.round + 1))
        self.number = plain_label(name="roundNumber")
        self.total = plain_label(name="muted")
        self.trouble = ShortLabel("roundTrouble", between=" · ", more=" …")
        self.numbers = ShortLabel("muted", between=BETWEEN)
        self.numbers.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.slider = RoundSlider(theme)
        self.slider.valueChanged.connect(document.select_round)
        places = (self.back, self.number, self.total, self.forward)
        self._row = in_row(None, *places, 8, (self.trouble, 4), (self.numbers, 2), spacing=4)
        self._column = in_column(self, self._row, self.slider, margins=(8, 1, 12, 2), spacing=0)
        self._has_one_row, self._has_room = False, True
        for signal in (
            document.diagnosis_changed,
            document.view_changed,
            document.comparing.changed,
            document.insides.changed,
        ):
            signal.connect(self._show)
        self._show()

    def fit_into(self, width: int, height: int) -> None:
        """Fit into a panel of this size, px. In a low one the slider stands beside the number, so
        that the graph keeps the room; in one that is narrow, too, or beside words about trouble,
        the numbers are left to the cards."""
        has_one_row = height < ROOMY
        self._has_room = width >= WIDE or not has_one_row
        self._show_numbers()
        if has_one_row == self._has_one_row:
            return
        self._has_one_row = has_one_row
        if has_one_row:
            self._row.insertWidget(self._row.indexOf(self.trouble), self.slider, 3)
            self.slider.setMinimumWidth(LEAST_SLIDER)
        else:
            self._column.addWidget(self.slider)
            self.slider.setMinimumWidth(0)
        self._show()

    def _show(self) -> None:
        document = self._document
        site, call, number = document.site, document.function_calls.shown, document.round
        if document.comparing.both is not None:
            self.hide()
        elif site is not None:
            of_what = traces_words(document.trace, document.diagnosis, site)
            line = f"line {site.line}" if site.line else ""
            about = "".join(f" · {words}" for words in (line, of_what) if words)
            self._show_number("round", number, len(site), "" if self._has_one_row else about)
            self.total.setToolTip(of_what.capitalize())
            self._show_trouble(trouble_words(site, number))
            parts = shape_words(site, number), numbers_of_round(site, number)
            self.numbers.setText(BETWEEN.join(filter(None, parts)))
            self.slider.show_site(site, number)
        elif call is not None and call.count > 1 and not document.is_running:
            waiting = "" if number == call.number else " · looking into it …"
            about = f" · {call.name} (compiled){waiting}"
            self.total.setToolTip("")
            self._show_number("call", number, call.count, about)
            self._show_call(number, call)
        else:
            self.hide()

    def _show_number(self, noun: str, number: int, count: int, about: str) -> None:
        self.number.setText(f"{noun} {number:,}")
        self.total.setText(f"of {count:,}{about}")
        self.back.setEnabled(number > 1)
        self.forward.setEnabled(number < count)
        for button, which, key in (
            (self.back, f"The {noun} before", "Alt+PgUp"),
            (self.forward, f"The next {noun}", "Alt+PgDown"),
        ):
            button.setToolTip(f"{which} ({key})")
            button.setAccessibleName(which)
        self.slider.setAccessibleName(noun.capitalize())
        self.slider.setAccessibleDescription(f"{noun} {number:,} of {count:,}{about}")
        self.show()

    def _show_trouble(self, words: str) -> None:
        self.trouble.setText(words)
        self.trouble.setVisible(bool(words))
        self._show_numbers()

    def _show_numbers(self) -> None:
        hides_numbers = self._has_one_row and bool(self.trouble.text())
        self.numbers.setVisible(self._has_room and not hides_numbers)

    def _show_call(self, number: int, call: ShownCall) -> None:
        """Show which call of a compiled function is in sight, what it returned, and whether it is
        known inside."""
        returned = self._document.function_calls.returned()
        known = returned[number - 1]
        self._show_trouble(short_words(call.op.inside) if number == call.number else "")
        self.numbers.setText("" if known != known else f"returned {number_text(known)}")
        self.slider.show_calls(returned, number)


def numbers_of_round(site: CallSite, number: int) -> str:
    """``loss 0.0413   ‖∂w‖ 2.1e-05   ‖∂b‖ 0.004``."""
    value = site.target_values[number - 1]
    parts = [f"{site.target} {number_text(value)}"] if value == value else []
    for series in site.sources[:MOST_NORMS]:
        status, norm = series.statuses[number - 1], series.norms[number - 1]
        if status is not None:
            shown = number_text(norm) if norm == norm else round_word(series, number)
            parts.append(f"‖∂{series.source}‖ {shown}")
    if len(site.sources) > MOST_NORMS:
        parts.append("…")
    return BETWEEN.join(parts)
