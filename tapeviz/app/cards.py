"""A rounded card around a panel: a dock, or the card in the middle."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QDockWidget, QWidget

from ..panels.look import Theme, colour
from ..panels.panel import Panel
from ..panels.rows import in_column, in_row
from ..panels.widgets import plain_label
from .sizes import GRAPH

RADIUS = 8.0
HEIGHT = 38
NARROWEST = 40


class CardTitle(QWidget):
    """The title of a panel, with the panel's header beside it.

    Its size is that of an inner widget, so that Qt finds it by itself: docks ask for it a hundred
    times when one of them changes, and a question to Python waits each time for a thread that
    computes.
    """

    def __init__(self, panel: Panel) -> None:
        super().__init__()
        self._inside = QWidget()
        self._inside.setMinimumWidth(NARROWEST)
        in_row(self, self._inside)
        self.words = plain_label(panel.title, "cardTitle")
        header = (panel.header, 1)
        self._row = in_row(self._inside, self.words, header, margins=(15, 7, 12, 5), spacing=10)
        layout = panel.header_row
        if not any(layout.stretch(i) for i in range(layout.count())):
            layout.insertStretch(0, 1)
        self._panel = panel
        self._inside.setFixedHeight(HEIGHT)

    def give_header(self, stage: QWidget | None) -> None:
        """Move the panel's header to ``stage``, because tabs show the title; None: take it back."""
        header = self._panel.header
        if stage is None and header.parentWidget() is not self._inside:
            self._row.addWidget(header, 1)
            header.show()
        elif stage is not None and header.parentWidget() is not stage:
            header.setParent(stage)
        height = HEIGHT if stage is None else 0
        self._inside.setFixedHeight(height)
        self.setMaximumHeight(height)


def paint_card(widget: QWidget, theme: Theme, joins_tabs: bool = False, ground: str = "") -> None:
    """Paint ground and rounded border; below a row of tabs the upper corners are square."""
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colour(theme.border), 1))
    painter.setBrush(colour(ground or theme.panel))
    rect = QRectF(widget.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
    if joins_tabs:
        rect.setTop(rect.top() - 2 * RADIUS)
    painter.drawRoundedRect(rect, RADIUS, RADIUS)
    painter.end()


class MiddleCard(QWidget):
    """The card of the panel in the middle, between the docks."""

    def __init__(self, panel: Panel, theme: Theme) -> None:
        super().__init__()
        self.panel = panel
        self._theme = theme
        in_column(self, CardTitle(panel), (panel, 1), margins=(1, 1, 1, 7), spacing=0)
        self.setMinimumSize(GRAPH, 160)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_card(self, self._theme, ground=self._theme.background)


class DockCard(QDockWidget):
    """A dock drawn as a card; in a row of tabs its own title is hidden."""

    def __init__(self, panel: Panel, theme: Theme) -> None:
        super().__init__(panel.title)
        self.setObjectName(panel.name)
        self.panel = panel
        self._theme = theme
        self._title = CardTitle(panel)
        self.setTitleBarWidget(self._title)
        inside = QWidget()
        in_column(inside, panel, margins=(1, 0, 1, 7))
        self.setWidget(inside)
        self.setAllowedAreas(Qt.DockWidgetArea.AllDockWidgetAreas)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    @property
    def is_tabbed(self) -> bool:
        stage = self.parentWidget()
        tabs = getattr(stage, "tabifiedDockWidgets", None)
        return bool(tabs and not self.isFloating() and tabs(self))

    def join_tabs(self, stage: QWidget | None) -> None:
        """Let a row of tabs on ``stage`` show the title; None: show it here."""
        self._title.give_header(stage)
        self.update()

    def fold(self, is_folded: bool) -> bool:
        """Hide the panel, so that only its tab is left, or show it again; whether that is new."""
        is_new = is_folded != self.panel.isHidden()
        self.panel.setHidden(is_folded)
        return is_new

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_card(self, self._theme, self.is_tabbed)
