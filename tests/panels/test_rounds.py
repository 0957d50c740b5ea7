"""Rounds of a training loop: strip, cards, marks, the picture, and the panel Over time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from tapeviz.analysis import diagnose
from tapeviz.analysis.alike import SourceResult
from tapeviz.analysis.findings import Fix
from tapeviz.analysis.model import Diagnosis, Warned
from tapeviz.analysis.rounds.call_sites import CallSite, SourceSeries
from tapeviz.analysis.rounds.round_words import numbers_words
from tapeviz.analysis.run_words import result_in_a_line
from tapeviz.app.search import named_repetition
from tapeviz.document import Document
from tapeviz.document.pipeline import Stages
from tapeviz.panels.backprop.panel import BackpropPanel
from tapeviz.panels.diagnosis.findings import FindingCard, WarningCard
from tapeviz.panels.diagnosis.panel import DiagnosisPanel
from tapeviz.panels.graph import GraphPanel
from tapeviz.panels.look import THEMES, Theme
from tapeviz.panels.rounds.panel import OverTimePanel
from tapeviz.panels.rounds.plots import RoundPlot
from tapeviz.panels.rounds.slider import RoundSlider, shape_words, trouble_words
from tapeviz.panels.rounds.sparkline import drawn_rounds
from tapeviz.panels.rounds.strip import LEAST_SLIDER
from tapeviz.panels.source.line_marks import marks_of
from tapeviz.panels.tensor.values import ValueTable
from tapeviz.panels.widgets import ShortLabel
from tapeviz.recording.kept import KeptRecording
from tapeviz.sharing.cards import cards
from tapeviz.trace.ids import TensorId
from tapeviz.trace.model import Trace
from tapeviz.trace.stored.file import load
from tests.document.sample import SamplePipeline

LOOP = Path(__file__).parents[1] / "recordings" / "training_loop.tape"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return KeptRecording(load(LOOP)).wait()


@pytest.fixture
def loop(qtbot: QtBot, trace: Trace) -> Document:
    loop = Document(SamplePipeline(), Stages())
    loop.open_trace(trace)
    qtbot.waitUntil(lambda: bool(loop.scene.boxes) and not loop.background.busy)
    return loop


def site_of(loop: Document) -> CallSite:
    assert loop.site is not None
    return loop.site


def nan_from(diagnosis: Diagnosis, number: int) -> Diagnosis:
    """The diagnosis as it would be if the first source had become NaN from this round on."""
    (site,) = diagnosis.rounds.sites
    calls = list(diagnosis.calls)
    for place in site.places[number - 1 :]:
        first, *others = calls[place].findings
        spoiled = replace(first, status="nonfinite")
        calls[place] = replace(calls[place], findings=(spoiled, *others))
    series = site.sources[0]
    statuses = (*series.statuses[: number - 1], *("nonfinite",) * (len(site) - number + 1))
    spoiled_series = SourceSeries(
        0, series.target, series.source, statuses, series.norms, series.values, series.rank
    )
    sites = (replace(site, sources=(spoiled_series, *site.sources[1:])),)
    return replace(diagnosis, calls=tuple(calls), rounds=replace(diagnosis.rounds, sites=sites))


def test_a_source_cut_in_all_rounds_has_the_gradient_across_the_cut_in_a_line(
    loop: Document,
) -> None:
    series = site_of(loop).sources[0]
    call = loop.diagnosis.round(site_of(loop), 1)
    flows = SourceResult(call, 0, series)
    assert result_in_a_line(loop.trace, flows) == numbers_words(series) != ""
    finding = replace(call.findings[0], tensor=None, bridged_value=np.array([1.0, 2.0]))
    cut = replace(call, findings=(finding, *call.findings[1:]))
    assert result_in_a_line(loop.trace, SourceResult(cut, 0, series)) == "[1. 2.]"


def cut_from(diagnosis: Diagnosis, number: int) -> Diagnosis:
    """The diagnosis as it would be if the first source had been cut from this round on: across the
    cut it would be the number of the round."""
    (site,) = diagnosis.rounds.sites
    calls = list(diagnosis.calls)
    for count, place in enumerate(site.places[number - 1 :], number):
        first, *others = calls[place].findings
        value = np.array([100.0 + count])
        cut = replace(first, status="none", tensor=None, bridged_value=value)
        calls[place] = replace(calls[place], findings=(cut, *others))
    series = site.sources[0]
    statuses = (*series.statuses[: number - 1], *("none",) * (len(site) - number + 1))
    cut_series = SourceSeries(
        0, series.target, series.source, statuses, series.norms, series.values, series.rank
    )
    sites = (replace(site, sources=(cut_series, *site.sources[1:])),)
    return replace(diagnosis, calls=tuple(calls), rounds=replace(diagnosis.rounds, sites=sites))


def test_a_card_has_the_gradient_across_the_cut_of_the_round_shown(
    qtbot: QtBot, loop: Document, light: Theme
) -> None:
    panel = DiagnosisPanel(loop, light)
    qtbot.addWidget(panel)
    loop.diagnosing.keep(cut_from(loop.diagnosis, 2))
    qtbot.waitUntil(lambda: panel.is_settled)
    card = next(card for card in panel.cards if isinstance(card, FindingCard))

    def heading_and_values() -> tuple[list[str], list[str]]:
        labels = (label for label in card.findChildren(QLabel) if not label.isHidden())
        headings = [label.text() for label in labels if label.text().startswith("Across the cut")]
        tables = [table for table in card.findChildren(ValueTable) if not table.isHidden()]
        return headings, [table.accessibleName() for table in tables]

    for number in (3, 2, len(site_of(loop))):
        loop.select_round(number)
        assert heading_and_values() == (
            [f"Across the cut it would be in round {number}:"],
            [f"Values: {100 + number}.0"],
        )
    loop.select_round(1)  # nothing is cut in it
    assert heading_and_values() == (["Across the cut it would be in round 2:"], ["Values: 102.0"])


def test_a_page_says_of_which_round_the_gradient_across_the_cut_is(loop: Document) -> None:
    fix = Fix("Another way", "", "", np.array([7.0]))
    diagnosis = cut_from(loop.diagnosis, 2)
    place = site_of(loop).places[1]
    first, *others = diagnosis.calls[place].findings
    mended = replace(diagnosis.calls[place], findings=(replace(first, fixes=(fix,)), *others))
    calls = (*diagnosis.calls[:place], mended, *diagnosis.calls[place + 1 :])
    card = cards(loop.trace, replace(diagnosis, calls=calls))[0]
    assert [table.heading for table in card.tables] == ["Across the cut it would be in round 2:"]
    assert [shown.value for shown in card.fixes] == ["[7] (in round 2)"]


def test_a_warning_names_its_gradient_and_shows_its_round(
    qtbot: QtBot, loop: Document, light: Theme
) -> None:
    panel = DiagnosisPanel(loop, light)
    qtbot.addWidget(panel)
    site = site_of(loop)
    warned = Warned("ties", 3, "Two are equally large.", (site.calls[1],))
    loop.diagnosing.keep(replace(loop.diagnosis, warnings=(warned,)))
    qtbot.waitUntil(lambda: panel.is_settled)
    card = next(card for card in panel.cards if isinstance(card, WarningCard))
    assert card.accessibleName().startswith(f"Warning: ∂{site.target} ")
    texts = [label.text() for label in card.findChildren(QLabel)]
    assert f"Line {site.line}, in round 2 only" in texts
    link = next(button for button in card.findChildren(QPushButton) if button.text() == "Show it")
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert loop.round == 2


def test_the_strip_moves_through_the_rounds(qtbot: QtBot, loop: Document, light: Theme) -> None:
    panel = GraphPanel(loop, light)
    qtbot.addWidget(panel)
    panel.resize(700, 500)
    panel.show()
    qtbot.waitExposed(panel)
    strip, total = panel.rounds, len(site_of(loop))
    assert strip.isVisible()
    assert loop.round == total
    assert strip.number.text() == f"round {total}"
    qtbot.mouseClick(strip.back, Qt.MouseButton.LeftButton)
    assert loop.round == total - 1
    qtbot.keyClick(strip.slider, Qt.Key.Key_Home)
    assert loop.round == 1
    assert not strip.back.isEnabled()
    right = QPoint(strip.slider.width() - 4, 20)
    qtbot.mouseClick(strip.slider, Qt.MouseButton.LeftButton, pos=right)
    assert loop.round == total


def test_words_about_a_round_leave_room_for_the_slider(
    qtbot: QtBot, loop: Document, light: Theme
) -> None:
    panel = GraphPanel(loop, light)
    qtbot.addWidget(panel)
    panel.resize(480, 320)
    panel.show()
    qtbot.waitExposed(panel)
    strip = panel.rounds
    assert not strip.trouble.isVisible()
    strip._show_trouble("∂dense/kernel None · ∂dense/bias None · 40 more sources are None")
    qtbot.waitUntil(lambda: strip.trouble.isVisible())
    qtbot.waitUntil(lambda: strip.slider.width() >= LEAST_SLIDER)
    assert strip.trouble.width() < strip.trouble.sizeHint().width()
    assert panel.width() == 480
    assert not strip.numbers.isVisible()


def test_another_round_changes_values_and_moves_no_box(loop: Document) -> None:
    site = site_of(loop)
    for number in (1, *range(1, len(site) + 1)):  # once through: boxes get their room
        loop.select_round(number)
    seen = set()
    for number in range(1, len(site) + 1):
        loop.select_round(number)
        places = [(box.rect, box.title) for box in loop.scene.boxes]
        values = tuple(box.value for box in loop.scene.boxes)
        seen.add(values)
        if number == 1:
            first = places
        assert places == first
        target = loop.trace.value(site_target(loop))
        assert target is not None
    assert len(seen) == len(site)


def site_target(loop: Document) -> TensorId:
    assert loop.current_call is not None
    tensor = loop.current_call.call.targets[0].tensor
    assert tensor is not None
    return tensor


def test_what_is_selected_stays_selected_in_the_next_round(loop: Document) -> None:
    site = site_of(loop)
    node = loop.links.node_of_tensor(site_target(loop))
    assert node is not None
    loop.selecting.select_nodes(frozenset((node,)))
    before = loop.selection.tensor
    loop.select_round(len(site) - 1)
    assert loop.selection.tensor == site_target(loop) != before
    assert [box.is_selected for box in loop.scene.boxes].count(True) == 1


def test_who_chooses_the_newest_round_of_a_run_under_way_follows_it(
    loop: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_of(loop)
    monkeypatch.setattr(Document, "is_running", property(lambda _: True))
    loop.select_round(1)
    assert (loop.round, loop.view.overlay.call) == (1, site.calls[0])
    loop.select_round(len(site))
    assert (loop.round, loop.view.overlay.call) == (len(site), None)
    monkeypatch.undo()
    loop.select_round(1)
    loop.select_round(len(site))
    assert loop.view.overlay.call == site.calls[-1]


def test_the_stepper_stays_at_its_step(loop: Document) -> None:
    loop.stepping.go_to(2)
    loop.select_round(1)
    assert loop.step == 2


def test_a_card_for_each_source_not_for_each_call(
    qtbot: QtBot, loop: Document, light: Theme
) -> None:
    panel = DiagnosisPanel(loop, light)
    qtbot.addWidget(panel)
    qtbot.waitUntil(lambda: panel.is_settled)
    cards = [card for card in panel.cards if isinstance(card, FindingCard)]
    total = len(site_of(loop))
    assert len(cards) == len(site_of(loop).sources)
    assert cards[0].accessibleName().endswith(f"all {total} flow")
    assert cards[0].line is not None
    cards[0].line.round_picked.emit(1)
    assert loop.round == 1


def test_cards_of_a_diagnosis_that_was_replaced_are_not_made(
    qtbot: QtBot, loop: Document, light: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run goes on while the cards of its first rounds are made one by one."""
    monkeypatch.setattr("tapeviz.panels.diagnosis.panel.SLICE", -1.0)
    panel = DiagnosisPanel(loop, light)
    qtbot.addWidget(panel)
    loop.diagnosing.keep(replace(loop.diagnosis))
    panel._add_cards()
    assert not panel.cards
    qtbot.waitUntil(lambda: panel.is_settled)
    assert len(panel.cards) == len(site_of(loop).sources)


