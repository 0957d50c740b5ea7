"""The options that several verbs share."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..errors import TapevizError
from ..wording import counted

if TYPE_CHECKING:
    from ..analysis.model import Diagnosis
    from ..trace.model import Trace


def add_kernel_options(parser: argparse.ArgumentParser) -> None:
    """``--python``, ``--kernel``, ``--timeout``, ``--no-network``, ``--memory``, ``--args``."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--python", metavar="INTERPRETER", help="run the snippet with this Python")
    which.add_argument("--kernel", metavar="NAME", help="run the snippet in this Jupyter kernel")
    parser.add_argument(
        "--timeout", type=_seconds, metavar="S", help="stop the snippet after S seconds"
    )
    parser.add_argument(
        "--no-network", action="store_true", help="run the snippet without a network (Linux)"
    )
    parser.add_argument(
        "--memory",
        type=_gigabytes,
        metavar="GB",
        help="let an allocation beyond so many GB fail (Linux)",
    )
    parser.add_argument(
        "--args",
        nargs=argparse.REMAINDER,
        default=[],
        metavar="ARG",
        help="the snippet's own arguments; everything after --args is theirs",
    )


def add_picture_options(parser: argparse.ArgumentParser) -> None:
    """``--bridge``, ``--theme``, ``--scale``, ``--direction``."""
    parser.add_argument("--bridge", action="store_true", help="draw the gradient across the cut")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--scale", type=float, default=1.0, metavar="X", help="pixels per unit")
    parser.add_argument("--direction", choices=("down", "right"), default="down")


def add_round_option(parser: argparse.ArgumentParser, does: str) -> None:
    """``--round N``: which call of a place that asks for gradients several times (a loop)."""
    parser.add_argument("--round", type=count_from_one, metavar="N", help=f"{does}; from 1")


def add_inside_option(parser: argparse.ArgumentParser, of: str) -> None:
    """``--inside``: compute the steps of the backward pass inside of compiled functions."""
    does = f"with the steps inside of compiled functions, loops and branches, {of}"
    parser.add_argument("--inside", action="store_true", help=does)


def wanted_turns(options: argparse.Namespace) -> tuple[int, ...]:
    """The turns (from 1) that ``--turn`` names: ``N``, or ``PATH=N`` and several in ``export``."""
    named = getattr(options, "turn", None) or []
    words = [named] if isinstance(named, int) else [word.rpartition("=")[2] for word in named]
    return tuple(int(word) for word in words if str(word).isdecimal() and int(word) > 0)


def check_round(trace: Trace, diagnosis: Diagnosis, number: int | None) -> None:
    """:class:`TapevizError` when no call site has a round of this number."""
    from ..analysis.rounds.traces import calls_around

    most = max((len(site) for site in diagnosis.rounds.sites), default=0)
    most = max([most, *(calls_around(trace, each.call) for each in diagnosis.calls)])
    if number is not None and number > most:
        often = counted(most, "time")
        ran = f"the gradient calls ran at most {often}" if most else "no gradient call ran"
        raise TapevizError(f"--round {number}: {ran} from one place")


def count_from_one(text: str) -> int:
    """The whole number from 1 on that a word of the command line stands for, as a ``type`` of
    ``argparse``; raises ``ArgumentTypeError`` for other words."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def _seconds(text: str) -> float:
    return _above_zero(text, "a number of seconds", "the timeout must be above 0 seconds")


def _gigabytes(text: str) -> float:
    return _above_zero(text, "a number of GB", "the memory must be above 0 GB")


def _above_zero(text: str, kind: str, otherwise: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not {kind}") from None
    if not number > 0:
        raise argparse.ArgumentTypeError(otherwise)
    return number
