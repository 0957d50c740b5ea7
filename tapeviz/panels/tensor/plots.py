"""Plot an array as an image, a curve or a histogram, by pyqtgraph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

from ...scene.theme import rgb
from ...trace.stats import Array
from ..look import Theme, font, mix
from ..rows import in_column
from ..widgets import ShortLabel, plain_label

BINS = 32
FEW = 8
"""Different values that get a bar each, at most."""
MOST_BINNED = 2_000_000
"""Elements to count, at most; of more, evenly spaced ones."""
MOST_PIXELS = 4_000_000
MOST_STRIPES = 4_000
"""Stripes for the elements of a vector that are not finite, at most."""
LABEL = 6
"""Half of the height of an axis's labels in px."""


def real_elements(array: Array) -> Array:
    """Numbers to draw: booleans as 0 and 1, complex numbers as their modulus, in float64."""
    numbers = np.abs(array) if array.dtype.kind == "c" else array
    return numbers.astype(np.float64)


def count_bins(array: Array) -> tuple[Any, Any]:
    """Counts of the finite elements, and the left and right ends of the bars."""
    flat = real_elements(array).ravel()
    if flat.size > MOST_BINNED:
        flat = flat[:: flat.size // MOST_BINNED + 1]
    flat = flat[np.isfinite(flat)]
    if not flat.size:
        return np.zeros(1), np.array([[0.0], [1.0]])
    low, high = float(flat.min()), float(flat.max())
    if not np.isfinite(high - low):
        flat, low, high = flat / 4, low / 4, high / 4
    values, counts = np.unique(flat, return_counts=True) if flat.size <= 1_000 else (flat, flat)
    if 1 < values.size <= FEW:
        return _bars_at(values, counts)
    if low == high:
        half = abs(low) * 0.5 or 0.5
        return np.array([flat.size]), np.array([[low - half], [low + half]])
    counts, edges = np.histogram(flat, BINS, (low, high))
    return counts, np.stack((edges[:-1], edges[1:] - (edges[1] - edges[0]) * 0.12))


def _bars_at(values: Array, counts: Array) -> tuple[Any, Any]:
    """A bar around each value, with empty ones between."""
    reach = float(values[-1] - values[0])
    half = max(min(float(np.diff(values).min()) / 2, reach / 24), reach / 80)
    return counts, np.stack((values - half, values + half))


def colour_map(theme: Theme, is_gradient: bool, is_signed: bool) -> Any:
    """A colour map from the panel's colour to the ramp's; signed values get a second colour below
    zero."""
    strong = theme.gradient_ramp if is_gradient else theme.value_ramp
    other = theme.value_ramp if is_gradient else theme.gradient_ramp
    pale = mix(theme.panel, strong, 0.06)
    stops = [other, pale, strong] if is_signed else [pale, strong]
    return pg.ColorMap(np.linspace(0, 1, len(stops)), [rgb(stop) for stop in stops])


_ROOM = {"left": 14, "bottom": 26}
"""Px from one label to the next, at least."""
_DIGIT, _APART = 5.6, 9.0
"""Px of a digit of such a label, and between two labels."""


class _CellAxis(pg.AxisItem):  # type: ignore[misc]
    """An axis that labels the rows or columns that there are: the plot around an image is wider,
    or higher. ``count``: their number; None for an axis of numbers."""

    count: int | None = None

    def tickValues(self, low: float, high: float, size: float) -> Any:
        if self.count is None:
            return super().tickValues(low, high, size)
        low, high = sorted((low, high))  # rows are counted downwards
        scale = size / (high - low)
        first, last = max(low, 0.0), min(high, self.count - 1.0)
        levels = super().tickValues(first, last, scale * (last - first)) if first < last else []
        room = _ROOM[self.orientation] / scale
        return [
            (max(spacing, 1), [value for value in values if value == round(value)])
            for spacing, values in levels
            if max(spacing, 1) >= room
        ] or [(1, [0])]


class _NumberAxis(pg.AxisItem):  # type: ignore[misc]
    """A horizontal axis whose labels do not run into each other, in a plot that is narrow."""

    def tickSpacing(self, low: float, high: float, size: float) -> Any:
        scale = size / (abs(high - low) or 1.0)
        least = np.floor(np.log10(20.0 / scale))
        for power in range(int(least), int(least) + 4):
            for digit in (1, 2, 5):
                spacing = digit * 10.0**power
                longest = f"{-max(abs(low), abs(high)):.{max(-power, 0)}f}"
                if spacing * scale >= _DIGIT * len(longest) + _APART:
                    return [(spacing, 0)]
        return super().tickSpacing(low, high, size)


class ThemedPlot(pg.PlotWidget):  # type: ignore[misc]
    """A plot in the colours of a theme, without pyqtgraph's own menu."""

    def __init__(self, theme: Theme, **items: Any) -> None:
        super().__init__(background=theme.panel, enableMenu=False, **items)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # there is nothing to do in it with a key
        self.hideButtons()
        self.getPlotItem().getViewBox().setDefaultPadding(0.02)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self.setBackground(theme.panel)
        small: QFont = font("sans", 11)
        for side in ("left", "bottom"):
            axis = self.getAxis(side)
            axis.setPen(theme.border)
            axis.setTextPen(theme.text_muted)
            axis.setStyle(tickFont=small, tickLength=-4)


class Histogram(QWidget):
    """A histogram; its counts are logarithmic if one bar would hide the others."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.words = ShortLabel("faint", between=", ")
        self.plot = ThemedPlot(theme, axisItems={"bottom": _NumberAxis("bottom")})
        self.plot.setMouseEnabled(False, False)
        self.plot.hideAxis("left")
        self.plot.setAccessibleName("Histogram of the values")
        in_column(self, self.words, (self.plot, 1), spacing=2)
        self._bars: Any = None

    def show_array(
        self, array: Array, theme: Theme, is_gradient: bool, whole: int | None = None
    ) -> None:
        """``whole``: how many elements there are, where the array is a sample of them."""
        self.plot.clear()
        counts, edges = count_bins(array)
        self._bars = pg.BarGraphItem(
            x0=edges[0],
            x1=edges[1],
            height=counts,
            brush=mix(theme.panel, theme.gradient_ramp if is_gradient else theme.value_ramp, 0.8),
            pen=None,
        )
        self.plot.addItem(self._bars)
        middles = (edges[0] + edges[1]) / 2
        reach = float(edges[1].max() - edges[0].min())
        is_roomy = len(middles) <= FEW and (len(middles) < 2 or np.diff(middles).min() > reach / 9)
        ticks = [[(float(x), f"{x:.4g}") for x in middles]] if is_roomy else None
        self.plot.getAxis("bottom").setTicks(ticks)
        top = int(counts.max())
        count = int(counts.sum())
        values = "values" if count == array.size else "finite values"
        sample = f"{count:,} of {whole:,} values" if whole else f"{count:,} {values}"
        self.words.setText(f"histogram · {sample}, at most {top:,} a bar")
        self.plot.setYRange(0, max(top, 1), padding=0.05)
        self.plot.setXRange(float(edges[0].min()), float(edges[1].max()), padding=0.03)


class ArrayPlot(QWidget):
    """A vector as a curve, a matrix as an image; the value under the pointer is shown."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.words = plain_label(name="faint")
        self._axes = {"left": _CellAxis("left"), "bottom": _CellAxis("bottom")}
        self.plot = ThemedPlot(theme, axisItems=self._axes)
        self.plot.setAccessibleName("Values of the tensor")
        in_column(self, self.words, (self.plot, 1), spacing=2)
        self._array: Array = np.zeros((0, 0))
        self.plot.scene().sigMouseMoved.connect(self._show_value)

    def show_array(
        self, array: Array, theme: Theme, is_gradient: bool, has_axes: bool = True
    ) -> None:
        self._clear(array, has_axes)
        if array.ndim == 1:
            self._show_curve(array, theme, is_gradient)
        else:
            self._show_image(array, theme, is_gradient)

    def _show_curve(self, array: Array, theme: Theme, is_gradient: bool) -> None:
        box = self.plot.getPlotItem().getViewBox()
        box.setAspectLocked(False)
        box.invertY(False)
        tone = theme.gradient if is_gradient else theme.accent
        curve = self.plot.plot(real_elements(array), pen=pg.mkPen(tone, width=1.6))
        curve.setDownsampling(auto=True, method="peak")
        curve.setClipToView(True)
        numbers = real_elements(array)
        is_finite = np.isfinite(numbers)
        finite = numbers[is_finite]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        if high <= low:
            low, high = low - 0.5, low + 0.5
        self.plot.setYRange(low, high, padding=0.05)
        if not is_finite.all():
            starts = np.arange(0, len(numbers), len(numbers) // MOST_STRIPES + 1)
            stripes = _marks(np.logical_or.reduceat(~is_finite, starts)[None], theme)
            stripes.setRect(-0.5, low, len(numbers), high - low)
            self.plot.addItem(stripes)
        self.plot.setXRange(0, max(len(numbers) - 1, 1), padding=0.02)

    def _show_image(self, array: Array, theme: Theme, is_gradient: bool) -> None:
        numbers = real_elements(array)
        step = max(1, int(np.ceil(np.sqrt(numbers.size / MOST_PIXELS))))
        numbers = numbers[::step, ::step]
        finite = numbers[np.isfinite(numbers)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        is_signed = low < 0 < high
        reach = max(abs(low), abs(high)) or 1.0
        levels = (-reach, reach) if is_signed else (low, high if high > low else low + 1)
        image = pg.ImageItem(numbers, axisOrder="row-major", levels=levels)
        image.setColorMap(colour_map(theme, is_gradient, is_signed))
        self._add_image(image)
        if finite.size < numbers.size:
            self._add_image(_marks(~np.isfinite(numbers), theme))

    def show_colours(self, array: Array, colours: Array) -> None:
        """``colours``: height, width and red, green, blue in 0…1 of an image ``array``."""
        self._clear(array, has_axes=False)
        self._add_image(pg.ImageItem(colours[..., :3], axisOrder="row-major", levels=(0, 1)), True)

    def show_over(self, gradient: Array, colours: Array, theme: Theme) -> None:
        """A gradient (height, width) over the grey image that it was taken with respect to."""
        self._clear(gradient, has_axes=False)
        grey = pg.ImageItem(colours.mean(axis=-1), axisOrder="row-major", levels=(-0.2, 1.2))
        numbers = np.nan_to_num(real_elements(gradient))
        reach = float(np.abs(numbers).max()) if numbers.size else 0.0
        shares = numbers / (reach or 1.0)
        colours = colour_map(theme, True, True).map((shares + 1) / 2, mode="byte")
        colours[..., 3] = np.round(255 * np.sqrt(np.abs(shares)) * 0.9)
        self._add_image(grey, True)
        self._add_image(pg.ImageItem(colours, axisOrder="row-major", levels=(0, 255)), True)

    def _clear(self, array: Array, has_axes: bool = True) -> None:
        self.plot.clear()
        for side, axis in self._axes.items():
            self.plot.showAxis(side, has_axes)
            axis.count = None
        top = LABEL if has_axes else 0  # half of the first label reaches out
        self.plot.getPlotItem().setContentsMargins(0, top, 0, 0)
        self._array = array
        self.words.setText("")

    def _add_image(self, image: Any, is_picture: bool = False) -> None:
        """Show an image with square pixels; of a matrix that is not nearly square, and no
        ``is_picture``, the cells fill the room."""
        height, width = self._array.shape[:2]
        image.setRect(-0.5, -0.5, width, height)  # so that the labels stand at the middle of cells
        self._axes["left"].count, self._axes["bottom"].count = height, width
        box = self.plot.getPlotItem().getViewBox()
        box.setAspectLocked(is_picture or 0.8 <= width / max(height, 1) <= 1.25)
        box.invertY(True)
        self.plot.addItem(image)
        box.autoRange(padding=0.02)

    def _show_value(self, at: Any) -> None:
        if not self._array.size:
            return
        point = self.plot.getPlotItem().getViewBox().mapSceneToView(at)
        if self._array.ndim == 1:
            index: tuple[int, ...] = (round(point.x()),)
        else:
            index = (round(point.y()), round(point.x()))
        inside = all(0 <= i < size for i, size in zip(index, self._array.shape, strict=False))
        self.words.setText(f"{list(index)} = {self._array[index]!s}" if inside else "")

    def leaveEvent(self, event: Any) -> None:
        self.words.setText("")
        super().leaveEvent(event)


def _marks(wrong: Array, theme: Theme) -> Any:
    """The elements of a matrix that are NaN or infinite, in the colour of trouble."""
    pixels = np.zeros((*wrong.shape, 4), np.ubyte)
    pixels[wrong] = (*rgb(mix(theme.panel, theme.trouble, 0.6)), 255)
    return pg.ImageItem(pixels, axisOrder="row-major", levels=(0, 255))


__all__ = ["ArrayPlot", "Histogram", "ThemedPlot", "colour_map", "count_bins", "real_elements"]
