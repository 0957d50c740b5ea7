"""Words that all rooms share: counts, lists of names, commands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence

_MOST_LISTED = 3
_LONG_WORD = re.compile(r"(?<!\S)[^\s\u2e80-\uffdc]{400,}")
"""Letters between which no line ends; in Chinese, Japanese and Korean text it may anywhere."""
_IN_LIST = re.compile(r"(.*)\[(\d+)\]")


def counted(number: int, noun: str) -> str:
    """``1 step``, ``1,024 steps``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def enumerated(names: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; empty without names."""
    *most, last = [*names] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def listed(names: Sequence[str]) -> str:
    """``a, b, c``; of more names ``a, b, … 9 more``, and ``losses[0…11]`` where they are neighbours
    in a list."""
    if len(names) <= _MOST_LISTED:
        return ", ".join(names)
    places = [_IN_LIST.fullmatch(name) for name in names]
    found = [(place[1], int(place[2])) for place in places if place is not None]
    first = found[0] if found else ("", 0)
    if found == [(first[0], first[1] + count) for count in range(len(names))]:
        return f"{first[0]}[{first[1]}…{found[-1][1]}]"
    return f"{', '.join(names[:2])}, … {len(names) - 2:,} more"


def shortened(text: str) -> str:
    """The text with ``…`` in the middle of each word of 400 letters and more: Qt takes seconds to
    lay out one of 100,000."""
    return _LONG_WORD.sub(lambda word: f"{word[0][:200]}…{word[0][-50:]}", text)


def install_command(python: str, packages: Sequence[str]) -> str:
    """The shell command that installs packages for an interpreter, which is given by its path."""
    arguments = [python, "-m", "pip", "install", *packages]
    if sys.platform == "win32":
        return subprocess.list2cmdline(arguments)
    return shlex.join(arguments)
