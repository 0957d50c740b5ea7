"""Choose the file to open among those dropped on the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget


class FileDrops(QObject):
    """Takes files that are dropped on any of the widgets, before the widget handles them.

    ``dropped``: the path of the first file.
    """

    dropped = Signal(Path)

    def __init__(self, *widgets: QWidget, parent: QObject) -> None:
        super().__init__(parent)
        for widget in widgets:
            widget.setAcceptDrops(True)
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QDropEvent) or event.type() not in (
            QEvent.Type.DragEnter,
            QEvent.Type.Drop,
        ):
            return False
        paths = dropped_files(event)
        if not paths:
            return False
        event.acceptProposedAction()
        if not isinstance(event, QDragEnterEvent):
            self.dropped.emit(paths[0])
        return True


def dropped_files(event: QDropEvent) -> list[Path]:
    """The local files among what was dropped."""
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    return [path for path in paths if path.is_file()]
