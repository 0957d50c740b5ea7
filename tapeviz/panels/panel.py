"""The base class of panels: a title, the document, a theme, a header."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QWidget

from ..document import Document
from .look import Theme
from .rows import in_column, in_row


class Panel(QWidget):
    """A panel of the window. ``header``: the row beside the title; ``body``: the column below it;
    ``room_changed``: :meth:`wanted_room` has changed."""

    title = ""
    name = ""
    room_changed = Signal()

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__()
        self.document = document
        self.theme = theme
        self.setAccessibleName(self.title)
        self.header = QWidget()
        self.header_row = in_row(self.header, spacing=6)
        self.body = in_column(self, margins=(1, 0, 1, 1), spacing=0)

    def set_theme(self, theme: Theme) -> None:
        """Repaint what the stylesheet does not reach."""
        self.theme = theme

    def set_narrow(self, is_narrow: bool) -> None:
        """Take less room: the window is narrow."""

    def wanted_room(self) -> QSize:
        """The size in px that shows the most important content; 0 if it does not matter."""
        return QSize(0, 0)

    def set_spare(self, width: int) -> None:
        """Take in by how many px wider the panel would be if it wanted all that it could get."""

    def focus_target(self) -> QWidget:
        """The widget that gets the keyboard focus from the panel's shortcut."""
        return self
