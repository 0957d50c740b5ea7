"""Read the files named on the command line: their traces and diagnoses."""

from __future__ import annotations

import argparse
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..analysis import diagnose
from ..analysis.model import Diagnosis
from ..errors import TapevizError
from ..files.code import read_code
from ..files.notebook import code_in
from ..kernel import (
    Confinement,
    KernelChoice,
    KernelPool,
    choose_interpreter,
    choose_kernel,
    own_interpreter,
)
from ..recording.kept import KeptRecording
from ..recording.live import Listener, Recorder, Reply, Snippet
from ..recording.shares import ShareTable, share_tables
from ..trace.ids import CallId
from ..trace.model import Trace
from ..trace.stored.file import Recording, load
from .options import wanted_turns

if TYPE_CHECKING:
    from ..document.pipeline import Opener

_BYTES = re.compile("([\udc80-\udcff]+)")
"""Bytes that are no UTF-8, in decoded text (PEP 383)."""

Entering = Callable[["Opener", Trace], Trace]


class TimedOut(TapevizError):
    """The snippet ran longer than ``--timeout`` allows."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A recording with its trace and diagnosis."""

    recording: Recording
    trace: Trace
    diagnosis: Diagnosis
    snippet: Snippet | None = None
    """The snippet that was run; None for a recording from a file."""
    shares: Mapping[CallId, ShareTable] = field(default_factory=dict)


class _Passing(Listener):
    """Passes the snippet's output on, with ``--json`` all of it to standard error.

    If that fails (a closed pipe, a full disk) the run is stopped.
    """

    def __init__(self, only_stderr: bool) -> None:
        self._only_stderr = only_stderr
        self._trouble: OSError | None = None
        self._stop: Callable[[], None] | None = None
        self._unfinished: dict[str, bool] = {}

    def printed(self, stream: str, text: str) -> None:
        if self._trouble is not None:
            return
        name = "stderr" if self._only_stderr else stream
        to = sys.stderr if name == "stderr" else sys.stdout
        try:
            _write(to, text)
            to.flush()
        except OSError as error:
            self._trouble = error
            if self._stop is not None:
                self._stop()
        if text:
            self._unfinished[name] = not text.endswith("\n")

    def asked(self, prompt: str, is_secret: bool, reply: Reply) -> None:
        """Answer ``input()`` with a line of our standard input, as in a plain run."""
        # A thread of its own: the kernel's has to go on while the user thinks.
        threading.Thread(
            target=lambda: reply(_read_secret(prompt) if is_secret else _read_line()),
            name="tapeviz-input",
            daemon=True,
        ).start()

    def stop_in_trouble(self, stop: Callable[[], None]) -> None:
        """Call ``stop`` if output cannot be passed on, now or later."""
        self._stop = stop
        if self._trouble is not None:
            stop()

    def conclude(self) -> None:
        """Raise an error of passing output on; end a line that the snippet left open."""
        self._stop = None
        if self._trouble is not None:
            raise self._trouble
        for name, is_open in self._unfinished.items():
            if is_open:
                self.printed(name, "\n")


def _write(file: TextIO, text: str) -> None:
    """Write output of a snippet; its bytes that are no UTF-8 stay as they are."""
    raw = getattr(file, "buffer", None)
    for number, part in enumerate(_BYTES.split(text)):
        if number % 2 and raw is not None:
            file.flush()
            raw.write(part.encode("utf-8", "surrogateescape"))
        else:
            file.write(part)


def _read_line() -> str | None:
    try:
        line = sys.stdin.readline()
    except (OSError, ValueError):
        return None
    return line or None


def _read_secret(prompt: str) -> str | None:
    """A line that the terminal does not show, as ``getpass()`` reads it in a plain run."""
    import getpass

    try:
        return getpass.getpass(prompt)
    except (OSError, ValueError, EOFError):
        return None


