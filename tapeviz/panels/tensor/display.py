"""Show a slice of an array as a table, an image or curve, and a histogram."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QStackedWidget, QWidget

from ...document.jobs import Jobs
from ...trace.stats import Array
from ...trace.values import TensorPart
from ..look import Theme
from ..rows import in_column, in_row
from ..widgets import ShortCombo, plain_label
from .images import COLOUR, OVER, Form, as_colours, channel_of, choices, form_of
from .plots import ArrayPlot, Histogram
from .slices import Slices
from .values import MOST_CELLS, ValueTable, as_table

MOST_ROWS = 24
MOST_WORDS = 200
"""Rows, and columns, of a table of texts."""


class ArrayDisplay(QWidget):
    """Shows one array, or words in its place.

    ``find_image``: gives the array that a gradient may be laid over, None where there is none.
    """

    turned = Signal()
    """The user chose another slice of a tensor that is only partly loaded."""

    def __init__(self, theme: Theme, find_image: Callable[[], Array | None], jobs: Jobs) -> None:
        super().__init__()
        self.array: Array | None = None
        """The array, or the loaded part of it."""
        self.part: TensorPart | None = None
        """The loaded part of a large tensor, None if it is loaded as a whole."""
        self.form = Form((), ())
        self._theme = theme
        self._find_image = find_image
        self._jobs = jobs
        self._image: Array | None = None
        self._is_gradient = False
        self._size: int | None = None
        self._painted: tuple[Any, ...] = ()
        self._chosen_channel = ""
        self.slices = Slices()
        self.slices.changed.connect(self._turn)
        self.channels = ShortCombo()
        self.channels.setAccessibleName("Channel")
        self.channels.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.channels.setMaximumWidth(170)
        self.channels.activated.connect(self._choose_channel)
        self.channels.hide()
        self.cells = ValueTable(theme, False, (64, 40))
        self.cells.stretch()
        self.picture: ArrayPlot | None = None
        self.histogram: Histogram | None = None
        self.words = plain_label(name="empty", wraps=True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.words)
        self.pages.addWidget(self.cells)
        left = in_column(None, self.slices, (self.pages, 1))
        self._row = in_row(self, (left, 3), margins=(14, 6, 14, 8), spacing=24)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._painted = ()
        self._show_slice()

    def show_words(self, words: str) -> None:
        self.array = self.part = None
        self._painted = ()
        self.words.setText(words)
        self.pages.setCurrentWidget(self.words)
        self.slices.hide()
        self.channels.hide()
        if self.histogram is not None:
            self.histogram.hide()

    def show_array(self, array: Array, is_gradient: bool) -> None:
        """Show an array; of one with several dimensions the slice that the sliders choose."""
        self.array, self.part, self._size, self._is_gradient = array, None, None, is_gradient
        is_plotted = array.size and array.dtype.kind in "biufc" and not _fits_cells(array)
        self.choose_slice(form_of(array.shape) if is_plotted else Form((), array.shape))
        self._offer_channels()
        self._show_slice()

    def choose_slice(self, form: Form) -> tuple[int, ...]:
        """Let the sliders choose a slice of an array of this form; return its index."""
        self.form = form
        self.slices.fit(form.leading)
        return self.slices.index

    def show_part(self, part: TensorPart, size: int | None, is_gradient: bool) -> None:
        """Show the part of a tensor that :meth:`choose_slice` gave the index of; ``size``: how many
        elements the whole tensor has."""
        self.array, self.part, self._size, self._is_gradient = part.array, part, size, is_gradient
        self._offer_channels()
        self._show_slice()

    def _turn(self) -> None:
        if self.part is None:
            self._show_slice()
        else:
            self.turned.emit()

    def _offer_channels(self) -> None:
        image = self._find_image() if self.form.channels else None
        is_like = image is not None and self.array is not None and image.shape == self.array.shape
        self._image = image if is_like else None
        known = choices(self.form, self._is_gradient, self._image is not None)
        if known != [self.channels.itemText(i) for i in range(self.channels.count())]:
            self.channels.clear()
            self.channels.addItems(known)
            self.channels.setCurrentIndex(max(0, self.channels.findText(self._chosen_channel)))
        self.channels.setVisible(len(known) > 1)

    def _choose_channel(self) -> None:
        """The user's choice lasts where the next tensor has it; else the best one is shown."""
        self._chosen_channel = self.channels.currentText()
        self._show_slice()

    def _show_slice(self) -> None:
        array = self.array
        if array is None:
            return
        choice = self.channels.currentText()
        wanted = (self.slices.index, choice, self._theme, self._is_gradient)
        if self._painted[:1] and self._painted[0] is array and self._painted[1:] == wanted:
            return
        self._painted = (array, *wanted)
        shown = self._in_sight(array)
        if shown.size == 0:
            self.words.setText("It has no elements.")
            self.pages.setCurrentWidget(self.words)
        elif array.dtype.kind not in "biufc" or _fits_cells(shown):
            self.cells.show_array(as_table(shown)[:MOST_WORDS, :MOST_WORDS], self._is_gradient)
            self.pages.setCurrentWidget(self.cells)
        else:
            self._show_picture(shown)
        self._jobs.ask(self._show_histogram)

    def _in_sight(self, array: Array) -> Array:
        return array if self.part is not None else self.form.fit(array)[self.slices.index]

    def _show_picture(self, shown: Array) -> None:
        if self.picture is None:
            self.picture = ArrayPlot(self._theme)
            self.pages.addWidget(self.picture)
        choice, theme = self.channels.currentText(), self._theme
        if choice == COLOUR:
            self.picture.show_colours(shown, as_colours(shown))
        elif choice == OVER and self._image is not None:
            image = as_colours(self._in_sight(self._image))
            self.picture.show_over(channel_of(shown, OVER), image, theme)
        else:
            is_image = bool(self.form.channels)
            matrix = channel_of(shown, choice) if is_image else shown
            self.picture.show_array(matrix, theme, self._is_gradient, not is_image)
        self.pages.setCurrentWidget(self.picture)

    def _show_histogram(self) -> bool:
        """The first one is made in one turn and filled in the next: either takes a while. Returns
        whether it is to be filled."""
        if self.array is None:
            return False
        array = self.array if self.part is None else self.part.spread
        is_worth = array.dtype.kind in "biufc" and array.size > 3
        if is_worth:
            finite = array[np.isfinite(array)]
            is_worth = bool((finite != finite[:1]).any())
        if is_worth and self.histogram is None:
            self.histogram = Histogram(self._theme)
            self.histogram.hide()
            self._row.addWidget(self.histogram, 2)
            return True
        if self.histogram is not None:
            self.histogram.setVisible(is_worth)
            if is_worth:
                self.histogram.show_array(array, self._theme, self._is_gradient, self._size)
        return False


def _fits_cells(shown: Array) -> bool:
    return (
        shown.size <= MOST_CELLS
        and shown.size // max(shown.shape[-1] if shown.ndim else 1, 1) <= (MOST_ROWS)
        and (not shown.ndim or shown.shape[-1] <= (2 * MOST_ROWS if shown.ndim > 1 else MOST_ROWS))
    )
