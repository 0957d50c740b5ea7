"""One writer for all files: links, pipes, devices, permissions, full disks, interruptions."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tapeviz.errors import TapevizError
from tapeviz.files import whole
from tapeviz.files.whole import write_whole
from tests.pipes import written_to_a_pipe

as_user = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
posix = pytest.mark.skipif(os.name == "nt", reason="files of POSIX")
OLD, NEW = b"the old contents", b"new" * 1000


@pytest.fixture(params=["unnamed", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With a nameless file while it is written (Linux), and where there is no such thing."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    return str(request.param)


def old_file(folder: Path, name: str = "a.tape") -> Path:
    path = folder / name
    path.write_bytes(OLD)
    return path


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> Iterator[None]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(whole.os, name, fail)
        yield


def test_a_file_is_made_and_replaced(way: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tape"
    write_whole(path, OLD)
    assert path.read_bytes() == OLD
    write_whole(path, lambda stream: stream.write(NEW))
    assert path.read_bytes() == NEW
    assert os.listdir(tmp_path) == ["a.tape"]


@posix
def test_permissions_are_kept_and_a_new_file_has_those_of_the_umask(
    way: str, tmp_path: Path
) -> None:
    path = old_file(tmp_path)
    path.chmod(0o640)
    before = os.umask(0o027)
    try:
        write_whole(path, NEW)
        write_whole(tmp_path / "new", NEW)
        write_whole(tmp_path / "private", NEW, mode=0o600)
    finally:
        os.umask(before)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == {"a.tape": 0o640, "new": 0o640, "private": 0o600}


@posix
def test_links_stay_links(way: str, tmp_path: Path) -> None:
    real = old_file(tmp_path)
    for name, target in (("link", "a.tape"), ("second", "link"), ("dangling", "later")):
        (tmp_path / name).symlink_to(target)
    write_whole(tmp_path / "second", NEW)
    assert real.read_bytes() == NEW
    write_whole(tmp_path / "dangling", NEW)
    assert (tmp_path / "later").read_bytes() == NEW
    assert all((tmp_path / name).is_symlink() for name in ("link", "second", "dangling"))
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(TapevizError, match="circle"):
        write_whole(tmp_path / "loop", NEW)


@posix
@pytest.mark.parametrize("contents", [b"", b"short", NEW])
def test_every_name_of_a_file_has_the_new_contents(
    way: str, tmp_path: Path, contents: bytes
) -> None:
    path, other = old_file(tmp_path), tmp_path / "other"
    os.link(path, other)
    write_whole(path, contents)
    assert other.read_bytes() == path.read_bytes() == contents
    assert path.samefile(other)
    assert len(os.listdir(tmp_path)) == 2


@posix
def test_a_file_that_cannot_be_replaced_is_overwritten(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single file mounted into a container is one: ``rename`` says that it is busy."""
    path = old_file(tmp_path)
    number = path.stat().st_ino
    with failing(monkeypatch, "replace", errno.EBUSY):
        write_whole(path, NEW)
    assert (path.read_bytes(), path.stat().st_ino) == (NEW, number)
    assert os.listdir(tmp_path) == ["a.tape"]


@as_user
def test_what_may_not_be_written_stays(way: str, tmp_path: Path) -> None:
    path = old_file(tmp_path)
    path.chmod(0o400)
    with pytest.raises(TapevizError, match="no permission"):
        write_whole(path, NEW)
    path.chmod(0o600)
    tmp_path.chmod(0o500)
    try:
        write_whole(path, NEW)  # the folder may not be changed, the file may
        with pytest.raises(TapevizError, match="no permission"):
            write_whole(tmp_path / "other", NEW)
    finally:
        tmp_path.chmod(0o700)
    assert path.read_bytes() == NEW


def in_two_parts(to: IO[bytes]) -> None:
    """Ask for the position as zipfile does, which writes a .tape."""
    to.write(NEW * 60)
    assert to.tell() == len(NEW) * 60
    to.write(NEW * 40)


@posix
def test_a_pipe_gets_the_contents_and_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(TapevizError, match="nobody reads"):
        write_whole(path, NEW)
    got = written_to_a_pipe(path, lambda: write_whole(path, in_two_parts))
    assert got == NEW * 100
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="devices of Linux")
def test_devices_are_written_to(tmp_path: Path) -> None:
    write_whole(Path("/dev/null"), in_two_parts)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(TapevizError, match="disk is full"):
        write_whole(Path("/dev/full"), NEW)


def test_standard_output_is_a_path(tmp_path: Path) -> None:
    if not Path("/dev/stdout").exists():
        pytest.skip("no /dev/stdout here")
    code = (
        "from pathlib import Path; from tapeviz.files.whole import write_whole; "
        "write_whole(Path('/dev/stdout'), b'contents')"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"contents"
    with (tmp_path / "redirected").open("wb") as file:
        subprocess.run(command, stdout=file, check=True)
    assert (tmp_path / "redirected").read_bytes() == b"contents"


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_no_other(
    way: str, fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = old_file(tmp_path)
    with (
        failing(monkeypatch, fails, errno.ENOSPC),
        pytest.raises(TapevizError, match="disk is full"),
    ):
        write_whole(path, NEW)
    assert path.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["a.tape"]


@posix
@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="no way to take room first")
def test_a_full_disk_leaves_a_file_of_several_names_as_it_was(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = old_file(tmp_path)
    os.link(path, tmp_path / "other")
    with (
        failing(monkeypatch, "posix_fallocate", errno.ENOSPC),
        pytest.raises(TapevizError, match="disk is full"),
    ):
        write_whole(path, NEW)
    assert path.read_bytes() == OLD


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none/a", "folder does not exist"),
        ("file/a", "folder does not exist"),
        (".", "is a folder"),
        ("x" * 300, "too long"),
    ],
)
def test_what_is_wrong_with_a_path_is_said(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "file").write_bytes(OLD)
    with pytest.raises(TapevizError, match=words):
        write_whole(tmp_path / name, NEW)
    assert os.listdir(tmp_path) == ["file"]


@posix
@pytest.mark.parametrize("name", ["two\nlines", "ö ∂", "-o", "x" * 255, os.fsdecode(b"\xff\xfe")])
def test_odd_names(way: str, tmp_path: Path, name: str) -> None:
    for contents in (OLD, NEW):
        write_whole(tmp_path / name, contents)
        assert (tmp_path / name).read_bytes() == contents
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_interruption_leaves_nothing(
    way: str, tmp_path: Path, raised: type[BaseException]
) -> None:
    path = old_file(tmp_path)

    def write(stream: IO[bytes]) -> None:
        stream.write(NEW)
        raise raised

    with pytest.raises(raised):
        write_whole(path, write)
    assert path.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["a.tape"]


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are Linux's")
def test_a_process_that_is_killed_while_it_writes_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from tapeviz.files.whole import write_whole\n"
        "def write(stream):\n"
        "    stream.write(b'half'); stream.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_whole(Path(sys.argv[1]), write)\n"
    )
    path = old_file(tmp_path)
    ended = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert path.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["a.tape"]
