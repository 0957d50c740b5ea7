"""The text that the user types, its file, and where its lines stood when it ran."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from ...repair import Repaired
from .carrying import CarriedLines

UNNAMED = "snippet.py"


class Text(QObject):
    """The text that the user edits, with what it was when it was opened, saved, and run.

    ``path``: the file that it is saved in; ``name``: what it is called without one; ``saved``:
    as that file, or whatever it was opened from, has it; ``ran``: as it ran last.
    """

    changed = Signal()
    repairs_changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.source = ""
        self.saved = ""
        self.ran = ""
        self.path: Path | None = None
        self.name = UNNAMED
        self.repairs: Repaired | None = None
        self._since_run, self._since_repair = CarriedLines(), CarriedLines()

    @property
    def filename(self) -> str:
        """The name of its file. A text without a file keeps the name it was opened by until another
        text is pasted over it."""
        if self.path is not None:
            return self.path.name
        return self.name if self._is_like_opened() else UNNAMED

    def _is_like_opened(self) -> bool:
        """Whether at least half of the lines of code that were opened are still there."""
        if not self.is_modified:
            return True
        opened, now = (
            {*map(str.strip, text.split("\n"))} - {""} for text in (self.saved, self.source)
        )
        return 2 * len(opened & now) >= len(opened) > 0

    @property
    def is_unsaved(self) -> bool:
        """Whether closing would lose something: it was edited, and is not empty or has a file."""
        return self.is_modified and (self.path is not None or bool(self.source.strip()))

    @property
    def is_modified(self) -> bool:
        """Whether it differs from what was opened or saved last."""
        return self.source != self.saved

    def edit(self, source: str) -> None:
        """Take the text as the user edited it."""
        if source != self.source:
            self.source = source
            self.changed.emit()

    def open(self, source: str, path: Path | None = None, name: str = UNNAMED) -> None:
        """Replace the text by another one."""
        self.source = self.saved = source
        self.path, self.name = path, name
        self.repairs = None
        self.changed.emit()
        self.repairs_changed.emit()

    def restore(self, source: str, path: Path | None) -> None:
        """Bring back a text that was never saved; it stays unsaved."""
        self.source, self.saved, self.path = source, "", path
        self.changed.emit()

    def mark_saved(self, path: Path) -> None:
        self.path = path
        self.saved = self.source
        self.changed.emit()

    def take_repairs(self, repairs: Repaired) -> None:
        """Keep what was repaired in the text, or will be left out when it runs, to be shown."""
        self.repairs = repairs
        self.repairs_changed.emit()

    def forget_repairs(self) -> None:
        self.repairs = None
        self.repairs_changed.emit()

    def left_out(self) -> tuple[tuple[int, int, str], ...]:
        """The parts of a page that are no program, at their lines of now, where unchanged."""
        repairs = self.repairs
        if repairs is None or not repairs.skipped:
            return ()
        lines = self._since_repair.lines(repairs.text, self.source)
        parts = (
            (lines.get(first, 0), lines.get(last, 0), why) for first, last, why in repairs.skipped
        )
        return tuple(part for part in parts if part[0] and part[1])

    def prose(self) -> tuple[int, ...]:
        """The lines of a page that run as comments, where they stand now, if unchanged."""
        repairs = self.repairs
        if repairs is None or not repairs.prose:
            return ()
        lines = self._since_repair.lines(repairs.text, self.source)
        return tuple(lines[line] for line in repairs.prose if line in lines)

    def line_now(self, line: int) -> int:
        """The present line of a line of the text that ran; 0 when it was edited."""
        return self._since_run.lines(self.ran, self.source).get(line, 0)

    def line_then(self, line: int) -> int:
        """The line in the text that ran of a present line; 0 when it was edited."""
        lines = self._since_run.lines(self.ran, self.source)
        return next((then for then, now in lines.items() if now == line), 0)
