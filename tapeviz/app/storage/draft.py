"""Keep a copy of the typed text on disk, so that neither a crash nor closing loses it."""

from __future__ import annotations

import contextlib
import json
import secrets
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from PySide6.QtCore import QDateTime, QLocale, QObject, QTimer, Signal

from ...document import Document
from ...errors import TapevizError
from ...files.whole import words_for, write_whole
from ...repair.page import PAGE_MARK

EVERY = 200
"""Milliseconds from an edit until the copy is written."""
MOST_ASIDE = 50
_COPY, _ASIDE, _LOCK = ".json", ".aside.json", ".lock"


@dataclass(frozen=True, slots=True)
class Draft:
    """An unsaved text that an earlier window left. ``was_closed``: it was closed, not killed;
    ``first_line``: the first line that is the user's own; ``written``: the time of the copy."""

    text: str
    path: Path | None
    was_closed: bool
    first_line: str
    written: datetime
    file: Path

    @property
    def is_aside(self) -> bool:
        """Whether another text replaced it: it is offered under Open recent."""
        return self.file.name.endswith(_ASIDE)

    @property
    def words(self) -> str:
        """The text of its menu entry: the first own line, and when it was typed."""
        first = self.first_line
        time = QDateTime.fromSecsSinceEpoch(int(self.written.timestamp()))
        when = QLocale().toString(time, QLocale.FormatType.ShortFormat)
        return f"{first if len(first) <= 48 else first[:47] + '…'}  ({when})"


