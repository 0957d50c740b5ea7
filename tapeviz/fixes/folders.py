"""The folder that a snippet ran in, as a copy that trials may write to."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_MOST_BYTES = 16 << 20
_MOST_ENTRIES = 1_000
_SKIPPED = frozenset({".git", "__pycache__", ".venv", "venv", "node_modules"})


class Folder:
    """A folder of its own for one trial: small files are copied, the rest is linked.

    What a trial writes beside the snippet stays in it. ``path``: where to run; the folder itself
    where it has too many entries for that, None where there was none.
    """

    def __init__(self, original: Path | None) -> None:
        self.path = original
        self._made: Path | None = None
        if original is None:
            return
        with suppress(OSError):
            entries = [entry for entry in original.iterdir() if entry.name not in _SKIPPED]
            if len(entries) <= _MOST_ENTRIES:
                self._made = self.path = Path(tempfile.mkdtemp(prefix="tapeviz-"))
                _fill(self._made, entries)

    def remove(self) -> None:
        if self._made is not None:
            shutil.rmtree(self._made, ignore_errors=True)


def _fill(folder: Path, entries: list[Path]) -> None:
    left = _MOST_BYTES
    for entry in entries:
        with suppress(OSError):
            size = _size(entry)
            if size > left:
                (folder / entry.name).symlink_to(entry.resolve())
                continue
            left -= size
            if entry.is_dir():
                shutil.copytree(entry, folder / entry.name, symlinks=True)
            else:
                shutil.copy2(entry, folder / entry.name)


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
