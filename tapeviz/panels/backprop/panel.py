"""The panel that steps through the backward pass."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSize, Qt, QTimer
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget

from ...analysis.backward.steps import WalkStep
from ...analysis.model import CallDiagnosis
from ...analysis.rounds.call_sites import CallSite
from ...canvas.tips import plain_tip
from ...document import Document
from ...scene.text import shorten
from ...scene.walk_words import inner_words
from ...trace.ids import CallId
from ..look import Theme
from ..panel import Panel
from ..widgets import IconButton, ShortCombo, plain_label
from .cut_rows import CutRows
from .shares import SharesModel, SharesView
from .table import WalkTable, are_alike
from .walk_model import WalkModel

MOST_CALL = 34
"""Characters of a gradient call in the picker, at most; the tooltip has all."""
ROOM_FOR_SPEED, ROOM_FOR_PLAY, ROOM_FOR_SELECTION, ROOM_FOR_ENDS = 330, 230, 190, 130
"""Px of the header, without the picker of calls, that these widgets need to be shown."""
ROOM_FOR_SHARES = 300
"""Px of the header that the word for the shares needs beside the picker of calls."""
ROWS = 5
"""Steps to show without scrolling."""
SPEEDS = (("slow", 1600), ("normal", 800), ("fast", 250), ("very fast", 40))


class BackpropPanel(Panel):
    title = "Backprop"
    name = "backprop"

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__(document, theme)
        self.model = WalkModel(document, theme)
        self.table = WalkTable(document, self.model)
        self.note = plain_label(name="faint", wraps=True)
        self.note.setContentsMargins(14, 4, 14, 6)
        self.note.hide()
        self.empty = plain_label(name="empty", wraps=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setContentsMargins(24, 24, 24, 24)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._play_on)
        self._shown: Sequence[WalkStep] | None = None
        self._has_play_word = True
        self._make_buttons()
        self.header.installEventFilter(self)
        self.shares = SharesModel(theme)
        self.shares_view = SharesView(self.shares)
        self.shares_view.hide()
        self.cuts = CutRows(self.table, self.model)
        self.cuts.row_picked.connect(lambda row: document.stepping.go_to(self.model.step_of(row)))
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.cuts)
        self.body.addWidget(self.shares_view, 1)
        self.body.addWidget(self.empty, 1)
        self.body.addWidget(self.note)
        self.table.clicked.connect(self._click)
        self.table.setMouseTracking(True)
        self.table.entered.connect(self._hover)
        self.table.viewportEntered.connect(self._leave)
        self.table.left.connect(self._leave)
        self.table.toggle_requested.connect(lambda row: self._toggle(row) or self.model.enter(row))
        document.diagnosis_changed.connect(self._show_steps)
        document.diagnosis_changed.connect(self._show_calls)
        document.step_changed.connect(self._show_steps)
        document.call_reveal_requested.connect(self._show_calls)
        document.selection_changed.connect(self._show_selection)
        document.run_started.connect(self.pause)
        document.run_started.connect(self._show_steps)
        document.shares.computed.connect(self._show_shares)
        document.insides.changed.connect(self.model.show_entrances)
        document.run_ended.connect(self.model.show_entrances)
        document.run_ended.connect(self._show_shares)
        document.progress_changed.connect(self._offer_shares)
        self._show_steps()
        self._show_calls()

    def _make_buttons(self) -> None:
        document = self.document
        self.calls = ShortCombo()
        self.calls.setAccessibleName("Gradient call")
        self.calls.setMaximumWidth(320)
        self.calls.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.calls.activated.connect(self._choose_call)
        self.buttons = {
            "first": IconButton("first", "First step (Alt+Home)", self.theme),
            "back": IconButton("back", "Back (Alt+Left, F9)", self.theme),
            "forward": IconButton("forward", "Forward (Alt+Right, F10)", self.theme),
            "last": IconButton("last", "Last step (Alt+End)", self.theme),
            "play": IconButton("play-outline", "Play the backward pass (F8)", self.theme, "play"),
            "selection": IconButton("target", "Walk to the selection (Alt+T)", self.theme),
        }
        acts = {
            "first": document.stepping.first,
            "back": document.stepping.back,
            "forward": document.stepping.forward,
            "last": document.stepping.last,
            "play": self.toggle_play,
            "selection": document.stepping.to_selection,
        }
        self.shares_button = QPushButton("shares")
        self.shares_button.setObjectName("icon")
        self.shares_button.setCheckable(True)
        self.shares_button.setAccessibleName("Shares")
        self.shares_button.setToolTip("What each target gives to each source, and their sum")
        self.shares_button.toggled.connect(self._show_shares)
        self.header_row.addWidget(self.calls)
        self.header_row.addWidget(self.shares_button)
        for name, button in self.buttons.items():
            button.clicked.connect(acts[name])
            button.setAccessibleName(button.toolTip().split(" (")[0])
            self.header_row.addWidget(button)
        self.speed = QComboBox()
        self.speed.setAccessibleName("Speed of play")
        self.speed.addItems([name for name, _ in SPEEDS])
        self.speed.setCurrentIndex(1)
        self.speed.setMinimumWidth(88)
        self.speed.currentIndexChanged.connect(self._set_speed)
        self.header_row.addWidget(self.speed)
        self._set_speed(1)

    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        self.model.set_theme(theme)
        self.shares.set_theme(theme)

    def focus_target(self) -> QWidget:
        return self.table

    def wanted_room(self) -> QSize:
        """Room for five rows, their headings, and the note if there is one."""
        rows = ROWS * self.table.verticalHeader().defaultSectionSize()
        heading = self.table.horizontalHeader().sizeHint().height()
        note = self.note.heightForWidth(self.width()) if self.note.isVisibleTo(self) else 0
        return QSize(0, heading + rows + note + 2 * self.table.frameWidth())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.header:
            self._fit_header()
        return super().eventFilter(watched, event)

    def _fit_header(self) -> None:
        """Hide widgets that have a shortcut or are seldom used, if there is little room."""
        has_calls, has_shares = (
            not widget.isHidden() for widget in (self.calls, self.shares_button)
        )
        is_tight = has_calls and has_shares and self.header.width() < ROOM_FOR_SHARES
        self.shares_button.setText("Σ" if is_tight else "shares")
        self.buttons["play"].setVisible(not is_tight or self.is_playing)
        room = self.header.width() - (150 if has_calls else 0) - (60 if has_shares else 0)
        self.speed.setVisible(room >= ROOM_FOR_SPEED)
        self.buttons["selection"].setVisible(room >= ROOM_FOR_SELECTION)
        for end in ("first", "last"):
            self.buttons[end].setVisible(room >= ROOM_FOR_ENDS)
        self._has_play_word = room >= ROOM_FOR_PLAY
        self._show_play()

    # Play

    @property
    def is_playing(self) -> bool:
        return self._timer.isActive()

    def toggle_play(self) -> None:
        if self.is_playing:
            self.pause()
            return
        document = self.document
        if not document.steps:
            return
        if document.step is None or document.step >= len(document.steps):
            document.stepping.go_to(0)
        self._timer.start()
        self._show_play()

    def pause(self) -> None:
        self._timer.stop()
        self._show_play()

    def _play_on(self) -> None:
        document = self.document
        if document.background.busy & {"compose"}:
            return  # a large graph is still drawing the step before
        if document.step is None or document.step >= len(document.steps):
            self.pause()
        else:
            document.stepping.forward()

    def _set_speed(self, index: int) -> None:
        self._timer.setInterval(SPEEDS[index][1])

    def _show_play(self) -> None:
        button = self.buttons["play"]
        button.show_icon("pause" if self.is_playing else "play-outline")
        word = "pause" if self.is_playing else "play"
        button.setText(word if self._has_play_word else "")

    # What is shown

    def _show_steps(self) -> None:
        document = self.document
        steps = document.steps
        if steps is not self._shown:
            is_alike = self._shown is not None and are_alike(steps, self._shown)
            self._shown = steps
            self.model.show_steps(steps)
            self.table.fit_numbers(steps)
            if not is_alike:  # another round moves no columns
                self.table.measure_columns()
            self._show_note()
        else:
            self.model.repaint()
        self.empty.setText(self._empty_words())
        self._show_shares()
        for name, button in self.buttons.items():
            button.setEnabled(bool(steps) or (name == "play" and self.is_playing))
        step = document.step
        if step:
            row = self.model.row_of(step)
            self.table.selectRow(row)
            self.table.scrollTo(self.model.index(row, 0))
        else:
            self.table.clearSelection()
            self.table.setCurrentIndex(QModelIndex())

    def _click(self, index: QModelIndex) -> None:
        """Walk to a step, ask for the steps inside of it, or open or close a turn."""
        step = self.model.step_of(index.row())
        if self.model.is_entrance(index):
            self.model.enter(index.row())
        elif not self._toggle(index.row()):
            self.document.stepping.go_to(step)

    def _hover(self, index: QModelIndex) -> None:
        document, links = self.document, self.document.links
        step = document.steps[self.model.step_of(index.row()) - 1]
        node = links.node_of_step(step)
        document.selecting.hover(
            frozenset((node,)) if node else frozenset(), links.spans_of_step(step)
        )

    def _leave(self) -> None:
        self.document.selecting.hover(frozenset())

    def _toggle(self, row: int) -> bool:
        """Open or close the turn in this row; returns False if it is a step."""
        changed = self.model.toggle(row)
        if changed:
            self.table.setCurrentIndex(self.model.index(row, 0))
        return changed

    def _offer_shares(self) -> None:
        """Offer the table of shares if the gradient is a sum over targets or elements."""
        document = self.document
        has_shares = document.shares.are_there(document.trace, document.current_call)
        if has_shares == self.shares_button.isHidden():
            self.shares_button.setVisible(has_shares)
            if not has_shares:
                self.shares_button.setChecked(False)
            self._fit_header()

    def _show_shares(self) -> None:
        self._offer_shares()
        document, call = self.document, self.document.current_call
        table = None
        if self.shares_button.isChecked() and call is not None:
            document.shares.ask(call)
            table = document.shares.tables.get(call.call.id)
        self.shares.show_table(table)
        self.shares_view.setVisible(table is not None)
        self.table.setVisible(table is None and bool(document.steps))
        self.empty.setVisible(table is None and not document.steps)
        self.cuts.refresh()

    def _empty_words(self) -> str:
        document = self.document
        if document.trace.ops and not document.is_running and not document.diagnosis.calls:
            return "The snippet asked for no gradient: there is no backward pass to step through."
        if not document.diagnosis.calls:
            return "The backward pass appears here, a row a step, once a gradient was asked for."
        if document.current_call is not None and document.current_call.is_pending:
            return "The backward pass is being read: it is long."
        if document.current_call is not None and document.current_call.call.is_forward:
            return "Forward mode computes derivatives as the ops run: there is no backward pass."
        return "TensorFlow ran no backward step for this call: nothing links target and source."

    def _show_calls(self) -> None:
        document = self.document
        groups = document.diagnosis.groups
        self.calls.setVisible(len(groups) > 1)
        self.calls.blockSignals(True)
        self.calls.clear()
        current = document.current_call
        for group in groups[:500]:
            if isinstance(group, CallSite):
                call = document.diagnosis.round(group, group.telling)
                words = call_words(call, f"{len(group)} rounds")
            else:
                call = group
                words = call_words(call, "")
            self.calls.addItem(shorten(words, MOST_CALL, "end"), int(call.call.id))
            place = self.calls.count() - 1
            self.calls.setItemData(place, plain_tip(words), Qt.ItemDataRole.ToolTipRole)
            if group is document.site or call is current:
                self.calls.setCurrentIndex(place)
                self.calls.setToolTip(plain_tip(words))
        self.calls.blockSignals(False)
        self._fit_header()

    def _choose_call(self, index: int) -> None:
        self.document.select_call(CallId(self.calls.itemData(index)))

    def _show_selection(self) -> None:
        self.model.mark(self.document.links.steps_of(self.document.selection.nodes))

    def _show_note(self) -> None:
        document, current = self.document, self.document.current_call
        words = inner_words(document.trace, current.call) if current is not None else ""
        if any(step.kind == "replayed" for step in document.steps[:2000]):
            words = "The pass up to the cut, computed by TensorFlow from the recording."
        if words != self.note.text():
            self.note.setText(words)
            self.note.setVisible(bool(words))
            self.room_changed.emit()


def call_words(call: CallDiagnosis, round_words: str) -> str:
    """``line 9 · ∂loss / ∂w, b``; in a loop ``line 9 · 5 rounds · …``."""
    targets = ", ".join(operand.text for operand in call.call.differentiated[:2])
    sources = ", ".join(operand.text for operand in call.call.by[:2])
    more = ", …" if len(call.call.by) > 2 else ""
    parts = (f"line {call.call.line}", round_words, f"∂{targets} / ∂{sources}{more}")
    return " · ".join(part for part in parts if part)
