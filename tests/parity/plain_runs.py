"""A snippet in, what it prints, computes and raises without tapeviz out."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILENAME = "snippet.py"

Bits = tuple[str, tuple[int, ...], bytes]
"""dtype, shape and elements, each bit of them."""


@dataclass(frozen=True)
class PlainRun:
    """The outcome of a snippet. ``failure``: type, message and line of its exception;
    ``traceback``: what Python prints of it. ``died``: the status of a process that ended early.
    ``is_script``: of a process of its own only ``out``, ``err`` (with the traceback) and ``status``
    are known.

    ``calls``: each gradient call's name and its results in flat order: None, bits, or
    ``"symbolic"`` for a tensor of a graph that no session computed. ``probes``: name of a tensor,
    and for each tape around it whether TensorFlow would record an op on it.
    """

    out: str
    err: str
    died: int = 0
    is_script: bool = False
    failure: tuple[str, str, int] | None = None
    traceback: str = ""
    status: Any = None
    calls: list[tuple[str, list[Bits | str | None]]] = field(default_factory=list)
    probes: list[tuple[str, dict[str, bool]]] = field(default_factory=list)
    values: list[dict[str, Any]] = field(default_factory=list)


class PlainRuns:
    """The process that runs snippets plainly, each in a fork of its own."""

    def __init__(self, interpreter: str = sys.executable) -> None:
        self._interpreter = interpreter
        self._asking = threading.Lock()
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        script = Path(__file__).with_name("plain_process.py")
        environment = {"TF_CPP_MIN_LOG_LEVEL": "2", "MPLBACKEND": "Agg", **os.environ}
        return subprocess.Popen(
            [self._interpreter, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )

    def run(
        self,
        text: str,
        *,
        argv: Sequence[str] = (),
        probes: bool = False,
        wanted: Sequence[str] = (),
    ) -> PlainRun:
        """Run a snippet to the end of its text, with the results of its gradient calls kept.

        ``probes``: it finds a ``probe(name, tensor, tapes)`` among its names. ``wanted``: names
        whose values are kept, too.
        """
        answer = self._answer([text], argv=argv, keep_results=True, probes=probes, wanted=wanted)
        assert not answer.died, f"the plain process ended with {answer.died}: {answer.err}"
        return answer

    def run_untouched(self, text: str, folder: Path, *, argv: Sequence[str] = ()) -> PlainRun:
        """Run a snippet as a file in ``folder``, with nothing of TensorFlow's replaced: ``calls``
        stays empty. One that does without TensorFlow costs little as a script of its own, with
        no stack frame above it."""
        if "tensorflow" not in text:
            return self._run_script(folder, argv)
        return self._answer([text], argv=argv, folder=folder)

    def _run_script(self, folder: Path, argv: Sequence[str]) -> PlainRun:
        ran = subprocess.run(
            [self._interpreter, FILENAME, *argv],
            cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        return PlainRun(
            ran.stdout.decode(), ran.stderr.decode(), status=ran.returncode, is_script=True
        )

    def values(self, texts: Sequence[str], name: str) -> list[Any]:
        """The value that each text leaves under a name, in NumPy's form; None where nothing is."""
        return [found.get(name) for found in self._answer(texts, wanted=[name]).values]

    def _answer(
        self,
        texts: Sequence[str],
        *,
        argv: Sequence[str] = (),
        keep_results: bool = False,
        probes: bool = False,
        wanted: Sequence[str] = (),
        folder: Path | None = None,
    ) -> PlainRun:
        order = {
            "texts": list(texts),
            "folder": str(folder or ""),
            "filename": str(folder / FILENAME) if folder else FILENAME,
            "argv": [FILENAME, *argv],
            "keep_results": keep_results,
            "probes": probes,
            "wanted": list(wanted),
        }
        with self._asking:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            try:
                pickle.dump(order, self._process.stdin)
                self._process.stdin.flush()
                answer = pickle.load(self._process.stdout)
            except BaseException:  # the answer would be taken for that of the next order
                self._process.kill()
                self._process.wait()
                self._process = self._start()
                raise
        return PlainRun(**answer)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
