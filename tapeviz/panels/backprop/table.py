"""The table of the backward pass, and how its columns share the room."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from ...analysis.backward.steps import WalkStep
from ...document import Document
from .cells import BESIDE, WalkCells
from .walk_model import FORMULA, IN, LINE, NARROW_ROLE, NUMBER, OP, OUT, WalkModel

WIDTHS = {NUMBER: 42, LINE: 52}
SHARED = (OP, IN, FORMULA, OUT)
"""The columns that share what the others leave."""
NARROWEST, WIDEST_OP = 76, 190
"""Px of a column that shares the room of the table at least, and of the one of ops at most."""
MOST_MEASURED = 100
"""Rows whose text is measured, or compared, at most."""


class WalkTable(QTableView):
    """The rows of the backward pass. Up and down walk, Enter opens or closes a turn of a loop."""

    toggle_requested = Signal(int)
    left = Signal()

    def __init__(self, document: Document, model: WalkModel) -> None:
        super().__init__()
        self._document = document
        self._model = model
        self._wanted = self._least = [NARROWEST] * len(SHARED)
        self.setModel(model)
        self.setItemDelegate(WalkCells(self))
        for column, width in WIDTHS.items():
            self.setColumnWidth(column, width)
        self.setAccessibleName("Steps of the backward pass")
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(28)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setStretchLastSection(False)
        self.setWordWrap(False)

    def fit_numbers(self, steps: Sequence[WalkStep]) -> None:
        """Make the columns of numbers as wide as those of the last step and of the text's last
        line: the steps may be hundreds of thousands, of which none is looked at here."""
        last_line = self._document.trace.source.count("\n") + 1
        for column, number, fitting in ((NUMBER, len(steps), 2), (LINE, last_line, 3)):
            wider = 9 * max(len(str(number)) - fitting, 0)
            self.setColumnWidth(column, WIDTHS[column] + wider)

    def measure_columns(self) -> None:
        """Share the room among the columns of text by how much the text of each would fill, or the
        short texts of cells where these have no room."""
        self._wanted, self._least = (
            [self._widest(column, role) for column in SHARED]
            for role in (Qt.ItemDataRole.DisplayRole, NARROW_ROLE)
        )
        self._share_room()

    def _widest(self, column: int, role: int) -> int:
        """Px that the texts of a column fill."""
        metrics = QFontMetrics(self._model.font_of(column))
        rows = range(min(self._model.rowCount(), MOST_MEASURED))
        texts = (str(self._model.data(self._model.index(row, column), role)) for row in rows)
        width = BESIDE + max(map(metrics.horizontalAdvance, texts), default=0)
        return min(width, WIDEST_OP) if column == OP else width

    def _share_room(self) -> None:
        room = self.viewport().width() - sum(map(self.columnWidth, WIDTHS))
        widths = shared_between(self._least, self._wanted, room, NARROWEST)
        for column, width in zip(SHARED, widths, strict=True):
            self.setColumnWidth(column, width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def leaveEvent(self, event: QEvent) -> None:
        self.left.emit()
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        acts = {
            Qt.Key.Key_Down: self._document.stepping.forward,
            Qt.Key.Key_Up: self._document.stepping.back,
            Qt.Key.Key_Home: self._document.stepping.first,
            Qt.Key.Key_End: self._document.stepping.last,
            Qt.Key.Key_Escape: lambda: self._document.stepping.go_to(None),
            Qt.Key.Key_Return: lambda: self.toggle_requested.emit(self.currentIndex().row()),
        }
        if self._document.step is None:
            del acts[Qt.Key.Key_Escape]  # the window may have a use for it
        act = acts.get(Qt.Key(event.key()))
        if act is None or event.modifiers() & Qt.KeyboardModifier.AltModifier:
            super().keyPressEvent(event)
        else:
            act()  # type: ignore[no-untyped-call]


def are_alike(steps: Sequence[WalkStep], others: Sequence[WalkStep]) -> bool:
    """Whether two backward passes have as many steps, and the same ops in those that are measured:
    two rounds of a loop. Columns measured for one serve the other."""
    if len(steps) != len(others):
        return False
    pairs = zip(steps[:MOST_MEASURED], others[:MOST_MEASURED], strict=True)
    return all(step.title == other.title for step, other in pairs)


def shared_between(narrow: Sequence[int], whole: Sequence[int], room: int, least: int) -> list[int]:
    """The width in px of each column, together ``room``, at least ``least`` each: of its narrow
    texts, and of the room that these leave a part by what its whole texts lack."""
    if sum(whole) <= room:
        return shared_widths(whole, room, least)
    first = [max(width, least) for width in narrow]
    rest = room - sum(first)
    if rest <= 0:
        return shared_widths(narrow, room, least)
    lacking = [max(full - width, 0) for full, width in zip(whole, first, strict=True)]
    more = shared_widths(lacking, rest, 0)
    return [width + added for width, added in zip(first, more, strict=True)]


def shared_widths(wanted: Sequence[int], room: int, least: int) -> list[int]:
    """The width in px of each column, together ``room``, at least ``least`` each.

    ``wanted``: the width that the content of each would fill. A column gets at most what it wants,
    as long as another wants more; what nobody wants is shared by all.
    """
    room = max(room, least * len(wanted))
    widths = [0] * len(wanted)
    rest, left = room, list(range(len(wanted)))
    for place in sorted(left, key=lambda place: wanted[place]):
        widths[place] = min(max(wanted[place], least), rest // len(left))
        rest -= widths[place]
        left.remove(place)
    extra, odd = divmod(rest, len(wanted)) if wanted else (0, 0)
    return [width + extra + (place < odd) for place, width in enumerate(widths)]