def test_the_round_where_it_begins_to_differ_is_one_click_away(
    qtbot: QtBot, loop: Document, light: Theme
) -> None:
    panel = DiagnosisPanel(loop, light)
    qtbot.addWidget(panel)
    loop.diagnosing.keep(nan_from(loop.diagnosis, 2))
    qtbot.waitUntil(lambda: panel.is_settled)
    card = next(card for card in panel.cards if isinstance(card, FindingCard))
    total = len(site_of(loop))
    assert f"NaN in {total - 1} of {total}" in card.accessibleName()  # as its sign says, NaN
    loop.select_round(len(site_of(loop)))
    link = next(button for button in card.findChildren(QPushButton) if button.text() == "Round 2")
    qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert loop.round == 2
    badges = {mark.badge for mark in marks_of(loop)}
    assert f"NaN {len(site_of(loop)) - 1}/{len(site_of(loop))}" in badges


def test_the_line_of_the_call_says_how_often_it_flows(loop: Document) -> None:
    marks = [mark for mark in marks_of(loop) if mark.tint == "call"]
    assert [mark.badge for mark in marks] == [f"{len(site_of(loop))} flow"]


def test_one_place_needs_no_list_of_calls(qtbot: QtBot, loop: Document, light: Theme) -> None:
    panel = BackpropPanel(loop, light)
    qtbot.addWidget(panel)
    assert panel.calls.count() == 1
    assert panel.calls.isHidden()


