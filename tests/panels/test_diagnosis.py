from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from tapeviz.analysis.causes.values.cancelled import Cancelled
from tapeviz.analysis.findings import Cause
from tapeviz.analysis.model import CallDiagnosis, Diagnosis, ExplainedError, Warned
from tapeviz.analysis.status import STATUS_WORDS
from tapeviz.document import Document
from tapeviz.panels.diagnosis.cards import breakable
from tapeviz.panels.diagnosis.diff_view import MOST_ROWS, DiffView, changed_lines
from tapeviz.panels.diagnosis.findings import ErrorCard, FindingCard, WarningCard
from tapeviz.panels.diagnosis.panel import PAGE, DiagnosisPanel
from tapeviz.panels.look import THEMES, Theme
from tapeviz.panels.outdated import Veil
from tapeviz.panels.tensor.values import ValueTable
from tapeviz.panels.widgets import Badge
from tapeviz.text.diffs import FOLD
from tapeviz.trace.ids import CallId
from tapeviz.trace.model import Trace
from tests.document.sample import FIX, SamplePipeline
from tests.evidence import saying
from tests.waiting import PATIENCE


def words(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel))


def button(widget: QWidget, text: str) -> QPushButton:
    return next(button for button in widget.findChildren(QPushButton) if button.text() == text)


@pytest.fixture
def panel(qtbot: QtBot, ran: Document, light: Theme) -> DiagnosisPanel:
    qtbot.waitUntil(lambda: bool(ran.diagnosis.calls[0].findings[0].fixes))
    panel = DiagnosisPanel(ran, light)
    qtbot.addWidget(panel)
    panel.resize(340, 700)
    panel.show()
    qtbot.waitExposed(panel)
    qtbot.waitUntil(lambda: panel.is_settled)  # cards are made in turns of the event loop
    return panel


def show(qtbot: QtBot, panel: DiagnosisPanel, diagnosis: Diagnosis) -> None:
    panel.document.diagnosing.diagnosis = diagnosis
    panel.document.diagnosis_changed.emit()
    qtbot.waitUntil(lambda: panel.is_settled)
    qtbot.wait(20)


