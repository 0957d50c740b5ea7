"""A panel that shows the last run in; while another one takes its time, it fades."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QGraphicsOpacityEffect, QWidget

from ..document import Document

PATIENCE_MS = 500
"""Most runs are over by then: what they replace need not flicker."""
_FADED = 0.4


class Fading(QObject):
    """Lives as long as ``widget``."""

    def __init__(self, document: Document, widget: QWidget) -> None:
        super().__init__(widget)
        self._document, self._widget = document, widget
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PATIENCE_MS)
        self._timer.timeout.connect(self._fade)
        document.run_started.connect(self._timer.start)
        document.diagnosis_changed.connect(self._restore)
        document.run_ended.connect(self._restore)

    def _fade(self) -> None:
        if self._document.is_running:
            effect = QGraphicsOpacityEffect(self._widget)
            effect.setOpacity(_FADED)
            self._widget.setGraphicsEffect(effect)

    def _restore(self) -> None:
        self._timer.stop()
        self._widget.setGraphicsEffect(None)  # type: ignore[arg-type]  # None takes it away
