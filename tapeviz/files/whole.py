"""Write a file so that it is whole, or as it was before.

Everything that tapeviz writes for the user goes through :func:`write_whole`.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from ..errors import TapevizError

Contents = bytes | Callable[[IO[bytes]], object]
"""Bytes, or what writes them into a stream that has a position."""

_NO_PERMISSION = "no permission to write there; choose another place"
_WORDS = {
    errno.ENOSPC: "the disk is full; free some space or choose another folder",
    errno.EDQUOT: "your disk quota is used up; free some space or choose another folder",
    errno.EFBIG: "files as large as this are not allowed there; choose another folder",
    errno.EIO: "the disk reports a fault; choose another folder",
    errno.EACCES: _NO_PERMISSION,
    errno.EPERM: _NO_PERMISSION,
    errno.EROFS: "the disk is read-only; choose another folder",
    errno.ENOENT: "the folder does not exist; create it or choose another one",
    errno.ENOTDIR: "the folder does not exist; create it or choose another one",
    errno.EISDIR: "that is a folder; add a file name",
    errno.ENAMETOOLONG: "the file name is too long; choose a shorter one",
    errno.ELOOP: "its links lead round in a circle; choose another name",
    errno.ENXIO: "nobody reads from that pipe or socket; start its reader first",
    errno.EPIPE: "its reader has gone",
    errno.ENOTBLK: "that is a disk; choose a file on it",
}
_NEW = 0o666  # the umask takes from it, as from each new file
_CANNOT_REPLACE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV}


def write_whole(path: Path, contents: Contents, mode: int = _NEW) -> None:
    """Write beside the file, then put it in place: readers see the old file or the new one.

    A symbolic link is followed; owner and permissions of a file that was there are kept. A file
    with further hard links, or in a folder that nobody may write to, is overwritten once the new
    contents are complete and have room. A pipe or a device is written to. Until the file is in
    place the contents have no name, where the system can do so: nothing is left by a process that
    was killed. ``mode``: the permissions of a file that is new. ``TapevizError`` says what to do.
    """
    try:
        there = _look(path)
        if there is not None and not stat.S_ISREG(there.st_mode):
            _write_through(path, there.st_mode, contents)
        else:
            _write_file(path, there, contents, mode)
    except (OSError, ValueError) as error:
        raise TapevizError(f"cannot write {path}: {_words(error, path)}") from error


def check_folder(path: Path) -> None:
    """Raise TapevizError before anything is computed, if a file's folder is not there."""
    if not path.parent.is_dir():
        raise TapevizError(f"cannot write {path}: {_WORDS[errno.ENOENT]}")


def words_for(error: OSError) -> str:
    """Say what keeps a file from being written, and what to do about it."""
    return _WORDS.get(error.errno or 0, error.strerror or str(error))


def _words(error: OSError | ValueError, path: Path) -> str:
    if not isinstance(error, OSError):
        return str(error)
    if error.errno == errno.ENOENT and path.parent.is_dir():  # as in /proc
        return "no file can be made there; choose another folder"
    return words_for(error)


def _look(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _write_through(path: Path, mode: int, contents: Contents) -> None:
    """Into a pipe or a device; an open that would wait for a reader fails (``ENXIO``).

    The contents are complete before: a device has no position, or (``/dev/null``) always 0.
    """
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, "a folder")
    if stat.S_ISBLK(mode):
        raise OSError(errno.ENOTBLK, "a disk")
    complete = io.BytesIO()
    _fill(complete, contents)
    descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "wb") as stream:
        os.set_blocking(descriptor, True)
        stream.write(complete.getbuffer())


def _write_file(
    path: Path, there: os.stat_result | None, contents: Contents, new_mode: int
) -> None:
    real = Path(os.path.realpath(path))
    if there is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "read-only")
    with contextlib.ExitStack() as stack:
        try:
            part = stack.enter_context(_part(real.parent, 0o600 if there else new_mode))
        except OSError as error:
            if there is None or error.errno not in _CANNOT_REPLACE:
                raise
            part = stack.enter_context(_part(Path(tempfile.gettempdir()), 0o600))
        _fill(part.stream, contents)
        part.stream.flush()
        os.fsync(part.stream.fileno())
        if there is None:
            part.take_place(real)
        elif not (_is_only_name(real, there) and part.is_like(there) and part.replaces(real)):
            _overwrite(path, part.stream)


