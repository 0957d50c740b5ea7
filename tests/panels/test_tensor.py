from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tapeviz.analysis.model import Diagnosis
from tapeviz.document import Document
from tapeviz.errors import TapevizError
from tapeviz.panels.look import Theme, font, mix
from tapeviz.panels.tensor.images import Form, as_colours, form_of
from tapeviz.panels.tensor.panel import TensorPanel
from tapeviz.panels.tensor.plots import ArrayPlot, Histogram, count_bins
from tapeviz.panels.tensor.values import as_table, shades, short_number
from tapeviz.panels.tensor.wording import as_code, describe
from tapeviz.scene.parts.numbers import gradient_text
from tapeviz.scene.tooltips import stats_words
from tapeviz.trace.ids import TensorId
from tapeviz.trace.stats import Stats
from tests.document.sample import SamplePipeline, make_trace
from tests.traces import tensor_of

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def panel(qtbot: QtBot, ran: Document, theme: Theme) -> TensorPanel:
    panel = TensorPanel(ran, theme)
    qtbot.addWidget(panel)
    panel.header.setParent(panel)
    panel.resize(800, 330)
    panel.show()
    qtbot.waitExposed(panel)
    qtbot.waitUntil(lambda: ran.jobs.is_idle)
    return panel


def look_at(panel: TensorPanel, array: Any) -> None:
    panel._show_array(np.asarray(array), "")
    while panel.display._show_histogram():
        pass


def test_it_shows_the_selected_value_or_gradient(qtbot: QtBot, panel: TensorPanel) -> None:
    panel.document.selecting.select_nodes(frozenset(("x1",)))
    assert panel.about.text() == "x′"
    assert panel.stats.text().startswith("float32 · 2×3 · min 0 · max 100")
    qtbot.mouseClick(panel.gradient_button, LEFT)
    assert panel.stats.text() == "float32 · 2×3 · min 1 · max 52 · mean 18.3 · finite"
    qtbot.mouseClick(panel.value_button, LEFT)
    assert "max 100" in panel.stats.text()