def test_over_time_plots_what_the_rounds_gave(qtbot: QtBot, loop: Document, light: Theme) -> None:
    panel = OverTimePanel(loop, light)
    qtbot.addWidget(panel)
    panel.resize(700, 240)
    panel.show()
    qtbot.waitExposed(panel)
    qtbot.waitUntil(lambda: panel.choice.count() > 0)
    assert [panel.choice.itemText(n) for n in range(panel.choice.count())] == [
        "by round",
        "by layer",
    ]
    site, drawn = site_of(loop), []
    for box, side in zip(panel.by_round.boxes, ("left", "right"), strict=True):
        heights = [item.yData for item in box.addedItems if hasattr(item, "yData")]
        if panel.by_round.getAxis(side).logMode:
            heights = [10**each for each in heights]
        drawn += [float(np.nansum(each)) for each in heights]
    drawn.sort()
    expected = sorted(
        float(np.nansum(n)) for n in (site.target_values, *(s.norms for s in site.sources))
    )
    assert drawn == pytest.approx(expected)
    panel.by_round.round_picked.emit(1)
    assert loop.round == 1
    loop.diagnosing.keep(nan_from(loop.diagnosis, 2))
    assert "NaN from round 2 on" in panel.words.text()


def test_without_any_number_there_is_a_sentence_instead_of_an_empty_axis(
    qtbot: QtBot, loop: Document, light: Theme
) -> None:
    panel = OverTimePanel(loop, light)
    qtbot.addWidget(panel)
    panel.show()
    qtbot.waitUntil(panel.split.isVisible)
    site, lost = site_of(loop), np.full(len(site_of(loop)), np.nan)
    sources = tuple(
        replace(each, statuses=("none",) * len(site), norms=lost, values=lost[:0])
        for each in site.sources
    )
    for target, is_plotted in ((site.target_values, True), (lost, False)):
        changed = replace(site, sources=sources, target_values=target)
        rounds = replace(loop.diagnosis.rounds, sites=(changed,))
        loop.diagnosing.diagnosis = replace(loop.diagnosis, rounds=rounds)
        loop.diagnosis_changed.emit()
        assert panel.split.isVisible() == is_plotted
        assert panel.empty.isVisible() != is_plotted
        assert not panel.by_round.getAxis("left").isVisible()
        assert [panel.choice.itemText(n) for n in range(panel.choice.count())] == (
            ["by round"] if is_plotted else []
        )
    assert "None" in panel.empty.text()


