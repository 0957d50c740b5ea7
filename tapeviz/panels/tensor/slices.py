"""Choose the index of an array's leading dimensions that is looked at."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QSlider, QWidget

from ..rows import in_column, in_row
from ..widgets import plain_label


class Slices(QWidget):
    """A slider for each dimension that is not shown as a whole."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._rows = in_column(self, spacing=2)
        self._sliders: list[QSlider] = []
        self._labels: list[QLabel] = []
        self._sizes: tuple[int, ...] = ()
        self.hide()

    @property
    def index(self) -> tuple[int, ...]:
        return tuple(slider.value() for slider in self._sliders)

    def fit(self, sizes: tuple[int, ...]) -> None:
        if sizes != self._sizes:
            self._sizes = sizes
            self._make_sliders(sizes)
        self.setVisible(bool(sizes))

    def _make_sliders(self, sizes: tuple[int, ...]) -> None:
        while self._rows.count():
            taken = self._rows.takeAt(0)
            widget = taken.widget() if taken is not None else None
            if widget is not None:
                widget.deleteLater()
        self._sliders, self._labels = [], []
        for axis, size in enumerate(sizes):
            row = QWidget()
            slider = QSlider(Qt.Orientation.Horizontal)
            slider.setMaximum(max(size - 1, 0))
            slider.setAccessibleName(f"Index {axis}")
            slider.valueChanged.connect(self._report)
            label = plain_label(name="muted")
            label.setMinimumWidth(80)
            in_row(row, label, (slider, 1))
            self._rows.addWidget(row)
            self._sliders.append(slider)
            self._labels.append(label)
        self._show_numbers()

    def _show_numbers(self) -> None:
        for slider, label in zip(self._sliders, self._labels, strict=True):
            label.setText(f"{slider.value() + 1} of {slider.maximum() + 1}")

    def _report(self) -> None:
        self._show_numbers()
        self.changed.emit()
