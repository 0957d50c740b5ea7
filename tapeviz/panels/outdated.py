"""A veil and a bar over results of another text than the present one."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QWidget

from ..document import Document
from .look import Theme, colour
from .rows import in_row
from .widgets import ShortLabel, link_button

VEIL = 0.5
"""The opacity of the veil."""


class Veil(QWidget):
    """A veil over ``widget`` while its content is out of date; clicks pass through."""

    def __init__(self, document: Document, theme: Theme, widget: QWidget) -> None:
        super().__init__(widget)
        self._document, self._theme = document, theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        widget.installEventFilter(self)
        document.status_changed.connect(self._show)
        document.text.changed.connect(self._show)
        self._show()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def _show(self) -> None:
        self.setVisible(self._document.is_outdated)
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show) and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), colour(self._theme.panel, VEIL))
        painter.end()


class StaleStrip(QFrame):
    """A bar for a text that was edited after its run, with a link to run it."""

    run_requested = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.setObjectName("strip")
        self.setProperty("place", "above")
        self._document = document
        self.words = ShortLabel()
        self.words.setText("The text changed since this run")
        self.run_link = link_button("Run again", "Run the text as it stands now (Ctrl+Enter)")
        self.run_link.clicked.connect(self.run_requested)
        in_row(self, self.words, self.run_link, ..., margins=(14, 5, 14, 5), spacing=14)
        for signal in (document.status_changed, document.text.changed, document.comparing.changed):
            signal.connect(self._show)
        self._show()

    def _show(self) -> None:
        document = self._document
        is_alone = document.comparing.both is None
        self.setVisible(document.is_stale and is_alone and not document.is_running)