def test_a_none_has_its_card(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    card, warning = panel.cards
    assert isinstance(card, FindingCard)
    assert isinstance(warning, WarningCard)
    assert card.accessibleName() == "∂o / ∂patch: None"
    text = words(card)
    assert "Line 5 writes a value" in text
    assert "Across the cut it would be" in text
    assert "∂o / ∂patch = [[1,2],[1,2]]" in text
    assert "1 gradient asked for · it does not flow" in words(panel)


class Clipped(QObject):
    """Notes the words that are painted in less height than they need."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_painted = event.type() == QEvent.Type.Paint and isinstance(watched, QLabel)
        if is_painted and watched.heightForWidth(watched.width()) > watched.height():
            self.found.append(watched.text())
        return False


def test_words_are_never_painted_in_too_little_height(
    qtbot: QtBot, panel: DiagnosisPanel, qapp: QApplication
) -> None:
    clipped, diagnosis = Clipped(), panel.document.diagnosis
    panel.resize(290, 300)
    qtbot.wait(50)
    qapp.installEventFilter(clipped)
    show(qtbot, panel, Diagnosis())
    assert "No gradient was asked for" in words(panel)
    show(qtbot, panel, diagnosis)
    assert len(panel.cards) == 2
    qtbot.wait(50)
    qapp.removeEventFilter(clipped)
    assert clipped.found == []


def test_while_cards_are_made_it_is_not_said_that_there_is_no_gradient(
    qtbot: QtBot, panel: DiagnosisPanel
) -> None:
    """Cards come in a later turn of the event loop, and the window may be painted before."""
    document, seen = panel.document, list[str]()

    def note() -> None:
        if document.diagnosis.calls:
            seen.append(words(panel))

    document.diagnosis_changed.connect(note)
    document.run()
    qtbot.waitUntil(lambda: bool(seen))
    assert "1 gradient asked for" in seen[0]


def test_a_warning_stands_above_what_flows(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    diagnosis = panel.document.diagnosis
    (call,) = diagnosis.calls
    flowing = replace(call, findings=(replace(call.findings[0], status="flows"),))
    show(qtbot, panel, replace(diagnosis, calls=(flowing,)))
    assert [type(card) for card in panel.cards] == [WarningCard, FindingCard]


def test_its_links_lead_to_the_cut_and_the_line(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    document, card = panel.document, panel.cards[0]
    with qtbot.waitSignal(document.reveal_requested) as heard:
        qtbot.mouseClick(button(card, "Show the cut"), Qt.MouseButton.LeftButton)
    assert heard.args == [frozenset(("patch", "op1"))]
    with qtbot.waitSignal(document.line_requested) as heard:
        qtbot.mouseClick(button(card, "Line 5"), Qt.MouseButton.LeftButton)
    assert heard.args == [5]


def test_a_fix_can_be_applied_and_compared(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    card = panel.cards[0]
    with qtbot.waitSignal(panel.apply_requested) as heard:
        qtbot.mouseClick(button(card, "Apply"), Qt.MouseButton.LeftButton)
    assert heard.args == [FIX]
    with qtbot.waitSignal(panel.compare_requested) as heard:
        qtbot.mouseClick(button(card, "Compare side by side"), Qt.MouseButton.LeftButton)
    assert heard.args == ["∂o / ∂patch", FIX]


def test_a_card_stays_when_fixes_come_and_go(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    diagnosis, cards = panel.document.diagnosis, list(panel.cards)
    (call,) = diagnosis.calls
    frame = titled(cards[0], FIX.title)
    for fixes in ((replace(FIX, title="Another way"), FIX), (FIX,), ()):
        finding = replace(call.findings[0], fixes=fixes)
        show(qtbot, panel, replace(diagnosis, calls=(replace(call, findings=(finding,)),)))
        assert panel.cards == cards
        shown = [titled(cards[0], fix.title) for fix in fixes]
        assert [label.isVisible() for label in shown] == [True] * len(fixes)
        assert fixes == () or shown[-1] is frame
        tops = [label.mapTo(panel, QPoint(0, 0)).y() for label in shown]
        assert tops == sorted(set(tops))
    assert not titled(cards[0], "Tried fixes").isVisible()
    show(qtbot, panel, replace(diagnosis, calls=(replace(call, call=replace(call.call)),)))
    assert panel.cards[0] is not cards[0]
    assert panel.cards[1] is cards[1]


def test_a_fix_is_applied_above_its_lines_and_all_values(
    qtbot: QtBot, panel: DiagnosisPanel
) -> None:
    card = panel.cards[0]

    def top(widget: QWidget) -> int:
        return widget.mapTo(card, QPoint(0, 0)).y()

    apply = button(card, "Apply")
    below = (card.findChild(DiffView), card.findChild(ValueTable))
    assert top(apply) < min(map(top, below))
    tall = card.sizeHint().height()
    panel.resize(420, 200)
    qtbot.waitUntil(lambda: not titled(card, "Tried fixes").isVisible())
    assert card.sizeHint().height() < tall
    assert top(apply) < min(map(top, below))


def titled(widget: QWidget, text: str) -> QLabel:
    return next(label for label in widget.findChildren(QLabel) if label.text() == text)


def test_an_error_has_its_card(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    error = ExplainedError("RuntimeError", "A non-persistent …", 9, "It was used twice.")
    show(qtbot, panel, replace(panel.document.diagnosis, errors=(error,)))
    card = panel.cards[0]
    assert isinstance(card, ErrorCard)
    assert "It was used twice." in words(card)
    raw = "{{function_node __wrapped__MatMul_device_CPU:0}} Matrix size-incompatible"
    error = ExplainedError("InvalidArgumentError", raw, 9, "")
    show(qtbot, panel, replace(panel.document.diagnosis, errors=(error,)))
    card = panel.cards[0]
    assert "Matrix size" in words(card)
    assert "function_node" not in words(card)
    assert button(card, "Line 9")


def test_errors_of_several_blocks_that_are_alike_share_a_card(
    qtbot: QtBot, panel: DiagnosisPanel
) -> None:
    errors = [
        ExplainedError("ValueError", "No axis.", line, f"Line {line} takes {what}.")
        for line, what in ((9, "a row"), (12, "a row"), (19, "a column"), (99, "a row"))
    ]
    show(qtbot, panel, replace(panel.document.diagnosis, errors=tuple(errors)))
    first, second = (card for card in panel.cards if isinstance(card, ErrorCard))
    assert "Line 9 takes a row." in words(first)
    assert "The same happens on lines 12, 99." in words(first)
    assert all(button(first, f"Line {line}") for line in (9, 12, 99))
    assert "The same" not in words(second)


@pytest.mark.parametrize("status", ["flows", "zero", "nonfinite", "none"])
def test_every_status_has_word_and_icon(
    qtbot: QtBot, panel: DiagnosisPanel, status: str, theme: Theme
) -> None:
    call = panel.document.diagnosis.calls[0]
    finding = replace(call.findings[0], status=status, tensor=16, cause=None)  # type: ignore[arg-type]
    panel.set_theme(theme)
    show(qtbot, panel, Diagnosis((replace(call, findings=(finding,)),)))
    badge = panel.cards[0].findChild(Badge)
    assert badge.status == status
    assert badge.accessibleName() == STATUS_WORDS[status]
    assert "Gradient · float32 2×2" in words(panel.cards[0])
    panel.grab()


def test_the_command_that_installs_a_missing_package_can_be_copied(
    qtbot: QtBot, panel: DiagnosisPanel
) -> None:
    command = "/env/bin/python -m pip install pandas"
    error = ExplainedError("ModuleNotFoundError", "No module …", 1, "Install it.", command=command)
    show(qtbot, panel, Diagnosis((), (error,)))
    assert command in words(panel.cards[0]).replace("\u200b", "")
    button(panel.cards[0], "Copy command").click()
    assert QApplication.clipboard().text() == command
    with qtbot.waitSignal(panel.interpreter_requested):
        button(panel.cards[0], "Interpreters").click()


def test_users_names_are_never_markup(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    call = panel.document.diagnosis.calls[0]
    finding = saying(call.findings[0], "<img src='x'> & <b>bold</b>")
    finding = replace(finding, source="<lambda>")
    finding = replace(finding, fixes=(replace(FIX, diff="-y = f(x<b>)\n+y = '<img src=x>'"),))
    show(qtbot, panel, Diagnosis((replace(call, findings=(finding,)),)))
    formats = {label.textFormat() for label in panel.findChildren(QLabel)}
    assert formats == {Qt.TextFormat.PlainText}
    shown = panel.findChild(DiffView).findChild(QTextDocument).toPlainText()
    assert shown == "\u2212 y = f(x<b>)\n+ y = '<img src=x>'"
    assert "<lambda>" in words(panel)


def with_sources(panel: DiagnosisPanel, count: int, *, are_alike: bool) -> Diagnosis:
    call = panel.document.diagnosis.calls[0]
    source, finding = call.call.sources[0], call.findings[0]
    names = [f"w{number}" for number in range(count)]
    words = [finding.message.replace(finding.source, "{}")] * count
    if not are_alike:
        words = [f"{said} ({number})" for number, said in enumerate(words)]
    asked = replace(call.call, sources=tuple(replace(source, text=name) for name in names))
    findings = tuple(
        saying(replace(finding, source=name), said) for name, said in zip(names, words, strict=True)
    )
    return Diagnosis((replace(call, call=asked, findings=findings),))


def test_hundreds_of_cards_come_by_the_page(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    show(qtbot, panel, with_sources(panel, 500, are_alike=False))
    assert len(panel.cards) == PAGE
    qtbot.mouseClick(button(panel, f"Show {PAGE} more of {500 - PAGE}"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(panel.cards) == 2 * PAGE)


def test_sources_with_one_story_share_a_card(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    show(qtbot, panel, with_sources(panel, 9, are_alike=True))
    (card,) = panel.cards
    assert card.accessibleName() == "∂o · 9 sources: None"
    assert "The same holds for the other 8." in words(card)
    assert [name in words(card) for name in ("w0", "w5", "w6")] == [True, True, False]
    qtbot.mouseClick(button(card, "and 3 more · show each"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.is_settled)
    assert [card.accessibleName() for card in panel.cards] == [
        f"∂o / ∂w{number}: None" for number in range(9)
    ]


def test_a_kernel_and_its_bias_share_a_card(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    show(qtbot, panel, with_sources(panel, 2, are_alike=True))
    (card,) = panel.cards
    assert "The same holds for w1." in words(card)
    assert "w0" in labels(card)
    assert "∂o / ∂w0 = [[1,2],[1,2]]" in labels(card)  # the result of a fix is of the first


def test_cards_are_no_wider_than_the_narrowest_panel(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    (call,) = with_sources(panel, 2, are_alike=True).calls
    across = np.array([9.445055e-04, 5.5372908e-05], np.float32)
    findings = tuple(
        replace(each, source="encoder.first.kernel", bridged=None, bridged_value=across)
        for each in call.findings
    )
    sources = tuple(replace(each, text="encoder.first.kernel") for each in call.call.sources)
    asked = replace(call.call, sources=sources)
    panel.resize(panel.minimumWidth(), 400)
    show(qtbot, panel, Diagnosis((replace(call, call=asked, findings=findings),)))
    (card,) = panel.cards
    assert "[9.4450550e-04 5.5372908e-05]" in labels(card)
    (scroll,) = panel.findChildren(QScrollArea)
    assert scroll.verticalScrollBar().isVisible()
    assert card.minimumSizeHint().width() <= scroll.viewport().width() - 20


def test_rows_of_a_card_that_would_only_repeat_its_title_are_left_out(
    qtbot: QtBot, panel: DiagnosisPanel
) -> None:
    (call,) = with_sources(panel, 2, are_alike=True).calls
    findings = tuple(replace(each, bridged=None, bridged_value=None) for each in call.findings)
    show(qtbot, panel, Diagnosis((replace(call, findings=findings),)))
    (card,) = panel.cards
    assert "∂o / ∂w0, ∂w1" in labels(card)
    assert "w0" not in labels(card)


def test_long_names_in_titles_break_between_their_words() -> None:
    assert breakable("∂loss / ∂dense/kernel") == "∂loss / ∂dense/kernel"
    assert breakable("∂loss / ∂dense_1/kernel") == "∂loss / ∂dense_1/\u200bkernel"
    assert breakable("a_name_that_is_too_long", 40) == "a_name_that_is_too_long"
    broken = breakable("∂loss / ∂moving_average_of_the/kernel")
    assert broken.split("\u200b") == ["∂loss / ∂moving_", "average_", "of_", "the/", "kernel"]
    assert breakable("InvalidArgumentError").split("\u200b") == ["Invalid", "Argument", "Error"]


def labels(card: QWidget) -> list[str]:
    return [label.text() for label in card.findChildren(QLabel)]


def test_nothing_asked_for_is_said(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    show(qtbot, panel, Diagnosis())
    assert panel.cards == []
    assert "No gradient was asked for" in words(panel)


def test_a_text_without_code_is_said_to_have_none(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    panel.document.showing.take(Trace(source="#¶ $ pip install tensorflow\n"))
    qtbot.waitUntil(lambda: "no line of Python code" in words(panel))


def test_the_card_of_the_shown_call_is_marked(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    call = panel.document.diagnosis.calls[0]
    other = replace(call, call=replace(call.call, id=2))  # type: ignore[arg-type]
    show(qtbot, panel, Diagnosis((call, other)))
    qtbot.mouseClick(panel.cards[1], Qt.MouseButton.LeftButton, pos=panel.cards[1].rect().center())
    assert panel.document.view.overlay.call == 2
    marked = [card._is_current for card in panel.cards]  # type: ignore[attr-defined]
    assert marked == [False, True]


def test_why_unfolds_a_page_with_an_example(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    card = panel.cards[0]
    assert not button(card, "Open its example").isVisible()
    qtbot.mouseClick(button(card, "Why?"), Qt.MouseButton.LeftButton)
    assert button(card, "Open its example").isVisible()
    with qtbot.waitSignal(panel.example_requested) as heard:
        qtbot.mouseClick(button(card, "Open its example"), Qt.MouseButton.LeftButton)
    assert "tape.gradient" in heard.args[0]
    assert heard.args[1] == "assign.py"


def test_a_diff_shows_the_changed_lines_without_the_indentation_that_they_share() -> None:
    first = " with x:\n-        a\n+        b\n+            c\n d\n"
    second = " ⋮\n e\n-        f(1)\n"
    assert changed_lines(f"{first}{second}") == [
        ("-", "a"),
        ("+", "b"),
        ("+", "    c"),
        ("⋯", ""),
        ("-", "f(1)"),
    ]


def test_cards_have_the_colours_of_another_theme_at_once(panel: DiagnosisPanel) -> None:
    """Those that take their place come in later turns of the event loop."""
    cards, dark = list(panel.cards), THEMES["dark"]
    panel.set_theme(dark)
    places = [card.grab().toImage().pixelColor(card.width() // 2, 4).name() for card in cards]
    assert set(places) == {dark.panel}


def test_an_estimate_is_called_one(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    call = panel.document.diagnosis.calls[0]
    finding = replace(call.findings[0], fixes=(replace(FIX, is_estimate=True),))
    show(qtbot, panel, Diagnosis((replace(call, findings=(finding,)),)))
    assert "An estimate" in words(panel.cards[0])


def calls_of_many(panel: DiagnosisPanel, count: int) -> Diagnosis:
    call = panel.document.diagnosis.calls[0]
    calls = (replace(call.call, id=CallId(number)) for number in range(1, count + 1))
    return Diagnosis(tuple(replace(call, call=named) for named in calls))


def is_in_sight(panel: DiagnosisPanel, card: QWidget) -> bool:
    top = card.mapTo(panel, QPoint(0, 0)).y()
    return top >= -5 and top + min(card.height(), 300) <= panel.height()


def test_the_card_of_the_drawn_call_is_in_sight(
    qtbot: QtBot, panel: DiagnosisPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = 6
    monkeypatch.setattr("tapeviz.panels.diagnosis.panel.PAGE", page)
    document, many = panel.document, calls_of_many(panel, 3 * page)
    show(qtbot, panel, many)
    for number in (5, 2, 2 * page + 3):  # the last one is on a page that was not made yet
        document.select_call(CallId(number))
        call = many.calls[number - 1]

        def is_shown(call: CallDiagnosis = call) -> bool:
            cards = [card for card in panel.cards if getattr(card, "call", None) is call]
            return panel.is_settled and len(cards) == 1 and is_in_sight(panel, cards[0])

        qtbot.waitUntil(is_shown)


def test_cards_of_a_part_of_a_run_are_not_gone_to_when_it_ends(
    qtbot: QtBot, panel: DiagnosisPanel
) -> None:
    document, part = panel.document, calls_of_many(panel, 9)
    bar = panel.findChild(QScrollArea).verticalScrollBar()
    qtbot.waitUntil(lambda: not document.background.busy)
    is_diagnosed = threading.Event()
    document.background.submit("diagnose", lambda: is_diagnosed.wait(PATIENCE), lambda _: None)
    document.change_overlay(replace(document.view.overlay, call=7))
    document.trace = replace(document.trace, filename="another.py")
    document.trace_changed.emit()
    show(qtbot, panel, part)
    qtbot.wait(50)
    assert bar.value() == 0
    is_diagnosed.set()
    qtbot.waitUntil(lambda: not document.background.busy)
    show(qtbot, panel, calls_of_many(panel, 9))
    qtbot.waitUntil(lambda: bar.value() > 0)


def test_the_card_at_the_top_stays_there_when_the_panel_is_resized(
    qtbot: QtBot, panel: DiagnosisPanel
) -> None:
    show(qtbot, panel, calls_of_many(panel, 9))
    panel._stop_seeking()  # three seconds after the cards were made
    scroll = panel.findChild(QScrollArea)
    bar, card = scroll.verticalScrollBar(), panel.cards[5]
    heading = titled(card, "Tried fixes")

    def top() -> int:
        return heading.mapTo(scroll.viewport(), QPoint()).y()

    before = bar.value()
    bar.setValue(before + top() + 5)  # its first pixels are above the panel
    assert top() == -5
    for width, height in ((760, 500), (300, 640), (900, 420), (340, 700)):
        before = card.height()
        panel.resize(width, height)
        qtbot.waitUntil(lambda before=before: card.height() != before)
        qtbot.waitUntil(lambda: -10 <= top() <= 10)
    qtbot.waitUntil(lambda: panel._kept_place._kept is None)  # it counts as laid out
    bar.setValue(0)
    panel.resize(760, 500)
    qtbot.wait(50)
    assert bar.value() == 0


def test_after_a_run_it_is_in_sight_too(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    document, many = panel.document, calls_of_many(panel, 9)
    document.change_overlay(replace(document.view.overlay, call=7))
    document.trace = replace(document.trace, filename="another.py")
    document.trace_changed.emit()
    show(qtbot, panel, many)
    (card,) = [card for card in panel.cards if getattr(card, "call", None) is many.calls[6]]
    qtbot.waitUntil(lambda: is_in_sight(panel, card))


def test_cards_of_the_last_run_go_with_the_next(
    qtbot: QtBot, panel: DiagnosisPanel, pipeline: SamplePipeline
) -> None:
    qtbot.waitUntil(lambda: bool(panel.cards))
    pipeline.endless = True
    panel.document.run()
    qtbot.waitUntil(lambda: not panel.cards)
    panel.document.stop()
    qtbot.waitUntil(lambda: not panel.document.is_running)


def test_the_keyboard_stays_in_the_panel_when_its_card_goes(
    qtbot: QtBot, panel: DiagnosisPanel
) -> None:
    panel.activateWindow()
    link = button(panel.cards[0], "Show the cut")
    link.setFocus()
    qtbot.waitUntil(link.hasFocus)
    show(qtbot, panel, calls_of_many(panel, 1))
    assert link not in panel.findChildren(QPushButton)
    assert QApplication.focusWidget() is panel.findChild(QScrollArea)
    qtbot.keyClick(panel.findChild(QScrollArea), Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is panel.cards[0]


def test_cards_of_another_text_are_veiled(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    document, veil = panel.document, panel.findChild(Veil)
    assert not veil.isVisible()
    text = document.text.source
    document.text.edit(text + "# more")
    assert veil.isVisible()
    document.text.edit(text)
    assert not veil.isVisible()


def test_a_long_diff_takes_no_more_rows_than_the_button_below_it_leaves(
    qtbot: QtBot, light: Theme
) -> None:
    diff = "".join(f"-first_{n} = second_{n} + third_{n}\n" for n in range(9))
    view = DiffView(diff, light)
    qtbot.addWidget(view)
    row = view.heightForWidth(2000) / 9
    assert len(view.lines) == 9
    assert view.heightForWidth(120) <= (MOST_ROWS + 0.5) * row
    shown = [line for line in view.lines if line[0] != FOLD]
    assert 2 <= len(shown) < 9
    assert view.lines[-1][1].startswith(f"{9 - len(shown)} more line")
    assert "more line" in view.accessibleName()
    view.heightForWidth(2000)
    assert len(view.lines) == 9


def test_an_indented_line_wraps_behind_its_sign_not_before_the_code(
    qtbot: QtBot, light: Theme
) -> None:
    view = DiffView("+    a_rather_long_name.assign_add(micro)\n+b\n", light)
    qtbot.addWidget(view)
    view.heightForWidth(150)
    block = view.findChild(QTextDocument).firstBlock()
    rows = block.layout()
    assert rows.lineCount() > 1
    assert "a_rather" in block.text()[: rows.lineAt(0).textLength()]


def test_after_a_run_a_warning_stays_in_sight(qtbot: QtBot, panel: DiagnosisPanel) -> None:
    document, many = panel.document, calls_of_many(panel, 9)
    flowing = [replace(finding, status="flows", cause=None) for finding in many.calls[0].findings]
    calls = tuple(replace(call, findings=tuple(flowing)) for call in many.calls)
    document.change_overlay(replace(document.view.overlay, call=7))
    document.trace = replace(document.trace, filename="another.py")
    document.trace_changed.emit()
    show(qtbot, panel, Diagnosis(calls, warnings=(Warned("broadcast", 3, "Shapes differ."),)))
    assert "Shapes differ." in words(panel.cards[0])
    qtbot.waitUntil(lambda: is_in_sight(panel, panel.cards[0]))


def test_a_zero_that_is_as_it_should_be_is_not_counted_as_trouble(
    qtbot: QtBot, panel: DiagnosisPanel
) -> None:
    (call,) = with_sources(panel, 3, are_alike=False).calls
    cancelled = Cause(Cancelled("linear"), 5, "critic(x) - critic(y)")
    zero = replace(call.findings[0], status="zero", cause=cancelled, fixes=())
    flowing = replace(zero, status="flows", cause=None)
    show(qtbot, panel, Diagnosis((replace(call, findings=(flowing, flowing, zero)),)))
    assert panel.next_trouble.isHidden()
    assert "all flow but 1, as it should be" in words(panel)
    assert [card.state for card in panel.cards] == ["good", "good", "harmless"]
    show(qtbot, panel, Diagnosis((replace(call, findings=(call.findings[0], flowing, zero)),)))
    assert "1 does not flow · 1 more, as it should be" in words(panel)
    assert [card.state for card in panel.cards] == ["trouble", "good", "harmless"]
    show(qtbot, panel, Diagnosis((replace(call, findings=(zero,)),)))
    assert "it does not flow" in words(panel)


def test_what_does_not_flow_is_counted_beside_the_title_and_gone_to(
    qtbot: QtBot, panel: DiagnosisPanel
) -> None:
    assert panel.next_trouble.isHidden()  # it is the only one, and in sight
    diagnosis = with_sources(panel, 9, are_alike=False)
    (call,) = diagnosis.calls
    findings = tuple(
        finding if place in (0, 8) else replace(finding, status="flows", cause=None, fixes=())
        for place, finding in enumerate(call.findings)
    )
    error = ExplainedError("ValueError", "No axis.", 9, "")
    calls = (replace(call, findings=findings),)
    show(qtbot, panel, replace(diagnosis, calls=calls, errors=(error,)))
    assert panel.next_trouble.text() == "2 of 9 do not flow"
    assert not panel.next_trouble.isHidden()
    troubled = [card for card in panel.cards[1:] if card.state == "trouble"]
    assert len(troubled) == 2
    for card in (*troubled, troubled[0]):
        panel.next_trouble.click()
        assert panel.focusWidget() is card
        assert is_in_sight(panel, card)
