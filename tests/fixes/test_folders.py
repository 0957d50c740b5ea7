"""A trial writes into a folder of its own, in which what stands beside the snippet is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tapeviz.fixes import folders, try_fixes
from tapeviz.fixes.folders import Folder
from tapeviz.recording.live import Snippet

from .test_trying import diagnosed

if TYPE_CHECKING:
    from pathlib import Path

    from tapeviz.recording.live import Recorder


def test_a_copy_may_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("1")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "old.txt").write_text("2")
    folder = Folder(tmp_path)
    assert folder.path is not None
    assert folder.path != tmp_path
    assert (folder.path / "data.txt").read_text() == "1"
    for name in ("data.txt", "logs/old.txt", "new.txt", "logs/new.txt"):
        (folder.path / name).write_text("changed")
    folder.remove()
    assert not folder.path.exists()
    names = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert names == ["data.txt", "logs", "logs/old.txt"]
    assert (tmp_path / "data.txt").read_text() == "1"
    assert (tmp_path / "logs" / "old.txt").read_text() == "2"


def test_what_is_large_is_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_MOST_BYTES", 10)
    (tmp_path / "large.bin").write_bytes(bytes(11))
    folder = Folder(tmp_path)
    assert folder.path is not None
    assert (folder.path / "large.bin").is_symlink()
    assert (folder.path / "large.bin").read_bytes() == bytes(11)
    folder.remove()
    assert (tmp_path / "large.bin").exists()


def test_a_folder_of_very_many_is_used_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_MOST_ENTRIES", 1)
    for name in "abc":
        (tmp_path / name).touch()
    folder = Folder(tmp_path)
    assert folder.path == tmp_path
    folder.remove()
    assert tmp_path.exists()
    assert Folder(None).path is None


def test_trials_leave_the_files_of_the_user_alone(tmp_path: Path, recorder: Recorder) -> None:
    text = (
        "import tensorflow as tf\nw, state = tf.Variable(2.0), tf.Variable(0.0)\n"
        "k = float(open('data.txt').read())\nwith tf.GradientTape() as tape:\n"
        "    state.assign(k * w)\n    loss = state + 1.0\ntape.gradient(loss, w)\n"
        "with open('log.txt', 'a') as log:\n    log.write('run ')\n"
    )
    (tmp_path / "data.txt").write_text("5")
    snippet = Snippet(text, directory=tmp_path)
    trace, diagnosis = diagnosed(recorder, snippet)
    mended = try_fixes(trace, diagnosis, recorder, like=snippet)
    assert mended.calls[-1].findings[0].fixes
    assert (tmp_path / "log.txt").read_text() == "run "
