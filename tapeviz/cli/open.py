"""``tapeviz [FILE]``: open the window."""

from __future__ import annotations

import argparse

from .options import add_kernel_options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help=".py, .ipynb or .tape to open")
    add_kernel_options(parser)


def run(options: argparse.Namespace) -> int:
    from ..app.main import open_window

    return open_window(options.files, options)
