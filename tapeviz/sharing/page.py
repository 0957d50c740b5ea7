"""Collect the content of a page to share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from ..analysis.backward.steps import BackwardPass, WalkStep
from ..analysis.call_facts import line_where_made
from ..analysis.findings import Finding
from ..analysis.model import CallDiagnosis, Diagnosis
from ..analysis.rounds.call_sites import CallSite
from ..analysis.run_words import SkippedParts, ending_words, skipped_words
from ..analysis.status import WORST_FIRST, joint_word, word_of
from ..drawing import Arranged, arrange, compose_over, shown_call
from ..export.shared_page import PageFold, PageLine, PageRound, PageStep, SharedPage
from ..repair.page import PAGE_MARK
from ..scene.model import Scene
from ..scene.walk_rows import Row, WalkRows
from ..scene.walk_words import gradients_words, turn_words, upstream_words
from ..text.code_roles import coloured_lines
from ..trace.model import Trace
from ..trace.naming import bound_lines
from ..view import View
from .cards import cards
from .films import ROUNDS_FILMED, arrange_rounds, arrange_steps, with_round

PAGE_ROOM = (560.0, 400.0)
"""Px of a page's picture in a browser's window of 1,440 × 900."""
MOST_FRAMES = 240
MOST_DRAWN = 40_000
"""Boxes and wires of all frames together; of large graphs and long passes fewer steps have a
picture of their own, and the others show the one before."""


def make_page(
    trace: Trace, diagnosis: Diagnosis, view: View, skipped: SkippedParts = (), blocks: int = 0
) -> SharedPage:
    """The page about one gradient call, with all rounds of its call site.

    ``view``: its overlay names the call, and the step at which the page opens; the selection is
    left out.
    """
    shown = shown_call(diagnosis, view.overlay)
    site = diagnosis.site_of(shown)
    overlay = replace(view.overlay, selected_nodes=frozenset())
    rounds, first = _rounds(trace, diagnosis, replace(view, overlay=overlay), shown, site)
    facts = [
        f"TensorFlow {trace.tensorflow}" if trace.tensorflow else "",
        f"Python {trace.python}" if trace.python else "",
        ending_words(trace),
        skipped_words(skipped, blocks),
    ]
    return SharedPage(
        PurePath(trace.filename).name or "snippet.py",  # a folder would name the user
        tuple(filter(None, facts)),
        tuple(page_lines(trace, diagnosis, shown, skipped)),
        cards(trace, diagnosis),
        rounds,
        first,
        overlay.step or None,
    )


# Rounds and steps


def _rounds(
    trace: Trace,
    diagnosis: Diagnosis,
    view: View,
    shown: CallDiagnosis | None,
    site: CallSite | None,
) -> tuple[tuple[PageRound, ...], int]:
    step = view.overlay.step
    if shown is None or site is None:
        arranged = arrange(trace, view, shown.call.id if shown is not None else None)
        return (_round(trace, diagnosis, view, shown, arranged, MOST_FRAMES, step),), 0
    numbers = sorted({*site.filmed(ROUNDS_FILMED), site.round_of(shown.call.id)})
    calls = [diagnosis.round(site, number) for number in numbers]
    longest = max(len(call.steps) for call in calls)
    all_step = len(calls) * (longest + 1) <= MOST_FRAMES
    rounds = []
    for call, arranged in arrange_rounds(trace, view, calls):
        is_shown = call.call.id == shown.call.id
        most = MOST_FRAMES // (len(calls) if all_step else 1) if all_step or is_shown else 1
        at = step if is_shown else None
        rounds.append(_round(trace, diagnosis, view, call, arranged, most, at))
    return tuple(rounds), numbers.index(site.round_of(shown.call.id))


def _round(
    trace: Trace,
    diagnosis: Diagnosis,
    view: View,
    call: CallDiagnosis | None,
    arranged: Arranged,
    most: int,
    at: int | None,
) -> PageRound:
    """``most``: how many frames it may have; ``at``: a step that has a frame in any case."""
    id_ = call.call.id if call is not None else None

    def scene(arranged: Arranged, step: int | None) -> Scene:
        overlay = replace(view.overlay, call=id_, step=step)
        return with_round(compose_over(arranged, trace, call, overlay), diagnosis, id_)

    whole = scene(arranged, None)
    steps: Sequence[WalkStep] = call.steps if call is not None else ()
    drawn = max(1, len(whole.boxes) + len(whole.wires))
    numbers = evenly(len(steps), min(most - 1, MOST_DRAWN // drawn))
    if at:
        numbers = sorted({*numbers, at})
    walked = arrange_steps(arranged, trace, call, numbers)
    frames = ((None, whole), *((number, scene(turned, number)) for number, turned in walked))
    folds = _folds(trace, call.backward_pass()) if call is not None else ()
    return PageRound(whole.title, tuple(_step(trace, step) for step in steps), frames, folds)


def evenly(count: int, most: int) -> list[int]:
    """At most ``most`` of the numbers 1 … ``count``, evenly, the first and the last among them."""
    if count <= most:
        return list(range(1, count + 1))
    return (
        sorted({1 + round(n * (count - 1) / (most - 1)) for n in range(most)}) if most > 1 else []
    )


def _step(trace: Trace, step: WalkStep) -> PageStep:
    return PageStep(
        step.kind,
        step.title,
        upstream_words(trace, step, trace.value),
        step.formula,
        gradients_words(trace, step.downstream, trace.value),
        step.line,
    )


def _folds(trace: Trace, walked: BackwardPass) -> tuple[PageFold, ...]:
    """The turns of loops, each in a row as in the Backprop panel."""

    def fold(row: Row) -> PageFold:
        words = turn_words(trace, row, walked.steps, walked.parts, trace.value)
        return PageFold(row.first, row.last, words, tuple(map(fold, row.left_out())))

    rows = WalkRows(len(walked.steps), walked.turns)
    return tuple(fold(rows[n]) for n in range(len(rows)) if not rows[n].is_step)


# Source


def page_lines(
    trace: Trace, diagnosis: Diagnosis, shown: CallDiagnosis | None, skipped: SkippedParts = ()
) -> list[PageLine]:
    """The source with what happened on its lines."""
    marks: dict[int, list[str]] = defaultdict(list)
    tips: dict[int, dict[str, None]] = defaultdict(dict)
    found: dict[int, list[Finding]] = defaultdict(list)

    def mark(line: int, name: str, tip: str) -> None:
        if line and name not in marks[line]:
            marks[line].append(name)
        if line:
            tips[line].setdefault(tip)

    for call in diagnosis.calls:
        if call.findings:
            mark(call.call.line, "call", "the gradient is asked for here")
            found[call.call.line] += call.findings
        for finding in call.findings:
            for cause in filter(None, (finding.cause, *finding.others)):
                is_cut = finding.status == "none"
                happens = "is cut" if is_cut else f"becomes {word_of(finding)}"
                tip = f"the gradient for {finding.source} {happens} here ({cause.kind})"
                mark(cause.line, "cut" if is_cut else "trouble", tip)
    if shown is not None:
        bound = bound_lines(trace)
        for tensors, name in ((shown.flow.sources, "source"), (shown.flow.targets, "target")):
            for tensor in sorted(tensors)[:50]:
                mark(line_where_made(trace, tensor, bound), name, f"{name} of the gradient")
    if diagnosis.error is not None:
        mark(diagnosis.error.line, "error", diagnosis.error.type)
    for first, last, why in skipped:
        for line in range(first, last + 1):
            mark(line, "left-out", f"left out: {why}")
    return [
        PageLine(
            _as_pasted(pieces), tuple(marks[number]), _badge(found[number]), "\n".join(tips[number])
        )
        for number, pieces in enumerate(coloured_lines(trace.source.rstrip("\n")), start=1)
    ]


def _as_pasted(pieces: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The pieces of a line; page text without the mark that made a comment of it."""
    if pieces and pieces[0][1].startswith(PAGE_MARK):
        (role, text), *others = pieces
        return ((role, text.removeprefix(PAGE_MARK).removeprefix(" ")), *others)
    return tuple(pieces)


def _badge(findings: Sequence[Finding]) -> str:
    """The worst that became of the gradients that were asked for on a line; empty without any."""
    worst = min((finding.status for finding in findings), key=WORST_FIRST.index, default=None)
    return joint_word(word_of(f) for f in findings if f.status == worst) if worst else ""
