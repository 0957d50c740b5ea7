"""The base of every panel: a title, the document it shows, a theme, widgets beside its title."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ..document import Document
from .look import Theme


class Panel(QWidget):
    """``header``: the row right of the title; ``body``: the column under it.

    ``room_changed``: what it shows wants another size now.
    """

    title = ""
    name = ""
    room_changed = Signal()

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__()
        self.document = document
        self.theme = theme
        self.setAccessibleName(self.title)
        self.header = QWidget()
        self.header_row = QHBoxLayout(self.header)
        self.header_row.setContentsMargins(0, 0, 0, 0)
        self.header_row.setSpacing(6)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(1, 0, 1, 1)
        self.body.setSpacing(0)

    def set_theme(self, theme: Theme) -> None:
        """Repaints what the stylesheet does not reach."""
        self.theme = theme

    def wanted_room(self) -> QSize:
        """Px in which all that matters most is in sight; 0 where it does not matter."""
        return QSize(0, 0)

    def focus_target(self) -> QWidget:
        """The widget that gets the keyboard when the panel is called by its shortcut."""
        return self
