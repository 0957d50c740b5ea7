"""Examples in, their recordings as fixtures out: ``python tests/recordings/make.py [NAME …]``.

Each is recorded in a real kernel. What belongs to the machine or the moment (the interpreter's
path, times, what TensorFlow's C++ code logs) is taken out, so that a new recording of the same
example differs only where the recorder or TensorFlow do.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

FOLDER = Path(__file__).resolve().parent
SECONDS = 120.0

if __name__ == "__main__":
    sys.path.insert(0, str(FOLDER.parents[1]))

from tapeviz.files.examples import Example, examples  # noqa: E402
from tapeviz.trace import events as e  # noqa: E402
from tapeviz.trace.stored.file import Recording, save  # noqa: E402

_LOGGED = re.compile(r"^([EIWF]\d{4} |WARNING: All log messages before absl).*\n?", re.MULTILINE)


def without_machine(recording: Recording) -> Recording:
    """The recording as any machine would have made it."""
    events = (event for line in recording.events for event in _neutral(e.decode(line)))
    return replace(recording, events=tuple(e.encode(event) for event in events))


def _neutral(event: e.Event) -> Iterator[e.Event]:
    if isinstance(event, e.Begin):
        yield msgspec.structs.replace(event, executable="")
    elif isinstance(event, e.Ended):
        yield msgspec.structs.replace(event, seconds=0.0)
    elif isinstance(event, e.Printed):
        text = _LOGGED.sub("", event.text)
        if text:
            yield e.Printed(event.stream, text)
    else:
        yield event


def make(chosen: list[Example]) -> None:
    """Record the examples, one after the other, and save them beside this file."""
    from tapeviz.kernel import KernelPool, own_interpreter
    from tapeviz.recording.live import Recorder, Snippet

    pool = KernelPool(own_interpreter())
    pool.warm()
    try:
        for each in chosen:
            snippet = Snippet(each.text, each.path.name)
            live = Recorder(pool).record(snippet)
            trace = live.wait(SECONDS)
            live.release()
            if trace.failure is not None or trace.notes:
                raise SystemExit(f"{each.name}: {trace.failure or trace.notes}")
            path = FOLDER / f"{each.name}.tape"
            save(without_machine(live.recording()), path)
            print(f"{path.name}: {len(live.recording().events)} events, {path.stat().st_size} B")
    finally:
        pool.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", metavar="NAME", nargs="*", help="examples; without: all")
    names = parser.parse_args().names
    known = {each.name: each for each in examples()}
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"there is no example {', '.join(unknown)}")
    make([known[name] for name in names] if names else list(known.values()))


if __name__ == "__main__":
    main()
