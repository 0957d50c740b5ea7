"""The gradient across a cut on its card: how far it can be trusted, or why there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from tapeviz.analysis.alike import SourceResult
from tapeviz.document import Document
from tapeviz.panels.diagnosis.cards import Asks
from tapeviz.panels.diagnosis.findings import FindingCard
from tapeviz.panels.diagnosis.gradients import Gradients
from tapeviz.panels.look import Theme
from tapeviz.panels.widgets import ShortLabel
from tapeviz.trace.calls import Check

from .test_diagnosis import words


def card(qtbot: QtBot, document: Document, theme: Theme, **changes: Any) -> str:
    qtbot.waitUntil(lambda: bool(document.diagnosis.calls))
    call = document.diagnosis.calls[0]
    finding = replace(call.findings[0], **changes)
    ignored = Asks(*[lambda *_: None] * 4)
    call = replace(call, findings=(finding, *call.findings[1:]))
    shown = FindingCard(document, theme, SourceResult(call, 0), ignored)
    qtbot.addWidget(shown)
    return words(shown)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"check": Check(3.2e-6, True)}, "Agrees with finite differences to 3e-06"),
        ({"check": Check(0.25)}, "Finite differences give another number: 25% off"),
        ({"check": Check(words="a kink")}, "Not checked: a kink"),
        ({"is_estimated": True}, "Across the cut, estimated (straight-through), it would be"),
        ({"bridged": None, "no_bridge": "it is text"}, "No gradient across the cut: it is text."),
        ({"not_tried": "not tried: too slow"}, "Fixes were not tried: too slow."),
    ],
)
def test_it_tells(
    qtbot: QtBot, ran: Document, light: Theme, changes: dict[str, Any], words: str
) -> None:
    assert words not in card(qtbot, ran, light)
    assert words in card(qtbot, ran, light, **changes)


def test_a_value_of_another_run_is_shown(qtbot: QtBot, ran: Document, light: Theme) -> None:
    value = np.arange(60.0).reshape(10, 6)
    text = card(qtbot, ran, light, bridged=None, bridged_value=value)
    assert "Across the cut it would be" in text
    assert "the first of" in text


def test_a_shape_that_has_no_room_is_not_taken_for_another(
    qtbot: QtBot, ran: Document, light: Theme
) -> None:
    qtbot.waitUntil(lambda: bool(ran.diagnosis.calls))
    call = ran.diagnosis.calls[0]
    finding = replace(call.findings[0], bridged=None, bridged_value=np.ones((5, 5, 8, 8)))
    in_rounds: Any = object()
    result = SourceResult(replace(call, findings=(finding,)), 0, in_rounds)
    shown = Gradients(ran, light, "")
    qtbot.addWidget(shown)
    shown.show_results([result, result], ["a", "b"], 1)
    labels = [label for label in shown.findChildren(ShortLabel) if "[5, 5, 8, 8]" in label.text()]
    assert len(labels) == 2
    width = labels[0].fontMetrics().horizontalAdvance(labels[0].text())
    labels[0].resize(width - 8, labels[0].height())
    assert labels[0].shown == "40"


def test_a_long_name_is_broken_rather_than_cut(qtbot: QtBot, ran: Document, light: Theme) -> None:
    qtbot.waitUntil(lambda: bool(ran.diagnosis.calls))
    result = SourceResult(ran.diagnosis.calls[0], 0, None)
    shown = Gradients(ran, light, "")
    qtbot.addWidget(shown)
    name = "model/forward_gru/gru_cell/recurrent_kernel"
    shown.show_results([result, result], ["a", name], 0)
    shown.resize(240, shown.heightForWidth(240))
    shown.show()
    (short,), (long,) = (
        [x for x in shown.findChildren(QLabel) if x.text().replace("\u200b", "") == text]
        for text in ("a", name)
    )
    assert long.width() < long.fontMetrics().horizontalAdvance(name)
    assert long.height() >= long.heightForWidth(long.width()) > short.height()
