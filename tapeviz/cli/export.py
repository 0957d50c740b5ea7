"""``tapeviz export``: write the picture of a snippet's op graph."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import TapevizError
from ..files.whole import check_folder
from ..formats import WRITERS
from ..wording import counted
from .options import (
    add_inside_option,
    add_kernel_options,
    add_picture_options,
    add_round_option,
    check_round,
)

if TYPE_CHECKING:
    from ..analysis.model import Diagnosis
    from ..document.pipeline import Opener
    from ..export import Drawing
    from ..trace.ids import CallId
    from ..trace.model import Trace
    from ..view import View
    from .inputs import Explained

_MOST_NAMED = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=".py, .ipynb, .tape, or -")
    formats = [
        name if writer.makes == "picture" else f"{name} ({writer.tip[0].lower()}{writer.tip[1:]})"
        for name, writer in WRITERS.items()
    ]
    suffixes = f"by its suffix: {', '.join(formats)}"
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=suffixes)
    parser.add_argument("--step", type=int, metavar="N", help="after N steps of the backward pass")
    parser.add_argument("--call", type=int, metavar="N", help="the N-th gradient call of the run")
    add_round_option(parser, "the N-th round of a gradient call that ran in a loop")
    parser.add_argument(
        "--rounds",
        action="store_true",
        help="all rounds of a loop: a film (gif); a page (html) has them anyway",
    )
    add_inside_option(parser, "which are opened")
    add_picture_options(parser)
    parser.add_argument("--transparent", action="store_true", help="no background (png, svg)")
    parser.add_argument("--layout", default="layered", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="all ops: earlier rounds, updates, …")
    parser.add_argument(
        "--group", default="", metavar="BY", help="fold by layer, function, line, …"
    )
    parser.add_argument("--fold", action="append", default=[], metavar="GROUP")
    parser.add_argument("--unfold", action="append", default=[], metavar="GROUP")
    turn = "of a loop show turn N (or PATH=N; again for further loops)"
    parser.add_argument("--turn", action="append", default=[], metavar="N", help=turn)
    add_kernel_options(parser)


def run(options: argparse.Namespace) -> int:
    """Exit status as of ``explain``; the picture is written in any case."""
    from ..export import check_suffix, write_picture

    output = Path(options.output)
    makes = WRITERS[check_suffix(output.suffix)].makes
    check_folder(output)
    _check(options, makes)

    from ..analysis.status import lacks_bridge
    from ..drawing import shown_call
    from .explain import exit_status, print_progress
    from .inputs import inputs
    from .inside import with_steps_open

    with inputs(options, runs_again=makes == "page" or options.bridge) as opened:
        enter = partial(_enter, options) if options.inside else None
        explained = opened.record(options.file, enter=enter)
        if makes == "page":
            explained = opened.try_fixes(explained, print_progress)
        elif options.bridge:
            explained = opened.cross(explained)

    _print_trouble(explained)
    view = _view(options, explained.trace, explained.diagnosis)
    turns = _turns(options.turn, explained, view)
    view = replace(view, turns=turns, unfolded=view.unfolded | {path for path, _ in turns})
    if options.inside:
        view = with_steps_open(view, explained.trace, shown_call(explained.diagnosis, view.overlay))
    _check_groups(explained, view)
    shown = shown_call(explained.diagnosis, view.overlay) if options.bridge else None
    if shown is not None and (words := lacks_bridge(shown)):
        print(f"tapeviz: --bridge: {words}", file=sys.stderr)
    if makes == "page":
        _write_page(explained, view, output, options)
    elif options.rounds:
        _write_rounds(explained, view, output, options)
    elif makes == "film" and options.step is None:
        _write_steps(explained, view, output, options)
    else:
        picture = _pictures(explained, view, options.theme, [view.overlay.step])[0]
        write_picture(picture, output, scale=options.scale, transparent=options.transparent)
    return exit_status(explained.trace, explained.diagnosis)


def _enter(options: argparse.Namespace, source: Opener, trace: Trace) -> Trace:
    """The trace with the steps inside of those of the call that is drawn."""
    from ..analysis.diagnose import diagnose
    from ..drawing import shown_call
    from .inside import enter_steps

    diagnosis = diagnose(trace)
    shown = shown_call(diagnosis, _view(options, trace, diagnosis).overlay)
    return enter_steps(source, trace, [shown.call.id] if shown is not None else [])


def _check(options: argparse.Namespace, makes: str) -> None:
    """Raise for options that cannot be met, before the snippet is run."""
    from ..graph.groups.tree import GROUPINGS
    from ..layout import LAYOUTS

    if options.rounds and makes == "picture":
        raise TapevizError("--rounds makes a film (.gif); a page (.html) has the rounds anyway")
    if not options.scale > 0:
        raise TapevizError("--scale must be above 0")
    if options.layout not in LAYOUTS:
        raise TapevizError(f"no layout {options.layout!r}; there are {', '.join(LAYOUTS)}")
    if options.group and options.group not in GROUPINGS:
        known = ", ".join(GROUPINGS)
        raise TapevizError(f"no grouping {options.group!r}; there are {known}")


def _print_trouble(explained: Explained) -> None:
    """Print why the picture may lack something: the snippet raised, left early, or ran no op."""
    from ..analysis.run_words import ended_well, plain_message

    trace, error = explained.trace, explained.diagnosis.error
    words = []
    if error is not None:
        where = f"line {error.line}: " if error.line else ""
        words.append(f"{where}{error.type}: {' '.join(plain_message(error.message).split())}")
    elif not ended_well(trace):
        words.append("the snippet did not come to its end")
    if not trace.ops:
        words.append("no op ran, so the picture is empty")
    if words:
        print(f"tapeviz: {'; '.join(words)}", file=sys.stderr)


def _write_page(
    explained: Explained, view: View, output: Path, options: argparse.Namespace
) -> None:
    """Write a page about a gradient call, with every step and round."""
    from ..export import write_shared_page
    from ..scene.theme import THEMES
    from ..sharing.page import PAGE_ROOM, make_page

    page = make_page(
        explained.trace,
        explained.diagnosis,
        replace(view, room=PAGE_ROOM),
        explained.recording.skipped,
        explained.recording.blocks,
    )
    write_shared_page(page, output, THEMES[options.theme], transparent=options.transparent)


def _write_steps(
    explained: Explained, view: View, output: Path, options: argparse.Namespace
) -> None:
    """Write the backward pass as a GIF, a drawing for each step."""
    from ..drawing import shown_call
    from ..export import steps_filmed, write_animation

    shown = shown_call(explained.diagnosis, view.overlay)
    steps = steps_filmed(len(shown.steps)) if shown else [None]
    drawings = _pictures(explained, view, options.theme, steps)
    write_animation(drawings, output, scale=options.scale)


def _write_rounds(
    explained: Explained, view: View, output: Path, options: argparse.Namespace
) -> None:
    """Write the rounds of a call site as a GIF; what is the same in all of them does not move."""
    from ..drawing import shown_call
    from ..export import write_animation
    from ..scene.theme import THEMES
    from ..sharing.films import ROUND_SECONDS, draw_rounds

    diagnosis = explained.diagnosis
    site = diagnosis.site_of(shown_call(diagnosis, view.overlay))
    if site is None:
        raise TapevizError("--rounds: the gradient call that is drawn ran once")
    drawings = draw_rounds(explained.trace, diagnosis, view, site, THEMES[options.theme])
    write_animation(drawings, output, scale=options.scale, seconds=ROUND_SECONDS)


def _pictures(
    explained: Explained, view: View, theme: str, steps: Sequence[int | None]
) -> list[Drawing]:
    """The drawing after each of these numbers of steps."""
    from ..scene.theme import THEMES
    from ..sharing.films import draw_steps

    return draw_steps(explained.trace, explained.diagnosis, view, steps, THEMES[theme])


def _view(options: argparse.Namespace, trace: Trace, diagnosis: Diagnosis) -> View:
    """The view that the options ask for."""
    from ..view import DEFAULT_VIEW

    calls = diagnosis.calls
    call = None
    if options.call is not None:
        if not 1 <= options.call <= len(calls):
            raise TapevizError(
                f"--call {options.call}: the run made {counted(len(calls), 'gradient call')}"
            )
        call = calls[options.call - 1].call.id
    if options.round is not None:
        call = _round(trace, diagnosis, call, options.round)
    shown = diagnosis.call(call)
    steps = len(shown.steps) if shown else 0
    if options.step is not None and not 0 <= options.step <= steps:
        raise TapevizError(f"--step {options.step}: the backward pass has {counted(steps, 'step')}")
    overlay = replace(
        DEFAULT_VIEW.overlay, call=call, step=options.step, show_bridge=options.bridge
    )
    return replace(
        DEFAULT_VIEW,
        layout=options.layout,
        direction=options.direction,
        grouping=options.group,
        folded=frozenset(options.fold),
        unfolded=frozenset(options.unfold),
        shows_all=options.all,
        overlay=overlay,
    )


def _round(trace: Trace, diagnosis: Diagnosis, call: CallId | None, number: int) -> CallId:
    """The call of this round (from 1) of the call site that is drawn."""
    from ..analysis.rounds.traces import calls_around

    check_round(trace, diagnosis, number)
    shown = diagnosis.call(call)
    if shown is not None and number <= calls_around(trace, shown.call):
        return shown.call.id  # it stands for all calls of its function, with the values of that one
    site = diagnosis.rounds.site_of(shown.call.id) if shown is not None else None
    if site is None or len(site) < number:  # without --call: any place that ran so often
        sites = diagnosis.rounds.sites if call is None else ()
        site = next((site for site in sites if len(site) >= number), None)
    if site is None:
        raise TapevizError(f"--round {number}: that gradient call did not run so often")
    return site.calls[number - 1]


def _turns(wanted: Sequence[str], explained: Explained, view: View) -> tuple[tuple[str, int], ...]:
    """(path of a repeat, turn to show) for each ``--turn``; without a path, the repeat with the
    most ops."""
    from ..drawing import repeats

    if not wanted:
        return ()
    known = repeats(explained.trace, view, view.overlay.call)
    if not known:
        raise TapevizError(f"--turn {wanted[0]}: nothing in the picture repeats")
    chosen: dict[str, int] = {}
    for words in wanted:
        path, _, number = words.rpartition("=")
        path = path or next(iter(known))
        if path not in known:
            names = ", ".join(repr(path) for path in list(known)[:_MOST_NAMED])
            raise TapevizError(f"--turn {words}: no loop {path!r}; there are {names}")
        if not number.isdecimal() or not 1 <= int(number) <= known[path]:
            raise TapevizError(f"--turn {words}: {path} has {counted(known[path], 'turn')}")
        chosen[path] = int(number)
    return tuple(sorted(chosen.items()))


def _check_groups(explained: Explained, view: View) -> None:
    """Raise for a group to fold or unfold that does not exist, with the names of those that do."""
    from ..drawing import group_paths

    named = view.folded | view.unfolded
    paths = group_paths(explained.trace, view, view.overlay.call) if named else []
    if unknown := sorted(named.difference(paths)):
        known = ", ".join(paths[:_MOST_NAMED]) + (", …" if len(paths) > _MOST_NAMED else "")
        names = f"there are {known}" if paths else "the picture has none (see --group)"
        raise TapevizError(f"no group {unknown[0]!r}; {names}")
