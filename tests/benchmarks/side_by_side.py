"""A snippet in; what it costs plain and recorded, in turn and in processes of their own, out.

Each run is forked from a process that has imported TensorFlow, or (:func:`compare_in_kernel`) is
one of ``python snippet.py`` and one in a kernel, as users have it. The plain and the recorded one
follow each other, so that a busy machine slows both; the ratio is of the medians.
"""

from __future__ import annotations

import builtins
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from figures import print_row

sys.path.append(str(Path(__file__).parents[1] / "recorder"))
from loading import NAME, load_recorder

ROOT = Path(__file__).parents[2]
RECORDER = ROOT / "tapeviz" / "recorder"
sys.path.insert(0, str(ROOT))

from tapeviz.kernel import KernelPool, own_interpreter  # noqa: E402
from tapeviz.recording.live import Recorder, Snippet  # noqa: E402

_TIMED = """import time as _time
import tensorflow as tf
_began = _time.process_time(), _time.perf_counter()
{source}
print("took", _time.process_time() - _began[0], _time.perf_counter() - _began[1])
"""


class Cost(NamedTuple):
    """Seconds of CPU (user and system, all threads), seconds, bytes of memory at most."""

    cpu: float
    wall: float
    memory: float


class Stopwatch:
    """Measures from its making to :meth:`read`, or what is between the hands of a snippet."""

    def __init__(self) -> None:
        self._stopped: tuple[float, float] | None = None
        self._memory = _peak()
        self.start()

    def start(self) -> None:
        self._started = time.process_time(), time.perf_counter()

    def stop(self) -> None:
        self._stopped = time.process_time(), time.perf_counter()

    def hands(self) -> dict[str, Callable[[], None]]:
        """Names that a snippet may call around the part that counts."""
        return {"_started": self.start, "_stopped": self.stop}

    def read(self) -> Cost:
        if self._stopped is None:
            self.stop()
        assert self._stopped is not None
        cpu, wall = (b - a for a, b in zip(self._started, self._stopped, strict=True))
        return Cost(cpu, wall, _peak() - self._memory)


@dataclass(frozen=True)
class Pair:
    """The same snippet so many times plain, and as often recorded."""

    plain: list[Cost]
    recorded: list[Cost]

    def ratio(self, what: str) -> float:
        """Recorded to plain: of the medians of ``cpu`` or ``wall``."""
        return _median(self.recorded, what) / _median(self.plain, what)


def load_both() -> None:
    """TensorFlow and the recorder: children are forked from a process that has them."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow  # noqa: F401

    load_recorder(RECORDER)


def in_a_child(run: Callable[[str], Any], source: str) -> Any:
    """The result of ``run(source)``, as JSON passes it on, in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with redirect_stdout(io.StringIO()):
                measured = run(source)
            os.write(writing, json.dumps(measured).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        return json.loads(pipe.read())


def record(source: str) -> tuple[Cost, list[str]]:
    """The cost of a recorded run, encoding included, and its events. Here, not in a child."""
    events: list[str] = []

    def send(lines: list[str], blob: bytes) -> None:
        "\n".join(lines).encode()
        events.extend(lines)

    watch = Stopwatch()
    vars(builtins).update(watch.hands())
    options = {"provide": ["tf"]}
    sys.modules[NAME].run(source, "snippet.py", ["snippet.py"], options, send)
    return watch.read(), events


def compare(title: str, source: str, rounds: int, wanted: float) -> Pair:
    """Run both in turn, print a line, and one of the table."""
    pair = Pair([], [])
    for _ in range(rounds):
        pair.plain.append(Cost(*in_a_child(_plain, source)))
        pair.recorded.append(Cost(*in_a_child(lambda text: record(text)[0], source)))
    cpu, wall = pair.ratio("cpu"), pair.ratio("wall")
    least = min(cost.cpu for cost in pair.recorded) / min(cost.cpu for cost in pair.plain)
    memory = (_median(pair.recorded, "memory") - _median(pair.plain, "memory")) / 2**20
    print(
        f"{title}: {cpu:.2f} times the plain run by CPU (fastest to fastest {least:.2f}),"
        f" {wall:.2f} by the clock, {memory:+.0f} MB; plain {_median(pair.plain, 'cpu'):.3f} s"
    )
    figure = f"{cpu:.2f} times by CPU, {wall:.2f} by the clock, {memory:+.0f} MB"
    print_row(f"recording {title}", figure, f"{wanted} times")
    return pair


def compare_in_kernel(titles: dict[str, str], rounds: int, wanted: float) -> None:
    """Print a line for each snippet, run by ``python`` and recorded in a kernel in turn.

    Both take their own time, from the import of TensorFlow to the end.
    """
    with KernelPool(own_interpreter()) as pool, tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(pool)
        for title, source in titles.items():
            text = _TIMED.format(source=source)
            file = Path(folder) / "snippet.py"
            file.write_text(text, encoding="utf-8")
            pair = Pair([], [])
            for _ in range(rounds):
                command = [sys.executable, str(file)]
                printed = subprocess.run(command, check=True, capture_output=True, text=True)
                pair.plain.append(_cost_in(printed.stdout))
                live = recorder.record(Snippet(text))
                trace = live.wait(600)
                live.release()
                pair.recorded.append(_cost_in("".join(each for _, each in trace.printed)))
            figure = f"{pair.ratio('cpu'):.2f} times by CPU, {pair.ratio('wall'):.2f} by the clock"
            print_row(f"recording in a kernel {title}", figure, f"{wanted} times")


def _cost_in(printed: str) -> Cost:
    _, _, numbers = printed.rpartition("took ")
    cpu, wall = map(float, numbers.split())
    return Cost(cpu, wall, 0.0)


def _plain(source: str) -> Cost:
    import tensorflow as tf

    with tempfile.TemporaryDirectory() as folder:
        name = Path(folder) / "snippet.py"
        name.write_text(source, encoding="utf-8")  # AutoGraph reads it
        code = compile(source, str(name), "exec")
        watch = Stopwatch()
        exec(code, {"tf": tf, "__name__": "__main__", **watch.hands()})
        return watch.read()


def _median(costs: list[Cost], what: str) -> float:
    return median(getattr(cost, what) for cost in costs)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
