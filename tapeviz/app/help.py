"""The dialogs with the shortcuts, from the table of actions, and about tapeviz."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QPushButton, QScrollArea, QWidget

from .. import __version__
from ..panels.rows import in_column
from ..panels.widgets import plain_label
from .actions import ACTIONS

ON_THE_GRAPH = (
    ("Arrow keys", "Go along the edges"),
    ("+  −", "Zoom"),
    ("F  or  Home", "All in sight"),
    ("Enter", "Zoom to the selection, or open a group"),
    ("Esc", "Select nothing"),
    ("Wheel, drag", "Zoom at the pointer, move"),
    ("Shift + drag", "Select all within a frame"),
    ("Ctrl + click", "Add to the selection"),
    ("Double click", "Open or close a group, zoom to a node"),
)
IN_THE_EDITOR = (
    ("Tab, Shift + Tab", "Move lines in or out"),
    ("Esc, then Tab", "Leave the editor"),
    ("Ctrl + wheel", "Larger or smaller text"),
)


class Help(QDialog):
    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.column = in_column(self, margins=(20, 16, 20, 14), spacing=10)

    def add_close(self) -> None:
        button = QPushButton("Close")
        button.setDefault(True)
        button.clicked.connect(self.accept)
        self.column.addWidget(button, 0, Qt.AlignmentFlag.AlignRight)


def keys_window(parent: QWidget, panel_keys: Sequence[str]) -> Help:
    """A dialog with all shortcuts; ``panel_keys``: those of the panels, in order."""
    window = Help("Keyboard", parent)
    inside = QWidget()
    inside.setObjectName("scrolled")
    grid = QGridLayout(inside)
    grid.setHorizontalSpacing(28)
    grid.setVerticalSpacing(5)
    rows = [
        (_keys(action.shortcuts), action.text.replace("&", "").rstrip(" …"))
        for action in ACTIONS
        if action.shortcuts
    ]
    panels = [(f"{panel_keys[0]} … {panel_keys[-1]}", "Go to a panel")]
    for heading, entries in (
        ("Everywhere", rows + panels),
        ("In the graph", list(ON_THE_GRAPH)),
        ("In the source", list(IN_THE_EDITOR)),
    ):
        grid.addWidget(plain_label(heading, "cardTitle"), grid.rowCount(), 0, 1, 2)
        for keys, words in entries:
            row = grid.rowCount()
            grid.addWidget(plain_label(keys, "code"), row, 0)
            grid.addWidget(plain_label(words), row, 1)
    grid.setColumnStretch(1, 1)
    scroll = QScrollArea()
    scroll.setWidgetResizable(True)
    scroll.setWidget(inside)
    window.column.addWidget(scroll, 1)
    window.add_close()
    window.resize(640, 640)
    return window


def _keys(shortcuts: tuple[str, ...]) -> str:
    native = QKeySequence.SequenceFormat.NativeText
    return "  or  ".join(QKeySequence(keys).toString(native) for keys in shortcuts[:2])


def about_window(parent: QWidget, tensorflow: str) -> Help:
    window = Help("About tapeviz", parent)
    window.column.addWidget(plain_label(f"tapeviz {__version__}", "emptyTitle"))
    words = (
        "See what a tf.GradientTape saw: the graph of what ran, where the gradient flows, "
        "and why it is None.\n\nApache License 2.0. It sends nothing anywhere."
    )
    window.column.addWidget(plain_label(words, wraps=True))
    if tensorflow:
        window.column.addWidget(plain_label(f"The last run used TensorFlow {tensorflow}.", "muted"))
    window.add_close()
    window.setMinimumWidth(420)
    return window
