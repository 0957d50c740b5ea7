"""The command prefix that starts an interpreter without a network."""

from __future__ import annotations

import shutil
import subprocess
import sys

from ..errors import TapevizError
from .model import KernelChoice


def without_network(choice: KernelChoice) -> tuple[str, ...]:
    """The command prefix that gives a process a network namespace of its own.

    Raises TapevizError if that is not possible: the snippet must not run with a network then.
    """
    if choice.python is None:
        raise TapevizError(
            f"the Jupyter kernel {choice.title} has a start command of its own, so its network "
            "cannot be taken away: choose an interpreter, or leave the network on"
        )
    unshare = shutil.which("unshare") if sys.platform.startswith("linux") else None
    if unshare is None:
        raise TapevizError("this system has no command unshare: snippets run with its network")
    words = (unshare, "--map-root-user", "--net", "--")
    tried = subprocess.run([*words, "true"], stdin=subprocess.DEVNULL, capture_output=True)
    if tried.returncode:
        said = tried.stderr.decode(errors="replace").strip()
        raise TapevizError(f"this system allows no network namespace: {said}")
    return words
