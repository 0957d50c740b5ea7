"""The selected tensor in, its values to look at out: numbers, picture, histogram."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from ...analysis.inside_words import DOUBT_WORDS, doubt_about
from ...document import Document
from ...errors import TapevizError
from ...trace.model import Array, Stats, Tensor, TensorId, VariableId
from ...trace.values import TensorPart
from ..look import Theme
from ..panel import Panel
from ..widgets import ShortCombo, ShortLabel, link_button, plain_label
from .images import COLOUR, OVER, Form, as_colours, channel_of, choices, form_of
from .plots import ArrayPlot, Histogram
from .slices import Slices
from .values import MOST_CELLS, ValueTable
from .wording import (
    about_words,
    as_code,
    describe,
    gone_words,
    missing_words,
    round_words,
    unknown_words,
)

MOST_ROWS = 24
FETCHING = "Fetching the values …"
MOST_WHOLE = 4_000_000
"""Elements of a tensor that is fetched as a whole; of a larger one the slice that is looked at."""


class TensorPanel(Panel):
    title = "Tensor"
    name = "tensor"

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__(document, theme)
        self._array: Array | None = None
        self._shown: TensorId | None = None
        self._painted: tuple[Any, ...] = ()
        self._is_painted_as_gradient = False
        self._make_header()
        self.slices = Slices()
        self.slices.changed.connect(self._turn)
        self._form = Form((), ())
        self._part: TensorPart | None = None
        self._part_of: TensorId | None = None
        self._asked_over: tuple[TensorId, tuple[int, ...]] | None = None
        self._chosen_channel = ""
        self._image: Array | None = None
        self.cells = ValueTable(theme, False, (64, 40))
        self.cells.stretch()
        self.picture: ArrayPlot | None = None
        self.histogram: Histogram | None = None
        self.words = plain_label(name="empty", wraps=True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.words)
        self.pages.addWidget(self.cells)
        self._row = QHBoxLayout()
        self._row.setContentsMargins(14, 6, 14, 8)
        self._row.setSpacing(24)
        left = QVBoxLayout()
        left.addWidget(self.slices)
        left.addWidget(self.pages, 1)
        self._row.addLayout(left, 3)
        words = QVBoxLayout()
        words.setContentsMargins(15, 0, 14, 0)
        words.setSpacing(1)
        words.addWidget(self.about)
        words.addWidget(self.stats)
        self.body.addLayout(words)
        self.body.addLayout(self._row, 1)
        for signal in (
            document.selection_changed,
            document.diagnosis_changed,
            document.trace_changed,
            document.step_changed,
        ):
            signal.connect(self._show)
        document.values.fetched.connect(self._take_fetched)
        document.background.failed.connect(self._take_failure)
        self._show()

    def _make_header(self) -> None:
        self.about = ShortLabel("fixTitle")
        self.stats = plain_label(name="muted", wraps=True)
        self.sides = QButtonGroup(self)
        self.value_button = self._side_button("value", "The forward value")
        self.gradient_button = self._side_button("gradient", "The gradient that reached it")
        self.copy_button = link_button("Copy as NumPy", "The values shown, as Python code")
        self.copy_button.clicked.connect(self.copy_array)
        self.header_row.addWidget(self.value_button)
        self.header_row.addWidget(self.gradient_button)
        self.channels = ShortCombo()
        self.channels.setAccessibleName("Channel")
        self.channels.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.channels.setMaximumWidth(170)
        self.channels.activated.connect(self._choose_channel)
        self.channels.hide()
        self.header_row.addWidget(self.channels)
        self.header_row.addStretch(1)
        self.header_row.addWidget(self.copy_button)

    def _side_button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName("icon")
        button.setCheckable(True)
        button.setToolTip(tip)
        side: Any = text
        button.clicked.connect(lambda: self.document.set_side(side))
        self.sides.addButton(button)
        return button

    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        self.cells.set_theme(theme)
        for plot in (self.picture, self.histogram):
            if plot is not None:
                plot.set_theme(theme)
        self._painted = ()
        self._show_slice()

    def focus_target(self) -> QWidget:
        return self.value_button

    # What is looked at

    @property
    def is_gradient(self) -> bool:
        return self.document.selection.side == "gradient"

    def _show(self) -> None:
        document, selection = self.document, self.document.selection
        if selection.tensor is None and self._show_result():
            return
        gradient = document.links.gradient_of(selection.tensor)
        bridged = document.links.bridged_of(selection.tensor) if gradient is None else None
        gradient = gradient or bridged
        tensor = gradient if self.is_gradient else selection.tensor
        self.value_button.setChecked(not self.is_gradient)
        self.gradient_button.setChecked(self.is_gradient)
        self.value_button.setEnabled(selection.tensor is not None)
        self.gradient_button.setEnabled(gradient is not None or self.is_gradient)
        across = ", across the cut" if bridged and self.is_gradient else ""
        self.about.setText(about_words(document, selection.tensor) + across)
        if tensor is None:
            self._show_words(missing_words(selection.tensor), "")
            return
        self._look_at(tensor)

    def _show_result(self) -> bool:
        """With nothing selected: the gradient that was asked for, or what it would be."""
        call = self.document.current_call
        findings = (
            sorted(call.findings, key=lambda finding: finding.status == "flows") if call else []
        )
        finding = next(iter(findings), None)  # of the first card
        tensor = (finding.tensor or finding.bridged) if finding else None
        if finding is None or tensor is None:
            return False
        across = "" if finding.tensor else " across the cut"
        self.about.setText(
            f"∂{finding.target} / ∂{finding.source}{across}{round_words(self.document)}"
        )
        self.gradient_button.setChecked(True)
        for button in (self.value_button, self.gradient_button):
            button.setEnabled(False)
        self._look_at(tensor, is_gradient=True)
        return True

    def _look_at(self, tensor: TensorId, is_gradient: bool | None = None) -> None:
        document = self.document
        self._is_painted_as_gradient = self.is_gradient if is_gradient is None else is_gradient
        self._shown = tensor
        value = document.values.value_of(tensor)
        known = document.trace.tensors.get(tensor)
        stats = document.trace.stats(tensor)
        if value is None:
            if known is not None and (known.size or 0) > MOST_WHOLE:
                self._look_at_part(known, stats)
                return
            dtype = known.dtype if known else ""
            summary = describe(dtype, known.shape if known else None, stats)
            if document.trace.words.get(tensor) == "unknown":
                self._show_words(unknown_words(document, tensor), summary)
            elif document.values.fetch(tensor):
                self._show_words(FETCHING, summary)
            else:
                self._show_words(gone_words(document, known), summary)
            return
        self._tell_doubt(tensor)
        self._show_array(value, describe(known.dtype if known else "", value.shape, stats))

    def _tell_doubt(self, tensor: TensorId) -> None:
        words = DOUBT_WORDS.get(doubt_about(self.document.trace, tensor), "")
        if words:
            self.about.setText(", ".join(filter(None, (self.about.text(), words))))
        self.about.setToolTip(words)

    def _look_at_part(self, tensor: Tensor, stats: Stats | None) -> None:
        """A slice of a large tensor, and statistics of all of it. Until the next slice is here the
        one before stays in sight."""
        form = form_of(tuple(size or 0 for size in tensor.shape or ()))
        was = self._part if self._form == form and self._part_of == tensor.id else None
        self._form, self._part_of = form, tensor.id
        self.slices.fit(form.leading)
        index = self.slices.index
        part = self.document.values.part_of(tensor.id, index)
        stats = stats or (part.stats if part is not None else None)
        summary = describe(tensor.dtype, tensor.shape, stats)
        if part is not None:
            self._tell_doubt(tensor.id)
            self._show_part(part, summary)
        elif not self.document.values.fetch_part(tensor.id, form.leading + form.rest, index):
            self._show_words(gone_words(self.document, tensor), summary)
        elif was is None:
            self._show_words(FETCHING, summary)

    def _show_part(self, part: TensorPart, summary: str) -> None:
        step = max(part.steps, default=1)
        thinned = f" · one in {step} rows and columns is shown" if step > 1 else ""
        self.stats.setText(summary + thinned)
        self.copy_button.setEnabled(True)
        self._array, self._part = part.array, part
        self._offer_channels()
        self._show_slice()

    def _turn(self) -> None:
        """A slider was moved."""
        if self._part is None:
            self._show_slice()
        else:
            self._show()

    def _take_failure(self, kind: str, error: object) -> None:
        """The run's process cannot give the values: say so instead of waiting for them."""
        tensor = self._shown
        is_waited_for = tensor is not None and self._array is None
        if kind != "fetch" or not isinstance(error, TapevizError) or not is_waited_for:
            return
        known = self.document.trace.tensors.get(tensor) if tensor is not None else None
        stats = self.document.trace.stats(tensor) if tensor is not None else None
        summary = describe(known.dtype, known.shape, stats) if known is not None else ""
        self._show_words(f"The values cannot be had: {error}.", summary)

    def _take_fetched(self, tensor: int) -> None:
        if tensor == self._shown or (self._asked_over and tensor == self._asked_over[0]):
            self._show()

    def _show_words(self, words: str, summary: str) -> None:
        self._array = self._part = None
        self._painted = ()
        self.words.setText(words)
        self.stats.setText(summary)
        self.pages.setCurrentWidget(self.words)
        self.slices.hide()
        self.channels.hide()
        self.copy_button.setEnabled(False)
        if self.histogram is not None:
            self.histogram.hide()

    def _show_array(self, array: Array, summary: str) -> None:
        self.stats.setText(summary)
        self.copy_button.setEnabled(True)
        self._array, self._part = array, None
        is_large = array.size > MOST_CELLS and array.dtype.kind in "biufc"
        self._form = form_of(array.shape) if is_large else Form((), array.shape)
        self.slices.fit(self._form.leading)
        self._offer_channels()
        self._show_slice()

    def _offer_channels(self) -> None:
        """The image that a gradient can be laid over is what it was taken with respect to."""
        subject = self._subject()
        image = self._image_of(subject) if subject is not None and self._form.channels else None
        is_like = image is not None and self._array is not None and image.shape == self._array.shape
        self._image = image if is_like else None
        known = choices(self._form, self._is_painted_as_gradient, self._image is not None)
        if known != [self.channels.itemText(i) for i in range(self.channels.count())]:
            self.channels.clear()
            self.channels.addItems(known)
            self.channels.setCurrentIndex(max(0, self.channels.findText(self._chosen_channel)))
        self.channels.setVisible(len(known) > 1)

    def _image_of(self, subject: TensorId) -> Array | None:
        """The values that a gradient is laid over, of a large tensor the slice in sight. They are
        asked for once."""
        document, index = self.document, self.slices.index
        reads, known = document.trace.reads, document.trace.tensors.get(subject)
        if known is None or known.is_handle:  # a variable: what was read of it
            wanted = VariableId(subject)
            subject = next((read for read, of in reads.items() if of.variable == wanted), subject)
        is_new = (subject, index) != self._asked_over
        self._asked_over = subject, index
        if self._part is not None:
            part = document.values.part_of(subject, index)
            if part is None and is_new:
                document.values.fetch_part(subject, self._form.leading + self._form.rest, index)
            return part.array if part is not None else None
        image: Array | None = document.values.value_of(subject)
        if image is None and is_new:
            document.values.fetch(subject)
        return image

    def _choose_channel(self) -> None:
        """The user's choice lasts where the next tensor has it; else the best one is shown."""
        self._chosen_channel = self.channels.currentText()
        self._show_slice()

    def _subject(self) -> TensorId | None:
        """The tensor whose gradient is shown; None where a value is."""
        if not self._is_painted_as_gradient:
            return None
        if self.document.selection.tensor is not None:
            return self.document.selection.tensor
        call = self.document.current_call
        pairs = zip(call.call.sources, call.findings, strict=False) if call is not None else ()
        first = min(pairs, key=lambda pair: pair[1].status == "flows", default=None)
        return first[0].tensor if first is not None else None

    def _show_slice(self) -> None:
        array = self._array
        if array is None:
            return
        choice = self.channels.currentText()
        wanted = (array, self.slices.index, choice, self.theme, self._is_painted_as_gradient)
        if (
            len(self._painted) == 5
            and all(a is b or a == b for a, b in zip(wanted[1:], self._painted[1:], strict=True))
            and self._painted[0] is array
        ):
            return
        self._painted = wanted
        part = self._in_sight(array)
        if part.size == 0:
            self.words.setText("It has no elements.")
            self.pages.setCurrentWidget(self.words)
        elif array.dtype.kind not in "biufc" or _fits_cells(part):
            self._show_cells(part)
        else:
            self._show_picture(part)
        self._show_histogram(array if self._part is None else self._part.spread)

    def _in_sight(self, array: Array) -> Array:
        return array if self._part is not None else self._form.fit(array)[self.slices.index]

    def _show_cells(self, part: Array) -> None:
        table = part if part.ndim < 3 else part.reshape(-1, part.shape[-1])
        self.cells.show_array(table[:200] if table.ndim else table, self._is_painted_as_gradient)
        self.pages.setCurrentWidget(self.cells)

    def _show_picture(self, part: Array) -> None:
        if self.picture is None:
            self.picture = ArrayPlot(self.theme)
            self.pages.addWidget(self.picture)
        choice, theme = self.channels.currentText(), self.theme
        if choice == COLOUR:
            self.picture.show_colours(part, as_colours(part))
        elif choice == OVER and self._image is not None:
            image = as_colours(self._in_sight(self._image))
            self.picture.show_over(channel_of(part, OVER), image, theme)
        else:
            is_image = bool(self._form.channels)
            matrix = channel_of(part, choice) if is_image else part
            self.picture.show_array(matrix, theme, self._is_painted_as_gradient, not is_image)
        self.pages.setCurrentWidget(self.picture)

    def _show_histogram(self, array: Array) -> None:
        is_worth = array.dtype.kind in "biufc" and array.size > 3 and not _is_uniform(array)
        if is_worth and self.histogram is None:
            self.histogram = Histogram(self.theme)
            self._row.addWidget(self.histogram, 2)
        if self.histogram is not None:
            self.histogram.setVisible(is_worth)
            if is_worth:
                tensor = self.document.trace.tensors.get(self._shown) if self._shown else None
                whole = tensor.size if tensor is not None and self._part is not None else None
                self.histogram.show_array(array, self.theme, self._is_painted_as_gradient, whole)

    def copy_array(self) -> None:
        """Puts the values on the clipboard as ``np.array(…)``."""
        if self._array is not None:
            QGuiApplication.clipboard().setText(as_code(self._array))


def _is_uniform(array: Array) -> bool:
    return bool((array == array.flat[0]).all())


def _fits_cells(part: Array) -> bool:
    return (
        part.size <= MOST_CELLS
        and part.size // max(part.shape[-1] if part.ndim else 1, 1) <= (MOST_ROWS)
        and (not part.ndim or part.shape[-1] <= (2 * MOST_ROWS if part.ndim > 1 else MOST_ROWS))
    )
