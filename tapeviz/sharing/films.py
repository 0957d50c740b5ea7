"""Make the drawings of a film of a diagnosed trace: of one call's steps, or of its rounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from ..analysis.backward.steps import WalkStep
from ..analysis.model import CallDiagnosis, Diagnosis
from ..analysis.rounds.call_sites import CallSite
from ..drawing import Arranged, arrange, compose_over, shown_call
from ..export import Drawing
from ..graph.groups.turns import other_turns
from ..graph.nodes import op_id
from ..scene.model import Overlay, Scene
from ..scene.theme import Theme
from ..trace.ids import CallId
from ..trace.model import Trace
from ..view import View

N = TypeVar("N", int, int | None)

ROUNDS_FILMED = 60
"""The rounds of a film, evenly spread; up to as many special ones come on top."""
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


def draw_steps(
    trace: Trace,
    diagnosis: Diagnosis,
    view: View,
    numbers: Sequence[int | None],
    theme: Theme,
    before: Arranged | None = None,
) -> list[Drawing]:
    """The drawing of the view's call after each of these numbers of steps of its backward pass
    (None: of the whole flow). ``before``: the arrangement that the user sees, whose places stay."""
    shown, overlay = shown_call(diagnosis, view.overlay), view.overlay
    arranged = arrange(trace, view, overlay.call, before)
    return [
        draw_call(turned, trace, diagnosis, shown, replace(overlay, step=number), theme)
        for number, turned in arrange_steps(arranged, trace, shown, numbers)
    ]


def arrange_steps(
    arranged: Arranged, trace: Trace, shown: CallDiagnosis | None, numbers: Iterable[N]
) -> Iterator[tuple[N, Arranged]]:
    """The arrangement after each of these numbers of steps: open compiled loops show the turn that
    the last step was made in. ``arranged``: that of the call, for the view that is filmed.

    Arranged twice: the first time through, boxes get the room that the widest value takes.
    """
    steps = list(numbers)
    for _, turned in _arranged_steps(arranged, trace, shown, steps):
        arranged = turned
    yield from _arranged_steps(arranged, trace, shown, steps)


def _arranged_steps(
    arranged: Arranged, trace: Trace, shown: CallDiagnosis | None, numbers: Iterable[N]
) -> Iterator[tuple[N, Arranged]]:
    for number in numbers:
        step = shown.steps[number - 1] if shown is not None and number else None
        turns = _other_turns(arranged, step) if step is not None and step.turns else {}
        if turns and shown is not None:
            view = arranged.view.turned(turns)
            arranged = arrange(trace, view, shown.call.id, arranged)
        yield number, arranged


def _other_turns(arranged: Arranged, step: WalkStep) -> Mapping[str, int]:
    """The turns to be shown for a step, by path; none where its op is not in an open loop."""
    own = op_id(step.op) if step.op is not None else None
    for _, node in arranged.graph.nodes(data="node"):
        is_there = step.op == node.op or own in node.members
        if is_there if step.op is not None else step.at == node.tensor:
            return other_turns(arranged.graph, node.group, step.turns)
    return {}


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