class DraftKeeper(QObject):
    """Keeps the text of a window in a file, with a lock file beside it.

    The system releases the lock when the process ends, in whatever way: a draft whose lock is free
    was left by a window.
    """

    _failed = Signal(str)

    def __init__(self, document: Document, folder: Path) -> None:
        super().__init__(document)
        self._document = document
        self._folder = folder / "drafts"
        self._lock: IO[bytes] | None = None
        self._file = self._folder / f"{secrets.token_hex(8)}{_COPY}"
        self._newest: object = None
        self._written: object = None
        """The draft that the file has."""
        self.trouble = ""
        """Why the last draft could not be written; empty if it could."""
        self._writing = threading.Lock()
        self._timer = QTimer(self, singleShot=True, interval=EVERY)
        self._timer.timeout.connect(self._keep_meanwhile)
        self._failed.connect(document.complain)
        document.text.changed.connect(self._note_change)

    def _note_change(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _keep_meanwhile(self) -> None:
        """Write the draft on another thread, so that a slow disk does not block the window."""
        if self._writing.locked():
            self._timer.start()
            return
        contents = self._contents()
        if contents is None:
            self.keep()
            return
        threading.Thread(
            target=self._write_or_complain, args=(contents,), name="tapeviz-draft", daemon=True
        ).start()

    def _contents(self, was_closed: bool = False) -> dict[str, Any] | None:
        """The draft to keep; None if the text is saved or empty."""
        text = self._document.text
        self._newest = None
        if not text.is_modified or not text.source.strip():
            return None
        self._newest = contents = {
            "text": text.source,
            "path": str(text.path) if text.path else "",
            "closed": was_closed,
            "first": first_own_line(text.source, text.saved),
        }
        return contents

    def _write(self, contents: dict[str, Any]) -> None:
        with self._writing:
            if contents is not self._newest:
                return  # a later one was written, or the text is safe elsewhere
            if contents == self._written and self._file.exists():
                return
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                if self._lock is None:
                    self._lock = hold(self._file.with_suffix(_LOCK))
            except OSError as error:
                raise TapevizError(f"cannot write {self._folder}: {words_for(error)}") from error
            write_whole(self._file, json.dumps(contents).encode(), mode=0o600)
            self._written = contents

    def _write_or_complain(self, contents: dict[str, Any]) -> bool:
        try:
            self._write(contents)
        except TapevizError as error:
            self.trouble = str(error)
            with contextlib.suppress(RuntimeError):  # the window has gone
                self._failed.emit(f"The text is not kept safe, save it (Ctrl+S): {error}")
            return False
        return True

    def keep(self, was_closed: bool = False) -> bool:
        """Write the draft, unless the file has it, or remove it if the text is saved or empty;
        returns whether it is kept. :attr:`trouble` says why an unsaved text is not. Never
        raises."""
        self.trouble = ""
        contents = self._contents(was_closed)
        if contents is not None:
            return self._write_or_complain(contents)
        with self._writing, contextlib.suppress(OSError):
            self._file.unlink()
        return False

    def close(self) -> None:
        """Keep the last draft, and move those of earlier windows to Open recent."""
        self._timer.stop()
        self.keep(was_closed=True)
        self.set_left_aside()
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            self._file.with_suffix(_LOCK).unlink(missing_ok=True)

    def turn_over(self) -> Draft | None:
        """Before another text is opened: move the draft, which :meth:`keep` wrote, to Open recent
        and return it; only the newest 50 are kept there. None for a text that needs no draft, or of
        which none could be written."""
        if self._newest is None or self.trouble:
            return None
        aside = self._folder / f"{secrets.token_hex(8)}{_ASIDE}"
        with contextlib.suppress(OSError):
            self._file.rename(aside)
        # If the clock was set back, the others may seem to be newer.
        drafts = sorted(self.set_aside(), key=lambda draft: draft.file != aside)
        for draft in drafts[MOST_ASIDE:]:
            draft.file.unlink(missing_ok=True)
        return next((draft for draft in drafts[:1] if draft.file == aside), None)

    def set_aside(self) -> list[Draft]:
        """The drafts under Open recent, the newest first."""
        return [draft for draft in self._drafts() if draft.is_aside]

    def take_left(self) -> Draft | None:
        """The newest draft that a window left; older ones move to Open recent."""
        left = [draft for draft in self._drafts() if not draft.is_aside]
        for draft in left[1:]:
            _set_aside(draft.file)
        for lock in self._folder.glob(f"*{_LOCK}"):
            if not (lock.with_suffix(_COPY).exists() or _is_held(lock)):
                lock.unlink(missing_ok=True)
        return left[0] if left else None

    def set_left_aside(self) -> bool:
        """Move the drafts that windows left to Open recent; return whether there were any."""
        newest = self.take_left()
        if newest is not None:
            _set_aside(newest.file)
        return newest is not None

    def adopt(self, draft: Draft) -> None:
        """Remove the file of ``draft``, whose text is in this window now, once it is kept again."""
        if self.keep():
            draft.file.unlink(missing_ok=True)

    def _drafts(self) -> list[Draft]:
        """All drafts that no window holds, the newest first."""
        files = [file for file in self._folder.glob(f"*{_COPY}") if file != self._file]
        found = [
            draft
            for file in files
            if not _is_held(file.with_suffix(_LOCK))
            for draft in _read(file)
        ]
        return sorted(found, key=lambda draft: draft.written, reverse=True)


def _read(file: Path) -> Iterator[Draft]:
    """Yield the draft in a file, unless it is damaged."""
    try:
        written = datetime.fromtimestamp(file.stat().st_mtime)
        about = json.loads(file.read_text(encoding="utf-8"))
        text, path = str(about["text"]), str(about["path"])
        first = str(about.get("first") or first_own_line(text, ""))
        was_closed = bool(about["closed"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return
    yield Draft(text, Path(path) if path else None, was_closed, first, written, file)


def first_own_line(text: str, opened: str) -> str:
    """The first line of ``text`` that is not in ``opened``: the title of a page, else preferably
    code that is no import."""
    before = {line.strip() for line in opened.splitlines()}
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    own = [line for line in lines if line not in before] or lines
    if own and own[0].startswith(f"{PAGE_MARK} "):
        page = [line.removeprefix(PAGE_MARK).strip() for line in own if line.startswith(PAGE_MARK)]
        bare = (line.strip(" =-_*~#>") for line in page)  # rulers, headings of Markdown
        return next((line for line in bare if any(map(str.isalpha, line))), page[0])
    code = [line for line in own if line[0] not in "#\"'"]
    imported = ("import ", "from ")
    return next((line for line in code if not line.startswith(imported)), (code or own or ["…"])[0])


def _set_aside(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.rename(file.with_name(file.name.removesuffix(_COPY) + _ASIDE))
        file.with_suffix(_LOCK).unlink(missing_ok=True)


def _is_held(lock: Path) -> bool:
    """Whether a window that is still there holds this lock."""
    if not lock.exists():
        return False
    try:
        hold(lock).close()
    except OSError:
        return True
    return False


def hold(path: Path) -> IO[bytes]:
    """Open and lock a file; the lock ends with the process. Raises ``OSError`` if another has
    it."""
    file = path.open("ab")
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file
