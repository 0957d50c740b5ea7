"""A snippet in, the events of its recording out: each one runs in a fresh process."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from textwrap import dedent
from typing import Any, TypeVar

import numpy as np
import pytest

from tapeviz.trace import events as e

from .forks import ForkServer

_E = TypeVar("_E")


@dataclass
class Recorded:
    """The outcome of a snippet."""

    events: list[e.Event]
    blob: bytes
    out: str
    err: str
    values: dict[str, Any]
    _child: Connection = field(repr=False)

    def of(self, kind: type[_E]) -> list[_E]:
        """The events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    def one(self, kind: type[_E]) -> _E:
        found = self.of(kind)
        assert len(found) == 1, found
        return found[0]

    def ops(self, op_type: str | None = None) -> list[e.OpRan]:
        return [op for op in self.of(e.OpRan) if op_type in (None, op.type)]

    def op(self, op_type: str) -> e.OpRan:
        (found,) = self.ops(op_type)
        return found

    def line(self, site: int) -> int:
        frames = self.frames(site)
        return frames[0][1] if frames else 0

    def frames(self, site: int) -> list[tuple[str, int, int, int, int]]:
        sites = {event.id: event for event in self.of(e.SiteSeen)}
        frames: list[tuple[str, int, int, int, int]] = []
        while site:
            frames += sites[site].frames
            site = sites[site].caller
        return frames

    def tensor(self, identity: int) -> e.TensorSeen:
        """The last event about a tensor."""
        return [event for event in self.of(e.TensorSeen) if event.id == identity][-1]

    def value(self, identity: int) -> Any:
        """The elements of a tensor that travelled."""
        seen = self.tensor(identity)
        assert seen.at >= 0, seen
        raw = self.blob[seen.at : seen.at + seen.nbytes]
        return np.frombuffer(raw, seen.dtype).reshape(seen.shape or ())

    def sample(self, name: str) -> Any:
        """The elements that travelled for the picture of the large tensor bound to a name."""
        seen = self.tensor(self.bound(name)[0])
        if seen.sample is None:
            return None
        start, rows, columns = seen.sample
        dtype = "uint16" if seen.dtype == "bfloat16" else seen.dtype
        return np.frombuffer(self.blob, dtype, rows * columns, start).reshape(rows, columns)

    def bound(self, name: str) -> list[int]:
        """Ids of the tensors that a name was bound to, in order."""
        return [t for event in self.of(e.NameBound) if event.name == name for t, _ in event.tensors]

    def ask(self, name: str, **arguments: Any) -> tuple[dict[str, Any], list[bytes]]:
        """Ask the recorder after the run."""
        self._child.send((name, arguments))
        answer: tuple[dict[str, Any], list[bytes]] = self._child.recv()
        return answer


def outcome(forks: ForkServer, source: str, **options: Any) -> Recorded:
    """Run a snippet in a fork, and wait for its end."""
    fork = forks.start(dedent(source).lstrip("\n"), **options)
    answer = fork.connection.recv()
    events = [e.decode(line) for line in answer["lines"]]
    return Recorded(
        events,
        answer["blob"],
        answer["out"],
        answer["err"],
        answer["values"],
        _child=fork.connection,
    )


@pytest.fixture
def record(forks: ForkServer) -> Callable[..., Recorded]:
    """``record(snippet, **options)``; ``wanted``: names whose values come back."""
    return functools.partial(outcome, forks)


@pytest.fixture
def run_plainly(forks: ForkServer) -> Callable[..., Recorded]:
    """The same snippet in a process where nothing watches."""
    return functools.partial(outcome, forks, record=False)
