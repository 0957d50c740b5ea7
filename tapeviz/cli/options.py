"""The options that several verbs share."""

from __future__ import annotations

import argparse


def add_kernel_options(parser: argparse.ArgumentParser) -> None:
    """``--python``, ``--kernel``, ``--timeout``, ``--args``."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--python", metavar="INTERPRETER", help="run the snippet with this Python")
    which.add_argument("--kernel", metavar="NAME", help="run the snippet in this Jupyter kernel")
    parser.add_argument(
        "--timeout", type=_seconds, metavar="S", help="stop the snippet after S seconds"
    )
    parser.add_argument(
        "--args",
        nargs=argparse.REMAINDER,
        default=[],
        metavar="ARG",
        help="the snippet's own arguments; everything after --args is theirs",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds") from None
    if not seconds > 0:
        raise argparse.ArgumentTypeError("the timeout must be above 0 seconds")
    return seconds
