"""Build the menu bar from the table of actions; some menus are filled when they open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidgetAction

from ..canvas.tips import plain_tip
from ..files.examples import examples
from ..graph.groups.tree import GROUPINGS
from ..layout import LAYOUTS
from ..panels.widgets import plain_label
from .action import Action, filled_on_opening
from .actions import ACTIONS
from .processes.kernels import MEMORIES

if TYPE_CHECKING:
    from .window import Window

DIRECTIONS = {"down": "Top to bottom", "right": "Left to right"}


class Menus:
    """The menus of a window. ``actions``: by the id of their row; ``submenus``: those that are
    filled on opening."""

    def __init__(self, window: Window, bar: QMenuBar) -> None:
        self._window = window
        self._menus: dict[str, QMenu] = {}
        self._bar = bar
        self.actions: dict[str, QAction] = {}
        self.submenus: dict[str, QMenu] = {}
        self._groups: list[QActionGroup] = []
        for row in ACTIONS:
            self._add(row)

    def _menu(self, path: str) -> QMenu:
        if path not in self._menus:
            parent, _, name = path.rpartition("/")
            owner: QMenuBar | QMenu = self._menu(parent) if parent else self._bar
            menu = owner.addMenu(name)
            menu.setToolTipsVisible(True)
            menu.aboutToShow.connect(self.refresh)
            self._menus[path] = menu
        return self._menus[path]

    def _add(self, row: Action) -> None:
        menu = self._menu(row.menu)
        if row.follows_line:
            menu.addSeparator()
        if row.act is filled_on_opening:
            submenu = menu.addMenu(row.text)
            submenu.setToolTipsVisible(True)
            self.submenus[row.id] = submenu
            submenu.aboutToShow.connect(partial(self.fill, row.id, submenu))
            self.actions[row.id] = submenu.menuAction()
            return
        action = menu.addAction(row.text)
        action.setShortcuts([QKeySequence(keys) for keys in row.shortcuts])
        if row.tip:
            action.setToolTip(plain_tip(row.tip))
        action.setCheckable(row.is_on is not None)
        if row.is_own_key:
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(lambda _=False: self._do(row))
        self._window.addAction(action)
        self.actions[row.id] = action

    def _do(self, row: Action) -> None:
        if row.is_there is None or row.is_there(self._window):
            row.act(self._window)
        self.refresh()

    def refresh(self) -> None:
        """Enable and check the actions as they are now."""
        for row in ACTIONS:
            action = self.actions[row.id]
            if row.is_there is not None:
                action.setEnabled(row.is_there(self._window))
            if row.is_on is not None:
                action.setChecked(row.is_on(self._window))

    # Menus that are filled when they open

    def fill(self, name: str, menu: QMenu) -> None:
        menu.clear()
        fillers: dict[str, Callable[[QMenu], None]] = {
            "recent": self._fill_recent,
            "layout": partial(self._fill_form, "layout"),
            "direction": partial(self._fill_form, "direction"),
            "grouping": partial(self._fill_form, "grouping"),
            "panels": self._fill_panels,
            "interpreter": self.fill_kernels,
            "limits": self.fill_limits,
            "examples": self.fill_examples,
        }
        fillers[name](menu)

    def _fill_recent(self, menu: QMenu) -> None:
        files = self._window.files
        for path in files.recent:
            self._entry(menu, _short(path), partial(files.open, path), str(path))
        aside = self._window.draft.set_aside()
        if aside:
            _heading(menu, "Unsaved texts")
            for draft in aside:
                self._entry(menu, draft.words, partial(files.open_draft, draft))
        if not files.recent:
            menu.addAction("No file yet").setEnabled(False)
        else:
            menu.addSeparator()
            menu.addAction("Clear the list", files.forget_recent)

    def _entry(
        self,
        menu: QMenu,
        text: str,
        act: Callable[[], object],
        tip: str = "",
        is_on: bool | None = None,
    ) -> QAction:
        """Add an entry; ``is_on``: whether it is checked (None: it cannot be)."""
        action = menu.addAction(text.replace("&", "&&"))
        action.triggered.connect(lambda _=False: act())
        if tip:
            action.setToolTip(plain_tip(tip))
        action.setCheckable(is_on is not None)
        action.setChecked(bool(is_on))
        return action

    def _fill_form(self, part: str, menu: QMenu) -> None:
        """Offer the values of a part of the view: ``layout``, ``direction`` or ``grouping``."""
        document = self._window.document
        groupings = [(name, form_words(name)) for name in GROUPINGS if name]
        offered = {
            "layout": [(name, form_words(name)) for name in LAYOUTS],
            "direction": list(DIRECTIONS.items()),
            "grouping": [("", "Nothing"), *groupings],
        }
        folds: dict[str, frozenset[str]] = {}
        if part == "grouping":
            folds = {"folded": frozenset(), "unfolded": frozenset()}
        group = QActionGroup(menu)
        for name, text in offered[part]:
            act = partial(document.change_form, **{part: name}, **folds)
            is_on = getattr(document.view, part) == name
            group.addAction(self._entry(menu, text, act, is_on=is_on))

    def fill_layout_button(self, menu: QMenu) -> None:
        """Fill the menu of the top bar's layout button: layout, direction and grouping."""
        menu.clear()
        for heading, part in (
            ("Layout", "layout"),
            ("Direction", "direction"),
            ("Fold groups by", "grouping"),
        ):
            _heading(menu, heading)
            self._fill_form(part, menu)
        menu.addSeparator()
        document = self._window.document
        self._entry(
            menu,
            "Show all ops",
            lambda: document.change_form(shows_all=not document.view.shows_all),
            is_on=document.view.shows_all,
        )

    def _fill_panels(self, menu: QMenu) -> None:
        for name, dock in self._window.stage.docks.items():
            call = partial(self._window.call_panel, name)
            action = self._entry(menu, dock.panel.title, call, is_on=dock.isVisible())
            action.setToolTip(self._window.panel_keys[name])

    def fill_kernels(self, menu: QMenu) -> None:
        menu.clear()
        kernels = self._window.kernels
        group = QActionGroup(menu)
        for choice in kernels.choices():
            action = self._entry(
                menu,
                choice.title,
                partial(kernels.choose, choice),
                str(choice.python or choice.spec or ""),
                kernels.is_chosen(choice),
            )
            group.addAction(action)
        menu.addSeparator()
        self._entry(menu, "Another Python …", kernels.ask)

    def fill_limits(self, menu: QMenu) -> None:
        """Fill the menu with the limits for snippets, for example for a text by somebody else."""
        menu.clear()
        kernels = self._window.kernels
        limits = kernels.limits
        self._entry(
            menu,
            "No network",
            lambda: kernels.limit(replace(limits, no_network=not limits.no_network)),
            "The snippet reaches no address, not even this machine's own (Linux)",
            limits.no_network,
        )
        _heading(menu, "Memory beside TensorFlow's own")
        group = QActionGroup(menu)
        for memory in sorted({None, *MEMORIES, limits.memory}, key=lambda size: size or 0.0):
            words = f"At most {memory:g} GB" if memory else "No limit"
            act = partial(kernels.limit, replace(limits, memory=memory))
            group.addAction(self._entry(menu, words, act, is_on=limits.memory == memory))

    def fill_examples(self, menu: QMenu) -> None:
        if menu.actions():
            return
        groups: dict[str, QMenu] = {}
        for example in examples():
            if example.group not in groups:
                groups[example.group] = menu.addMenu(example.group.replace("&", "&&"))
                groups[example.group].setToolTipsVisible(True)
            self._entry(
                groups[example.group],
                example.title,
                partial(self._window.files.open_example, example),
                example.about,
            )


def _heading(menu: QMenu, text: str) -> None:
    """Add a heading to a menu; Qt's own section titles are not drawn under a stylesheet."""
    if menu.actions():
        menu.addSeparator()
    action = QWidgetAction(menu)
    action.setDefaultWidget(plain_label(text, "menuHeading"))
    action.setEnabled(False)
    menu.addAction(action)


_WORDS = {
    "kamada-kawai": "Kamada–Kawai",
    "layer": "Layer or name scope",
    "iteration": "Loop iteration",
    "line": "Source line",
    "custom_gradient": "custom_gradient only",
}
"""Words for layouts and groupings whose names are not good enough."""


def form_words(name: str) -> str:
    """The name of a layout or a grouping in menus."""
    return _WORDS.get(name) or name.replace("_", " ").replace("-", " ").capitalize()


def _short(path: Path) -> str:
    return f"{path.name}   ({path.parent.name})" if path.parent.name else path.name
