"""The drawing in sight in, a file or the clipboard out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog

from ...errors import TapevizError
from ...export import Drawing, render, steps_filmed, write_animation, write_picture
from ...films import ROUND_SECONDS, draw_rounds, with_round

if TYPE_CHECKING:
    from ..window import Window

SCALE = 2.0
"""Pixels of an exported PNG for each px of the drawing."""


class Pictures:
    def __init__(self, window: Window) -> None:
        self._window = window
        self._document = window.document

    def drawing(self) -> Drawing:
        """The drawing in the graph panel: of the run, or of two side by side."""
        shown = self._document.comparing.both or self._document
        arranged, scene = shown.arranged, shown.scene
        current = self._document.current_call
        if shown is self._document and current is not None:
            scene = with_round(scene, self._document.diagnosis, current.call.id)
        return Drawing(arranged.graph, arranged.layout, scene, self._window.theme)

    def ask(self, suffix: str) -> None:
        start = self._window.files.folder / self._document.text.filename
        name, _ = QFileDialog.getSaveFileName(
            self._window,
            f"Export {suffix.upper()}",
            str(start.with_suffix(f".{suffix}")),
            f"{suffix.upper()} (*.{suffix})",
        )
        if name:
            path = Path(name)
            self.write(path if path.suffix else path.with_suffix(f".{suffix}"))

    def write(self, path: Path) -> None:
        """In the background. A GIF is a film of the steps, where there are some."""
        self._window.files.keep_folder(path)
        if path.suffix == ".gif" and self._document.steps and not self._document.comparing.both:
            self._film(path)
            return
        scale = SCALE if path.suffix == ".png" else 1.0
        self._document.background.submit(
            "export",
            partial(write_picture, self.drawing(), path, scale=scale),
            lambda _: self._document.say(f"Exported {path.name}"),
        )

    def _film(self, path: Path) -> None:
        document = self._document
        arranged, overlay, theme = document.arranged, document.view.overlay, self._window.theme
        compose = partial(document.stages.compose, arranged, document.trace, document.current_call)
        steps = steps_filmed(len(document.steps))

        def told(done: int, known: int) -> None:
            if not document.background.tell("export", done, known):
                raise TapevizError("the export was cancelled")

        def film() -> None:
            scenes = [compose(replace(overlay, step=step)) for step in steps]
            drawings = [Drawing(arranged.graph, arranged.layout, scene, theme) for scene in scenes]
            write_animation(drawings, path, told=told)

        document.background.submit("export", film, lambda _: document.say(f"Exported {path.name}"))

    def film_rounds(self) -> None:
        """Asks for a file, and writes the rounds of the call site that is drawn as a film."""
        document, theme = self._document, self._window.theme
        site = document.site
        if site is None:
            return
        start = self._window.files.folder / document.text.filename
        name, _ = QFileDialog.getSaveFileName(
            self._window, "Export the rounds", str(start.with_suffix(".gif")), "GIF (*.gif)"
        )
        if not name:
            return
        path = Path(name).with_suffix(".gif")
        self._window.files.keep_folder(path)
        trace, view, diagnosis = document.trace, document.view, document.diagnosis

        def told(done: int, known: int) -> None:
            if not document.background.tell("export", done, known):
                raise TapevizError("the export was cancelled")

        def film() -> None:
            frames = draw_rounds(trace, diagnosis, view, site, theme)
            write_animation(frames, path, told=told, seconds=ROUND_SECONDS)

        document.background.submit("export", film, lambda _: document.say(f"Exported {path.name}"))

    def copy(self) -> None:
        """As pixels and as SVG, so that each program takes what suits it."""
        drawing = self.drawing()
        self._document.background.submit(
            "export",
            lambda: (render(drawing, "png", scale=SCALE), render(drawing, "svg")),
            self._put_on_clipboard,
        )

    def _put_on_clipboard(self, made: tuple[bytes, bytes]) -> None:
        png, svg = made
        data = QMimeData()
        data.setImageData(QImage.fromData(png))
        data.setData("image/png", png)
        data.setData("image/svg+xml", svg)
        QGuiApplication.clipboard().setMimeData(data)
        self._document.say("The picture is on the clipboard")
