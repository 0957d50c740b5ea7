"""Keep what stands at the top of a scroll area there while its content gets another height."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget
from shiboken6 import isValid

SETTLED = 300
"""Milliseconds without a change of size or height after which the content counts as laid out."""


class KeptPlace(QObject):
    """Scrolls so that the widget at the top of the area stays there when the area is resized: in
    another width, words above it need other heights. At the very top nothing is kept."""

    def __init__(self, scroll: QScrollArea) -> None:
        super().__init__(scroll)
        inside = scroll.widget()
        assert inside is not None
        self._inside, self._bar = inside, scroll.verticalScrollBar()
        self._kept: QWidget | None = None
        self._part = 0.0
        """The part of the height of the widget that is above the area."""
        self._settle = QTimer(self, singleShot=True, interval=SETTLED)
        self._settle.timeout.connect(self.forget)
        self._bar.rangeChanged.connect(self._restore)
        self._bar.actionTriggered.connect(self.forget)
        scroll.viewport().installEventFilter(self)

    def forget(self) -> None:
        """Leave the place to whoever scrolls now."""
        self._kept = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel:
            self.forget()
        elif isinstance(event, QResizeEvent) and event.size() != event.oldSize():
            if self._kept is None:  # the content has its old size still
                self._note()
            QTimer.singleShot(0, self, self._restore)
        return super().eventFilter(watched, event)

    def _note(self) -> None:
        top, inside = self._bar.value(), self._inside
        shown = (each for each in inside.findChildren(QWidget) if each.isVisibleTo(inside))
        spans = [(_top_in(widget, inside), widget) for widget in shown]
        over = [(y, widget) for y, widget in spans if y <= top < y + widget.height()]
        if top and over:
            y, self._kept = min(over, key=lambda each: each[1].height())
            self._part = (top - y) / self._kept.height()

    def _restore(self) -> None:
        kept = self._kept
        if kept is not None and isValid(kept):
            self._settle.start()
            y = _top_in(kept, self._inside)
            self._bar.setValue(y + round(self._part * kept.height()))


def _top_in(widget: QWidget, inside: QWidget) -> int:
    return widget.mapTo(inside, QPoint()).y()
