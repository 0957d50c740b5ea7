"""The folder that a snippet runs in: its own, an empty one, or a copy that it may write to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tapeviz.kernel import RunRequest, scratch
from tapeviz.kernel.scratch import placed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def original(tmp_path: Path) -> Path:
    return _made(tmp_path / "original")


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    return _made(tmp_path / "empty")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def in_copy(original: Path) -> RunRequest:
    return RunRequest("", filename=str(original / "a.py"), cwd=original, in_copy=True)


def test_a_copy_may_be_written_to(original: Path, empty: Path) -> None:
    (original / "data.txt").write_text("1")
    (original / "logs").mkdir()
    (original / "logs" / "old.txt").write_text("2")
    request = placed(in_copy(original), empty)
    assert (request.cwd, request.filename) == (empty, str(empty / "a.py"))
    assert (empty / "data.txt").read_text() == "1"
    for name in ("data.txt", "logs/old.txt", "new.txt", "logs/new.txt"):
        (empty / name).write_text("changed")
    names = sorted(str(path.relative_to(original)) for path in original.rglob("*"))
    assert names == ["data.txt", "logs", "logs/old.txt"]
    assert (original / "data.txt").read_text() == "1"
    assert (original / "logs" / "old.txt").read_text() == "2"


def test_a_text_that_goes_up_finds_what_it_names_there(original: Path, empty: Path) -> None:
    folder, data = original / "src" / "jobs", original / "data"
    for each in (folder, data, original / "other"):
        each.mkdir(parents=True)
    (data / "x.txt").write_text("1")
    text = 'open(Path(__file__).parent.parent.parent / "data" / "x.txt", "a")'
    request = placed(RunRequest(text, str(folder / "a.py"), cwd=folder, in_copy=True), empty)
    assert request.cwd is not None
    assert request.filename == str(request.cwd / "a.py")
    root = request.cwd.parent.parent
    assert (root.name, request.cwd.parent.name) == ("original", "src")
    assert sorted(path.name for path in root.iterdir()) == ["data", "src"]
    (root / "data" / "x.txt").write_text("2")
    assert (data / "x.txt").read_text() == "1"


def test_what_is_large_is_linked(
    original: Path, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "_MOST_BYTES", 10)
    (original / "large.bin").write_bytes(bytes(11))
    placed(in_copy(original), empty)
    assert (empty / "large.bin").is_symlink()
    assert (empty / "large.bin").read_bytes() == bytes(11)


def test_a_folder_of_very_many_is_used_itself(
    original: Path, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "_MOST_ENTRIES", 1)
    for name in "abc":
        (original / name).touch()
    request = in_copy(original)
    assert placed(request, empty) == request


def test_without_a_folder_it_runs_in_the_empty_one(empty: Path) -> None:
    assert placed(RunRequest("", "<stdin>", in_copy=True), empty).cwd == empty
