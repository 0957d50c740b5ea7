"""Open files into the document, and save texts and recordings."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from ...document import Document
from ...errors import TapevizError, reading_words
from ...files.code import READERS, read_code
from ...files.examples import Example
from ...files.resources import resource
from ...files.source import encoded, read_text
from ...files.whole import write_whole
from .draft import Draft, DraftKeeper
from .settings import Settings

if TYPE_CHECKING:
    from ...recording.kept import KeptRecording

AT_ONCE = 50_000
"""Bytes; larger recordings are read in the background."""
OPENED = f"Snippets and recordings (*.py *.txt *{' *'.join(READERS)} *.tape);;All files (*)"


class Files(QObject):
    """Opens and saves files; errors become a line in the status bar.

    ``parent``: the parent of dialogs. ``set_aside``: emitted with the first line of an unsaved text
    that was replaced, and a function that brings it back (empty and None without one).
    ``began_anew``: the text is empty now. ``run_requested``: the opened text should run.
    """

    set_aside = Signal(str, object)
    began_anew = Signal()
    run_requested = Signal()

    def __init__(
        self, document: Document, settings: Settings, drafts: DraftKeeper, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._settings = settings
        self._drafts = drafts
        self._parent = parent

    @property
    def recent(self) -> list[Path]:
        return self._settings.recent

    def forget_recent(self) -> None:
        self._settings.forget_recent()

    def may_leave_text(self, is_closing: bool = False) -> bool:
        """Whether the text may be replaced, or the window closed, without losing what was typed.

        An unsaved text stays as a draft. If no draft can be written (a full disk), the user saves
        the text elsewhere, discards it, or stays with it.
        """
        buttons = QMessageBox.StandardButton
        self._drafts.keep(was_closed=is_closing)
        while self._drafts.trouble:
            answer = QMessageBox.warning(
                self._parent,
                "Unsaved text",
                "This text is not saved, and no copy of it can be kept: "
                f"{self._drafts.trouble}.\n\nSave it elsewhere, or it is lost.",
                buttons.Save | buttons.Discard | buttons.Cancel,
                buttons.Save,
            )
            if answer != buttons.Save:
                return answer == buttons.Discard
            if not self.ask_save():
                self._drafts.keep(was_closed=is_closing)
        return True

    def _begin(self) -> bool:
        """Before another text is opened: move an unsaved one to Open recent, and offer it in the
        status line. Returns False if the user stays with it."""
        if not self.may_leave_text():
            return False
        self._document.background.drop("open")
        draft = self._drafts.turn_over()
        back = partial(self.open_draft, draft) if draft is not None else None
        self.set_aside.emit(draft.first_line if draft is not None else "", back)
        return True

    def open_draft(self, draft: Draft) -> None:
        """Open a draft of Open recent."""
        if self._begin():
            self._take_draft(draft)

    def restore_draft(self) -> Draft | None:
        """Open the newest draft that a window left; returns it, None without one."""
        draft = self._drafts.take_left()
        if draft is None:
            return None
        self._take_draft(draft)
        words = "Your unsaved text is back" if draft.was_closed else "Restored the unsaved text"
        more = len(self._drafts.set_aside())
        self._document.say(f"{words}; {more} more under Open recent" if more else words)
        return draft

    def _take_draft(self, draft: Draft) -> None:
        """Show the text of a draft, as unsaved."""
        self._document.open_source("")
        self._document.text.restore(draft.text, draft.path)
        self._drafts.adopt(draft)

    def new(self) -> bool:
        """Show an empty text; returns False if the user stays with the one that is shown."""
        if not self._begin():
            return False
        self._document.open_source("")
        self.began_anew.emit()
        return True

    def open_example(self, example: Example) -> None:
        self.open_text(example.text, f"{example.name}.py")

    def open_text(self, text: str, name: str) -> None:
        """Open a text that is in no file, and run it."""
        if self._begin():
            self._document.open_source(text, name=name)
            self.run_requested.emit()

    def ask_open(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self._parent, "Open", str(self.folder), OPENED)
        if name:
            self.open(Path(name))

    def open(self, path: Path) -> bool:
        """Open a text, a notebook or a recording, by suffix; returns False if that fails, or if
        the user stays with the text that is shown."""
        try:
            is_long = path.suffix == ".tape" and path.stat().st_size > AT_ONCE
            if is_long:
                take = partial(self._take_kept, path)
                self._document.background.submit("open", partial(load_kept, path), take)
            else:
                show = self._read(path)
                if not self._begin():
                    return False
                show()
        except TapevizError as error:
            self._document.complain(str(error))
            return False
        except OSError as error:
            self._document.complain(f"cannot read {path}: {reading_words(error)}")
            return False
        self._settings.add_recent(path)
        self.keep_folder(path)
        return True

    def keep_folder(self, path: Path) -> None:
        """Let the next dialog begin in the folder of this file."""
        self._settings.keep("folder", str(path.resolve().parent))

    def _read(self, path: Path) -> Callable[[], None]:
        """Read a file; returns a function that shows what was read."""
        if path.suffix == ".tape":
            return partial(self._show_kept, path, load_kept(path))
        show = self._document.open_source
        if path.suffix in READERS:
            return partial(show, read_code(path), name=path.with_suffix(".py").name)
        is_ours = path.resolve().is_relative_to(resource().resolve())
        # Our own resources are opened without a path, so that saving asks for another place.
        return partial(show, read_text(path), None if is_ours else path, path.name)

    def _take_kept(self, path: Path, kept: KeptRecording) -> None:
        """Show a recording that was read in the background."""
        if self._begin():
            self._show_kept(path, kept)

    def _show_kept(self, path: Path, kept: KeptRecording) -> None:
        self._document.open_trace(kept.wait(), kept)
        self._document.say(f"{path.name}: a recording; Run records its text anew")

    def save(self) -> bool:
        """Save the text in its file, or ask for one; returns False if it is not saved."""
        path = self._document.text.path
        if path is None:
            return self.ask_save()
        return self._may_overwrite(path) and self._write(path)

    def _may_overwrite(self, path: Path) -> bool:
        """Whether the file has the text that was opened or saved last, or the user lets what
        another program wrote there go. Of a restored draft that text is not known."""
        text, buttons = self._document.text, QMessageBox.StandardButton
        if not (text.saved and os.path.exists(path)):
            return True
        with contextlib.suppress(TapevizError):  # else it is no text any more
            if read_text(path) in (text.saved, text.source):
                return True
        answer = QMessageBox.warning(
            self._parent,
            "Changed on disk",
            f"Another program changed {path.name} since it was opened here. Save over it?",
            buttons.Save | buttons.Cancel,
            buttons.Cancel,
        )
        return answer == buttons.Save

    @property
    def folder(self) -> Path:
        """The folder in which dialogs begin: the last one used, else the user's documents."""
        documents = QStandardPaths.StandardLocation.DocumentsLocation
        last = Path(self._settings.text("folder") or QStandardPaths.writableLocation(documents))
        is_fit = last.is_dir() and not last.resolve().is_relative_to(resource().resolve())
        return last if is_fit else Path.home()

    def ask_save(self) -> bool:
        start = self.folder / self._document.text.filename
        name, _ = QFileDialog.getSaveFileName(
            self._parent, "Save", str(start), "Python (*.py);;All files (*)"
        )
        if not name:
            return False
        path = Path(name)
        return self._write(path if path.suffix else path.with_suffix(".py"))

    def _write(self, path: Path) -> bool:
        try:
            write_whole(path, encoded(self._document.text.source))
        except (TapevizError, OSError) as error:
            self._document.complain(f"{path.name} was not saved: {error}")
            return False
        self._document.text.mark_saved(path)
        self._settings.add_recent(path)
        self.keep_folder(path)
        self._drafts.keep()
        return True

    # Recordings

    def can_save_recording(self) -> bool:
        recording: Any = self._document.runs.recording
        is_over = not self._document.is_running
        return recording is not None and is_over and hasattr(recording, "recording")

    def ask_save_recording(self) -> None:
        start = self.folder / self._document.text.filename
        name, _ = QFileDialog.getSaveFileName(
            self._parent, "Save recording", str(start.with_suffix(".tape")), "Recordings (*.tape)"
        )
        if name:
            path = Path(name)
            self.save_recording(path if path.suffix else path.with_suffix(".tape"))

    def save_recording(self, path: Path) -> None:
        from ...trace.stored.file import save

        recording: Any = self._document.runs.recording
        self._document.background.queue(
            "export",
            lambda: save(recording.recording(), path),
            lambda _: self._document.say(f"Kept the recording in {path.name}"),
        )


def load_kept(path: Path) -> KeptRecording:
    """A recording from a file."""
    from ...recording.kept import KeptRecording
    from ...trace.stored.file import load

    return KeptRecording(load(path))
