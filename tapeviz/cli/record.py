"""``tapeviz record``: write the recording of a snippet as a ``.tape`` file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import TapevizError
from ..files.whole import check_folder
from .options import add_inside_option, add_kernel_options

if TYPE_CHECKING:
    from ..document.pipeline import Opener
    from ..trace.model import Trace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=".py, .ipynb, or -")
    parser.add_argument("-o", "--output", required=True, metavar="OUT.tape")
    add_inside_option(parser, "of the last gradient call of each place")
    add_kernel_options(parser)


def run(options: argparse.Namespace) -> int:
    """Exit status as of ``explain``; the recording is written in any case."""
    output = Path(options.output)
    if output.suffix.lower() != ".tape":
        raise TapevizError(f"a recording is a .tape file: -o {output.with_suffix('.tape')}")
    check_folder(output)
    from ..trace.stored.file import save
    from .explain import exit_status
    from .inputs import inputs
    from .inside import enter_steps, last_calls

    def enter(source: Opener, trace: Trace) -> Trace:
        return enter_steps(source, trace, last_calls(trace)) if options.inside else trace

    with inputs(options, runs_again=False) as opened:
        explained = opened.record(options.file, with_shares=True, enter=enter)
    save(explained.recording, output)
    return exit_status(explained.trace, explained.diagnosis)
