"""Words that panels, exports and the command line share."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """``1 step``, ``1,024 steps``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def install_command(python: str, packages: Sequence[str]) -> str:
    """The shell command that installs packages for an interpreter, which is given by its path."""
    arguments = [python, "-m", "pip", "install", *packages]
    if sys.platform == "win32":
        return subprocess.list2cmdline(arguments)
    return shlex.join(arguments)
