"""Nothing in; how long the kernel room takes for what a user waits for out.

Run it with ``python tests/benchmarks/bench_kernel.py``. Its recorder is a fake, so it measures the
way to the kernel and back alone.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from figures import print_row  # noqa: E402

from tapeviz.kernel import KernelPool, PoolStatus, RunEnd, RunRequest, own_interpreter  # noqa: E402

FAKE_RECORDER = ROOT / "tests" / "kernel" / "fake_recorder"
ROUNDS = 10


class Clock:
    """Notes when the first event and the end arrive."""

    def __init__(self) -> None:
        self.begun = time.perf_counter()
        self.first = 0.0

    def events(self, batch: list[bytes], blob: bytes) -> None:
        self.first = self.first or time.perf_counter() - self.begun

    def output(self, stream: str, text: str) -> None:
        pass

    def ended(self, end: RunEnd) -> None:
        self.spent = time.perf_counter() - self.begun


def main() -> None:
    """Print one line for each measurement."""
    ready = threading.Event()

    def on_status(status: PoolStatus) -> None:
        if status.state == "ready":
            ready.set()

    begun = time.perf_counter()
    own = own_interpreter()
    with KernelPool(own, recorder=FAKE_RECORDER, on_status=on_status) as pool:
        pool.warm()
        ready.wait()
        print_row("first kernel ready", f"{time.perf_counter() - begun:.2f} s")
        warm(pool, pause=2.0)
        cold(pool)
        once(pool, "50,000 events", "for n in range(50_000): emit(kind='n', n=n)", {"hold": True})
        once(pool, "100 MB of prints", "for n in range(1_000_000): print('y' * 99)", {})


def warm(pool: KernelPool, pause: float) -> None:
    """A reserve kernel waits: from ``run()`` to the first event."""
    firsts = []
    for _ in range(ROUNDS):
        time.sleep(pause)
        firsts.append(play(pool, "pass", {}).first * 1000)
    figure = f"{statistics.median(firsts):.1f} ms, at most {max(firsts):.1f}"
    print_row("run() to the first event, a kernel in reserve", figure)


def cold(pool: KernelPool) -> None:
    """No kernel waits: one is forked for each run."""
    firsts = [play(pool, "pass", {}).first for _ in range(ROUNDS)][1:]
    figure = f"{statistics.median(firsts):.2f} s, at most {max(firsts):.2f}"
    print_row("run() to the first event, without a reserve", figure)


def once(pool: KernelPool, what: str, source: str, options: dict[str, bool]) -> None:
    """One run, from its first event to its end."""
    time.sleep(2.0)
    print_row(f"a run of {what}", f"{play(pool, source, options).spent:.2f} s")


def play(pool: KernelPool, source: str, options: dict[str, bool]) -> Clock:
    clock = Clock()
    run = pool.run(RunRequest(source, options=options), clock)
    run.wait()
    run.release()
    return clock


if __name__ == "__main__":
    main()