def test_a_diagnosis_is_shown_once_and_in_a_turn_of_its_own(
    qtbot: QtBot, panel: TensorPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(panel, "_show_array", lambda array, words: shown.append(words))
    document = panel.document
    document.diagnosing.keep(replace(document.diagnosis))
    assert not shown
    qtbot.waitUntil(lambda: bool(shown))
    qtbot.wait(20)
    assert len(shown) == 1


def test_with_nothing_selected_it_shows_what_was_asked_for(panel: TensorPanel) -> None:
    assert panel.about.text() == "∂o / ∂patch across the cut"
    assert panel.display.pages.currentWidget() is panel.display.cells


def test_a_gradient_of_another_run_is_shown_too(qtbot: QtBot, panel: TensorPanel) -> None:
    document = panel.document
    call = document.diagnosis.calls[0]
    finding = replace(call.findings[0], bridged=None, bridged_value=np.array([[3.0, 4.0]]))
    document.diagnosing.diagnosis = Diagnosis((replace(call, findings=(finding,)),))
    document.diagnosis_changed.emit()
    qtbot.waitUntil(lambda: document.jobs.is_idle)
    assert panel.about.text() == "∂o / ∂patch across the cut"
    assert panel.display.array is finding.bridged_value
    assert panel.gradient_button.isChecked()


def test_a_step_shows_its_gradient(panel: TensorPanel) -> None:
    panel.document.stepping.go_to(4)
    assert panel.about.text() == "Gradient of x′ (step 4)"
    assert "mean 18.3" in panel.stats.text()


def test_no_gradient_is_said(panel: TensorPanel) -> None:
    panel.document.selecting.select_nodes(frozenset(("x",)))
    panel.document.selecting.set_side("gradient")
    assert panel.display.pages.currentWidget() is panel.display.words
    assert "No gradient" in panel.display.words.text()


def test_the_copy_makes_the_same_array(qtbot: QtBot, panel: TensorPanel) -> None:
    panel.document.selecting.select_nodes(frozenset(("x1",)))
    qtbot.mouseClick(panel.copy_button, LEFT)
    made = eval(QApplication.clipboard().text(), {"np": np})
    np.testing.assert_array_equal(made, panel.document.values.value_of(TensorId(3)))
    assert made.dtype == np.float32


@pytest.mark.parametrize(
    "array",
    [
        np.array([[np.nan, np.inf], [-np.inf, 0.1]], np.float32),
        np.array([True, False]),
        np.arange(3000, dtype=np.int64),
        np.array(1 + 2j),
        np.float64(0.1),
    ],
    ids=str,
)
def test_code_is_exact(array: Any) -> None:
    array = np.asarray(array)
    made = eval(as_code(array), {"np": np})
    np.testing.assert_array_equal(made, array)
    assert made.dtype == array.dtype


@pytest.mark.parametrize(
    ("array", "page"),
    [
        (np.float32(3.5), "cells"),
        (np.arange(6.0).reshape(2, 3), "cells"),
        (np.array([["a", "b<i>"]], object), "cells"),
        (np.zeros((0, 3)), "words"),
        (np.arange(5000.0), "picture"),
        (np.random.default_rng(0).normal(size=(60, 80)), "picture"),
        (np.full((40, 40), np.nan), "picture"),
        (np.arange(4000).reshape(2, 2, 10, 100) % 7 > 3, "picture"),
        (np.arange(200.0).reshape(5, 5, 1, 8), "cells"),
        (np.zeros((0, 500)), "words"),
    ],
    ids=[
        *("scalar", "matrix", "text", "empty", "vector", "image", "nan", "four"),
        *("small kernel", "empty and wide"),
    ],
)
def test_each_kind_of_array_has_its_page(
    qtbot: QtBot, panel: TensorPanel, array: Any, page: str
) -> None:
    look_at(panel, array)
    assert panel.display.pages.currentWidget() is getattr(panel.display, page)
    panel.grab()


def test_of_many_words_as_many_are_shown_as_are_painted_at_once(panel: TensorPanel) -> None:
    for shape in ((60_000,), (300, 200)):
        look_at(panel, np.full(shape, "word", object))
        rows, columns = len(panel.display.cells._texts), len(panel.display.cells._texts[0])
        assert rows <= 200
        assert columns == 200


def test_sliders_choose_the_slice(qtbot: QtBot, panel: TensorPanel) -> None:
    array = np.arange(3 * 4 * 30 * 40.0).reshape(3, 4, 30, 40)
    look_at(panel, array)
    assert panel.display.slices.isVisible()
    panel.display.slices._sliders[0].setValue(2)
    panel.display.slices._sliders[1].setValue(1)
    assert panel.display.slices.index == (2, 1)
    assert panel.display.picture is not None
    np.testing.assert_array_equal(panel.display.picture._array, array[2, 1])
    look_at(panel, np.arange(4.0))
    assert not panel.display.slices.isVisible()


@pytest.mark.parametrize(
    ("shape", "form"),
    [
        ((1, 32, 32, 3), Form((), (32, 32, 3), 3)),
        ((8, 28, 28, 1), Form((8,), (28, 28, 1), 1)),
        ((2, 1, 16, 16, 64), Form((2,), (16, 16, 64), 64)),
        ((48, 64, 3), Form((), (48, 64, 3), 3)),
        ((48, 64, 5), Form((48,), (64, 5))),
        ((3, 3, 64, 128), Form((3, 3), (64, 128))),
        ((500, 1), Form((), (500,))),
        ((1, 1, 700), Form((), (700,))),
        ((40, 30), Form((), (40, 30))),
    ],
    ids=str,
)
def test_what_a_shape_is_looked_at_as(shape: tuple[int, ...], form: Form) -> None:
    assert form_of(shape) == form
    assert form.fit(np.zeros(shape)).shape == form.leading + form.rest


def test_an_image_is_shown_in_colour_and_by_channel(qtbot: QtBot, panel: TensorPanel) -> None:
    image = np.random.default_rng(1).uniform(size=(2, 30, 40, 3)).astype(np.float32)
    panel.document.selecting.set_side("value")
    panel._is_shown_as_gradient = False
    look_at(panel, image)
    choices = [panel.display.channels.itemText(i) for i in range(panel.display.channels.count())]
    assert choices == ["colour", "mean of channels", "channel 0", "channel 1", "channel 2"]
    assert panel.display.channels.isVisibleTo(panel.header)
    assert panel.display.picture is not None
    np.testing.assert_array_equal(panel.display.picture._array, image[0])
    panel.display.channels.setCurrentText("channel 2")
    panel.display.channels.activated.emit(4)
    panel.display.slices._sliders[0].setValue(1)
    np.testing.assert_array_equal(panel.display.picture._array, image[1, :, :, 2])
    look_at(panel, np.arange(4.0))
    assert not panel.display.channels.isVisibleTo(panel.header)


def test_a_gradient_is_laid_over_its_image(panel: TensorPanel, qtbot: QtBot) -> None:
    gradient = np.zeros((1, 10, 50, 3), np.float32)
    gradient[0, 4, 7] = (1, -5, 2)
    image = np.ones_like(gradient)
    panel.document.values.value_of = lambda _: image  # type: ignore[method-assign]
    panel._is_shown_as_gradient = True
    look_at(panel, gradient)
    assert panel.display.channels.currentText() == "over the image"
    assert panel.display.picture is not None
    assert panel.display.picture._array[4, 7] == -5
    assert not np.delete(panel.display.picture._array.ravel(), 4 * 50 + 7).any()


def test_colours_of_bytes_of_shares_and_of_anything_else() -> None:
    assert as_colours(np.array([[[0, 51, 255]]], np.uint8)).tolist() == [[[0.0, 0.2, 1.0]]]
    assert as_colours(np.array([[[0.0, 0.5, 1.0]]])).tolist() == [[[0.0, 0.5, 1.0]]]
    assert as_colours(np.array([[[0.0, 51.0, 255.0]]])).tolist() == [[[0.0, 0.2, 1.0]]]
    assert as_colours(np.array([[[-1.0, 0.0, 3.0]]])).tolist() == [[[0.0, 0.25, 1.0]]]


def test_a_value_that_stayed_in_the_run_is_fetched(
    qtbot: QtBot, panel: TensorPanel, pipeline: SamplePipeline
) -> None:
    document = panel.document
    pipeline.trace = replace(make_trace(), places={})
    document.run()
    qtbot.waitUntil(lambda: not document.is_running and not document.background.busy)
    pipeline.recordings[-1].fetched[5] = np.ones((2, 2), np.float32)
    with qtbot.waitSignal(document.values.fetched):
        document.selecting.select_nodes(frozenset(("op4",)))
        assert "Fetching" in panel.display.words.text()
    assert panel.display.pages.currentWidget() is panel.display.cells


def test_the_value_under_the_pointer_is_told(qtbot: QtBot, panel: TensorPanel) -> None:
    look_at(panel, np.arange(12.0).reshape(3, 4))
    width, height = panel.display.cells._cell_size()
    assert panel.display.cells.cell_at(QPoint(round(width * 1.5), round(height * 0.5))) == (0, 1)
    assert panel.display.cells.cell_at(QPoint(10_000, 10)) is None


def test_bins_count_finite_elements() -> None:
    counts, _ = count_bins(np.array([1.0, 1.0, 2.0, np.nan, np.inf]))
    assert counts.tolist() == [2, 1]
    counts, ends = count_bins(np.random.default_rng(0).normal(size=10_000))
    assert counts.sum() == 10_000
    assert (ends[1] > ends[0]).all()
    assert count_bins(np.array([5.0]))[0].tolist() == [1]
    assert count_bins(np.array([np.nan]))[0].tolist() == [0]
    assert count_bins(np.array([-1e308, 1e308, 0]))[0].sum() == 3


def test_statistics_in_words() -> None:
    stats = Stats(1.0, 52.0, 18.333, 73.0, 2, 1)
    assert describe("float32", (2, 3), stats) == (
        "float32 · 2×3 · min 1 · max 52 · mean 18.3 · 2 NaN, 1 Inf"
    )
    assert describe("string", (), None) == "string · scalar"
    norm_alone = Stats(None, None, None, 52.4, 0, 0)
    assert describe("float32", (90, 90), norm_alone) == "float32 · 90×90 · norm 52.4 · finite"
    assert stats_words(norm_alone) == ", norm 52.4"
    estimate = Stats(None, None, None, 52.4, 0, 0, is_estimate=True)
    assert describe("float32", (90, 90), estimate) == "float32 · 90×90 · norm ≈ 52.4 · finite"
    assert stats_words(estimate) == ", norm ≈ 52.4"
    assert gradient_text(None, estimate) == "norm ≈ 52.4"


def test_tables_and_shades() -> None:
    assert as_table(np.zeros((2, 3, 4))).shape == (6, 4)
    assert as_table(np.float32(1)).shape == (1, 1)
    assert shades(np.array([[0.0, -2.0, 1.0]])).tolist() == [[0.0, -1.0, 0.5]]
    assert np.isnan(shades(np.array([[np.nan, 1.0]]))[0, 0])
    assert short_number(np.float32(-0.0358666), 7) == "-0.0359"
    assert short_number(np.float32(2709.0), 7) == "2709.0"
    assert short_number(np.float32(-6.12345e-7), 6) == "-6e-7"
    assert short_number(np.float32(-0.00268), 5) == "-3e-3"
    assert short_number(np.float32(3.2e12), 6) == "3.2e12"


def test_values_that_were_let_go_of_are_not_waited_for(
    qtbot: QtBot, panel: TensorPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = panel.document
    monkeypatch.setattr(document.values, "value_of", lambda tensor: None)
    monkeypatch.setattr(document.values, "fetch", lambda tensor: True)
    panel._show()
    assert "Fetching" in panel.display.words.text()
    document.background.failed.emit("fetch", TapevizError("they were let go of"))
    assert panel.display.words.text() == "The values cannot be had: they were let go of."
    assert document.trouble == "", "the status line does not repeat it"


def test_a_handle_has_no_elements(
    qtbot: QtBot, panel: TensorPanel, pipeline: SamplePipeline
) -> None:
    document, trace = panel.document, make_trace()
    handle = tensor_of((), "variant")
    pipeline.trace = replace(trace, places={}, tensors={**trace.tensors, TensorId(5): handle})
    document.run()
    qtbot.waitUntil(lambda: not document.is_running and not document.background.busy)
    document.selecting.select_nodes(frozenset(("op4",)))
    assert "a list of tensors" in panel.display.words.text()
    assert panel.stats.text() == "variant"


def test_of_a_tensor_too_large_to_fetch_the_slice_in_sight_is_shown(
    qtbot: QtBot, panel: TensorPanel, pipeline: SamplePipeline
) -> None:
    document, trace = panel.document, make_trace()
    large = tensor_of((64, 224, 224, 64), kept=True)
    tensors = {**trace.tensors, TensorId(5): large}
    norm = Stats(None, None, None, 52.4, 0, 0, is_estimate=True)
    pipeline.trace = replace(trace, places={}, tensors=tensors, sent_stats={TensorId(5): norm})
    document.run()
    qtbot.waitUntil(lambda: not document.is_running and not document.background.busy)
    document.selecting.select_nodes(frozenset(("op4",)))
    qtbot.waitUntil(lambda: panel.display.pages.currentWidget() is panel.display.picture)
    assert panel.stats.text() == "float32 · 64×224×224×64 · min 0 · max 7 · mean 3.5 · finite"
    assert panel.display.channels.count() == 65
    assert panel.display.histogram is not None
    panel.display.slices._sliders[0].setValue(5)
    assert (
        panel.display.pages.currentWidget() is panel.display.picture
    )  # the slice before, until the new one comes
    qtbot.waitUntil(lambda: bool((panel.display.array == 5.0).all()))


@pytest.mark.parametrize("finite", [[], [1.0, 1.0]])
def test_values_that_are_not_finite_alone_have_no_histogram(
    panel: TensorPanel, finite: list[float]
) -> None:
    look_at(panel, [*finite, 1.0, 2.0, 3.0, 4.0])
    assert panel.display.histogram is not None
    assert panel.display.histogram.isVisible()
    look_at(panel, [*finite, np.nan, np.nan, np.inf, -np.inf])
    assert not panel.display.histogram.isVisible()


@pytest.mark.parametrize("shape", [(100, 32), (3, 3)])
def test_an_image_has_labels_for_its_own_rows_and_columns_alone(
    qtbot: QtBot, light: Theme, shape: tuple[int, int]
) -> None:
    plot = ArrayPlot(light)
    qtbot.addWidget(plot)
    plot.resize(600, 240)  # wider than the image
    plot.show_array(np.ones(shape, np.float32), light, False)
    for side, count in zip(("left", "bottom"), shape, strict=True):
        around = 2.0 * count
        levels = plot.plot.getAxis(side).tickValues(-around, around, 500)
        labelled = {value for _, values in levels for value in values}
        assert 0 in labelled
        assert len(labelled) > 1
        assert labelled <= {*range(count)}


@pytest.mark.parametrize("shape", [(30, 40), (100,)])
def test_what_is_not_finite_is_painted_in_the_colour_of_trouble(
    qtbot: QtBot, light: Theme, shape: tuple[int, ...]
) -> None:
    plot = ArrayPlot(light)
    qtbot.addWidget(plot)
    plot.resize(300, 240)
    plot.show()
    for value, is_marked in ((1.0, False), (np.nan, True)):
        plot.show_array(np.full(shape, value), light, False)
        image = plot.plot.grab().toImage()
        middle = image.pixelColor(image.rect().center()).name()
        assert (middle == mix(light.panel, light.trouble, 0.6)) is is_marked


@pytest.mark.parametrize("width", [130, 180, 400])
@pytest.mark.parametrize("reach", [0.0046, 0.175, 1.0, 8.0])
def test_numbers_below_a_histogram_stand_apart(
    qtbot: QtBot, light: Theme, width: int, reach: float
) -> None:
    histogram = Histogram(light)
    qtbot.addWidget(histogram)
    values = np.linspace(-reach * 1.2, reach, 200)
    histogram.show_array(values, light, False)
    axis = histogram.plot.getAxis("bottom")
    low, high = histogram.plot.getViewBox().viewRange()[0]
    labelled = sorted(x for _, some in axis.tickValues(low, high, width) for x in some)
    assert len(labelled) >= 2
    words = axis.tickStrings(labelled, 1.0, np.diff(labelled).min())
    widest = max(QFontMetricsF(font("sans", 11)).horizontalAdvance(each) for each in words)
    assert np.diff(labelled).min() * width / (high - low) > widest
