"""A snippet in, the events of its recording out: each one runs in a fresh process."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from textwrap import dedent
from typing import Any, TypeVar

import numpy as np
import pytest

from tapeviz.trace import events as e

HERE = Path(__file__).parent
RECORDER = HERE.parents[1] / "tapeviz" / "recorder"
FILENAME = "snippet.py"

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


class Server:
    """The process that forks one child for each snippet."""

    def __init__(self, folder: Path) -> None:
        self._listener = Listener(str(folder / "socket"), "AF_UNIX")
        # Another interpreter, with another TensorFlow: it needs nothing of ours.
        python = os.environ.get("TAPEVIZ_RECORDER_PYTHON", sys.executable)
        command = [python, str(HERE / "server.py"), str(folder / "socket"), str(RECORDER)]
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TMPDIR": str(folder)}
        self._process = subprocess.Popen(command, env=environment)
        self._orders = self._listener.accept()
        self._children: list[Connection] = []

    def run(
        self, source: str, *, record: bool = True, wanted: tuple[str, ...] = (), **options: Any
    ) -> Recorded:
        child = self.start(source, record=record, wanted=wanted, **options)
        told = child.recv()
        events = [e.decode(line) for line in told["lines"]]
        return Recorded(
            events, told["blob"], told["out"], told["err"], told["values"], _child=child
        )

    def start(
        self,
        source: str,
        *,
        record: bool,
        wanted: tuple[str, ...] = (),
        live: bool = False,
        lacking: str = "",
        **options: Any,
    ) -> Connection:
        options.setdefault("provide", ["tf", "np"])
        argv = options.pop("argv", [FILENAME])
        order = {"source": dedent(source).lstrip("\n"), "filename": FILENAME, "argv": argv}
        self._orders.send(
            {
                **order,
                "record": record,
                "options": options,
                "wanted": list(wanted),
                "live": live,
                "lacking": lacking,
            }
        )
        child = self._listener.accept()
        self._children.append(child)
        return child

    def close_children(self) -> None:
        while self._children:
            self._children.pop().close()

    def close(self) -> None:
        self.close_children()
        self._orders.close()
        self._listener.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._process.kill()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("recorder"))
    yield server
    server.close()


@pytest.fixture
def record(server: Server) -> Iterator[Callable[..., Recorded]]:
    """``record(snippet, **options)``; ``wanted``: names whose values come back."""
    yield server.run
    server.close_children()


@pytest.fixture
def run_plainly(server: Server) -> Callable[..., Recorded]:
    """The same snippet in a process where nothing watches."""

    def run(source: str, **options: Any) -> Recorded:
        return server.run(source, record=False, **options)

    return run
