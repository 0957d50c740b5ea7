"""The window on a real kernel: paste, run, see why it is None, step, stop, run again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tapeviz.app.ending import end_window
from tapeviz.app.main import make_window
from tapeviz.app.storage.settings import Settings
from tapeviz.app.window import Window
from tapeviz.recording.live import LiveRecording

PASTED = """\
>>> a = tf.Variable(1.0)
>>> b = tf.Variable(2.0)
>>> c = tf.Variable(0.0)
>>> with tf.GradientTape() as tape:
...     c.assign(3.0 * a * b)
...     loss = c ** 2
...
>>> print(“gradient”, tape.gradient(loss, b))
gradient None
"""


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAPEVIZ_HOME", str(tmp_path_factory.mktemp("home")))
        window = make_window(Settings())
        window.graph.view.has_glides = False
        window.show()
        yield window
        window.close()
        end_window(window)


def settled(window: Window) -> bool:
    document = window.document
    return not document.is_running and not document.background.busy and bool(document.trace.source)


def test_a_pasted_page_is_explained(qtbot: QtBot, window: Window) -> None:
    document = window.document
    document.open_source("")
    QApplication.clipboard().setText(PASTED)
    window.source.editor.setFocus()
    window.source.editor.paste()
    qtbot.waitUntil(lambda: document.text.repairs is not None)
    assert window.source.repair_strip.isVisible()
    assert document.text.source.count("\n") == PASTED.count("\n")
    QTest.keyClick(window.source.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: settled(window))
    (call,) = document.diagnosis.calls
    (finding,) = call.findings
    assert finding.status == "none"
    assert finding.cause is not None
    assert (finding.cause.kind, finding.cause.line) == ("assign", 5)
    assert finding.bridged is not None
    assert document.values.value_of(finding.bridged) == 36.0
    qtbot.waitUntil(lambda: "gradient None" in window.output.text.toPlainText())
    assert window.graph.view.prepared.scene.boxes


def test_its_steps_and_its_far_side_are_shown(qtbot: QtBot, window: Window) -> None:
    document = window.document
    document.stepping.first()
    assert window.tensor.is_gradient
    document.show_bridge(True)
    assert any(wire.state == "bridge" for wire in document.scene.wires)
    window.show_cut()
    assert document.selection.nodes


def test_an_endless_loop_is_stopped_and_shown(qtbot: QtBot, window: Window) -> None:
    document = window.document
    document.open_source(
        "import time\nx = tf.Variable(1.0)\nwith tf.GradientTape() as t:\n    y = x * x\n"
        "while True:\n    time.sleep(0.01)\n    y = y + x\n"
    )
    window.run()
    qtbot.waitUntil(lambda: document.runs.ops > 5)
    document.stop()
    qtbot.waitUntil(lambda: settled(window))
    assert document.trace.ending.how == "interrupted"
    assert document.trace.ending.detail in ("line 5", "line 6", "line 7")
    assert document.scene.boxes


def test_a_crash_of_the_process_is_told_with_its_line(qtbot: QtBot, window: Window) -> None:
    document = window.document
    document.open_source("import os\nx = tf.Variable(1.0)\ny = x * x\nos.abort()\n")
    window.run()
    qtbot.waitUntil(lambda: settled(window))
    assert document.trace.ending.how == "died"
    qtbot.waitUntil(lambda: "line 4" in window.output.text.toPlainText())


def test_a_recording_is_saved_and_loaded(qtbot: QtBot, window: Window, tmp_path: Path) -> None:
    document = window.document
    document.open_source(
        "x = tf.Variable(3.0)\nwith tf.GradientTape() as t:\n    y = x * x\ng = t.gradient(y, x)\n"
    )
    window.run()
    qtbot.waitUntil(lambda: settled(window))
    file = tmp_path / "run.tape"
    window.files.save_recording(file)
    qtbot.waitUntil(lambda: not document.background.busy)
    document.open_source("")
    assert window.files.open(file)
    qtbot.waitUntil(lambda: settled(window))
    finding = document.diagnosis.calls[0].findings[0]
    assert finding.tensor is not None
    assert document.values.value_of(finding.tensor) == 6.0
    assert not window.files.can_save_recording()


def test_a_fix_is_recorded_apart_and_shown_beside_the_run(qtbot: QtBot, window: Window) -> None:
    document = window.document
    document.open_source(
        "a = tf.Variable(1.0)\nc = tf.Variable(0.0)\nwith tf.GradientTape() as tape:\n"
        "    c.assign(3.0 * a)\n    loss = c ** 2\ng = tape.gradient(loss, a)\n"
    )
    window.run()

    def fixes() -> list[object]:
        findings = [finding for call in document.diagnosis.calls for finding in call.findings]
        return [fix for finding in findings for fix in finding.fixes]

    qtbot.waitUntil(lambda: settled(window) and bool(fixes()))
    ran = document.trace
    finding = document.diagnosis.calls[0].findings[0]
    window.side_by_side.show_fix("", finding.fixes[0])
    qtbot.waitUntil(lambda: document.comparing.both is not None)
    both = document.comparing.both
    assert both is not None
    assert document.trace is ran
    assert "None → flows" in window.graph.strip.words.text()
    after = both.after.diagnosis.calls[0].findings[0]
    assert after.status == "flows"
    assert both.scene.changes


def test_any_call_of_a_compiled_function_is_looked_into(qtbot: QtBot, window: Window) -> None:
    document = window.document
    document.open_source(
        "w = tf.Variable(2.0)\n@tf.function\ndef step(x):\n    with tf.GradientTape() as tape:\n"
        "        y = w * x * x\n    return tape.gradient(y, w)\n"
        "for i in range(1, 21):\n    step(tf.constant(float(i)))\n"
    )
    window.run()
    qtbot.waitUntil(lambda: settled(window))

    def target() -> object:
        (operand,) = document.diagnosis.calls[0].call.targets
        return document.values.value_of(operand.tensor) if operand.tensor is not None else None

    def show(number: int) -> None:
        document.select_round(number)
        qtbot.waitUntil(lambda: document.insides.awaited is None)

    assert (document.round, target()) == (20, 800.0)
    ops = document.trace.ops.values()
    first, second, *_ = (op.round for op in ops if op.runs and op.inside is None)
    show(first)
    assert (document.round, target()) == (first, 2.0 * first * first)
    assert window.graph.rounds.number.text() == f"call {first}"
    recording = document.runs.recording
    assert isinstance(recording, LiveRecording)
    recording.release()
    show(second)
    assert (document.round, target()) == (second, None)
    assert window.graph.rounds.trouble.text() == "values inside not known"
    show(first)
    assert target() == 2.0 * first * first