def test_a_single_number_is_no_line(qtbot: QtBot, light: Theme) -> None:
    slider = RoundSlider(light)
    qtbot.addWidget(slider)
    slider.show_calls(np.array([np.nan, np.nan, 2.0]), 3)
    low = slider.height()
    slider.show_calls(np.array([np.nan, 3.0, 2.0]), 3)
    assert slider.height() > low


def test_words_are_left_out_whole(qtbot: QtBot) -> None:
    label = ShortLabel(between=" · ", more=" …")
    qtbot.addWidget(label)
    label.setText("∂w None · ∂b None · ∂c None")
    width = label.fontMetrics().horizontalAdvance
    for room, shown in (
        (label.text(), label.text()),
        ("∂w None · ∂b None …", "∂w None · ∂b None …"),
    ):
        label.resize(width(room) + 2, 20)
        assert label.shown == shown


def test_a_single_call_has_no_strip_and_nothing_over_time(
    qtbot: QtBot, ran: Document, light: Theme
) -> None:
    graph, panel = GraphPanel(ran, light), OverTimePanel(ran, light)
    for widget in (graph, panel):
        qtbot.addWidget(widget)
        widget.show()
        qtbot.waitExposed(widget)
    assert graph.rounds.isHidden()
    assert panel.empty.isVisible()


