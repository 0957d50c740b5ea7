"""A recording in, every stage after it, as the window and the command line run them."""

from __future__ import annotations

import json
from pathlib import Path

from tapeviz.analysis import diagnose
from tapeviz.cli.report import report
from tapeviz.drawing import arrange, compose_over
from tapeviz.export import Drawing, render
from tapeviz.recording.kept import KeptRecording
from tapeviz.scene.model import Overlay
from tapeviz.scene.theme import THEMES
from tapeviz.trace.stored.file import load
from tapeviz.view import DEFAULT_VIEW


def sweep(path: Path) -> None:
    """Read the file and go through all stages to a picture and a report.

    Raises :class:`~tapeviz.errors.TapevizError` for what is not sound.
    """
    trace = KeptRecording(load(path)).wait()
    for tensor in trace.tensors:
        trace.value(tensor)
    diagnosis = diagnose(trace)
    json.dumps(report(trace, diagnosis), allow_nan=False)
    arranged = arrange(trace, DEFAULT_VIEW)
    diagnosed = diagnosis.call(None)
    for step in (None, 1):
        overlay = Overlay(step=step, show_bridge=step is None)
        scene = compose_over(arranged, trace, diagnosed, overlay)
        render(Drawing(arranged.graph, arranged.layout, scene, THEMES["light"]), "svg")
