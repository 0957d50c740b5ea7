"""Show the figures of a snippet as a row of pictures under its output."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QImage, QKeySequence, QPixmap, QResizeEvent, QShortcut
from PySide6.QtWidgets import QLabel, QMenu, QScrollArea, QWidget

from ...document import Document
from ..rows import in_row

HIGH = 280
"""Px of height of the row; in a low panel less than half of it."""
LOW = 40
"""Px of height of the figures at least. The row asks for no more: what a panel behind a tab asks
for, all panels of its place get."""
MOST = 100


class FigureView(QLabel):
    """A figure, scaled down to the row; its context menu copies it."""

    def __init__(self, image: QImage, number: int) -> None:
        super().__init__()
        self.image = image
        self.setAccessibleName(f"Figure {number}")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        keys = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self)
        keys.setContext(Qt.ShortcutContext.WidgetShortcut)
        keys.activated.connect(self.copy)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._ask)

    def copy(self) -> None:
        QGuiApplication.clipboard().setImage(self.image)

    def _ask(self, at: object) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Copy the figure", self.copy)
        menu.popup(self.mapToGlobal(at))  # type: ignore[call-overload]

    def fit(self, height: int) -> None:
        """Scale the figure down to a height, in device pixels; never up."""
        ratio = self.devicePixelRatioF()
        room = QSize(100_000, round(min(height * ratio, self.image.height())))
        mode = Qt.TransformationMode.SmoothTransformation
        shown = QPixmap.fromImage(self.image.scaled(room, Qt.AspectRatioMode.KeepAspectRatio, mode))
        shown.setDevicePixelRatio(ratio)
        self.setPixmap(shown)


class FigureRow(QScrollArea):
    """A row of figures, hidden while there are none."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.setAccessibleName("Figures of the snippet")
        self.setWidgetResizable(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inside = QWidget()
        inside.setObjectName("scrolled")
        self._row = in_row(inside, ..., margins=(12, 6, 12, 6), spacing=12)
        self.setWidget(inside)
        self.views: list[FigureView] = []
        self._high = 0
        """Px of height of the row when there is room."""
        document.picture_added.connect(self.add)
        self.hide()

    def clear(self) -> None:
        for view in self.views:
            self._row.removeWidget(view)
            view.deleteLater()
        self.views = []
        self.hide()

    def add(self, png: bytes) -> None:
        """Show a picture; bytes that are no picture are ignored."""
        image = QImage.fromData(png)
        if image.isNull() or len(self.views) >= MOST:
            return
        view = FigureView(image, len(self.views) + 1)
        self.views.append(view)
        self._row.insertWidget(len(self.views) - 1, view)
        self.show()
        self.refit()

    def refit(self) -> None:
        """Gives the row its height, and each figure the room in it."""
        panel = self.parentWidget()
        if not self.views or panel is None:
            return
        tallest = max(view.image.height() / self.devicePixelRatioF() for view in self.views)
        around = self._around
        room = max(LOW, min(HIGH, round(0.6 * panel.height()) - around, round(tallest)))
        if room + around != self._high:
            self._high = room + around
            self.setMaximumHeight(self._high)
            self.updateGeometry()
        for view in self.views:
            view.fit(max(LOW, min(room, self.height() - around)))

    @property
    def _around(self) -> int:
        """Px of height beside the figures."""
        return self.horizontalScrollBar().sizeHint().height() + 14

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._high)

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), LOW + self._around)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size() != event.oldSize():
            self.refit()
