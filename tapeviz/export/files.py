"""Bytes and a path in, a file out that is whole or not there."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from ..errors import TapevizError

_WORDS = {
    errno.ENOSPC: "the disk is full; free some space or choose another folder",
    errno.EDQUOT: "your disk quota is used up; free some space or choose another folder",
    errno.EACCES: "no permission to write there; choose another folder",
    errno.EPERM: "no permission to write there; choose another folder",
    errno.EROFS: "the disk is read-only; choose another folder",
    errno.ENOENT: "the folder does not exist; create it or choose another one",
    errno.ENOTDIR: "the folder does not exist; create it or choose another one",
    errno.EISDIR: "that is a folder; add a file name",
    errno.ENAMETOOLONG: "the file name is too long; choose a shorter one",
}


def write_whole(path: Path, contents: bytes) -> None:
    """Writes beside the file, then puts it in place: readers see the old file or the new one.

    A link is followed, the permissions of a file that was there are kept; what is not a plain
    file (``/dev/stdout``) is written to directly. ``TapevizError`` says what to do.
    """
    try:
        path = Path(os.path.realpath(path))
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if path.exists() and not path.is_file():
            path.write_bytes(contents)
        else:
            _replace(path, contents)
    except OSError as error:
        words = _WORDS.get(error.errno or 0, error.strerror or str(error))
        if error.errno == errno.ENOENT and path.parent.is_dir():  # as in /proc
            words = "no file can be made there; choose another folder"
        raise TapevizError(f"cannot write {path}: {words}") from error


def _replace(path: Path, contents: bytes) -> None:
    mode = path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".tapeviz-", suffix=path.suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    """The process's own, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
