"""The command line: a module for each verb, and an exit status.

Nothing heavy is imported here, so ``tapeviz --help`` loads neither NumPy nor Qt.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from .. import __version__
from ..bugs import reported_in_a_line
from ..errors import TapevizError

COMMANDS = {
    "explain": "say what happened to each gradient",
    "export": "write the picture of a snippet's op graph to a file",
    "diff": "say what differs between two snippets or recordings",
    "record": "run a snippet and keep the recording",
    "examples": "list the examples, or print one",
    "open": "open the window (also: tapeviz [FILE])",
}
"""Verb → its help; each verb is a module of this package with ``add_arguments`` and ``run``."""


class _Parser(argparse.ArgumentParser):
    """Reports a usage error in one line, with tapeviz's exit status 3."""

    def error(self, message: str) -> NoReturn:
        self.exit(TapevizError.exit_status, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser() -> _Parser:
    parser = _Parser(
        prog="tapeviz",
        description="See what a tf.GradientTape saw, and why a gradient is None.",
        epilog="tapeviz [FILE] opens the window. 'tapeviz VERB --help' tells more about a verb.",
    )
    parser.add_argument("--version", action="version", version=f"tapeviz {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=_Parser)
    for verb, does in COMMANDS.items():
        module = importlib.import_module(f".{verb}", __name__)
        module.add_arguments(verbs.add_parser(verb, help=does, description=does))
    return parser


def _end_in_order() -> None:
    """Let SIGTERM and SIGHUP end this process like Ctrl+C, which ends its kernels first."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _exit)


def _open_streams() -> None:
    """Let what the encoding of standard output lacks be escaped, as on standard error; a stream
    that is closed (``>&-``) is one to nowhere, and its number is no other file's."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def collect_seldom() -> None:
    """Let Python collect cyclic garbage rarely.

    With its default thresholds (700, 10, 10) it walks over the objects of a large trace, nearly all
    of which stay, again and again: a third of the time of reading and diagnosing, or more.
    """
    gc.set_threshold(50_000, 20, 5)


def _exit(number: int, frame: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # once is enough
    raise SystemExit(128 + number)


def _refuse_verbs(parser: _Parser, files: Sequence[str]) -> None:
    """End with a word on what stands in the place of a file to open and is none: a verb after
    options (``--python P explain f.py``), a misspelled one (``explian f.py``), ``help``. A name
    with a suffix (``record.tape``) is a file's: the window says that it is not there."""
    for file in files:
        if os.path.exists(file) or os.path.splitext(file)[1]:
            continue
        if file in COMMANDS:
            parser.error(f"the verb comes first: tapeviz {file} …")
        for verb in difflib.get_close_matches(file, COMMANDS, 1, cutoff=0.7):
            parser.error(f"there is no verb or file {file!r}: did you mean {verb}?")
        parser.error(f"there is no verb or file {file!r}")


def _run(words: list[str]) -> int:
    """Read the arguments, and run the verb that they name."""
    first = next((word for word in words if not word.startswith("-")), None)
    if first not in COMMANDS and not {"-h", "--help", "--version"} & set(words):
        words.insert(0, "open")
    parser = _parser()
    options, unknown = parser.parse_known_args(words)
    if options.verb == "open":
        _refuse_verbs(parser, options.files)
    elif unknown:  # argparse would point to the help of ``tapeviz``, which lists no options
        parser.prog += f" {options.verb}"
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return int(importlib.import_module(f".{options.verb}", __name__).run(options))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``tapeviz`` with these arguments (default: of the process); returns the exit status."""
    if arguments is None:
        _end_in_order()
        _open_streams()
        collect_seldom()
    try:
        with reported_in_a_line():
            status = _run(list(sys.argv[1:] if arguments is None else arguments))
            sys.stdout.flush()  # a full disk is reported here, not by the interpreter
            return status
    except TapevizError as error:
        print(f"tapeviz: {error}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        print("tapeviz: interrupted", file=sys.stderr)
        return TapevizError.exit_status
    except BrokenPipeError:
        # The reader of our output has gone; say nothing, and let the interpreter say nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return TapevizError.exit_status
