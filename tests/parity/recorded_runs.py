"""A snippet in, its recording in a real kernel out, exactly as the application makes it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tapeviz.trace.ids import TensorId
from tapeviz.trace.model import Trace
from tapeviz.trace.stats import Array

from .plain_runs import FILENAME

if TYPE_CHECKING:
    from tapeviz.recording.live import LiveRecording, Recorder

# What TensorFlow's C++ code says about the machine carries times and process numbers; each line of
# older versions begins with the date.
_MACHINE = re.compile(
    r"^([EIWF]\d{4} |\d{4}-\d\d-\d\d [\d:.]+: [EIWF] |WARNING: All log messages before absl).*\n?",
    re.MULTILINE,
)

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
_GENERATED = re.compile(r"__autograph_generated_file\w{8}")
_HARNESS = re.compile(r'^ *File "[^"]*plain_process\.py", line \d+, in .*\n\n?', re.MULTILINE)


@dataclass(frozen=True)
class RecordedRun:
    """A trace, and the values that were too large to travel with it."""

    trace: Trace
    live: LiveRecording

    def printed(self, stream: str) -> str:
        text = "".join(said for where, said in self.trace.printed if where == stream)
        return without_chance(without_machine(text))

    def value(self, tensor: TensorId) -> Array:
        """All elements; of a graph's tensor what a session computed for it last."""
        tensor = self.trace.fetched.get(tensor, tensor)
        value = self.trace.value(tensor)
        return self.live.fetch_tensor(tensor) if value is None else value


def without_machine(text: str) -> str:
    """The text without the lines that TensorFlow's C++ code logs."""
    return _MACHINE.sub("", text)


def without_chance(text: str) -> str:
    """The text with one word for what is another in each plain run: addresses, and the names of
    AutoGraph's files; without the stack frames of the process that runs snippets plainly."""
    text = _ADDRESS.sub("0x…", text)
    text = _GENERATED.sub("__autograph_generated_file", text)
    return _HARNESS.sub("", text)


@contextlib.contextmanager
def recorded(
    recorder: Recorder,
    text: str,
    arguments: Sequence[str] = (),
    folder: Path | None = None,
    **options: Any,
) -> Iterator[RecordedRun]:
    """Record a snippet, as a file in ``folder`` if given; its kernel stays until the block ends."""
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(text, FILENAME, tuple(arguments), folder, options=options))
    assert live.repaired.text == text, live.repaired.repairs
    try:
        yield RecordedRun(live.wait(90), live)
    finally:
        live.release()
