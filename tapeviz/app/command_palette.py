"""A list of all commands of the menus, searched by words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QHeaderView,
    QLineEdit,
    QMenu,
    QMenuBar,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from ..panels.rows import in_column
from .search import Repetition

SIZE = (560, 400)
BORDERS = 4
"""Px around the rows of the list."""
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


@dataclass(frozen=True, slots=True)
class Command:
    """An action that can be used now. ``words``: its path in the menus, and its name; ``keys``: its
    shortcut, after the word "on" if it is a choice that is on."""

    words: str
    keys: str
    action: QAction


def commands_in(bar: QMenuBar) -> list[Command]:
    """All enabled actions of a menu bar, in order; menus that are filled on opening are filled."""
    return [
        command
        for entry in bar.actions()
        if isinstance(entry.menu(), QMenu)
        for command in _commands(entry.menu(), (_plain(entry.text()),))
    ]


def _commands(menu: QObject | None, path: tuple[str, ...]) -> Iterator[Command]:
    if not isinstance(menu, QMenu):
        return
    menu.aboutToShow.emit()
    for action in menu.actions():
        name = _plain(action.text())
        if action.menu() is not None:
            yield from _commands(action.menu(), (*path, name))
        elif name and action.isEnabled():
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            state = "on" if action.isChecked() else ""
            shown = "  ·  ".join(filter(None, (state, keys)))
            yield Command(" › ".join((*path, name)), shown, action)


def _plain(text: str) -> str:
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip(" …")


def found(commands: list[Command], sought: str) -> list[Command]:
    """The commands with every word sought; those whose name begins with the first come first."""
    words = sought.casefold().split()
    fitting = [c for c in commands if all(word in c.words.casefold() for word in words)]
    first = words[0] if words else ""
    return sorted(
        fitting, key=lambda c: not c.words.rpartition(" › ")[2].casefold().startswith(first)
    )


class CommandPalette(QDialog):
    """A popup: typing narrows the list, arrow keys choose, Enter runs the command."""

    def __init__(
        self, bar: QMenuBar, parent: QWidget, named: Callable[[str], Repetition | None]
    ) -> None:
        """``named``: the round or turn that a text names, None for none."""
        super().__init__(parent, Qt.WindowType.Popup)
        self._named = named
        self.setObjectName("palette")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._commands = commands_in(bar)
        self.sought = QLineEdit()
        self.sought.setPlaceholderText("What do you want to do?")
        self.sought.setAccessibleName("Find a command")
        self.sought.installEventFilter(self)
        self.sought.textChanged.connect(self._show)
        self.list = QTreeWidget()
        self.list.setAccessibleName("Commands")
        self.list.setColumnCount(2)
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.list.itemClicked.connect(self._do)
        in_column(self, self.sought, (self.list, 1), margins=(10, 10, 10, 10))
        middle = parent.mapToGlobal(parent.rect().center())
        self.move(middle.x() - SIZE[0] // 2, middle.y() - SIZE[1] // 2)
        self._show()
        self.sought.setFocus()

    def _show(self) -> None:
        self.list.clear()
        commands, named = found(self._commands, self.sought.text()), self._named(self.sought.text())
        if named is not None:
            show = QAction(f"Show {named.words}", self.parent())
            show.triggered.connect(named.go)
            commands.insert(0, Command(show.text(), "", show))
        for command in commands:
            item = QTreeWidgetItem([command.words, command.keys])
            item.setData(0, Qt.ItemDataRole.UserRole, command.action)
            self.list.addTopLevelItem(item)
        first = self.list.topLevelItem(0)
        if first is None:
            first = QTreeWidgetItem(["No command has these words"])
            first.setDisabled(True)
            self.list.addTopLevelItem(first)
        self.list.setCurrentItem(first)
        self._fit_height()

    def _fit_height(self) -> None:
        """Be as high as the commands found need, at most as all of them had."""
        rows = self.list.topLevelItemCount() * self.list.sizeHintForRow(0)
        around = self.sizeHint().height() - self.list.sizeHint().height()
        self.resize(SIZE[0], min(around + rows + BORDERS, SIZE[1]))

    def _do(self, item: QTreeWidgetItem | None) -> None:
        """Run a command after closing the list, so that a dialog opens over the window."""
        action = item.data(0, Qt.ItemDataRole.UserRole) if item is not None else None
        self.close()
        if isinstance(action, QAction):
            action.trigger()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in _MOVES:
                QApplication.sendEvent(self.list, event)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._do(self.list.currentItem())
                return True
        return super().eventFilter(watched, event)
