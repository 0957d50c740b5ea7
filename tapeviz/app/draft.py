"""The text as it is typed in, a copy on disk out, so that no crash and no closing loses it."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from ..document import Document

EVERY = 3_000
"""Milliseconds from an edit to the copy."""


MOST_ASIDE = 8


@dataclass(frozen=True, slots=True)
class Draft:
    """An unsaved text that an earlier window left. ``was_closed``: it was closed, not killed;
    ``is_aside``: another text took its place."""

    text: str
    path: Path | None
    was_closed: bool
    is_aside: bool
    file: Path

    @property
    def words(self) -> str:
        """Its first line of code, for a menu."""
        lines = (line.strip() for line in self.text.splitlines())
        first = next((line for line in lines if line and line[0] not in "#\"'"), "…")
        return first if len(first) <= 48 else first[:47] + "…"


class DraftKeeper(QObject):
    """Keeps the text of one window in a file of its own; a file of nobody alive is a draft."""

    def __init__(self, document: Document, folder: Path) -> None:
        super().__init__(document)
        self._document = document
        self._folder = folder / "drafts"
        self._file = self._new_file()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(EVERY)
        self._timer.timeout.connect(self.keep)
        document.text.changed.connect(self._note_change)

    def _new_file(self) -> Path:
        return self._folder / f"{os.getpid()}-{secrets.token_hex(4)}.json"

    def _note_change(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def keep(self, was_closed: bool = False, is_aside: bool = False) -> bool:
        """Writes the text unless the file of the user's has it already. Never raises."""
        document = self._document
        if not document.text.is_modified or not document.text.source.strip():
            self._file.unlink(missing_ok=True)
            return False
        about = {
            "text": document.text.source,
            "path": str(document.text.path) if document.text.path else "",
            "pid": os.getpid(),
            "closed": was_closed,
            "aside": is_aside,
        }
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            part = self._file.with_suffix(".part")
            part.write_text(json.dumps(about), encoding="utf-8")
            part.replace(self._file)
        except OSError as error:
            document.complain(f"The unsaved text cannot be kept safe: {error}")
            return False
        return True

    def close(self) -> None:
        self._timer.stop()
        self.keep(was_closed=True)

    def turn_over(self) -> None:
        """Another text comes: an unsaved one is set aside, and the oldest of these go."""
        if self.keep(is_aside=True):
            self._file = self._new_file()
            for draft in self.set_aside()[MOST_ASIDE:]:
                draft.file.unlink(missing_ok=True)

    def set_aside(self) -> list[Draft]:
        """Unsaved texts whose place another one took, the last first."""
        return [draft for draft in self._drafts() if draft.is_aside]

    def take_left(self) -> Draft | None:
        """The newest text that a window left behind when it went away."""
        return next((draft for draft in self._drafts() if not draft.is_aside), None)

    def adopt(self, draft: Draft) -> None:
        """The text of ``draft`` is in this window now: once it is safe, the old copy goes."""
        if self.keep():
            draft.file.unlink(missing_ok=True)

    def _drafts(self) -> list[Draft]:
        """All that no living window holds, the newest first."""
        found = []
        for file in self._folder.glob("*.json"):
            try:
                age = file.stat().st_mtime
                about = json.loads(file.read_text(encoding="utf-8"))
                path = str(about["path"])
                draft = Draft(
                    str(about["text"]),
                    Path(path) if path else None,
                    bool(about["closed"]),
                    bool(about["aside"]),
                    file,
                )
                is_held = not (draft.was_closed or draft.is_aside) and is_alive(int(about["pid"]))
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if file != self._file and not is_held:
                found.append((age, draft))
        return [draft for _, draft in sorted(found, key=lambda pair: -pair[0])]


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
