"""The values of kernels and runs: choices, requests, listeners, ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

Stream = Literal["stdout", "stderr"]
Reason = Literal["finished", "interrupted", "timeout", "died", "failed"]
PoolState = Literal["cold", "starting", "ready", "failed", "closed"]


@dataclass(frozen=True, slots=True)
class KernelChoice:
    """An interpreter (``python``) or a kernelspec (``spec``); exactly one of them is given."""

    title: str
    python: Path | None = None
    spec: str | None = None


@dataclass(frozen=True, slots=True)
class Confinement:
    """Limits for snippets. ``no_network``: no address can be reached, not even this machine's own
    (Linux, not for kernelspecs). ``memory``: GB that a snippet may allocate beside the memory of a
    fresh kernel (Linux); allocations beyond it raise."""

    no_network: bool = False
    memory: float | None = None


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions in a kernel; ``executable``: the path of its interpreter."""

    python: str
    tensorflow: str
    ipykernel: str
    executable: str


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """The state of a pool; ``detail``: a line for the user, empty if all is well."""

    state: PoolState
    detail: str = ""
    versions: Versions | None = None


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A snippet to run.

    ``filename``: the name in tracebacks. ``cwd``: the folder to run in, None for a fresh empty one.
    ``in_copy``: run in a copy of it, which goes with the process.
    ``options``: of the recorder. ``shows_figures``: report figures of matplotlib and PIL to the
    listener. ``has_terminal``: the listener shows the prompts of secrets and hides what is typed.
    ``prints_all``: all output is passed on, else head and tail of it, with long lines cut.
    ``timeout``: seconds from its start, None for no limit.
    """

    source: str
    filename: str = "<snippet>"
    argv: tuple[str, ...] = ()
    cwd: Path | None = None
    in_copy: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    shows_figures: bool = False
    has_terminal: bool = False
    prints_all: bool = False
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended.

    ``finished``: the snippet came to its end or raised (the recorder says which); ``interrupted``,
    ``timeout``: it was stopped; ``died``: its process ended; ``failed``: it could not be run.
    ``detail``: the same in a line of words. ``exit_code``, ``signal``: of a process that has ended;
    ``line``: the line of the snippet that it was in, if known.
    """

    reason: Reason
    detail: str = ""
    exit_code: int | None = None
    signal: int | None = None
    line: int | None = None


class RunListener(Protocol):
    """Receives the reports of a run, in order, on a background thread; ``ended`` comes last."""

    def events(self, batch: list[bytes], blob: bytes) -> None:
        """Events, each a JSON text, and the bytes that they refer to."""

    def output(self, stream: Stream, text: str) -> None:
        """Text that the snippet wrote. Bytes that are no UTF-8 are lone surrogates (PEP 383)."""

    def pictured(self, png: bytes) -> None:
        """A figure that the snippet showed."""

    def asked(self, prompt: str, is_secret: bool) -> None:
        """The snippet waits in ``input()`` until ``Run.reply`` is called."""

    def ended(self, end: RunEnd) -> None:
        """The run has ended."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended; ``words``: its last output, by stream."""

    exit_code: int | None
    signal: int | None
    words: Mapping[Stream, str] = field(default_factory=dict)
