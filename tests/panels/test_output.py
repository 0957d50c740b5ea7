from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QBuffer, Qt
from PySide6.QtGui import QGuiApplication, QImage, QTextCursor
from pytestqt.qtbot import QtBot

from tapeviz.document import Document
from tapeviz.panels.look import Theme
from tapeviz.panels.output import panel as output
from tapeviz.panels.output.figures import HIGH
from tapeviz.panels.output.panel import LEAST_PIECE, LONGEST_LINE, PIECE, OutputPanel, break_lines
from tapeviz.trace.model import Ending, Failure
from tests.document.sample import SamplePipeline, make_trace


@pytest.fixture
def panel(qtbot: QtBot, document: Document, theme: Theme) -> OutputPanel:
    panel = OutputPanel(document, theme)
    qtbot.addWidget(panel)
    panel.resize(600, 300)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def settled(panel: OutputPanel) -> bool:
    return not panel._waiting


def test_what_is_printed_appears(qtbot: QtBot, panel: OutputPanel) -> None:
    panel.add("stdout", "one ")
    panel.add("stdout", "line\nsecond")
    panel.add("stderr", "\nwarning\n")
    qtbot.waitUntil(lambda: settled(panel))
    assert panel.text.toPlainText() == "one line\nsecond\nwarning\n"


KERAS = (
    "Epoch 1/2\n\n\x1b[1m 1/16\x1b[0m \x1b[32m━\x1b[0m\x1b[37m━━━\x1b[0m loss: 0.3643"
    + "\b" * 53
    + "\r\x1b[1m16/16\x1b[0m \x1b[32m━━━━\x1b[0m loss: 0.2777\n"
)
"""As Keras 3 prints it in a kernel, with a shorter bar."""


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (b"PNG\xff\xfe\xd8\xb4\x81\n", "PNG\ufffd\ufffd\ufffd\ufffd\n"),
        ("naïve café ".encode() + b"caf\xe9", "naïve café caf\ufffd"),
    ],
)
def test_bytes_that_are_no_text_have_no_letters_by_chance(
    qtbot: QtBot, panel: OutputPanel, printed: bytes, shown: str
) -> None:
    panel.add("stdout", printed.decode(errors="replace"))
    qtbot.waitUntil(lambda: settled(panel))
    assert panel.text.toPlainText() == shown


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (KERAS, "Epoch 1/2\n\n16/16 ━━━━ loss: 0.2777\n"),
        ("\r 10%\r 55%\r100%\ndone\n", "100%\ndone\n"),
        ("longer\rsh\n", "shnger\n"),
        ("longer\r\x1b[Ksh\n", "sh\n"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("\x1b[31mred\x1b[0m and \x07bell", "red and bell"),
        ("ab\b\b\bxy", "xy"),
        ("😀😀\rx", "x😀"),
        ("\ttab", "\ttab"),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 10_000])
def test_a_progress_bar_draws_its_line_again(
    qtbot: QtBot, panel: OutputPanel, printed: str, shown: str, size: int
) -> None:
    for start in range(0, len(printed), size):
        panel.add("stdout", printed[start : start + size])
    qtbot.waitUntil(lambda: settled(panel))
    assert panel.text.toPlainText() == shown


def test_an_escape_sequence_between_two_pieces_is_one(qtbot: QtBot, panel: OutputPanel) -> None:
    panel.add("stdout", "x" * (output.PIECE - 2) + "\x1b[31mred")
    qtbot.waitUntil(lambda: settled(panel))
    assert panel.text.toPlainText().replace("\n", "") == "x" * (output.PIECE - 2) + "red"


def test_what_other_streams_write_does_not_end_a_sequence(qtbot: QtBot, panel: OutputPanel) -> None:
    panel.add("stdout", "a\x1b[3")
    panel.add("stderr", "1m")
    panel.add("stdout", "1mb")
    qtbot.waitUntil(lambda: settled(panel))
    assert panel.text.toPlainText() == "a1mb"


def test_a_line_of_a_megabyte_is_broken(qtbot: QtBot, panel: OutputPanel) -> None:
    panel.add("stdout", "x" * 1_000_000)
    qtbot.waitUntil(lambda: settled(panel))
    longest = max(len(line) for line in panel.text.toPlainText().split("\n"))
    assert longest <= LONGEST_LINE
    assert panel.text.toPlainText().count("x") == 1_000_000


def test_a_line_that_comes_in_pieces_is_broken_too(qtbot: QtBot, panel: OutputPanel) -> None:
    for _ in range(50):
        panel.add("stdout", "y" * 100)
    qtbot.waitUntil(lambda: settled(panel))
    assert max(map(len, panel.text.toPlainText().split("\n"))) <= LONGEST_LINE


