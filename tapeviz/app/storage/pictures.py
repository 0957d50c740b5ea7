"""The drawing in sight in, a file or the clipboard out."""

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
from ...films import ROUND_SECONDS, draw_rounds, with_round
from ...scene.model import Overlay
from ...scene.theme import THEMES, Theme
from ...sharing.answer import answer, answer_html
from ...sharing.page import make_page
from .files import Files
from .settings import Settings

SCALE = 2.0
"""Pixels of an exported PNG for each px of the drawing."""


class Pictures:
    """Writes and copies pictures; ``parent``: the window that dialogs stand above."""

    def __init__(
        self, document: Document, settings: Settings, files: Files, parent: QWidget
    ) -> None:
        self._document = document
        self._settings = settings
        self._files = files
        self._parent = parent

    def drawing(self) -> Callable[[], Drawing]:
        """The drawing in the graph panel as it is now, without the selection: of a run or of two.

        What comes back makes it; a large one takes long, on any thread.
        """
        document, theme, both = self._document, self.theme, self._document.comparing.both
        if both is not None:
            return lambda: Drawing(both.arranged.graph, both.arranged.layout, both.scene, theme)
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
        """Light, unless dark pictures were asked for."""
        return THEMES["dark" if self.is_dark else "light"]

    @property
    def is_dark(self) -> bool:
        return self._settings.flag("dark-pictures")

    def toggle_dark(self) -> None:
        self._settings.keep("dark-pictures", not self.is_dark)

    def _overlay(self) -> Overlay:
        return replace(self._document.view.overlay, selected_nodes=frozenset())

    def ask(self, suffix: str) -> None:
        start = self._files.folder / self._document.text.filename
        name, _ = QFileDialog.getSaveFileName(
            self._parent,
            f"Export {suffix.upper()}",
            str(start.with_suffix(f".{suffix}")),
            f"{suffix.upper()} (*.{suffix})",
        )
        if name:
            path = Path(name)
            self.write(path if path.suffix else path.with_suffix(f".{suffix}"))

    def write(self, path: Path) -> None:
        """In the background. A GIF is a film of the steps, where there are some."""
        self._files.keep_folder(path)
        if path.suffix == ".gif" and self._document.steps and not self._document.comparing.both:
            self._film(path)
            return
        if path.suffix.lower() == ".html" and not self._document.comparing.both:
            self._share(path)
            return
        scale = SCALE if path.suffix == ".png" else 1.0
        draw = self.drawing()
        self._document.background.submit(
            "export",
            lambda: write_picture(draw(), path, scale=scale),
            lambda _: self._document.say(f"Exported {path.name}"),
        )

    def _share(self, path: Path) -> None:
        """A page about the gradient call in sight, with its rounds and steps."""
        document, theme = self._document, self.theme
        current, repairs = document.current_call, document.text.repairs
        call = current.call.id if current is not None else None
        view = replace(document.view, overlay=replace(self._overlay(), call=call))
        skipped, blocks = (repairs.skipped, repairs.blocks) if repairs is not None else ((), 0)
        trace, diagnosis = document.trace, document.diagnosis

        def share() -> None:
            page = make_page(trace, diagnosis, view, skipped, blocks)
            write_shared_page(page, path, theme)

        document.background.submit("export", share, lambda _: document.say(f"Exported {path.name}"))

    def _film(self, path: Path) -> None:
        document = self._document
        arranged, overlay, theme = document.arranged, self._overlay(), self.theme
        compose = partial(document.stages.compose, arranged, document.trace, document.current_call)
        steps = steps_filmed(len(document.steps))

        def report(done: int, known: int) -> None:
            if not document.background.report("export", done, known):
                raise TapevizError("the export was cancelled")

        def film() -> None:
            scenes = [compose(replace(overlay, step=step)) for step in steps]
            drawings = [Drawing(arranged.graph, arranged.layout, scene, theme) for scene in scenes]
            write_animation(drawings, path, report=report)

        document.background.submit("export", film, lambda _: document.say(f"Exported {path.name}"))

    def film_rounds(self) -> None:
        """Asks for a file, and writes the rounds of the call site that is drawn as a film."""
        document, theme = self._document, self.theme
        site = document.site
        if site is None:
            return
        start = self._files.folder / document.text.filename
        name, _ = QFileDialog.getSaveFileName(
            self._parent, "Export the rounds", str(start.with_suffix(".gif")), "GIF (*.gif)"
        )
        if not name:
            return
        path = Path(name).with_suffix(".gif")
        self._files.keep_folder(path)
        trace, view, diagnosis = document.trace, document.view, document.diagnosis

        def report(done: int, known: int) -> None:
            if not document.background.report("export", done, known):
                raise TapevizError("the export was cancelled")

        def film() -> None:
            frames = draw_rounds(trace, diagnosis, view, site, theme)
            write_animation(frames, path, report=report, seconds=ROUND_SECONDS)

        document.background.submit("export", film, lambda _: document.say(f"Exported {path.name}"))

    def copy(self) -> None:
        """As pixels and as SVG, so that each program takes what suits it."""
        draw = self.drawing()

        def paint() -> tuple[bytes, bytes]:
            drawing = draw()
            return render(drawing, "png", scale=SCALE), render(drawing, "svg")

        self._document.background.submit("export", paint, self._put_on_clipboard)

    def copy_answer(self) -> None:
        """As Markdown and as rich text with the picture, which is there by itself, too."""
        document, draw = self._document, self.drawing()
        trace, diagnosis, call = document.trace, document.diagnosis, document.current_call
        self._document.background.submit(
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
