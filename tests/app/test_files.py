"""Files in and out of the window, and the text that is never lost."""

from __future__ import annotations

import errno
import json
import os
import stat
import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from tapeviz.app.main import check_screen
from tapeviz.app.search import find_matches
from tapeviz.app.storage.draft import DraftKeeper, first_own_line
from tapeviz.app.storage.settings import MOST_RECENT, Settings
from tapeviz.app.window import Window
from tapeviz.document import Document
from tapeviz.document.text.text import UNNAMED
from tapeviz.errors import TapevizError
from tapeviz.files.examples import default_example
from tapeviz.files.whole import write_whole
from tests.document.sample import NODES, SOURCE, SamplePipeline, make_stages


def test_a_text_is_opened_edited_and_saved(qtbot: QtBot, window: Window, tmp_path: Path) -> None:
    file = tmp_path / "snippet.py"
    file.write_text("x = 1\n", encoding="utf-8")
    assert window.files.open(file)
    assert window.document.text.path == file
    window.source.editor.appendPlainText("y = 2")
    assert window.isWindowModified()
    assert window.files.save()
    assert file.read_text(encoding="utf-8") == window.document.text.source
    assert not window.isWindowModified()
    assert window.files.recent == [file]


@pytest.mark.parametrize("theirs", [b"x = 1\ntheirs = 3\n", b"theirs \xff\x00"])
@pytest.mark.parametrize("is_overwritten", [False, True])
def test_saving_asks_before_it_overwrites_what_another_program_wrote(
    qtbot: QtBot,
    window: Window,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_overwritten: bool,
    theirs: bytes,
) -> None:
    file = tmp_path / "snippet.py"
    file.write_bytes(b"x = 1\r\n")
    assert window.files.open(file)
    edit(window, "x = 1\nmine = 2\n")
    file.write_bytes(theirs)
    buttons = QMessageBox.StandardButton
    answer = buttons.Save if is_overwritten else buttons.Cancel
    monkeypatch.setattr(QMessageBox, "warning", lambda *_: answer)
    assert window.files.save() is is_overwritten
    written = file.read_bytes()
    assert (b"mine" in written, b"theirs" in written) == (is_overwritten, not is_overwritten)
    assert window.document.text.is_modified is not is_overwritten
    window.document.text.mark_saved(file)


def test_a_notebook_gives_its_code(qtbot: QtBot, window: Window, tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": ["x = 1\n", "y = 2"]}]
    file = tmp_path / "book.ipynb"
    file.write_text(json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}))
    assert window.files.open(file)
    assert "y = 2" in window.document.text.source
    assert window.document.text.filename == "book.py"
    assert window.document.text.path is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("missing.py", None),
        ("binary.py", b"\xff\xfe\x00"),
        ("broken.tape", b"no zip"),
        ("broken.ipynb", b"{"),
    ],
)
def test_what_cannot_be_read_leaves_the_text(
    qtbot: QtBot, window: Window, tmp_path: Path, name: str, content: bytes | None
) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    assert not window.files.open(file)
    assert window.document.text.source == SOURCE
    assert window.status.trouble.text()


def test_a_failed_save_is_told(qtbot: QtBot, window: Window, tmp_path: Path) -> None:
    window.document.text.path = tmp_path / "no" / "such" / "folder.py"
    assert not window.files.save()
    assert "was not saved" in window.status.trouble.text()


@pytest.mark.parametrize("name", ["gone.py", "gone.ipynb", "gone.tape"])
def test_a_file_that_is_gone_is_told_in_words(window: Window, tmp_path: Path, name: str) -> None:
    assert not window.files.open(tmp_path / name)
    assert window.document.trouble == f"cannot read {tmp_path / name}: there is no such file"


