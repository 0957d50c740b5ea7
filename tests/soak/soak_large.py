"""The largest programs, in a window each: how long it does not answer, when the first picture
stands, how much memory it takes.

python tests/soak/soak_large.py [NAME…]      WHERE=1: what the window's thread did in each long gap
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).parents[2]))

from tapeviz.cli import collect_seldom
from tapeviz.document import Document
from tests.soak.figures import SEED, TINY, print_detail, print_row
from tests.soak.watched_app import (
    MOST_GAP,
    Gaps,
    end_app,
    is_quiet,
    machine_is_idle,
    open_app,
    turn_until,
)

MOST_SECONDS, MOST_MEMORY = 10.0, 5.0
LONGEST = 400.0
N = 20 if TINY else 1
WARM = "v = tf.Variable(1.0)\nwith tf.GradientTape() as t:\n    y = v * v\nt.gradient(y, v)\n"
PROGRAMS = {
    f"{20_000 // N:,} cut sources": (
        f"vs = [tf.Variable({SEED}.0) for _ in range({20_000 // N})]\n"
        "with tf.GradientTape() as tape:\n    loss = tf.add_n([tf.round(v) for v in vs])\n"
        "tape.gradient(loss, vs)\n"
    ),
    f"{10_000 // N:,} variables": (
        f"vs = [tf.Variable({SEED}.0) for _ in range({10_000 // N})]\n"
        "with tf.GradientTape() as tape:\n    loss = tf.add_n([v * v for v in vs])\n"
        "tape.gradient(loss, vs)\n"
    ),
    f"{5_000 // N:,} gradient calls": (
        f"v = tf.Variable({SEED}.0)\nfor step in range({5_000 // N}):\n"
        "    with tf.GradientTape() as tape:\n        loss = tf.square(v - 3.0)\n"
        "    v.assign_sub(0.01 * tape.gradient(loss, v))\n"
    ),
    f"{200_000 // N:,} ops": (
        f"v = tf.Variable(0.{SEED})\nwith tf.GradientTape() as tape:\n    x = tf.sin(v)\n"
        f"    for step in range({100_000 // N}):\n        x = tf.sin(x) * 1.0001\n"
        "print(tape.gradient(x, v))\n"
    ),
}


def megabytes(field: str) -> float:
    """Of this process: ``VmRSS``, or ``VmHWM``, which is the most."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    return 0.0


class Watcher(threading.Thread):
    """Looks, from a thread of its own, at the memory in each phase and at the window's thread."""

    def __init__(self, document: Document, gaps: Gaps) -> None:
        super().__init__(daemon=True)
        self.most: dict[str, float] = {}
        """The memory, by the kinds of work in the background."""
        self.stacks: Counter[str] = Counter()
        self._document, self._gaps = document, gaps
        self._window = threading.get_ident()
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.02):
            document = self._document
            phase = "+".join(
                sorted(document.background.busy | ({"run"} if document.is_running else set()))
            )
            self.most[phase] = max(self.most.get(phase, 0.0), megabytes("VmRSS"))
            if time.perf_counter() - self._gaps.last > MOST_GAP / 2:
                self.stacks[_words(sys._current_frames()[self._window])] += 1


def _words(frame: FrameType | None) -> str:
    lines = []
    while frame is not None and len(lines) < 12:
        name = Path(frame.f_code.co_filename)
        lines.append(f"{name.parent.name}/{name.name}:{frame.f_lineno} {frame.f_code.co_name}")
        frame = frame.f_back
    return "\n    ".join(lines)


def measure(name: str) -> None:
    """Run one program in the window of this process."""
    collect_seldom()
    window = open_app()
    document, gaps = window.document, Gaps()
    document.fix_trials.is_on = False  # each is a run of the whole program
    document.open_source(WARM)
    document.run()
    turn_until(lambda: is_quiet(window), 120)
    document.open_source(PROGRAMS[name])
    turn_until(lambda: False, 3.0)  # a process for the next run starts beside this
    is_idle = machine_is_idle()
    ended: list[tuple[float, float]] = []
    arranged: list[float] = []
    pictured: list[tuple[float, float]] = []

    def look(times: list[tuple[float, float]]) -> None:
        times.append((time.perf_counter(), time.process_time()))

    document.run_ended.connect(lambda: look(ended))
    document.arrangement_changed.connect(lambda: arranged.append(bool(ended)))
    document.scene_changed.connect(lambda: look(pictured) if True in arranged else None)
    Path("/proc/self/clear_refs").write_text("5")  # forget the most memory so far
    before = megabytes("VmRSS")
    watcher = Watcher(document, gaps)
    gaps.reset()
    watcher.start()
    began = time.perf_counter()
    document.run()
    is_over = turn_until(lambda: ended and pictured and is_quiet(window), LONGEST)
    turn_until(lambda: False, 1.0)
    most = megabytes("VmHWM")
    watcher.ended.set()
    if not is_over:
        print_row(f"window with {name}", 1, 1, f"not over after {LONGEST:.0f} s")
        os._exit(0)
    recording = document.runs.recording.recording()
    size = (sum(map(len, recording.events)) + len(recording.blob)) / 2**20
    clock, cpu = (shown - at for shown, at in zip(pictured[0], ended[0], strict=True))
    times = (most - before) / size
    is_small = times <= MOST_MEMORY or TINY
    is_good = gaps.are_short(is_idle) and cpu <= MOST_SECONDS and is_small
    phases = (
        f"{what or 'rest'} {(high - before) / size:.1f}" for what, high in watcher.most.items()
    )
    print_detail(
        f"{name}: ran {ended[0][0] - began:.0f} s, {size:.0f} MB, load {os.getloadavg()[0]:.1f}; "
        f"memory by phase: {', '.join(phases)}"
    )
    for stack, count in watcher.stacks.most_common(8) if "WHERE" in os.environ else ():
        print_detail(f"{count} times {stack}")
    print_row(
        f"window with {name}",
        1,
        int(not is_good),
        f"{gaps.words(is_idle)}; picture after {cpu:.1f} s of CPU, {clock:.1f} by the clock; "
        f"memory {times:.1f} times the recording",
    )
    end_app(window)


def main(names: list[str]) -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if len(names) == 1 and names[0] in PROGRAMS:
        measure(names[0])
    for name in [name for name in PROGRAMS if not names or any(word in name for word in names)]:
        run = subprocess.run([sys.executable, __file__, name], timeout=2 * LONGEST)
        if run.returncode:
            print_row(f"window with {name}", 1, 1, f"it ended with status {run.returncode}")


if __name__ == "__main__":
    main(sys.argv[1:])
