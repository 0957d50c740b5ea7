"""One pool with a fake recorder for the whole session: TensorFlow is imported once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tapeviz.kernel import KernelPool, Run, RunEnd, RunRequest, own_interpreter
from tapeviz.kernel.model import Stream
from tests.waiting import PATIENCE

FAKE_RECORDER = Path(__file__).parent / "fake_recorder"


@dataclass
class Heard:
    """A listener that keeps what it hears."""

    events_heard: list[dict[str, Any]] = field(default_factory=list)
    blobs: list[bytes] = field(default_factory=list)
    written: list[tuple[Stream, str]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)
    first: threading.Event = field(default_factory=threading.Event)
    run: Run | None = None
    end: RunEnd | None = None
    pictures: list[bytes] = field(default_factory=list)
    questions: list[tuple[str, bool]] = field(default_factory=list)
    answers: list[str | None] = field(default_factory=list)
    """Lines for ``input()``; when they are used up nobody answers."""

    def events(self, batch: list[bytes], blob: bytes) -> None:
        self.first.set()
        self._note("events")
        self.events_heard += map(json.loads, batch)
        self.blobs.append(blob)

    def output(self, stream: Stream, text: str) -> None:
        self._note("output")
        self.written.append((stream, text))

    def asked(self, prompt: str, is_secret: bool) -> None:
        self._note("asked")
        self.questions.append((prompt, is_secret))
        if self.answers and self.run is not None:
            line = self.answers.pop(0)
            self.run.reply(None if line is None else f"{line}\n")

    def pictured(self, png: bytes) -> None:
        self._note("pictured")
        self.pictures.append(png)

    def ended(self, end: RunEnd) -> None:
        self._note("ended")
        self.end = end

    def _note(self, call: str) -> None:
        self.calls.append(call)
        self.threads.add(threading.get_ident())

    @property
    def kinds(self) -> list[str]:
        return [event["kind"] for event in self.events_heard]

    def text(self, stream: Stream = "stdout") -> str:
        return "".join(text for name, text in self.written if name == stream)

    def events_of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events_heard if event["kind"] == kind]


@pytest.fixture(scope="session")
def pool() -> Iterator[KernelPool]:
    with KernelPool(own_interpreter(), reserve=2, recorder=FAKE_RECORDER) as pool:
        pool.warm()
        yield pool


@pytest.fixture
def start(pool: KernelPool) -> Iterator[Callable[..., Heard]]:
    """Start a snippet in the shared pool and wait for its first event."""
    runs: list[Run] = []

    def start(source: str, **request: Any) -> Heard:
        heard = Heard(answers=list(request.pop("answers", ())))
        heard.run = pool.run(RunRequest(source, **request), heard)
        runs.append(heard.run)
        if not request.get("options"):
            assert heard.first.wait(PATIENCE)
        return heard

    yield start
    for run in runs:
        run.release()


@pytest.fixture
def play(start: Callable[..., Heard]) -> Callable[..., Heard]:
    """Run a snippet to its end."""

    def play(source: str, **request: Any) -> Heard:
        heard = start(source, **request)
        assert heard.run is not None
        heard.run.wait(PATIENCE)
        return heard

    return play