@pytest.fixture
def unkept(window: Window, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Window:
    """A window whose drafts cannot be written, with an unsaved text; it may be closed."""
    discard = QMessageBox.StandardButton.Discard
    monkeypatch.setattr(QMessageBox, "warning", lambda *_: discard)
    (tmp_path / "file").touch()
    monkeypatch.setattr(window.draft, "_folder", tmp_path / "file" / "drafts")
    edit(window, "precious = 5\n")
    return window


def test_that_a_text_cannot_be_kept_says_what_to_do(qtbot: QtBot, unkept: Window) -> None:
    qtbot.waitUntil(lambda: "save it (Ctrl+S)" in unkept.document.trouble)
    assert "the folder does not exist" in unkept.document.trouble


@pytest.mark.parametrize("leave", ["close", "new", "open"])
def test_a_text_that_cannot_be_kept_is_left_only_when_the_user_says_so(
    unkept: Window, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, leave: str
) -> None:
    other, saved = tmp_path / "other.py", tmp_path / "saved.py"
    other.write_text("other = 1\n")
    buttons = QMessageBox.StandardButton
    asked: list[str] = []

    def left_with(answer: object) -> bool:
        def answer_it(parent: object, title: str, words: str, *rest: object) -> object:
            asked.append(words)
            return answer

        monkeypatch.setattr(QMessageBox, "warning", answer_it)
        return {
            "close": unkept.close,
            "new": unkept.files.new,
            "open": lambda: unkept.files.open(other),
        }[leave]()

    assert not left_with(buttons.Cancel)
    assert unkept.document.text.source == "precious = 5\n"
    assert unkept.isVisible()
    assert "the folder does not exist" in asked[0]
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(saved), ""))
    assert left_with(buttons.Save)
    assert saved.read_text(encoding="utf-8") == "precious = 5\n"
    assert len(asked) == 2
    edit(unkept, "discarded = 1\n")
    assert left_with(buttons.Discard)


def test_recent_files_are_few_and_the_last_comes_first(settings: Settings, tmp_path: Path) -> None:
    for number in range(20):
        settings.add_recent(tmp_path / f"{number}.py")
    settings.add_recent(tmp_path / "15.py")
    assert len(settings.recent) == MOST_RECENT
    assert settings.recent[0].name == "15.py"


def test_pictures_are_written_and_copied(qtbot: QtBot, ran: Window, tmp_path: Path) -> None:
    from tapeviz import drawing

    ran.document.stages = ran.document.stages.__class__(
        ran.document.stages.diagnose, drawing.arrange, drawing.compose_over
    )
    ran.run()
    qtbot.waitUntil(lambda: not ran.document.is_running and not ran.document.background.busy)
    names = ("tape.png", "tape.svg", "tape.html", "again.PNG")
    for name in names:
        ran.pictures.write(tmp_path / name)
    qtbot.waitUntil(lambda: not ran.document.background.busy)
    assert all((tmp_path / name).exists() for name in names)
    assert (tmp_path / "again.PNG").read_bytes() == (tmp_path / "tape.png").read_bytes()
    ran.pictures.copy()
    qtbot.waitUntil(lambda: "clipboard" in ran.status.trouble.text())
    data = QGuiApplication.clipboard().mimeData()
    assert data.hasImage()
    assert b"<svg" in bytes(data.data("image/svg+xml").data())


def test_a_picture_of_nothing_is_not_written(window: Window, tmp_path: Path) -> None:
    window.pictures.write(tmp_path / "tape.png")
    assert window.document.trouble == "Nothing is drawn yet, so tape.png was not written"
    assert not (tmp_path / "tape.png").exists()


# The text is never lost


def edit(window: Window, text: str) -> None:
    window.source.editor.setFocus()
    window.source.editor.selectAll()
    window.source.editor.insertPlainText(text)


def reopened(qtbot: QtBot) -> Window:
    window = Window(Document(SamplePipeline(), make_stages()), Settings())
    qtbot.addWidget(window)
    window.files.restore_draft()
    return window


def test_an_answer_is_text_rich_text_and_picture(qtbot: QtBot, ran: Window) -> None:
    ran.menus.actions["copy-answer"].trigger()
    clipboard = QGuiApplication.clipboard()
    qtbot.waitUntil(lambda: "Markdown" in ran.status.trouble.text())
    data = clipboard.mimeData()
    assert data.text().startswith("**∂o / ∂patch** is **None**")
    assert "# ✂ the gradient is cut here" in data.text()
    assert "data:image/png;base64," in data.html()
    assert data.hasImage()