def _is_only_name(real: Path, there: os.stat_result) -> bool:
    """False for hard links, and for ``/dev/stdout`` where it leads to a file without a name."""
    found = _look(real)
    return there.st_nlink == 1 and found is not None and os.path.samestat(found, there)


def _fill(stream: IO[bytes], contents: Contents) -> None:
    if callable(contents):
        contents(stream)
    else:
        stream.write(contents)


def _overwrite(path: Path, part: IO[bytes]) -> None:
    """The room is taken first: after that a full disk cannot leave half of each."""
    size = part.seek(0, io.SEEK_END)
    with open(path, "r+b") as file:
        before = os.fstat(file.fileno()).st_size
        if size > before and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(file.fileno(), 0, size)
            except OSError:
                file.truncate(before)
                raise
        try:
            _copy(part, file)
        except (KeyboardInterrupt, SystemExit):  # once begun it is finished
            _copy(part, file)
            raise


def _copy(part: IO[bytes], file: IO[bytes]) -> None:
    part.seek(0)
    file.seek(0)
    shutil.copyfileobj(part, file, 1 << 20)
    file.truncate()
    file.flush()
    os.fsync(file.fileno())


class _Part:
    """The new contents in the folder of the file, without a name where ``name`` is empty."""

    def __init__(self, folder: Path, stream: IO[bytes], name: str) -> None:
        self.stream = stream
        self._folder = folder
        self._name = name

    def is_like(self, there: os.stat_result) -> bool:
        """Take over owner and permissions; False where that is not allowed."""
        descriptor = self.stream.fileno()
        own = os.fstat(descriptor)
        try:
            if (own.st_uid, own.st_gid) != (there.st_uid, there.st_gid):
                os.chown(descriptor, there.st_uid, there.st_gid)
            if os.chmod in os.supports_fd:
                os.chmod(descriptor, stat.S_IMODE(there.st_mode))
            else:
                os.chmod(self._name, stat.S_IMODE(there.st_mode))
        except PermissionError:
            return False
        return True

    def replaces(self, real: Path) -> bool:
        """Put it in place of a file; False where that file can only be overwritten."""
        try:
            self.take_place(real)
        except OSError as error:
            if error.errno not in _CANNOT_REPLACE:
                raise
            return False
        return True

    def take_place(self, real: Path) -> None:
        if not self._name:
            with contextlib.suppress(FileExistsError):
                self._link(real)
                self._keep_name()
                return
            self._name = _new_name(self._folder)
            self._link(Path(self._name))
        elif os.name == "nt":  # an open file cannot be renamed there
            self.stream.close()
        os.replace(self._name, real)
        self._name = ""
        self._keep_name()

    def _keep_name(self) -> None:
        """Let the name of a file outlive a loss of power, too; not every system can do that."""
        with contextlib.suppress(OSError):
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _link(self, path: Path) -> None:
        """``linkat`` with ``AT_SYMLINK_FOLLOW``, which Python asks for only beside a folder."""
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            source = f"/proc/self/fd/{self.stream.fileno()}"
            os.link(source, path, src_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)

    def forget(self) -> None:
        self.stream.close()
        if self._name:
            with contextlib.suppress(OSError):
                os.unlink(self._name)


@contextlib.contextmanager
def _part(folder: Path, mode: int) -> Iterator[_Part]:
    try:  # Linux, on most file systems: open(2), O_TMPFILE
        descriptor = os.open(folder, os.O_RDWR | os.O_TMPFILE, mode)
        name = ""
        if not os.path.exists(f"/proc/self/fd/{descriptor}"):
            os.close(descriptor)
            raise OSError(errno.EOPNOTSUPP, "no /proc")
    except (AttributeError, OSError):
        name = _new_name(folder)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(name, flags, mode)
    part = _Part(folder, os.fdopen(descriptor, "w+b"), name)
    try:
        yield part
    finally:
        part.forget()


def _new_name(folder: Path) -> str:
    return str(folder / f".tapeviz-{secrets.token_hex(8)}")
