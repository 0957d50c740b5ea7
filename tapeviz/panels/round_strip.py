"""The call site that is shown in, a strip above the graph to choose its round from out."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from ..analysis.call_sites import CallSite
from ..analysis.round_words import STATUS_WORDS, number_text
from ..document import Document
from .look import Theme
from .round_slider import RoundSlider, trouble_words
from .widgets import IconButton, ShortLabel, plain_label

MOST_NORMS = 3


class RoundStrip(QFrame):
    """Is there when the call that is drawn is one of several rounds."""

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("rounds")
        self._document = document
        self.back = IconButton("left", "The round before (Alt+PgUp)", theme)
        self.forward = IconButton("right", "The next round (Alt+PgDown)", theme)
        self.back.clicked.connect(lambda: document.select_round(document.round - 1))
        self.forward.clicked.connect(lambda: document.select_round(document.round + 1))
        self.number = plain_label(name="roundNumber")
        self.total = plain_label(name="muted")
        self.trouble = plain_label(name="roundTrouble")
        self.numbers = ShortLabel("muted")
        self.numbers.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.slider = RoundSlider(theme)
        self.slider.valueChanged.connect(document.select_round)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(self.back)
        row.addWidget(self.number)
        row.addWidget(self.total)
        row.addWidget(self.forward)
        row.addSpacing(8)
        row.addWidget(self.trouble)
        row.addWidget(self.numbers, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 12, 4)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self.slider)
        for signal in (
            document.diagnosis_changed,
            document.view_changed,
            document.comparing.changed,
        ):
            signal.connect(self._show)
        self._show()

    def set_theme(self, theme: Theme) -> None:
        self.slider.set_theme(theme)
        self.back.set_theme(theme)
        self.forward.set_theme(theme)

    def _show(self) -> None:
        document = self._document
        site, number = document.site, document.round
        if site is None or document.comparing.both is not None:
            self.hide()
            return
        self.number.setText(f"round {number}")
        line = f" · line {site.line}" if site.line else ""
        self.total.setText(f"of {len(site)}{line}")
        self.trouble.setText(trouble_words(site, number))
        self.numbers.setText(numbers_of_round(site, number))
        self.back.setEnabled(number > 1)
        self.forward.setEnabled(number < len(site))
        self.slider.show_site(site, number)
        self.slider.setAccessibleDescription(f"round {number} of {len(site)}{line}")
        self.show()


def numbers_of_round(site: CallSite, number: int) -> str:
    """``loss 0.0413   ‖∂w‖ 2.1e-05   ‖∂b‖ 0.004``."""
    loss = site.losses[number - 1]
    parts = [f"loss {number_text(loss)}"] if loss == loss else []
    for series in site.sources[:MOST_NORMS]:
        status, norm = series.statuses[number - 1], series.norms[number - 1]
        if status is not None:
            told = number_text(norm) if norm == norm else STATUS_WORDS[status]
            parts.append(f"‖∂{series.source}‖ {told}")
    if len(site.sources) > MOST_NORMS:
        parts.append("…")
    return "   ".join(parts)
