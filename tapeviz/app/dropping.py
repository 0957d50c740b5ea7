"""Take files and texts that are dropped on the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from ..panels.source.pasting import code_of, has_code


class Drops(QObject):
    """Takes what is dropped on a window, also on a widget in it that takes drops itself.

    ``file_dropped``: the path of the first file. ``code_dropped``: a text, unless it was dropped
    where one can type.
    """

    file_dropped = Signal(Path)
    code_dropped = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)
        for widget in window.findChildren(QWidget):
            if widget.acceptDrops():
                widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QDropEvent) or event.type() not in (
            QEvent.Type.DragEnter,
            QEvent.Type.DragMove,
            QEvent.Type.Drop,
        ):
            return False
        data = event.mimeData()
        paths = dropped_files(event)
        if not paths and (_is_written_into(watched) or not has_code(data)):
            return False
        event.acceptProposedAction()
        if event.type() == QEvent.Type.Drop and paths:
            self.file_dropped.emit(paths[0])
        elif event.type() == QEvent.Type.Drop:
            self.code_dropped.emit(code_of(data))
        return True


def _is_written_into(watched: QObject) -> bool:
    """Whether the user can type into a widget, or into that whose viewport it is."""
    for widget in (watched, watched.parent()):
        if isinstance(widget, QLineEdit | QPlainTextEdit):
            return not widget.isReadOnly()
    return False


def dropped_files(event: QDropEvent) -> list[Path]:
    """The local files among what was dropped."""
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    return [path for path in paths if path.is_file()]
