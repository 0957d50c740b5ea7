"""The panel with the values of the selected tensor, and words about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QButtonGroup, QPushButton, QWidget

from ...analysis.inside_words import DOUBT_WORDS, doubt_about
from ...document import Document
from ...errors import TapevizError
from ...trace.ids import TensorId, VariableId
from ...trace.ops import Tensor
from ...trace.stats import Array, Stats
from ...trace.tapes import is_handle
from ...trace.values import measure
from ..look import Theme
from ..panel import Panel
from ..rows import fill, in_column
from ..widgets import ShortLabel, link_button, plain_label
from .display import ArrayDisplay
from .images import form_of
from .wording import (
    HANDLE,
    about_words,
    as_code,
    describe,
    gone_words,
    missing_words,
    round_words,
    unknown_words,
)

FETCHING = "Fetching the values …"
MOST_WHOLE = 4_000_000
"""Elements of a tensor to fetch as a whole, at most; of larger ones a slice is fetched."""


class TensorPanel(Panel):
    title = "Tensor"
    name = "tensor"

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__(document, theme)
        self._shown: TensorId | None = None
        self._is_shown_as_gradient = False
        self._part_of: TensorId | None = None
        self._asked_over: tuple[TensorId, tuple[int, ...]] | None = None
        self.display = ArrayDisplay(theme, self._find_image, document.jobs)
        self.display.turned.connect(self._show)
        self._make_header()
        words = in_column(None, self.about, self.stats, margins=(15, 0, 14, 0), spacing=1)
        fill(self.body, words, (self.display, 1))
        document.selection_changed.connect(self._show_unless_soon)
        document.step_changed.connect(self._show_unless_soon)
        document.diagnosis_changed.connect(self._show_soon)
        document.trace_changed.connect(self._show_soon)
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
        self.header_row.addWidget(self.display.channels)
        self.header_row.addStretch(1)
        self.header_row.addWidget(self.copy_button)

    def _side_button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName("icon")
        button.setCheckable(True)
        button.setToolTip(tip)
        side: Any = text
        button.clicked.connect(lambda: self.document.selecting.set_side(side))
        self.sides.addButton(button)
        return button

    def focus_target(self) -> QWidget:
        return self.value_button

    # What is looked at

    @property
    def is_gradient(self) -> bool:
        return self.document.selection.side == "gradient"

    def _show_soon(self) -> None:
        """A diagnosis makes cards, rows and the picture anew: this panel comes after them."""
        self.document.jobs.ask(self._show)

    def _show_unless_soon(self) -> None:
        if not self.document.jobs.awaits(self._show):
            self._show()

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
        self.about.setText(about_words(document, selection.tensor, self.is_gradient) + across)
        if tensor is None:
            self._show_words(missing_words(selection.tensor), "")
            return
        self._look_at(tensor)

    def _show_result(self) -> bool:
        """If nothing is selected, show the gradient that was asked for, or the one across the
        cut."""
        call = self.document.current_call
        if call is None or not call.findings:
            return False
        finding = call.findings[call.first_troubled or 0]  # of the first card
        is_across = finding.tensor is None
        gradient = finding.across if is_across else finding.tensor
        if gradient is None:
            return False
        across = " across the cut" if is_across else ""
        self.about.setText(
            f"∂{finding.target} / ∂{finding.source}{across}{round_words(self.document)}"
        )
        self.gradient_button.setChecked(True)
        for button in (self.value_button, self.gradient_button):
            button.setEnabled(False)
        if isinstance(gradient, np.ndarray):  # of another run
            self._shown, self._is_shown_as_gradient = None, True
            stats = measure(gradient)
            self._show_array(gradient, describe(str(gradient.dtype), gradient.shape, stats))
        else:
            self._look_at(gradient, is_gradient=True)
        return True

    def _look_at(self, tensor: TensorId, is_gradient: bool | None = None) -> None:
        document = self.document
        self._is_shown_as_gradient = self.is_gradient if is_gradient is None else is_gradient
        self._shown = tensor
        value = document.values.value_of(tensor)
        known = document.trace.tensors.get(tensor)
        stats = document.trace.stats(tensor)
        if known is not None and is_handle(known.dtype):
            self._show_words(HANDLE, known.dtype)
            return
        if value is None:
            if known is not None and (known.size or 0) > MOST_WHOLE:
                self._look_at_part(tensor, known, stats)
                return
            dtype = known.dtype if known else ""
            summary = describe(dtype, known.shape if known else None, stats)
            if document.trace.words.get(tensor) == "unknown":
                self._show_words(unknown_words(document, tensor), summary)
            elif document.values.fetch(tensor):
                self._show_words(FETCHING, summary)
            else:
                self._show_words(gone_words(document, tensor), summary)
            return
        if stats is not None and not stats.has_range:
            stats = measure(value)
        summary = describe(known.dtype if known else "", value.shape, stats)
        self._show_array(value, summary + self._doubt(tensor))

    def _doubt(self, tensor: TensorId) -> str:
        words = DOUBT_WORDS.get(doubt_about(self.document.trace, tensor), "")
        return f" · {words}" if words else ""

    def _look_at_part(self, tensor: TensorId, known: Tensor, stats: Stats | None) -> None:
        """A slice of a large tensor, and statistics of all of it. Until the next slice is here the
        one before stays in sight."""
        display, form = self.display, form_of(tuple(size or 0 for size in known.shape or ()))
        was = display.part if display.form == form and self._part_of == tensor else None
        self._part_of = tensor
        index = display.choose_slice(form)
        part = self.document.values.part_of(tensor, index)
        stats = (part.stats if part is not None else None) or stats
        summary = describe(known.dtype, known.shape, stats)
        if part is not None:
            step = max(part.steps, default=1)
            thinned = f" · one in {step} rows and columns is shown" if step > 1 else ""
            self.stats.setText(summary + thinned + self._doubt(tensor))
            self.copy_button.setEnabled(True)
            self.display.show_part(part, known.size, self._is_shown_as_gradient)
        elif not self.document.values.fetch_part(tensor, form.leading + form.rest, index):
            self._show_words(gone_words(self.document, tensor), summary)
        elif was is None:
            self._show_words(FETCHING, summary)

    def _take_failure(self, kind: str, error: object) -> None:
        """Say that the run's process cannot give the values."""
        tensor = self._shown
        is_waited_for = tensor is not None and self.display.array is None
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
        self.stats.setText(summary)
        self.copy_button.setEnabled(False)
        self.display.show_words(words)

    def _show_array(self, array: Array, summary: str) -> None:
        self.stats.setText(summary)
        self.copy_button.setEnabled(True)
        self.display.show_array(array, self._is_shown_as_gradient)

    def _find_image(self) -> Array | None:
        """The image that a gradient can be laid over is what it was taken with respect to."""
        subject = self._subject()
        return self._image_of(subject) if subject is not None else None

    def _image_of(self, subject: TensorId) -> Array | None:
        """The values that a gradient is laid over, of a large tensor the slice in sight. They are
        asked for once."""
        document, display = self.document, self.display
        index, form = display.slices.index, display.form
        reads, known = document.trace.reads, document.trace.tensors.get(subject)
        if known is None or known.is_handle:  # a variable: what was read of it
            wanted = VariableId(subject)
            subject = next((read for read, of in reads.items() if of.variable == wanted), subject)
        is_new = (subject, index) != self._asked_over
        self._asked_over = subject, index
        if display.part is not None:
            part = document.values.part_of(subject, index)
            if part is None and is_new:
                document.values.fetch_part(subject, form.leading + form.rest, index)
            return part.array if part is not None else None
        image: Array | None = document.values.value_of(subject)
        if image is None and is_new:
            document.values.fetch(subject)
        return image

    def _subject(self) -> TensorId | None:
        """The tensor whose gradient is shown; None where a value is."""
        if not self._is_shown_as_gradient:
            return None
        if self.document.selection.tensor is not None:
            return self.document.selection.tensor
        call = self.document.current_call
        if call is None or not call.findings or not call.call.sources:
            return None
        return call.call.sources[call.first_troubled or 0].tensor

    def copy_array(self) -> None:
        """Copy the values to the clipboard as ``np.array(…)``."""
        if self.display.array is not None:
            QGuiApplication.clipboard().setText(as_code(self.display.array))
