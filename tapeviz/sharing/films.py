"""Make the drawings of a film of a diagnosed trace: of one call's steps, or of its rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..analysis.model import CallDiagnosis, Diagnosis
from ..analysis.rounds.call_sites import CallSite
from ..drawing import Arranged, arrange, compose_over
from ..export import Drawing
from ..scene.model import Overlay, Scene
from ..scene.theme import Theme
from ..trace.model import CallId, Trace
from ..view import View

ROUNDS_FILMED = 60
"""Drawings of a film of rounds, besides those of rounds that differ."""
ROUND_SECONDS = 0.25


def draw_call(
    arranged: Arranged,
    trace: Trace,
    diagnosis: Diagnosis,
    shown: CallDiagnosis | None,
    overlay: Overlay,
    theme: Theme,
) -> Drawing:
    """The drawing of a gradient call; of several rounds its title says which."""
    scene = compose_over(arranged, trace, shown, overlay)
    titled = with_round(scene, diagnosis, shown.call.id if shown is not None else None)
    return Drawing(arranged.graph, arranged.layout, titled, theme)


def with_round(scene: Scene, diagnosis: Diagnosis, call: CallId | None) -> Scene:
    """The scene, its title with the round of the call: ``∂loss/∂w · flows · round 7 of 30``."""
    words = diagnosis.rounds.words(call)
    return replace(scene, title=" · ".join(filter(None, (scene.title, words)))) if words else scene


def draw_rounds(
    trace: Trace, diagnosis: Diagnosis, view: View, site: CallSite, theme: Theme
) -> list[Drawing]:
    """The rounds of a call site; where their graphs are alike everything stands still."""
    calls = [diagnosis.round(site, number) for number in site.filmed(ROUNDS_FILMED)]
    overlay = replace(view.overlay, step=None, selected_nodes=frozenset())
    return [
        draw_call(arranged, trace, diagnosis, shown, overlay, theme)
        for shown, arranged in arrange_rounds(trace, view, calls)
    ]


def arrange_rounds(
    trace: Trace, view: View, calls: Sequence[CallDiagnosis]
) -> Iterator[tuple[CallDiagnosis, Arranged]]:
    """Each of the calls with its arrangement.

    Arranged twice: the first time through, boxes get the room that the widest value takes.
    """
    before: Arranged | None = None
    for shown in calls:
        before = arrange(trace, view, shown.call.id, before)
    for shown in calls:
        before = arrange(trace, view, shown.call.id, before)
        yield shown, before
