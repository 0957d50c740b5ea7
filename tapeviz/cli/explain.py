"""``tapeviz explain``: say what happened to each gradient of a snippet, as text or JSON."""

from __future__ import annotations

import argparse
import sys
from textwrap import fill
from typing import TYPE_CHECKING

from ..bugs import reported_in_a_line
from ..errors import TapevizError
from .options import add_kernel_options, add_round_option, check_round, count_from_one

if TYPE_CHECKING:
    from ..analysis.model import Diagnosis
    from ..trace.model import Trace
    from .inputs import Explained, Inputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help=".py, .ipynb, .tape, or -")
    parser.add_argument("--json", action="store_true", help="one JSON object for each file")
    parser.add_argument(
        "--no-fixes",
        dest="fixes",
        action="store_false",
        help="do not look for edits that mend it (each is run, which takes a second or so)",
    )
    add_round_option(parser, "of gradient calls that ran in a loop show their N-th round in full")
    turn = "of compiled loops also print what the names in them held in turn N; from 1"
    parser.add_argument("--turn", type=count_from_one, metavar="N", help=turn)
    add_kernel_options(parser)


def run(options: argparse.Namespace) -> int:
    """Exit status: 0 all gradients flow, 1 one is None, zero or not finite, 2 a snippet raised, 3
    other errors."""
    from .inputs import inputs

    statuses = []
    files = len(options.files)
    with inputs(options, only_stderr=options.json, files=files, runs_again=True) as opened:
        for name in options.files:
            explain = _explain_json if options.json else _explain_text
            statuses.append(explain(opened, name, options, is_one_of_many=files > 1))
    return max(statuses)


def exit_status(trace: Trace, diagnosis: Diagnosis) -> int:
    """The exit status for one snippet that was run."""
    from ..analysis.run_words import ended_well

    if not ended_well(trace):
        return 2
    return int(any(call.is_troubled for call in diagnosis.calls))


def _explained(opened: Inputs, name: str, options: argparse.Namespace) -> Explained:
    with reported_in_a_line():
        explained = opened.record(name, with_shares=True)
        check_round(explained.trace, explained.diagnosis, options.round)
        if options.fixes:
            return opened.try_fixes(explained, print_progress)
        return opened.cross(explained)


def print_progress(done: int, known: int) -> None:
    """Show the progress on a terminal, as a line that is wiped at the end; nothing in a pipe."""
    if sys.stderr.isatty():
        end = "\r\033[K" if done >= known else f"\rtried {done} of {known} fixes"
        sys.stderr.write(end)
        sys.stderr.flush()


def _explain_json(
    opened: Inputs, name: str, options: argparse.Namespace, *, is_one_of_many: bool
) -> int:
    import msgspec

    from .report import report, report_of_trouble

    about: dict[str, object] = {"file": name} if is_one_of_many else {}
    try:
        explained = _explained(opened, name, options)
        recording = explained.recording
        about |= report(
            explained.trace,
            explained.diagnosis,
            recording.repairs,
            explained.shares,
            recording.skipped,
            options.round,
            options.turn,
        )
        status = exit_status(explained.trace, explained.diagnosis)
    except TapevizError as error:
        if not is_one_of_many:
            raise
        print(f"tapeviz: {error}", file=sys.stderr)
        about |= report_of_trouble(str(error))
        status = error.exit_status
    sys.stdout.write(msgspec.json.encode(about).decode() + "\n")
    sys.stdout.flush()
    return status


def _explain_text(
    opened: Inputs, name: str, options: argparse.Namespace, *, is_one_of_many: bool
) -> int:
    from ..analysis.run_words import skipped_words
    from .text import as_text, turn_lines

    if is_one_of_many:
        print(f"== {name}")
    try:
        explained = _explained(opened, name, options)
    except TapevizError as error:
        if not is_one_of_many:
            raise
        print(f"tapeviz: {error}", file=sys.stderr)
        return error.exit_status
    recording = explained.recording
    left_out = skipped_words(recording.skipped, recording.blocks)
    if left_out:
        print(fill(left_out, 88, subsequent_indent="  ") + "\n")
    trace, diagnosis = explained.trace, explained.diagnosis
    print(as_text(trace, diagnosis, recording.repairs, explained.shares, options.round))
    if options.turn is not None:
        print("\n" + "\n".join(turn_lines(trace, options.turn)))
    return exit_status(explained.trace, explained.diagnosis)