class Inputs:
    """Records or loads the inputs; the kernel is started for the first snippet."""

    def __init__(
        self, options: argparse.Namespace, *, only_stderr: bool, files: int, runs_again: bool
    ) -> None:
        self._options = options
        self._listener = _Passing(only_stderr)
        # Fixes and gradients across NumPy code take runs of their own.
        self._runs = None if runs_again else files
        self._pool: KernelPool | None = None

    def record(
        self, name: str, *, with_shares: bool = False, enter: Entering | None = None
    ) -> Explained:
        """Run the file ``name`` (``-``: standard input), or load it if it is a ``.tape``.

        ``with_shares``: also what each target gives to each source; a recording that was kept has
        the shares that were computed with it. ``enter``: asks the run, while its process lives,
        for steps inside.
        """
        if name.endswith(".tape"):
            recording = load(Path(name))
            kept = KeptRecording(recording)
            trace = enter(kept, kept.wait()) if enter is not None else kept.wait()
            tables = share_tables(kept) if with_shares else {}
            return Explained(recording, trace, diagnose(trace), shares=tables)
        asked = snippet(name, self._options)
        recording, trace, tables, again = self._run(asked, with_shares, enter)
        return Explained(recording, trace, diagnose(trace), again, tables)

    def try_fixes(
        self, explained: Explained, on_progress: Callable[[int, int], None] | None = None
    ) -> Explained:
        """Add fixes that were tried. A recording from a file is never run again."""
        from ..fixes import try_fixes

        like = explained.snippet
        if like is None:
            return explained
        mended = try_fixes(
            explained.trace,
            explained.diagnosis,
            Recorder(self._kernels()),
            like=like,
            on_progress=on_progress,
        )
        return replace(explained, diagnosis=mended)

    def cross(self, explained: Explained) -> Explained:
        """Add the gradients across NumPy code, which needs another run if there is any."""
        from ..fixes import Outcome, cross_cuts

        like = explained.snippet
        if like is None:
            return explained
        before = Outcome(explained.trace, explained.diagnosis)
        return replace(explained, diagnosis=cross_cuts(before, Recorder(self._kernels()), like))

    def _run(
        self, asked: Snippet, with_shares: bool, enter: Entering | None
    ) -> tuple[Recording, Trace, Mapping[CallId, ShareTable], Snippet]:
        live = Recorder(self._kernels()).record(asked, self._listener)
        try:
            self._listener.stop_in_trouble(live.stop)
            trace = live.wait()
            self._listener.conclude()
            if trace.ending.how == "timeout":
                raise TimedOut(
                    f"{asked.filename} still ran after {asked.timeout:g} s and was stopped; "
                    "--timeout S gives it longer"
                )
            if trace.ending.how == "failed":
                raise TapevizError(trace.ending.detail)
            trace = enter(live, trace) if enter is not None else trace
            tables = share_tables(live) if with_shares else {}
            return live.recording(), trace, tables, live.again
        except KeyboardInterrupt:
            live.stop()
            raise
        finally:
            live.release()

    def _kernels(self) -> KernelPool:
        if self._pool is None:
            self._pool = KernelPool(
                chosen_kernel(self._options),
                runs=self._runs,
                confinement=Confinement(self._options.no_network, self._options.memory),
            )
            self._pool.warm()
        return self._pool

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()


@contextmanager
def inputs(
    options: argparse.Namespace, *, only_stderr: bool = False, files: int = 1, runs_again: bool
) -> Iterator[Inputs]:
    """The inputs, whose kernels end with the ``with`` block. ``files``: how many there are;
    ``runs_again``: a snippet is run more than once, as for fixes."""
    opened = Inputs(options, only_stderr=only_stderr, files=files, runs_again=runs_again)
    try:
        yield opened
    finally:
        opened.close()


def chosen_kernel(options: argparse.Namespace) -> KernelChoice:
    """The kernel that ``--python`` or ``--kernel`` asks for, else tapeviz's own interpreter."""
    if options.kernel:
        return choose_kernel(options.kernel)
    return choose_interpreter(options.python) if options.python else own_interpreter()


def snippet(name: str, options: argparse.Namespace) -> Snippet:
    """The text of a file, a notebook's code cells, or standard input."""
    if name == "-":
        text, filename, directory = code_in(sys.stdin.read()), "<stdin>", Path.cwd()
    else:
        path = Path(name)
        text, filename, directory = read_code(path), str(path), path.absolute().parent
    arguments = tuple(options.args)
    return Snippet(
        text,
        filename,
        arguments,
        directory,
        options.timeout,
        getattr(options, "round", None),
        wanted_turns(options),
        has_terminal=sys.stdin is not None and sys.stdin.isatty(),
        prints_all=True,
    )
