"""``tapeviz diff``: compare the gradients and ops of two snippets."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import TapevizError
from ..whole_files import check_folder
from .options import add_kernel_options

if TYPE_CHECKING:
    from ..analysis.comparing import Comparison
    from ..drawing_of_both import Shown
    from ..view import View
    from .inputs import Explained


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="A", help=".py, .ipynb, .tape, or -")
    parser.add_argument("after", metavar="B", help=".py, .ipynb, .tape, or -")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    suffixes = "a picture of both: png, svg, pdf, dot, graphml, json, html, gif"
    parser.add_argument("-o", "--output", metavar="OUT", help=suffixes)
    parser.add_argument("--bridge", action="store_true", help="draw the gradient across the cut")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--scale", type=float, default=1.0, metavar="X", help="pixels per unit")
    parser.add_argument("--direction", choices=("down", "right"), default="down")
    parser.add_argument("--all", action="store_true", help="also ops that no gradient touches")
    add_kernel_options(parser)


def run(options: argparse.Namespace) -> int:
    """Exit status: 0 same gradients, 1 they differ, 2 a snippet raised, 3 other errors."""
    from ..analysis.comparing import compare
    from ..drawing_of_both import only_drawn
    from ..report import ended_well
    from .inputs import inputs

    if options.before == options.after == "-":
        raise TapevizError("only one of both can be read from standard input")
    if options.output is not None:
        from ..export import check_suffix

        check_suffix(Path(options.output).suffix)
        check_folder(Path(options.output))
        if not options.scale > 0:
            raise TapevizError("--scale must be above 0")
    with inputs(options, only_stderr=True, files=[options.before, options.after]) as opened:
        before, after = opened.record(options.before), opened.record(options.after)
    shown = _shown(options.before, before), _shown(options.after, after)
    view = _view(options)
    compared = compare((before.trace, before.diagnosis), (after.trace, after.diagnosis))
    comparison = only_drawn(*shown, compared, view)
    if options.output is not None:
        _draw(shown, comparison, view, options)
    _tell(before, after, comparison, options)
    if not (ended_well(before.trace) and ended_well(after.trace)):
        return 2
    return int(not comparison.has_same_gradients)


def _tell(
    before: Explained, after: Explained, comparison: Comparison, options: argparse.Namespace
) -> None:
    from .diff_text import as_json, as_text

    named = (options.before, before), (options.after, after)
    if options.json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(as_json(*named, comparison)).decode() + "\n")
    else:
        print(as_text(*named, comparison))


def _shown(name: str, explained: Explained) -> Shown:
    from ..drawing_of_both import Shown

    return Shown(Path(name).name, explained.trace, explained.diagnosis)


def _view(options: argparse.Namespace) -> View:
    from ..view import DEFAULT_VIEW

    overlay = replace(DEFAULT_VIEW.overlay, show_bridge=options.bridge)
    return replace(
        DEFAULT_VIEW, direction=options.direction, shows_all=options.all, overlay=overlay
    )


def _draw(
    shown: tuple[Shown, Shown], comparison: Comparison, view: View, options: argparse.Namespace
) -> None:
    from ..drawing_of_both import draw_both
    from ..export import Drawing, write_picture
    from ..scene.theme import THEMES

    arranged, scene = draw_both(*shown, comparison, view)
    drawing = Drawing(arranged.graph, arranged.layout, scene, THEMES[options.theme])
    # The headings above both name them already.
    write_picture(drawing, Path(options.output), scale=options.scale, title=False)
