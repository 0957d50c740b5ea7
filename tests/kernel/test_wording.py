"""The end of a process, in words."""

from __future__ import annotations

import signal

import pytest

from tapeviz.kernel import wording
from tapeviz.kernel.model import Exit


@pytest.mark.parametrize(
    ("exit", "words"),
    [
        (Exit(None, None), "ended from outside, as happens when memory runs out at line 3; run"),
        (Exit(None, int(signal.SIGKILL)), "(SIGKILL) at line 3, as happens when memory runs out"),
        (Exit(7, None), "exit status 7 at line 3"),
    ],
)
def test_how_a_process_ended(exit: Exit, words: str) -> None:
    assert words in wording.death(exit, 3)
