"""The bar above the cards: run, examples, layout, search, export, interpreter."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLineEdit, QMenu, QPushButton, QWidget

from ..document import Document
from ..panels.icons import make_icon
from ..panels.look import Theme
from ..panels.rows import in_row
from ..panels.widgets import Switch, plain_label
from .action import ACROSS
from .search import find_matches, named_repetition

ROOM_FOR_HINT = 1180
SPACING = 10


class TopBar(QWidget):
    """The bar above the panels. ``searched``: the nodes that match what was typed, and whether to
    go to the next one."""

    searched = Signal(object)
    search_left = Signal()
    """Escape was pressed in the search: the keyboard shall go to the graph."""

    def __init__(self, document: Document, theme: Theme, run: QAction, stop: QAction) -> None:
        super().__init__()
        self.setObjectName("bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._document = document
        self.run_button = QPushButton("Run")
        self.run_button.setObjectName("primary")
        self.run_button.setToolTip("Run the snippet (Ctrl+Enter)")
        self.run_button.clicked.connect(run.trigger)
        self.stop_button = QPushButton("Stop")
        self.stop_button.setObjectName("flat")
        self.stop_button.setToolTip(stop.toolTip())
        self.stop_button.clicked.connect(stop.trigger)
        self.limits_button = _menu_button("Limits")
        self.limits_button.setToolTip("What a snippet may not use: network, memory")
        self.hint = plain_label("Ctrl+Enter", "faint")
        self.examples_button = _menu_button("Examples")
        self.layout_button = _menu_button("Layered")
        self.export_button = _menu_button("Export")
        self.kernel_button = _menu_button("Python")
        self.kernel_button.setToolTip("The interpreter that snippets run in")
        self.bridge = Switch("Across the cut", theme)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find op, name, line, round …")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Find in the graph")
        self.search.installEventFilter(self)
        self.found = plain_label(name="faint")
        self._make_row()
        self._connect()
        self.set_theme(theme)

    def _make_row(self) -> None:
        self.search.setMinimumWidth(76)
        self.search.setMaximumWidth(300)
        running = (self.run_button, self.hint, self.stop_button, self.limits_button)
        drawn = (self.examples_button, self.layout_button, 4, self.bridge)
        right = (self.found, (self.search, 4), self.export_button, self.kernel_button)
        in_row(self, *running, 8, *drawn, ..., *right, margins=(16, 8, 16, 8), spacing=SPACING)

    def _connect(self) -> None:
        document = self._document
        self.search.textChanged.connect(self._search)
        self.search.returnPressed.connect(self._take)
        self.bridge.clicked.connect(document.show_bridge)
        document.view_changed.connect(self._show_bridge)
        document.diagnosis_changed.connect(self._show_bridge)
        document.run_started.connect(self._show_running)
        document.run_ended.connect(self._show_running)
        document.arrangement_changed.connect(self._forget_found)
        self._matches: list[str] = []
        self._place = -1
        self._show_running()
        self._show_bridge()

    def set_theme(self, theme: Theme) -> None:
        self.run_button.setIcon(make_icon("play", theme.on_accent))
        self.stop_button.setIcon(make_icon("stop", theme.trouble, theme.text_faint))
        for button in (
            self.examples_button,
            self.layout_button,
            self.export_button,
            self.kernel_button,
            self.limits_button,
        ):
            button.setIcon(make_icon("chevron", theme.text_muted, size=12))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._hide_what_lacks_room()

    def event(self, event: QEvent) -> bool:
        # A button got another text: the interpreter is known some time after the window is shown.
        if event.type() == QEvent.Type.LayoutRequest:
            self._hide_what_lacks_room()
        return super().event(event)

    def _hide_what_lacks_room(self) -> None:
        """Hide widgets that the menus have too, if there is little room: the last ones first."""
        room = self.width() - self.minimumSizeHint().width()
        for widget in self._widgets_to_hide():
            room -= _extent(widget)
            is_wide = widget is not self.hint or self.width() >= ROOM_FOR_HINT
            widget.setVisible(room >= 0 and is_wide)

    def _widgets_to_hide(self) -> tuple[QWidget, ...]:
        return self.layout_button, self.limits_button, self.bridge, self.hint

    def minimumSizeHint(self) -> QSize:
        """The size without the widgets that can be hidden."""
        size = super().minimumSizeHint()
        shown = (widget for widget in self._widgets_to_hide() if widget.isVisibleTo(self))
        size.setWidth(size.width() - sum(map(_extent, shown)))
        return size

    def _show_bridge(self) -> None:
        is_on, lacks = (
            self._document.view.overlay.show_bridge,
            self._document.diagnosing.lacks_bridge,
        )
        self.bridge.setChecked(is_on)
        self.bridge.setEnabled(is_on or not lacks)
        self.bridge.setToolTip(lacks or ACROSS)

    def _show_running(self) -> None:
        is_running = self._document.is_running
        if self.stop_button.hasFocus() and not is_running:
            self.run_button.setFocus()  # a disabled button would pass it on to the next one
        self.stop_button.setEnabled(is_running)

    # Search

    def _forget_found(self) -> None:
        self._matches, self._place = [], -1
        self.found.setText("")

    def _take(self) -> None:
        """On Enter, show the round or turn that is named, else the next match."""
        named = named_repetition(self._document, self.search.text())
        if named is not None:
            named.go()
        else:
            self.step_found(1)

    def _search(self, text: str) -> None:
        named = named_repetition(self._document, text)
        if named is not None:
            self._matches = []
            self.found.setText(f"Enter: {named.words}")
            return
        links = self._document.links
        drawn = find_matches(links.nodes, text)
        self._matches = list(dict.fromkeys((*drawn, *links.boxes_with(text))))
        self._place = -1
        words = f"{len(self._matches)} found" if self._matches else "nothing found"
        self.found.setText(words if text.strip() else "")
        if self._matches:
            self.step_found(1)

    def step_found(self, by: int) -> None:
        """Go to the next match (1) or the one before (-1)."""
        if not self._matches:
            return
        self._place = (self._place + by) % len(self._matches)
        count = len(self._matches)
        self.found.setText(f"{self._place + 1:,} of {count:,}" if count > 1 else "1 found")
        node = frozenset((self._matches[self._place],))
        self._document.selecting.select_nodes(node)
        self.searched.emit(node)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress:
            key = event.key()  # type: ignore[attr-defined]
            if key == Qt.Key.Key_Down:
                self.step_found(1)
                return True
            if key == Qt.Key.Key_Up:
                self.step_found(-1)
                return True
            if key == Qt.Key.Key_Escape:
                self.search.clear()
                self.search_left.emit()
                return True
        return super().eventFilter(watched, event)


def _extent(widget: QWidget) -> int:
    """The width of a widget in the row, px."""
    return widget.sizeHint().width() + SPACING


class _MenuBelow(QMenu):
    """The menu of a button: below its left edge, or its right one if it has no room there.

    Qt takes the right one since the button is laid out from right to left, for its icon.
    """

    def __init__(self, button: QPushButton) -> None:
        super().__init__(button)
        self._button = button

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        rect, window = self._button.rect(), self._button.window().frameGeometry()
        left = self._button.mapToGlobal(rect.topLeft()).x()
        right = left + rect.width() - self.width()
        self.move(left if left + self.width() <= window.right() else right, self.y())


def _menu_button(text: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName("flat")
    button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    button.setMenu(_MenuBelow(button))
    button.menu().setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    button.menu().setToolTipsVisible(True)
    return button
