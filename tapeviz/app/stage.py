"""Arrange the panels as docks around the graph, with gaps between the cards."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QMainWindow, QTabBar, QTabWidget, QWidget
from shiboken6 import isValid

from ..panels.look import Theme, colour
from ..panels.panel import Panel
from .cards import HEIGHT, RADIUS, DockCard, MiddleCard
from .sizes import (
    GAPS,
    GAPS_DOWN,
    SOURCE_PART,
    DockSizes,
    SizesByHand,
    has_drawer,
    has_tall_diagnosis,
    is_narrow,
    sizes_by_content,
)

LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea
VERSION = 3
CARD_BORDERS, CARD_FOOT = 2, 14
"""Px of a dock beside its panel: both borders, and the foot."""
LOWER = ("backprop", "over_time", "output")
"""The first tabs below the graph, in their order."""
_MOVES = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)

_NEVER_PLACED = QRect(0, 0, 100, 30)
"""Where Qt puts a widget that no layout has placed. ``restoreState`` of a window that was not shown
yet makes new rows of tabs and leaves the old ones there, visible (Qt 6.12)."""


class Stage(QMainWindow):
    """A main window within the window, so that the cards have a margin around them.

    ``escaped``: Escape was pressed, and the widget with the keyboard had no use for it.
    """

    escaped = Signal()

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
            dock.topLevelChanged.connect(self._note_move)
            dock.visibilityChanged.connect(self._tidy_later)
        self._bars: dict[DockCard, QTabBar | None] = {}
        self._tidy = QTimer(self, singleShot=True)
        self._tidy.timeout.connect(self._fit_tabs)
        self.fits_content = True
        """Docks are sized by their content: the user has not moved any."""
        self.by_hand = SizesByHand()
        self._dragged_from: DockSizes | None = None
        self.is_drawer_open = False
        """Whether the panels below the graph are open in a window that folds them to their tabs."""
        self._fit = QTimer(self)
        self._fit.setSingleShot(True)
        self._fit.timeout.connect(self.share_room)
        for panel in (middle, *panels.values()):
            panel.room_changed.connect(self._share_later)
        self.place_docks()

    def place_docks(self) -> None:
        """Put every dock where it is at first."""
        docks = self.docks
        self.setCorner(Qt.Corner.BottomRightCorner, BOTTOM)
        self._arrange_by_width(is_narrow(self.width()))
        for dock in docks.values():
            dock.setFloating(False)
            dock.show()
        docks["backprop"].raise_()
        self.fits_content = True
        self.by_hand.forget(self.width(), self.height())
        self.share_room()

    def _arrange_by_width(self, narrow: bool) -> None:
        """Place the docks; in a narrow window the diagnosis stands below the source, and the tensor
        gets a tab."""
        docks = self.docks
        self.setCorner(Qt.Corner.BottomLeftCorner, LEFT if narrow else BOTTOM)
        lower = list(self._lower)
        if narrow:
            lower.insert(1, "tensor")
        for name in lower:  # Qt 6.12 leaves a dock that has tabs already where it is
            self.removeDockWidget(docks[name])
        for area, name in ((LEFT, "source"), (RIGHT, "diagnosis"), (BOTTOM, "backprop")):
            self.addDockWidget(area, docks[name])
        if narrow:
            self.splitDockWidget(docks["source"], docks["diagnosis"], Qt.Orientation.Vertical)
        else:
            self.splitDockWidget(docks["backprop"], docks["tensor"], Qt.Orientation.Horizontal)
        for before, name in pairwise(lower):
            self.tabifyDockWidget(docks[before], docks[name])
        for name in lower:
            docks[name].show()

    def share_room(self) -> None:
        """Set the sizes dragged by the user at this window size, else those that panels need."""
        if not self.fits_content:
            return
        width, height = self.width(), self.height()
        narrow = is_narrow(width)
        if self.dockWidgetArea(self.docks["diagnosis"]) != (LEFT if narrow else RIGHT):
            front = self._in_front()
            self._arrange_by_width(narrow)
            self.docks[front].raise_()
        is_tall = has_tall_diagnosis(width, height)
        self.setCorner(Qt.Corner.BottomRightCorner, RIGHT if is_tall else BOTTOM)
        docks = self.docks
        docks["source"].panel.set_narrow(narrow)
        source = docks["source"].panel.wanted_room().width() + CARD_BORDERS
        below = docks["backprop"].panel.wanted_room().height() + HEIGHT + CARD_FOOT
        graph = self.middle.panel.wanted_room().width() + CARD_BORDERS
        content = sizes_by_content(width, height, source, below, graph)
        sizes = self.by_hand.of(width, height) or content
        least = sizes_by_content(width, height, source, below, width).source
        self.middle.panel.set_spare(max(content.source - least, 0) if sizes is content else 0)
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        is_folded = has_drawer(width, height) and not self.is_drawer_open
        for dock in (docks[name] for name in (*self._lower, "tensor")):
            if dock.fold(is_folded and not dock.isFloating()):
                self._share_later()  # once more, when docks know the least that they need now
        self.resizeDocks(
            [docks["backprop"]], [1 if is_folded else sizes.below or content.below], down
        )
        if narrow:
            left = [docks["source"], docks["diagnosis"]]
            self.resizeDocks(left[:1], [sizes.source], across)
            upper = sizes.source_height or round(SOURCE_PART * height)
            self.resizeDocks(left, [upper, max(height - GAPS_DOWN - upper, 1)], down)
            return
        sides = [docks["source"], docks["diagnosis"]]
        self.resizeDocks(sides, [sizes.source, sizes.diagnosis], across)
        lower = [docks["backprop"], docks["tensor"]]
        rest = width - GAPS - sizes.backprop - (sizes.diagnosis if is_tall else 0)
        self.resizeDocks(lower, [sizes.backprop, max(rest, 1)], across)

    def bring(self, name: str, opens: bool = True) -> None:
        """Show a dock in front of those that share its place; ``opens``: unfold them, too."""
        dock = self.docks[name]
        dock.show()
        dock.raise_()
        if opens and self.dockWidgetArea(dock) == BOTTOM:
            self.open_drawer()

    def call(self, name: str) -> None:
        """Bring a dock to the front, and give its panel the keyboard."""
        self.bring(name)
        self.docks[name].panel.focus_target().setFocus()

    def open_drawer(self, is_open: bool = True) -> None:
        """Unfold the panels below the graph, or fold them to their tabs, where there is no room for
        both."""
        if is_open != self.is_drawer_open:
            self.is_drawer_open = is_open
            self.share_room()

    def _use_tab(self, bar: QTabBar, index: int) -> None:
        """A click on a tab opens the drawer, one on the tab in front folds it again."""
        if index >= 0 and has_drawer(self.width(), self.height()):
            self.open_drawer(not self.is_drawer_open or index != bar.currentIndex())

    def _share_later(self) -> None:
        self._fit.start(0)

    def _sizes(self) -> DockSizes:
        docks, shown = self.docks, self.docks[self._in_front()]
        bar = self._bars.get(shown)
        tabs = bar.height() if bar is not None and isValid(bar) else 0  # part of the dock's place
        return DockSizes(
            docks["source"].width(),
            docks["diagnosis"].width(),
            shown.height() + tabs,
            shown.width(),
            docks["source"].height() if is_narrow(self.width()) else 0,
        )

    @property
    def _lower(self) -> tuple[str, ...]:
        """The docks that share a row of tabs below the graph: new panels stand there, too."""
        placed = {"source", "diagnosis", "tensor", *LOWER}
        return (*LOWER, *(name for name in self.docks if name not in placed))

    def _in_front(self) -> str:
        """The name of the visible dock among those that share a place with the steps."""
        shown = (name for name in self._lower if not self.docks[name].visibleRegion().isEmpty())
        return next(shown, "backprop")

    def is_behind(self, widget: QWidget) -> bool:
        """Whether a widget is in a dock that is hidden behind another tab."""
        docks = (dock for dock in self.docks.values() if dock.isAncestorOf(widget))
        return any(dock.visibleRegion().isEmpty() for dock in docks)

    def _note_move(self, is_floating: bool) -> None:
        """Stop sizing docks by content, once the user has dragged one out of its place."""
        if is_floating:
            self.fits_content = False

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() == QEvent.Type.MouseButtonPress:
            self._dragged_from = self._sizes()
        elif event.type() == QEvent.Type.MouseButtonRelease and self._dragged_from is not None:
            self._keep_dragged(self._dragged_from)
            self._dragged_from = None
        return done

    def _keep_dragged(self, before: DockSizes) -> None:
        """Keep the sizes that the mouse made of those before, for windows of this size."""
        width, height, sizes = self.width(), self.height(), self._sizes()
        if sizes == before:
            return
        if has_drawer(width, height) and not self.is_drawer_open:
            if sizes.below > before.below:
                self.is_drawer_open = True
            else:
                kept = self.by_hand.of(width, height)
                sizes = replace(sizes, below=kept.below if kept is not None else 0)
        self.by_hand.keep(width, height, sizes)
        self._share_later()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_later()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def _tidy_later(self) -> None:
        self._tidy.start(0)

    def _fit_tabs(self) -> None:
        bars = [bar for bar in self.findChildren(QTabBar) if bar.parent() is self]
        for tab_bar in bars:
            if tab_bar.geometry() == _NEVER_PLACED and len(bars) > 1:
                tab_bar.hide()
            self._dress(tab_bar)
        tabbed = self._tabbed
        self._bars.update({dock: self._bar_of(dock, bars) for dock in self.docks.values()})
        for dock, bar in self._bars.items():
            dock.join_tabs(self if bar is not None else None)
        if self._tabbed != tabbed:
            self._share_later()  # a dock in a row of tabs needs no height for a title
        self._place_headers()
        self.update()

    @property
    def _tabbed(self) -> set[DockCard]:
        return {dock for dock, bar in self._bars.items() if bar is not None}

    def _dress(self, bar: QTabBar) -> None:
        if not bar.property("card"):
            bar.setProperty("card", True)
            bar.setDrawBase(False)
            bar.setExpanding(False)
            bar.installEventFilter(self)
            bar.currentChanged.connect(self._tidy_later)
            bar.tabBarClicked.connect(partial(self._use_tab, bar))
            bar.setAccessibleName("Panels")

    def _bar_of(self, dock: DockCard, bars: list[QTabBar]) -> QTabBar | None:
        """The row of tabs with a tab of the dock, None if it has none."""
        if not dock.is_tabbed:
            return None
        for bar in sorted(bars, key=lambda bar: not bar.isVisible()):
            if dock.windowTitle() in {bar.tabText(i) for i in range(bar.count())}:
                return bar
        return None

    def _place_headers(self) -> None:
        """Put the header of the panel in front at the right of its row of tabs.

        It is no child of the row, only drawn over it, since Qt deletes such rows at any time.
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
