"""``tapeviz examples``: list the examples, or print one."""

from __future__ import annotations

import argparse
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="print this example's code")


def run(options: argparse.Namespace) -> int:
    from ..files.examples import example, examples

    if options.name:
        sys.stdout.write(example(options.name).text)
        return 0
    width = max(len(example.name) for example in examples())
    for each in examples():
        print(f"{each.name:<{width}}  {each.title}")
    return 0
