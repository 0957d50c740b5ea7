"""Write the drawing of the window to a file or to the clipboard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog, QWidget

from ...document import Document
from ...errors import TapevizError
from ...export import (
    Drawing,
    render,
    steps_filmed,
    write_animation,
    write_picture,
    write_shared_page,
)
from ...formats import WRITERS
from ...scene.model import Overlay, Scene
from ...scene.theme import THEMES, Theme
from ...sharing.answer import answer, answer_html
from ...sharing.films import ROUND_SECONDS, draw_rounds, draw_steps, with_round
from ...sharing.page import make_page
from .files import Files
from .settings import Settings

SCALE = 2.0
"""Pixels of an exported PNG for each px of the drawing."""


class Pictures:
    """Writes and copies pictures; ``parent``: the parent of dialogs."""

    def __init__(
        self, document: Document, settings: Settings, files: Files, parent: QWidget
    ) -> None:
        self._document = document
        self._settings = settings
        self._files = files
        self._parent = parent

    def drawing(self) -> Callable[[], Drawing]:
        """A function that makes the drawing of the graph panel as it is now, without the selection.

        It may be called on any thread; a large drawing takes long.
        """
        document, theme, both = self._document, self.theme, self._document.comparing.both
        if both is not None:
            scene = without_selection(both.scene)
            return lambda: Drawing(both.arranged.graph, both.arranged.layout, scene, theme)
        arranged, current = document.arranged, document.current_call
        diagnosis = document.diagnosis
        compose = partial(
            document.stages.compose, arranged, document.trace, current, self._overlay()
        )

        def draw() -> Drawing:
            scene = compose()
            if current is not None:
                scene = with_round(scene, diagnosis, current.call.id)
            return Drawing(arranged.graph, arranged.layout, scene, theme)

        return draw

    @property
    def theme(self) -> Theme:
        """The theme of pictures: light, unless the user chose dark ones."""
        return THEMES["dark" if self.is_dark else "light"]

    @property
    def is_dark(self) -> bool:
        return self._settings.flag("dark-pictures")

    def toggle_dark(self) -> None:
        self._settings.keep("dark-pictures", not self.is_dark)

    def _overlay(self) -> Overlay:
        return replace(self._document.view.overlay, selected_nodes=frozenset())

    def ask(self, suffix: str) -> None:
        path = self._ask_path(f"Export {suffix.upper()}", suffix)
        if path is not None:
            self.write(path)

    def _ask_path(self, title: str, suffix: str) -> Path | None:
        start = self._files.folder / self._document.text.filename
        name, _ = QFileDialog.getSaveFileName(
            self._parent,
            title,
            str(start.with_suffix(f".{suffix}")),
            f"{suffix.upper()} (*.{suffix})",
        )
        if not name:
            return None
        path = Path(name)
        return path if path.suffix else path.with_suffix(f".{suffix}")

    def write(self, path: Path) -> None:
        """Write the picture in the background; a GIF shows the steps, HTML the whole call."""
        if not (self._document.comparing.both or self._document.arranged.graph):
            self._document.complain(f"Nothing is drawn yet, so {path.name} was not written")
            return
        self._files.keep_folder(path)
        suffix = path.suffix.lower()
        writer = WRITERS.get(suffix.lstrip("."))
        makes = writer.makes if writer is not None else "picture"
        if makes == "film" and self._document.steps and not self._document.comparing.both:
            self._film(path)
            return
        if makes == "page" and not self._document.comparing.both:
            self._share(path)
            return
        scale = SCALE if suffix == ".png" else 1.0
        draw = self.drawing()
        self._export(path, lambda: write_picture(draw(), path, scale=scale))

    def _export(self, path: Path, work: Callable[[], None]) -> None:
        """Do ``work`` in the background, then say that the file at ``path`` was written."""
        self._document.background.queue(
            "export", work, lambda _: self._document.say(f"Exported {path.name}")
        )

    def _report(self, done: int, known: int) -> None:
        """Show the progress of an export; raises :class:`TapevizError` if it was cancelled."""
        if not self._document.background.report("export", done, known):
            raise TapevizError("the export was cancelled")

    def _share(self, path: Path) -> None:
        """Write a page about the gradient call shown, with its rounds and steps."""
        document, theme = self._document, self.theme
        current, repairs = document.current_call, document.text.repairs
        call = current.call.id if current is not None else None
        view = replace(document.view, overlay=replace(self._overlay(), call=call))
        skipped, blocks = (repairs.skipped, repairs.blocks) if repairs is not None else ((), 0)
        trace, diagnosis = document.trace, document.diagnosis

        def share() -> None:
            page = make_page(trace, diagnosis, view, skipped, blocks)
            write_shared_page(page, path, theme)

        self._export(path, share)

    def _film(self, path: Path) -> None:
        document, theme = self._document, self.theme
        trace, diagnosis, before = document.trace, document.diagnosis, document.arranged
        view = replace(document.view, overlay=self._overlay())
        steps = steps_filmed(len(document.steps))

        def film() -> None:
            drawings = draw_steps(trace, diagnosis, view, steps, theme, before)
            write_animation(drawings, path, report=self._report)

        self._export(path, film)

    def film_rounds(self) -> None:
        """Ask for a file, and write a GIF with the rounds of the call site that is drawn."""
        document, theme = self._document, self.theme
        site = document.site
        if site is None:
            return
        chosen = self._ask_path("Export the rounds", "gif")
        if chosen is None:
            return
        path = chosen.with_suffix(".gif")
        self._files.keep_folder(path)
        trace, view, diagnosis = document.trace, document.view, document.diagnosis

        def film() -> None:
            drawings = draw_rounds(trace, diagnosis, view, site, theme)
            write_animation(drawings, path, report=self._report, seconds=ROUND_SECONDS)

        self._export(path, film)

    def copy(self) -> None:
        """Copy the picture as PNG and as SVG."""
        draw = self.drawing()

        def paint() -> tuple[bytes, bytes]:
            drawing = draw()
            return render(drawing, "png", scale=SCALE), render(drawing, "svg")

        self._document.background.queue("export", paint, self._put_on_clipboard)

    def copy_answer(self) -> None:
        """Copy an answer as Markdown, as HTML with the picture, and the picture alone."""
        document, draw = self._document, self.drawing()
        trace, diagnosis, call = document.trace, document.diagnosis, document.current_call
        self._document.background.queue(
            "export",
            lambda: (answer(trace, diagnosis, call), render(draw(), "png", scale=SCALE)),
            self._put_answer_on_clipboard,
        )

    def _put_answer_on_clipboard(self, made: tuple[str, bytes]) -> None:
        markdown, png = made
        data = QMimeData()
        data.setText(markdown)
        data.setData("text/markdown", markdown.encode())
        data.setHtml(answer_html(markdown, png))
        data.setImageData(QImage.fromData(png))
        QGuiApplication.clipboard().setMimeData(data)
        self._document.say("The answer is on the clipboard: Markdown, and the picture beside it")

    def _put_on_clipboard(self, made: tuple[bytes, bytes]) -> None:
        png, svg = made
        data = QMimeData()
        data.setImageData(QImage.fromData(png))
        data.setData("image/png", png)
        data.setData("image/svg+xml", svg)
        QGuiApplication.clipboard().setMimeData(data)
        self._document.say("The picture is on the clipboard")


def without_selection(scene: Scene) -> Scene:
    return replace(scene, boxes=tuple(replace(box, is_selected=False) for box in scene.boxes))