def test_a_page_to_share_is_written_light_and_without_selection(
    qtbot: QtBot, ran: Window, tmp_path: Path
) -> None:
    ran.choose_theme("dark")
    ran.document.selecting.select_nodes(frozenset({"op3"}))
    assert ran.pictures.drawing()().theme.name == "light"
    assert ran.pictures.drawing()().scene != ran.document.scene
    page = tmp_path / "page.html"
    ran.pictures.write(page)
    qtbot.waitUntil(page.exists)
    text = page.read_text(encoding="utf-8")
    assert '<html lang="en" class="light">' in text
    assert "assign_cut.py" in text
    ran.menus.actions["dark-pictures"].trigger()
    assert ran.pictures.drawing()().theme.name == "dark"
    qtbot.waitUntil(lambda: not ran.document.background.busy)


def test_unsaved_text_is_back_at_the_next_start(qtbot: QtBot, window: Window) -> None:
    edit(window, "precious = 1\n")
    window.close()
    again = reopened(qtbot)
    assert again.document.text.source == "precious = 1\n"
    assert "is back" in again.document.trouble
    assert again.document.text.is_modified


def die(window: Window) -> None:
    """Release the lock of a window, as the system does when its process ends."""
    assert window.draft._lock is not None
    window.draft._lock.close()


def test_text_of_a_window_that_was_killed_is_restored(qtbot: QtBot, window: Window) -> None:
    edit(window, "precious = 2\n")
    window.draft.keep()
    die(window)
    again = reopened(qtbot)
    assert again.document.text.source == "precious = 2\n"
    assert "Restored" in again.document.trouble


def test_the_copy_is_private(qtbot: QtBot, window: Window) -> None:
    edit(window, "precious = 2\n")
    window.draft.keep()
    (file,) = (window.settings.state / "drafts").glob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def left_behind(window: Window, texts: list[str]) -> None:
    """Drafts of windows that were killed one after the other."""
    for number, text in enumerate(texts):
        document = Document(SamplePipeline(), make_stages())
        keeper = DraftKeeper(document, window.settings.state)
        document.text.open("import tensorflow as tf\nopened = 1\n")
        document.text.edit(text)
        keeper.keep()
        assert keeper._lock is not None
        keeper._lock.close()
        os.utime(keeper._file, (number, number))


def test_every_left_text_is_offered_with_its_first_own_line_and_time(
    qtbot: QtBot, window: Window
) -> None:
    common = "import tensorflow as tf\nopened = 1\n"
    left_behind(window, [f"{common}mine = {number}\n" for number in range(4)])
    again = reopened(qtbot)
    assert again.document.text.source.endswith("mine = 3\n")
    assert "3 more under Open recent" in again.document.trouble
    aside = again.draft.set_aside()
    assert [draft.first_line for draft in aside] == ["mine = 2", "mine = 1", "mine = 0"]
    assert [draft.written.timestamp() for draft in aside] == [2, 1, 0]
    assert aside[0].words.startswith("mine = 2  (")


def test_a_normal_quit_never_brings_back_an_older_text(qtbot: QtBot, window: Window) -> None:
    left_behind(window, ["older = 1\n"])
    window.close()
    again = reopened(qtbot)
    assert again.document.text.source == ""
    assert [draft.first_line for draft in again.draft.set_aside()] == ["older = 1"]


@pytest.mark.parametrize(
    ("text", "opened", "first"),
    [
        ("# mine\nimport tensorflow as tf\nx = 1\ny = 2", "", "x = 1"),
        ("import tensorflow as tf\nx = 1\ny = 2", "import tensorflow as tf\nx = 1", "y = 2"),
        ("import tensorflow as tf", "", "import tensorflow as tf"),
        ("# words only", "", "# words only"),
        ("x = 1", "x = 1\ny = 2", "x = 1"),
        (" \n", "", "…"),
        ("#¶ ==== FAILURES ====\n#¶ a test\nx = 1", "", "FAILURES"),
        ("#¶ Why is it None?\n\n#¶ 3 answers\nx = 1", "", "Why is it None?"),
        ("#¶ Why is it None?\nx = 1\ny = 2", "#¶ Why is it None?\nx = 1", "y = 2"),
    ],
)
def test_the_first_own_line(text: str, opened: str, first: str) -> None:
    assert first_own_line(text, opened) == first


def test_text_of_a_window_that_is_open_stays_there(qtbot: QtBot, window: Window) -> None:
    edit(window, "precious = 3\n")
    window.draft.keep()
    assert reopened(qtbot).document.text.source == ""


