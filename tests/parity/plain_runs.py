"""A snippet in, what it prints, computes and raises without tapeviz out."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILENAME = "snippet.py"

Bits = tuple[str, tuple[int, ...], bytes]
"""dtype, shape and elements, each bit of them."""


@dataclass(frozen=True)
class PlainRun:
    """What came of a snippet. ``failure``: type, message and line of its exception.

    ``calls``: each gradient call's name and its results in flat order: None, bits, or
    ``"symbolic"`` for a tensor of a graph that no session computed. ``probes``: name of a tensor,
    and for each tape around it whether TensorFlow would record an op on it.
    """

    out: str
    err: str
    failure: tuple[str, str, int] | None
    status: Any
    calls: list[tuple[str, list[Bits | str | None]]]
    probes: list[tuple[str, dict[str, bool]]]
    values: list[dict[str, Any]] = field(default_factory=list)


class PlainRuns:
    """The process that runs snippets plainly, each in a fork of its own."""

    def __init__(self) -> None:
        script = Path(__file__).with_name("plain_process.py")
        environment = {"TF_CPP_MIN_LOG_LEVEL": "2", "MPLBACKEND": "Agg", **os.environ}
        self._process = subprocess.Popen(
            [sys.executable, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )

    def run(self, text: str, *, argv: Sequence[str] = (), probes: bool = False) -> PlainRun:
        """Run a snippet; ``probes``: it finds a ``probe(name, tensor, tapes)`` among its names."""
        return self._answer([text], argv=argv, probes=probes)

    def values(self, texts: Sequence[str], name: str) -> list[Any]:
        """What each of the texts leaves under a name, in NumPy's form; None where nothing is."""
        return [found.get(name) for found in self._answer(texts, wanted=[name]).values]

    def _answer(
        self,
        texts: Sequence[str],
        *,
        argv: Sequence[str] = (),
        probes: bool = False,
        wanted: Sequence[str] = (),
    ) -> PlainRun:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {
            "texts": list(texts),
            "filename": FILENAME,
            "argv": [FILENAME, *argv],
            "probes": probes,
            "wanted": list(wanted),
        }
        pickle.dump(order, self._process.stdin)
        self._process.stdin.flush()
        told = pickle.load(self._process.stdout)
        died = told.pop("died")
        assert not died, f"the plain process ended with {died}: {told['err']}"
        return PlainRun(**told)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
