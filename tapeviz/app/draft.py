"""The text as it is typed in, a copy on disk out, so that no crash and no closing loses it."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from ..document import Document

EVERY = 3_000
"""Milliseconds from an edit to the copy."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An unsaved text that an earlier window left. ``was_closed``: it was closed, not killed."""

    text: str
    path: Path | None
    was_closed: bool
    file: Path


class DraftKeeper(QObject):
    """Keeps the text of one window in a file of its own; a file of nobody alive is a draft."""

    def __init__(self, document: Document, folder: Path) -> None:
        super().__init__(document)
        self._document = document
        self._folder = folder / "drafts"
        self._file = self._folder / f"{os.getpid()}-{secrets.token_hex(4)}.json"
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(EVERY)
        self._timer.timeout.connect(self.keep)
        document.source_changed.connect(self._note_change)

    def _note_change(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def keep(self, was_closed: bool = False) -> None:
        """Writes the text unless the file of the user's has it already. Never raises."""
        document = self._document
        if not document.is_modified or not document.source.strip():
            self._file.unlink(missing_ok=True)
            return
        about = {
            "text": document.source,
            "path": str(document.path) if document.path else "",
            "pid": os.getpid(),
            "closed": was_closed,
        }
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            part = self._file.with_suffix(".part")
            part.write_text(json.dumps(about), encoding="utf-8")
            part.replace(self._file)
        except OSError as error:
            document.say(f"The unsaved text cannot be kept safe: {error}")

    def close(self) -> None:
        self._timer.stop()
        self.keep(was_closed=True)

    def take_left(self) -> Draft | None:
        """The newest text that a window left behind; it is this window's from now on."""
        found = sorted(self._left(), key=lambda draft: draft.file.stat().st_mtime)
        if not found:
            return None
        return found[-1]

    def adopt(self, draft: Draft) -> None:
        """The text of ``draft`` is safe in this window now."""
        self.keep()
        draft.file.unlink(missing_ok=True)

    def _left(self) -> Iterator[Draft]:
        for file in self._folder.glob("*.json"):
            if file == self._file:
                continue
            try:
                about = json.loads(file.read_text(encoding="utf-8"))
                pid, was_closed = int(about["pid"]), bool(about["closed"])
                text, path = str(about["text"]), str(about["path"])
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if was_closed or not is_alive(pid):
                yield Draft(text, Path(path) if path else None, was_closed, file)


def is_alive(pid: int) -> bool:
    """Whether a process of this number runs. On Windows asking would end it: never, there."""
    if os.name == "nt":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
