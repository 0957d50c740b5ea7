"""The folders of a pool: one with a short path for sockets, one for snippets to work in."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from .model import RunRequest

# sun_path holds 107 bytes on Linux and 103 on macOS; "/k12345678-5" is added to the folder.
_LONGEST = 88
# Of a folder that is copied: larger files are linked; one of more entries is not copied.
_MOST_BYTES = 16 << 20
_MOST_ENTRIES = 1_000
# Folders above that of the snippet, of which those entries are copied that its text names.
_LEVELS = 3
_GOING_UP = re.compile(r"\.parents?\b|dirname\(|pardir|\.\.[/\"']")
_NOT_COPIED = frozenset({".git", "__pycache__", ".venv", "venv", "node_modules"})


class Scratch:
    """The two folders of a pool, both private to the user.

    They are named here and made later: by the fork server or the folder keeper, which removes them
    when this process is killed, or by :meth:`make`.
    """

    def __init__(self) -> None:
        token = secrets.token_hex(4)
        self.sockets = Path(_runtime_folder(), f"tapeviz-{token}")
        self.work = Path(tempfile.gettempdir(), f"tapeviz-work-{token}")
        self._lock = threading.Lock()
        self._number = 0
        self._is_made = False
        self.was_lost = False
        """A folder was removed (by a cleaner of /tmp, or by a snippet) and made again."""

    @property
    def folders(self) -> tuple[Path, Path]:
        return self.sockets, self.work

    def make(self) -> bool:
        """Make the folders that are not there; returns whether one was gone again."""
        # Without the last IPython would use profile and history of the user's home.
        wanted = (*self.folders, self.sockets / "ipython")
        lacking = [folder for folder in wanted if not folder.is_dir()]
        for folder in lacking:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        was_made, self._is_made = self._is_made, True
        return was_made and bool(lacking)

    def kernel_files(self) -> KernelFiles:
        """The paths for another kernel; its working folder exists and is empty."""
        with self._lock:
            self.was_lost = self.make() or self.was_lost
            self._number += 1
            files = KernelFiles(self._number, self.sockets, self.work)
        files.make_folder()
        return files

    def remove(self) -> None:
        """Remove both folders."""
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)


class KernelFiles:
    """The paths of a kernel's files."""

    def __init__(self, number: int, sockets: Path, work: Path) -> None:
        self.number = number
        self.address = sockets / f"k{number}"
        self.connection_file = sockets / f"k{number}.json"
        self.crash_notes = sockets / f"k{number}.crash"
        self.log = sockets / "kernels.log"
        self.ipython = sockets / "ipython"
        self.folder = work / f"k{number}"
        self.generated_code = work / f"g{number}"

    def make_folder(self) -> None:
        """Make the working folders, if they do not exist."""
        for folder in (self.folder, self.generated_code):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def remove(self) -> None:
        """Remove all files of this kernel."""
        with contextlib.suppress(OSError):  # of the folder too: no descriptor may be left
            for file in (self.connection_file, self.crash_notes):
                file.unlink(missing_ok=True)
            for socket in self.address.parent.glob(f"{self.address.name}-*"):
                socket.unlink(missing_ok=True)
        # Remove the files that AutoGraph wrote in a killed process; the recorder left links to
        # them.
        with contextlib.suppress(OSError):
            for link in self.generated_code.glob("__autograph_generated_file*"):
                written = link.resolve()
                written.unlink(missing_ok=True)
                if written.parent.name == "__pycache__":
                    with contextlib.suppress(OSError):  # others are in there
                        written.parent.rmdir()
        for folder in (self.folder, self.generated_code):
            shutil.rmtree(folder, ignore_errors=True)


def placed(request: RunRequest, empty: Path) -> RunRequest:
    """``request`` with the folder that it runs in: ``empty`` if it names none.

    If it is to run in a copy of its folder, the small files of that are copied into ``empty`` and
    the rest is linked; a folder with too many entries is used itself. A text that goes up from its
    folder, as by ``Path(__file__).parent.parent``, runs in a folder of ``empty`` with the names of
    those above it, which hold what the text names.
    """
    original = request.cwd
    if original is None:
        return replace(request, cwd=empty)
    entries = _entries(original) if request.in_copy else []
    if not request.in_copy or len(entries) > _MOST_ENTRIES:
        return request
    above = original.parents[:_LEVELS] if _GOING_UP.search(request.source) else ()
    above = [folder for folder in above if folder.name]
    folder = empty.joinpath(*(each.name for each in reversed(above)))
    if above:
        folder /= original.name
        folder.mkdir(parents=True)
    left = _copy(entries, folder, _MOST_BYTES)
    words = {*re.findall(r"\w+", request.source), *re.findall(r"[\w.-]+", request.source)}
    for place, each in zip(folder.parents, above, strict=False):
        named = (entry for entry in _entries(each) if {entry.stem, entry.name} & words)
        left = _copy((entry for entry in named if not (place / entry.name).exists()), place, left)
    name = request.filename
    if not name.startswith("<"):
        name = str(folder / Path(name).name)
    return replace(request, cwd=folder, filename=name)


def _entries(folder: Path) -> list[Path]:
    """The entries of a folder that are to be copied; none of one that cannot be read."""
    with contextlib.suppress(OSError):
        return [entry for entry in folder.iterdir() if entry.name not in _NOT_COPIED]
    return []


def _copy(entries: Iterable[Path], folder: Path, left: int) -> int:
    """Copy files and folders of ``left`` bytes together, and link the rest; the bytes left."""
    for entry in entries:
        with contextlib.suppress(OSError):
            size = _size(entry)
            if size > left:
                (folder / entry.name).symlink_to(entry.resolve())
                continue
            left -= size
            if entry.is_dir():
                shutil.copytree(entry, folder / entry.name, symlinks=True)
            else:
                shutil.copy2(entry, folder / entry.name)
    return left


def _size(entry: Path) -> int:
    """Bytes of a file or of all in a folder; more than any budget where that is long to count."""
    if not entry.is_dir():
        return entry.stat().st_size
    total = 0
    for number, path in enumerate(entry.rglob("*")):
        total += path.stat().st_size
        if number > _MOST_ENTRIES or total > _MOST_BYTES:
            return _MOST_BYTES + 1
    return total


def _runtime_folder() -> str:
    """The first of the usual folders that is writable and short enough for a socket path."""
    places = [os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"]
    for place in places:
        if place and len(os.fsencode(place)) <= _LONGEST - 20 and os.access(place, os.W_OK):
            return place
    return tempfile.gettempdir()