def test_diagnosing_twice_gives_the_same_rounds(trace: Trace) -> None:
    first, second = diagnose(trace).rounds.sites, diagnose(trace).rounds.sites
    assert [site.shapes for site in first] == [site.shapes for site in second]
    assert [site.calls for site in first] == [site.calls for site in second]


def test_a_round_is_found_by_its_number(loop: Document) -> None:
    count = len(site_of(loop))
    named = named_repetition(loop, "round 2")
    assert named is not None
    assert named.words == f"round 2 of {count}"
    named.go()
    assert loop.round == 2
    assert named_repetition(loop, f"round {count + 1}") is None


def test_of_many_rounds_a_line_has_a_few_points_for_each_pixel() -> None:
    heights = np.sin(np.arange(15_000) / 40)
    heights[[4_321, 14_999]] = 9.0, -9.0
    stretch = range(100, 15_000)
    drawn = drawn_rounds(heights, stretch, 200)
    assert {100, 4_321, 14_999} <= set(drawn) <= set(stretch)
    assert drawn == sorted(drawn)
    assert len(drawn) < 4 * 202
    assert drawn_rounds(heights, range(600), 200) == range(600)


def test_a_round_of_another_shape_is_no_trouble(qtbot: QtBot, loop: Document) -> None:
    site = site_of(loop)
    odd = replace(site, shapes=(*site.shapes[:-1], -1))
    assert shape_words(odd, len(odd)) == "another shape"
    assert not trouble_words(odd, len(odd))
    slider = RoundSlider(THEMES["light"])
    qtbot.addWidget(slider)
    slider.show_site(odd, len(odd))
    assert slider.words_at(len(odd)) == f"round {len(odd)} · another shape"


def plotted(qtbot: QtBot, loop: Document, target: float, *norms: float) -> RoundPlot:
    """A plot of a site whose target and gradients have about these values."""
    site, wave = site_of(loop), np.array([1.0, 0.9, 1.1, 1.0, 0.8])
    sources = tuple(
        replace(series, norms=norm * wave)
        for series, norm in zip(site.sources, norms, strict=False)
    )
    plot = RoundPlot(THEMES["light"])
    qtbot.addWidget(plot)
    plot.resize(500, 300)
    plot.show_site(replace(site, sources=sources, target_values=target * wave), 1)
    return plot


def test_the_target_has_an_axis_of_its_own(qtbot: QtBot, loop: Document) -> None:
    plot = plotted(qtbot, loop, 3.0, 0.15, 0.2)
    (low, high), (least, most) = (box.viewRange()[1] for box in plot.boxes)
    assert low < 0.12 < 0.22 < high < 1.0 < least < 2.4 < 3.3 < most
    assert plot.getAxis("right").isVisible()
    assert not plot.getAxis("left").logMode
    assert not plotted(qtbot, loop, np.nan, 0.15, 0.2).getAxis("right").isVisible()


def test_norms_of_different_sizes_are_drawn_by_their_logarithm(
    qtbot: QtBot, loop: Document
) -> None:
    plot = plotted(qtbot, loop, 3.0, 0.1, 2.0)
    assert plot.getAxis("left").logMode
    assert not plot.getAxis("right").logMode
