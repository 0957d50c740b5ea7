"""The nouns of this room: which kernel, what to run in it, what comes back, and how it ended."""

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
    """Limits for snippets. ``no_network``: reach no address, not even this machine's own
    (Linux, interpreters alone); ``memory``: take more than so many GB beside what a kernel has
    (Linux); an allocation beyond it raises."""

    no_network: bool = False
    memory: float | None = None


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of Python and of the packages at the other end."""

    python: str
    tensorflow: str
    ipykernel: str
    executable: str


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """How a pool is doing; ``detail`` is one line for the user, empty when all is well."""

    state: PoolState
    detail: str = ""
    versions: Versions | None = None


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A snippet to run.

    ``filename`` is what tracebacks show. ``cwd`` is the folder it runs in; ``None`` gives it a
    fresh empty one. ``options`` are the recorder's. ``shows_figures``: figures of matplotlib and
    PIL that are shown come to the listener. ``timeout`` is in seconds, from its start.
    """

    source: str
    filename: str = "<snippet>"
    argv: tuple[str, ...] = ()
    cwd: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    shows_figures: bool = False
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended.

    ``finished``: the snippet came to its end or raised (the recorder says which);
    ``interrupted``, ``timeout``: it was stopped; ``died``: its process ended under it;
    ``failed``: it could not be run at all. ``detail`` says it in one line. ``exit_code`` and
    ``signal`` are set when the process is gone; ``line`` is where it was then, if known.
    """

    reason: Reason
    detail: str = ""
    exit_code: int | None = None
    signal: int | None = None
    line: int | None = None


class RunListener(Protocol):
    """Hears of one run, in order, on one background thread; ``ended`` is the last call."""

    def events(self, batch: list[bytes], blob: bytes) -> None:
        """Events, each a JSON text, and the bytes they speak of."""

    def output(self, stream: Stream, text: str) -> None:
        """Text that the snippet wrote."""

    def pictured(self, png: bytes) -> None:
        """A figure that the snippet showed."""

    def asked(self, prompt: str, is_secret: bool) -> None:
        """The snippet waits in ``input()`` until ``Run.reply`` is called."""

    def ended(self, end: RunEnd) -> None:
        """Nothing more will come."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended, and what it wrote at the very last."""

    exit_code: int | None
    signal: int | None
    words: Mapping[Stream, str] = field(default_factory=dict)
