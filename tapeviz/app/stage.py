"""Panels in, their places out: the docks around the graph, with room between the cards."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QMainWindow, QTabBar, QTabWidget
from shiboken6 import isValid

from ..panels.look import Theme, colour
from ..panels.panel import Panel
from .cards import RADIUS, DockCard, MiddleCard

LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea
VERSION = 2
ROOMY = 800
"""Px of height from which the docks below get their full share."""
_MOVES = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)


class Stage(QMainWindow):
    """A main window within the window, so that the cards keep a margin all around."""

    def __init__(self, middle: Panel, panels: dict[str, Panel], theme: Theme) -> None:
        super().__init__()
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setContentsMargins(10, 10, 10, 10)
        self.setDockOptions(
            QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.AllowTabbedDocks
            | QMainWindow.DockOption.AnimatedDocks
            | QMainWindow.DockOption.GroupedDragging
        )
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self._theme = theme
        self.middle = MiddleCard(middle, theme)
        self.setCentralWidget(self.middle)
        self.docks = {name: DockCard(panel, theme) for name, panel in panels.items()}
        for dock in self.docks.values():
            dock.dockLocationChanged.connect(self._tidy_later)
            dock.topLevelChanged.connect(self._tidy_later)
            dock.visibilityChanged.connect(self._tidy_later)
        self._bars: dict[DockCard, QTabBar | None] = {}
        self._tidy = QTimer(self)
        self._tidy.setSingleShot(True)
        self._tidy.timeout.connect(self._fit_tabs)
        self.keeps_shares = True
        """The proportions of first sight, whatever the size, until the user changes them."""
        self.place_docks()

    def place_docks(self) -> None:
        """Everything where it stands on first sight."""
        docks = self.docks
        self.setCorner(Qt.Corner.BottomLeftCorner, BOTTOM)
        self.setCorner(Qt.Corner.BottomRightCorner, BOTTOM)
        for area, name in ((LEFT, "source"), (RIGHT, "diagnosis"), (BOTTOM, "backprop")):
            self.addDockWidget(area, docks[name])
        self.splitDockWidget(docks["backprop"], docks["tensor"], Qt.Orientation.Horizontal)
        self.tabifyDockWidget(docks["backprop"], docks["over_time"])
        self.tabifyDockWidget(docks["over_time"], docks["output"])
        for dock in docks.values():
            dock.setFloating(False)
            dock.show()
        docks["backprop"].raise_()
        self.keeps_shares = True
        self.share_room()

    def share_room(self) -> None:
        """The proportions of first sight, for the size that the window has."""
        docks, width, height = self.docks, max(self.width(), 900), max(self.height(), 600)
        sides = [round(width * 0.255), round(width * 0.235)]
        across = Qt.Orientation.Horizontal
        self.resizeDocks([docks["source"], docks["diagnosis"]], sides, across)
        below = 0.31 if height >= ROOMY else 0.26  # a graph too small to read helps nobody
        self.resizeDocks([docks["backprop"]], [round(height * below)], Qt.Orientation.Vertical)
        halves = [round(width * 0.5), round(width * 0.5)]
        self.resizeDocks([docks["backprop"], docks["tensor"]], halves, across)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseButtonPress:  # it hits the gaps between cards alone
            self.keeps_shares = False
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.keeps_shares:
            QTimer.singleShot(0, self, self.share_room)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.middle.set_theme(theme)
        for dock in self.docks.values():
            dock.set_theme(theme)
        self.update()

    def _tidy_later(self) -> None:
        self._tidy.start(0)

    def _fit_tabs(self) -> None:
        bars = [bar for bar in self.findChildren(QTabBar) if bar.parent() is self]
        for one in bars:
            self._dress(one)
        self._bars.update({dock: self._bar_of(dock, bars) for dock in self.docks.values()})
        for dock, bar in self._bars.items():
            dock.join_tabs(self if bar is not None else None)
        self._place_headers()
        self.update()

    def _dress(self, bar: QTabBar) -> None:
        if not bar.property("card"):
            bar.setProperty("card", True)
            bar.setDrawBase(False)
            bar.setExpanding(False)
            bar.installEventFilter(self)
            bar.currentChanged.connect(self._tidy_later)
            bar.setAccessibleName("Panels")

    def _bar_of(self, dock: DockCard, bars: list[QTabBar]) -> QTabBar | None:
        """The row of tabs that a dock has a tab in."""
        if not dock.is_tabbed:
            return None
        for bar in sorted(bars, key=lambda bar: not bar.isVisible()):
            if dock.windowTitle() in {bar.tabText(i) for i in range(bar.count())}:
                return bar
        return None

    def _place_headers(self) -> None:
        """Right in a row of tabs: what belongs to the panel in front.

        It lies over the row and is no child of it: Qt deletes such rows as it pleases.
        """
        for dock, bar in self._bars.items():
            if bar is None or not isValid(bar):
                continue
            header = dock.panel.header
            front = bar.tabText(bar.currentIndex())
            tabs = sum(bar.tabRect(i).width() for i in range(bar.count()))
            room = max(bar.width() - tabs - 24, 0)
            at = bar.mapTo(self, QPoint(bar.width() - room - 12, 2))
            header.setGeometry(QRect(at, QSize(room, bar.height() - 4)))
            header.setVisible(bar.isVisible() and dock.windowTitle() == front and room > 60)
            header.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and isinstance(watched, QTabBar):
            self._paint_tab_ground(watched)
        elif event.type() in _MOVES and isinstance(watched, QTabBar):
            self._place_headers()
            if event.type() == QEvent.Type.Show:
                self._tidy_later()
        return super().eventFilter(watched, event)

    def _paint_tab_ground(self, bar: QTabBar) -> None:
        painter = QPainter(bar)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colour(self._theme.border), 1))
        painter.setBrush(colour(self._theme.panel))
        rect = QRectF(bar.rect()).adjusted(0.5, 0.5, -0.5, 2 * RADIUS)
        painter.drawRoundedRect(rect, RADIUS, RADIUS)
        painter.end()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), colour(self._theme.window))
        painter.end()
