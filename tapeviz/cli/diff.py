"""``tapeviz diff``: compare the gradients and ops of two snippets."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import TapevizError
from ..files.whole import check_folder
from ..formats import WRITERS
from .options import add_kernel_options, add_picture_options

if TYPE_CHECKING:
    from ..document.pipeline import Opener
    from ..drawing.both import Shown
    from ..trace.model import Trace
    from .inputs import Explained


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="A", help=".py, .ipynb, .tape, or -")
    parser.add_argument("after", metavar="B", help=".py, .ipynb, .tape, or -")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    suffixes = f"a picture of both: {', '.join(WRITERS)}"
    parser.add_argument("-o", "--output", metavar="OUT", help=suffixes)
    add_picture_options(parser)
    parser.add_argument("--all", action="store_true", help="also ops that no gradient touches")
    add_kernel_options(parser)


def _shown(name: str, run: Explained) -> Shown:
    """A run, and the gradient call that its picture is of."""
    from ..analysis.diagnose import default_call
    from ..drawing.both import Shown

    call = default_call(run.trace)
    return Shown(Path(name).name, run.trace, run.diagnosis, call.id if call is not None else None)


def run(options: argparse.Namespace) -> int:
    """Exit status: 0 same gradients, 1 they differ, 2 a snippet raised, 3 other errors."""
    import msgspec

    from ..analysis.comparing import compare
    from ..analysis.diagnose import diagnose
    from ..analysis.run_words import ended_well
    from ..drawing.both import draw_both, only_drawn, open_in_picture
    from ..export import Drawing, check_suffix, write_picture
    from ..scene.theme import THEMES
    from ..view import DEFAULT_VIEW
    from .diff_text import as_json, as_text
    from .inputs import inputs

    names = options.before, options.after
    if names == ("-", "-"):
        raise TapevizError("only one of both can be read from standard input")
    if options.output is not None:
        check_suffix(Path(options.output).suffix)
        check_folder(Path(options.output))
        if not options.scale > 0:
            raise TapevizError("--scale must be above 0")
    with inputs(options, only_stderr=True, files=2, runs_again=options.bridge) as opened:
        first = names[0], opened.record(names[0])
        before = _shown(*first)

        def look(source: Opener, trace: Trace) -> Trace:
            """The trace with the calls of compiled functions opened that its picture shows."""
            found = compare((before.trace, before.diagnosis), (trace, diagnose(trace)))
            shown = found.call_after(before.call)
            return open_in_picture(trace, DEFAULT_VIEW, shown, source.look_into)

        second = names[1], opened.record(names[1], enter=look)
    after = _shown(*second)
    overlay = replace(DEFAULT_VIEW.overlay, show_bridge=options.bridge)
    view = replace(
        DEFAULT_VIEW, direction=options.direction, shows_all=options.all, overlay=overlay
    )
    compared = compare((before.trace, before.diagnosis), (after.trace, after.diagnosis))
    after = replace(after, call=compared.call_after(before.call))
    comparison = only_drawn(before, after, compared, view)
    if options.output is not None:
        arranged, scene = draw_both(before, after, comparison, view)
        drawing = Drawing(arranged.graph, arranged.layout, scene, THEMES[options.theme])
        write_picture(drawing, Path(options.output), scale=options.scale)
    if options.json:
        print(msgspec.json.encode(as_json(first, second, comparison)).decode())
    else:
        print(as_text(first, second, comparison))
    if not (ended_well(before.trace) and ended_well(after.trace)):
        return 2
    return int(not comparison.has_same_gradients)