@pytest.mark.parametrize("size", [1, 7, 100, 5_000])
def test_of_a_flood_head_and_tail_stay_and_the_rest_is_counted(
    qtbot: QtBot, panel: OutputPanel, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    for name, value in (("HEAD_LINES", 40), ("TAIL_LINES", 20), ("PIECE_LINES", 10)):
        monkeypatch.setattr(output, name, value)
    total = max(1_000, 2 * size)
    for start in range(0, total, size):
        panel.add("stdout", "".join(f"line {n}\n" for n in range(start, start + size)))
        if size > 50:
            panel._write_pieces()
    qtbot.waitUntil(lambda: settled(panel))
    *lines, last = panel.text.toPlainText().split("\n")
    assert last == ""
    total = (total + size - 1) // size * size
    assert lines[:40] == [f"line {n}" for n in range(40)]
    tail = lines[41:]
    assert 19 <= len(tail) <= 40
    assert tail == [f"line {n}" for n in range(total - len(tail), total)]
    assert lines[40] == f"… {total - 40 - len(tail):,} lines left out …"


@pytest.mark.parametrize(("cost", "largest"), [(1e-7, PIECE), (1e-4, LEAST_PIECE)])
def test_what_qt_takes_long_to_shape_goes_in_by_small_pieces(
    qtbot: QtBot,
    panel: OutputPanel,
    monkeypatch: pytest.MonkeyPatch,
    cost: float,
    largest: int,
) -> None:
    sizes, now, insert = list[int](), [0.0], panel._insert

    def slow(stream: str, text: str) -> None:
        sizes.append(len(text))
        now[0] += cost * len(text)
        insert(stream, text)

    monkeypatch.setattr(panel, "_insert", slow)
    monkeypatch.setattr(output.time, "thread_time", lambda: now[0])
    printed = "\n".join("x" * 80 for _ in range(300))
    panel.add("stdout", printed)
    qtbot.waitUntil(lambda: settled(panel))
    assert panel.text.toPlainText() == printed
    assert sizes[0] == LEAST_PIECE
    assert max(sizes) == largest


def test_breaking_keeps_every_character() -> None:
    text = "a" * 2500 + "\n" + "b" * 10 + "\n\n" + "c" * 1000
    broken = break_lines(text)
    assert broken.replace("\n", "") == text.replace("\n", "")
    assert max(map(len, broken.split("\n"))) <= 1000
    assert break_lines("short\n\n") == "short\n\n"


def test_an_error_stands_in_full_and_leads_to_its_line(
    qtbot: QtBot, panel: OutputPanel, pipeline: SamplePipeline
) -> None:
    said = "Traceback (most recent call last)\nValueError: {{function_node __wrapped__}} no"
    failure = Failure("ValueError", "no", 6, said)
    pipeline.trace = replace(make_trace(), failure=failure)
    panel.document.run()
    qtbot.waitUntil(lambda: "Go to line 6" in panel.text.toPlainText())
    assert "ValueError: no" in panel.text.toPlainText()
    cursor = panel.text.document().find("Go to line 6")
    cursor.setPosition(cursor.selectionStart() + 3, QTextCursor.MoveMode.MoveAnchor)
    spot = panel.text.cursorRect(cursor).center()
    with qtbot.waitSignal(panel.document.line_requested) as heard:
        qtbot.mouseClick(panel.text.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert heard.args == [6]


def test_a_new_run_begins_with_an_empty_page(qtbot: QtBot, panel: OutputPanel) -> None:
    panel.add("stdout", "old\n")
    panel.document.run()
    qtbot.waitUntil(lambda: not panel.document.is_running)
    qtbot.waitUntil(lambda: "None" in panel.text.toPlainText())
    assert "old" not in panel.text.toPlainText()


def test_how_a_run_ended_is_said(
    qtbot: QtBot, panel: OutputPanel, pipeline: SamplePipeline
) -> None:
    pipeline.trace = replace(make_trace(), ending=Ending("died", 1.0, "killed by signal 9"))
    panel.document.run()
    qtbot.waitUntil(lambda: "killed by signal 9" in panel.text.toPlainText())


def test_a_loaded_recording_brings_its_output(qtbot: QtBot, panel: OutputPanel) -> None:
    panel.document.open_trace(replace(make_trace(), printed=(("stdout", "from the file\n"),)))
    qtbot.waitUntil(lambda: "from the file" in panel.text.toPlainText())


def test_what_tensorflow_says_while_it_starts_is_left_out(qtbot: QtBot, panel: OutputPanel) -> None:
    noise = (
        "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n"
        "E0000 00:00:1795348806.793889   14716 cuda_platform.cc:52] failed call to cuInit: X\n"
        "2024-05-01 10:00:00.123456: I external/local_tsl/tsl/cuda/cudart_stub.cc:31] No drivers\n"
        "2024-05-01 10:00:00.123456: I tensorflow/core/platform/cpu_feature_guard.cc:182] This\n"
        "To enable the following instructions: AVX2 FMA, in other operations, rebuild TensorFlow\n"
    )
    kept = "2024-05-01 10:00:00.1: W tensorflow/core/framework/op_kernel.cc:1839] OOM\nWarn\n"
    panel.add("stderr", noise + kept)
    panel.add("stdout", "E0000 00:00:1.5 3 cuda_platform.cc:52] printed\n")
    qtbot.waitUntil(lambda: "printed" in panel.text.toPlainText())
    assert panel.text.toPlainText() == f"{kept}E0000 00:00:1.5 3 cuda_platform.cc:52] printed\n"


def test_input_is_asked_for_below_the_output(qtbot: QtBot, panel: OutputPanel) -> None:
    document = panel.document
    pipeline = document.runs.pipeline
    pipeline.endless = True
    document.run()
    qtbot.waitUntil(lambda: document.runs.ops == 3)
    bar, got = panel.question, []
    assert not bar.isVisible()
    inbox = document.runs._inbox
    assert inbox is not None
    inbox.asked("line\nHow many? ", False, got.append)
    qtbot.waitUntil(bar.isVisible)
    assert bar.words.text() == "How many?"
    assert panel.focus_target() is bar.line
    qtbot.keyClicks(bar.line, "42")
    qtbot.keyClick(bar.line, Qt.Key.Key_Return)
    assert got == ["42\n"]
    assert not bar.isVisible()
    assert panel.text.hasFocus()  # what is typed before the next question goes nowhere
    inbox.asked("Word: ", True, got.append)
    qtbot.waitUntil(bar.isVisible)
    qtbot.keyClicks(bar.line, "abc")
    assert bar.line.echoMode() == bar.line.EchoMode.Password
    qtbot.keyClick(bar.line, Qt.Key.Key_Return)
    inbox.asked("", False, got.append)
    qtbot.waitUntil(bar.isVisible)
    qtbot.mouseClick(bar.end_link, Qt.MouseButton.LeftButton)
    assert got == ["42\n", "abc\n", None]
    inbox.asked("", False, got.append)
    qtbot.waitUntil(bar.isVisible)
    document.stop()
    qtbot.waitUntil(lambda: not document.is_running)
    assert not bar.isVisible()
    qtbot.waitUntil(lambda: settled(panel))
    text = panel.text.toPlainText()
    assert "42\nWord: •••\n" in text
    assert "abc" not in text


def test_the_output_goes_with_its_text(qtbot: QtBot, panel: OutputPanel) -> None:
    document = panel.document
    document.run()
    qtbot.waitUntil(lambda: not document.is_running)
    panel.add("stdout", "printed\n")
    qtbot.waitUntil(lambda: "printed" in panel.text.toPlainText())
    document.open_source("another = 1")
    assert panel.text.toPlainText() == ""


def picture(width: int, height: int) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(0xFF3366AA)
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(buffer.data().data())


def test_figures_stand_below_the_output_and_go_with_the_run(
    qtbot: QtBot, panel: OutputPanel
) -> None:
    document = panel.document
    document.run()
    qtbot.waitUntil(lambda: not document.is_running)
    row = panel.figures
    assert not row.isVisible()
    for size in ((640, 480), (20, 10)):
        document.picture_added.emit(picture(*size))
    document.picture_added.emit(b"no picture")
    assert row.isVisible()
    large, small = row.views
    assert large.pixmap().height() < 0.6 * panel.height() * large.devicePixelRatioF()
    assert (small.pixmap().width(), small.pixmap().height()) == (20, 10)
    large.setFocus()
    large.copy()
    assert QGuiApplication.clipboard().image().width() == 640
    document.run()
    assert not row.isVisible()
    assert row.views == []
    qtbot.waitUntil(lambda: not document.is_running)


def test_figures_take_the_room_that_there_is_and_ask_for_little(
    qtbot: QtBot, panel: OutputPanel
) -> None:
    panel.resize(600, 480)
    panel.document.picture_added.emit(picture(640, 480))
    (view,) = panel.figures.views
    least = panel.minimumSizeHint().height()
    assert least < 200
    shown = []
    for height in (least, 300, 480, 900):
        panel.resize(600, height)
        qtbot.wait(20)
        shown.append(view.pixmap().height() / view.devicePixelRatioF())
        assert panel.figures.geometry().bottom() <= panel.height()
        assert shown[-1] <= panel.figures.viewport().height()
    assert shown == sorted(set(shown))
    assert shown[-1] == HIGH
