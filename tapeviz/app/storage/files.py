"""Paths in, texts and recordings in the document out, and back again."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog

from ...errors import TapevizError
from ...examples import Example
from ...notebook import read_notebook
from ...resource_files import resource
from ...source_files import encoded, read_text
from ...whole_files import write_whole

if TYPE_CHECKING:
    from ...kept_recording import KeptRecording
    from ..window import Window
    from .draft import Draft

OPENED = "Snippets and recordings (*.py *.ipynb *.txt *.tape);;All files (*)"


class Files:
    """Opens and saves files for the window. Trouble becomes a line in the status bar."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._document = window.document
        self._settings = window.settings

    @property
    def recent(self) -> list[Path]:
        return self._settings.recent

    def forget_recent(self) -> None:
        self._settings.forget_recent()

    def _begin(self) -> None:
        """Before another text takes the place of this one: unsaved, it is set aside, and a link
        in the status line brings it back."""
        draft = self._window.draft.turn_over()
        back = partial(self.open_draft, draft) if draft is not None else None
        self._window.status.offer_former(draft.first_line if draft is not None else "", back)

    def open_draft(self, draft: Draft) -> None:
        """Brings back a text that was set aside."""
        self._begin()
        self._window.take_draft(draft)

    def new(self) -> None:
        self._begin()
        self._document.open_source("")
        self._window.source.editor.setFocus()

    def open_example(self, example: Example) -> None:
        self.open_text(example.text, f"{example.name}.py")

    def open_text(self, text: str, name: str) -> None:
        """Shows a text that is in no file, and runs it."""
        self._begin()
        self._document.open_source(text, name=name)
        self._window.run()

    def ask_open(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self._window, "Open", str(self.folder), OPENED)
        if name:
            self.open(Path(name))

    def open(self, path: Path) -> bool:
        """Opens a text, a notebook or a recording by its suffix; False and a word if it fails."""
        try:
            self._begin()
            self._read(path)
        except (TapevizError, OSError) as error:
            self._window.status.offer_former("", None)
            self._document.complain(str(error))
            return False
        self._settings.add_recent(path)
        self.keep_folder(path)
        return True

    def keep_folder(self, path: Path) -> None:
        """The next dialog begins where this file is."""
        self._settings.keep("folder", str(path.resolve().parent))

    def _read(self, path: Path) -> None:
        if path.suffix == ".tape":
            kept = load_kept(path)
            self._document.open_trace(kept.wait(), kept)
            self._document.say(f"{path.name}: a recording; Run records its text anew")
        elif path.suffix == ".ipynb":
            name = path.with_suffix(".py").name
            self._document.open_source(read_source(path), name=name)
        else:
            is_ours = path.resolve().is_relative_to(resource().resolve())
            # What comes with tapeviz is opened like an example: saving it asks for another place.
            self._document.open_source(read_text(path), None if is_ours else path, path.name)

    def save(self) -> bool:
        path = self._document.text.path
        return self._write(path) if path else self.ask_save()

    @property
    def folder(self) -> Path:
        """Where dialogs begin: the folder used last, else that of the user's documents."""
        documents = QStandardPaths.StandardLocation.DocumentsLocation
        last = Path(self._settings.text("folder") or QStandardPaths.writableLocation(documents))
        is_fit = last.is_dir() and not last.resolve().is_relative_to(resource().resolve())
        return last if is_fit else Path.home()

    def ask_save(self) -> bool:
        start = self.folder / self._document.text.filename
        name, _ = QFileDialog.getSaveFileName(
            self._window, "Save", str(start), "Python (*.py);;All files (*)"
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
        self._window.draft.keep()
        return True

    # Recordings

    def can_save_recording(self) -> bool:
        recording: Any = self._document.runs.recording
        is_over = not self._document.is_running
        return recording is not None and is_over and hasattr(recording, "recording")

    def ask_save_recording(self) -> None:
        start = self.folder / self._document.text.filename
        name, _ = QFileDialog.getSaveFileName(
            self._window,
            "Save recording",
            str(start.with_suffix(".tape")),
            "Recordings (*.tape)",
        )
        if name:
            path = Path(name)
            self.save_recording(path if path.suffix else path.with_suffix(".tape"))

    def save_recording(self, path: Path) -> None:
        from ...trace.file import save

        recording: Any = self._document.runs.recording
        self._document.background.submit(
            "export",
            lambda: save(recording.recording(), path),
            lambda _: self._document.say(f"Kept the recording in {path.name}"),
        )


def load_kept(path: Path) -> KeptRecording:
    """A recording from a file."""
    from ...kept_recording import KeptRecording
    from ...trace.file import load

    return KeptRecording(load(path))


def read_source(path: Path) -> str:
    """The code of a text or a notebook."""
    return read_notebook(path) if path.suffix == ".ipynb" else read_text(path)