def test_a_restored_text_is_safe_again_before_the_old_copy_goes(
    qtbot: QtBot, window: Window
) -> None:
    edit(window, "precious = 4\n")
    window.close()
    again = reopened(qtbot)
    die(again)
    assert reopened(qtbot).document.text.source == "precious = 4\n"
    assert again.document.text.source == "precious = 4\n"


def test_closing_writes_the_draft_once(
    qtbot: QtBot, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[bytes] = []

    def write(path: Path, contents: bytes, mode: int) -> None:
        written.append(contents)
        write_whole(path, contents, mode=mode)

    monkeypatch.setattr("tapeviz.app.storage.draft.write_whole", write)
    edit(window, "precious = 6\n")
    window.close()
    assert len(written) == 1
    assert b'"closed": true' in written[0]
    assert reopened(qtbot).document.text.source == "precious = 6\n"


def test_the_old_copy_of_a_restored_text_stays_if_no_other_can_be_written(
    qtbot: QtBot, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(window, "precious = 7\n")
    window.close()

    def fail(path: Path, contents: bytes, mode: int) -> None:
        raise TapevizError("the disk is full")

    with monkeypatch.context() as full:
        full.setattr("tapeviz.app.storage.draft.write_whole", fail)
        assert reopened(qtbot).document.text.source == "precious = 7\n"
        (copy,) = (window.settings.state / "drafts").glob("*.json")
    assert json.loads(copy.read_bytes())["text"] == "precious = 7\n"


def test_a_saved_text_leaves_no_draft(qtbot: QtBot, window: Window, tmp_path: Path) -> None:
    edit(window, "x = 1\n")
    window.draft.keep()
    window.document.text.path = tmp_path / "x.py"
    window.files.save()
    window.close()
    assert reopened(qtbot).document.text.source == ""


def test_damaged_drafts_do_not_matter(qtbot: QtBot, window: Window) -> None:
    folder = window.settings.state / "drafts"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "1-a.json").write_text("{")
    (folder / "1-b.json").write_text("[]")
    assert window.draft.take_left() is None


def test_a_text_opened_over_an_unsaved_one_does_not_lose_it(
    qtbot: QtBot, window: Window, tmp_path: Path
) -> None:
    edit(window, "precious = 5\n")
    file = tmp_path / "other.py"
    file.write_text("other = 1\n")
    window.files.open(file)
    assert window.document.text.source == "other = 1\n"
    window.close()
    again = reopened(qtbot)
    assert again.document.text.source == ""
    (draft,) = again.draft.set_aside()
    assert draft.first_line == "precious = 5"
    again.files.open_draft(draft)
    assert again.document.text.source == "precious = 5\n"
    assert again.draft.set_aside() == []


def test_a_link_leads_back_to_the_text_that_was_replaced(
    qtbot: QtBot, window: Window, tmp_path: Path
) -> None:
    former = window.status.former
    window.files.new()
    assert not former.isVisible()
    edit(window, "import os\nprecious = 5\n")
    window.files.new()
    assert former.isVisible()
    assert former.text() == "Back to “precious = 5”"
    qtbot.mouseClick(former, Qt.MouseButton.LeftButton)
    assert window.document.text.source == "import os\nprecious = 5\n"
    assert not former.isVisible()
    assert window.draft.set_aside() == []
    window.files.open(tmp_path / "missing.py")
    assert not former.isVisible()


def test_only_some_texts_are_set_aside(
    qtbot: QtBot, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeviz.app.storage.draft.MOST_ASIDE", 8)
    for number in range(12):
        edit(window, f"text = {number}\n")
        window.files.new()
    texts = [draft.text for draft in window.draft.set_aside()]
    assert len(texts) == 8
    assert "text = 11\n" in texts
    ahead = time.time() + 9000  # as after a clock that was set back
    for draft in window.draft.set_aside():
        os.utime(draft.file, (ahead, ahead))
    edit(window, "text = 12\n")
    window.files.new()
    assert "text = 12\n" in {draft.text for draft in window.draft.set_aside()}


def test_a_text_that_cannot_be_kept_is_told(
    qtbot: QtBot, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(window, "x\n")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr("os.fsync", full)
        window.draft.keep()
    assert "disk is full" in window.status.trouble.text()


def test_the_copy_comes_by_itself(
    qtbot: QtBot, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.draft._timer.setInterval(20)
    edit(window, "typed = 1\n")
    folder = window.settings.state / "drafts"

    def is_written() -> bool:
        return any("typed" in file.read_text() for file in folder.glob("*.json"))

    qtbot.waitUntil(is_written)


# Before the window


def test_without_a_display_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapeviz.app.main.missing_words", lambda: "")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(TapevizError, match="no display"):
        check_screen()
    monkeypatch.setenv("DISPLAY", ":4711")
    with pytest.raises(TapevizError, match="does not answer"):
        check_screen()


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapeviz.system_libraries.missing_packages", lambda _: ("libxcb-cursor0",))
    with pytest.raises(TapevizError, match="apt install libxcb-cursor0"):
        check_screen()


def test_search_ranks_names_first() -> None:
    nodes = {node.id: node for node in NODES}
    assert find_matches(nodes, "y")[0] == "op4"
    assert find_matches(nodes, "matmul") == ["op4"]
    assert find_matches(nodes, "line 5") == ["op1", "x1"]
    assert set(find_matches(nodes, "6")) == {"op3", "op4"}
    assert find_matches(nodes, "  ") == []
    assert find_matches(nodes, "2") == ["x"]


# Whose text it is


def test_a_text_pasted_over_an_example_is_no_example(
    qtbot: QtBot, window: Window, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    window.files.open_example(default_example())
    name = f"{default_example().name}.py"
    assert window.windowTitle().startswith(name)
    assert not window.isWindowModified()
    edit(window, default_example().text + "\n# a word more")
    assert window.windowTitle().startswith(name)
    assert window.isWindowModified()
    edit(window, "x = tf.Variable(1.0)\nprint(x)\n")
    assert window.windowTitle().startswith(UNNAMED)
    assert window.source.file_label.text() == f"{UNNAMED} •"
    asked: list[str] = []

    def ask(parent: object, title: str, start: str, kinds: str) -> tuple[str, str]:
        asked.append(start)
        return str(tmp_path / "mine.py"), kinds

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
    window.menus.actions["save"].trigger()
    assert Path(asked[0]).name == UNNAMED
    assert (tmp_path / "mine.py").read_text() == "x = tf.Variable(1.0)\nprint(x)\n"
    assert window.windowTitle().startswith("mine.py")
    assert not window.isWindowModified()


def test_a_file_that_comes_with_tapeviz_is_never_written_to(
    qtbot: QtBot, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = default_example().path
    before = path.read_bytes()
    assert window.files.open(path)
    edit(window, "x = 1\n")
    starts: list[str] = []
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *words: (starts.append(words[2]), ("", ""))[1]
    )
    assert not window.files.save()
    assert path.read_bytes() == before
    assert not Path(starts[0]).is_relative_to(path.parent)


def test_a_film_of_the_steps_tells_how_far_it_is_and_can_be_cancelled(
    qtbot: QtBot, ran: Window, tmp_path: Path
) -> None:
    from tapeviz import drawing

    ran.document.stages = ran.document.stages.__class__(
        ran.document.stages.diagnose, drawing.arrange, drawing.compose_over
    )
    ran.run()
    qtbot.waitUntil(lambda: not ran.document.is_running and not ran.document.background.busy)
    file = tmp_path / "steps.gif"
    counts: list[tuple[int, int]] = []
    background = ran.document.background
    background.busy_changed.connect(lambda: counts.extend(background.counts.values()))
    ran.pictures.write(file)
    qtbot.waitUntil(lambda: file.exists() and not background.busy)
    assert file.read_bytes().startswith(b"GIF89a")
    assert (2 * len(ran.document.steps) + 2,) * 2 in counts
    file.unlink()
    ran.pictures.write(file)
    ran.status.cancel()
    qtbot.waitUntil(lambda: not background._running)
    assert not file.exists()


def test_a_file_that_cannot_be_read_leaves_text_and_draft_as_they_are(
    window: Window, tmp_path: Path
) -> None:
    window.source.edit_text("mine = 3\n")
    picture = tmp_path / "picture.png"
    picture.write_bytes(bytes(range(256)))
    for path in (picture, tmp_path / "missing.py", tmp_path / "missing.tape"):
        assert not window.files.open(path)
        assert window.document.is_troubled
    assert window.document.text.source == "mine = 3\n"
    assert window.draft.set_aside() == []
    assert window.status.former.isHidden()
