"""The cost of each phase, and how it grows with the rounds of a loop and the ops in one tape.

    python tests/benchmarks/bench_phases.py [rounds|ops|"Keras rounds"]

Each size is recorded for real and run plainly, then read, diagnosed, built, folded, laid out and
composed in a process of its own. CPU seconds (user and system), not the clock's; peak memory
against the size of the recording (its events and values, not compressed).
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from figures import LONG, exponent, print_row

SNIPPETS = {
    "rounds": """
import tensorflow as tf
x = tf.random.stateless_normal([8, 3], [1, 2])
y = tf.random.stateless_normal([8, 1], [3, 4])
w = tf.Variable(tf.zeros([3, 1]))
for step in range({size}):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    w.assign_sub(0.01 * tape.gradient(loss, w))
""",
    "Keras rounds": """
import tensorflow as tf
keras = tf.keras
keras.utils.set_random_seed(1)
x, y = tf.random.normal([16, 4]), tf.random.normal([16, 1])
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
for step in range({size}):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
""",
    "ops": """
import tensorflow as tf
v = tf.Variable(0.5)
with tf.GradientTape() as tape:
    x = tf.sin(v)
    for step in range({size} // 2):
        x = tf.sin(x) * 1.0001
print(tape.gradient(x, v))
""",
}
SIZES = {
    "rounds": [500, 2_000, 8_000, *([16_000] if LONG else [])],
    "Keras rounds": [250, 1_000, 4_000, *([16_000] if LONG else [])],
    "ops": [5_000, 20_000, 50_000, *([128_000, 200_000] if LONG else [])],
}
PHASES = ("read", "diagnose", "build", "fold", "layout", "compose")


def phases(path: str) -> dict[str, float]:
    """CPU seconds of each phase for a recording, and bytes of memory it took at most."""
    from tapeviz import drawing
    from tapeviz.analysis.diagnose import diagnose
    from tapeviz.cli import collect_seldom
    from tapeviz.drawing.first_view import placed
    from tapeviz.recording.kept import KeptRecording
    from tapeviz.scene.compose import compose
    from tapeviz.trace.stored.file import load
    from tapeviz.view import View

    collect_seldom()
    found: dict[str, float] = {}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    recording = load(path)
    found["size"] = float(sum(map(len, recording.events)) + len(recording.blob))
    started = time.process_time()

    def ended(phase: str) -> None:
        nonlocal started
        now = time.process_time()
        found[phase] = now - started
        started = now

    trace = KeptRecording(recording).wait()
    ended("read")
    diagnosis = diagnose(trace)
    ended("diagnose")
    view = View()
    shown = drawing.shown_call(diagnosis, view.overlay)
    call = shown.call.id if shown is not None else None
    drawing.built_graph(trace, view, call)
    ended("build")
    sized = drawing.sized_graph(trace, view, call)  # builds again
    ended("fold")
    found["fold"] = max(found["fold"] - found["build"], 1e-3)
    layout = placed(sized, view)
    ended("layout")
    compose(sized, layout, trace, shown, view.overlay)
    ended("compose")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found["memory"] = (peak - before) * 1024.0
    found["boxes"] = float(len(sized))
    return found


def cpu_of(command: list[str]) -> float:
    """CPU seconds of a command and of what it started and waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(kind: str, size: int, folder: Path) -> dict[str, float]:
    source, tape = folder / "snippet.py", folder / "snippet.tape"
    source.write_text(SNIPPETS[kind].format(size=size))
    plain = cpu_of([sys.executable, str(source)])
    record = [sys.executable, "-m", "tapeviz", "record", str(source), "-o", str(tape)]
    recorded = cpu_of([*record, "--timeout", "3600"])
    printed = subprocess.run(
        [sys.executable, __file__, "--phases", str(tape)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return {"plain": plain, "record": recorded, **found}


def main(kinds: list[str]) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    for kind in [kind for kind in SNIPPETS if not kinds or kind in kinds]:
        results = []
        for size in SIZES[kind]:
            with tempfile.TemporaryDirectory() as folder:
                found = measure(kind, size, Path(folder))
            results.append(found)
            words = "  ".join(f"{name} {found[name]:6.2f}" for name in ("plain", "record", *PHASES))
            times = found["memory"] / found["size"]
            print(f"{size:7} {kind}: {words}  boxes {found['boxes']:.0f}  memory {times:.1f} files")
        sizes = SIZES[kind]
        last = results[-1]
        for phase in ("record", *PHASES, "memory"):
            counts, costs = sizes, [found[phase] for found in results]
            if phase == "record":  # without the plain run, which takes most of it in small ones
                beyond = [found["record"] - found["plain"] for found in results]
                counts, costs = sizes[-2:], beyond[-2:]
            figure = f"{costs[-1] / 2**20:.0f} MB" if phase == "memory" else f"{costs[-1]:.2f} s"
            print_row(
                f"{phase}, {counts[0]:,} to {counts[-1]:,} {kind}",
                f"{figure}, grows as n^{exponent(counts, costs):.2f}",
                "at most n^1.1",
            )
        print_row(  # the command reads and diagnoses what it records
            f"record, read, diagnose and save {sizes[-1]:,} {kind} against the plain run",
            f"{last['record'] / last['plain']:.2f} times",
            "2 times, for a loop of 15,000 rounds",
        )
        print_row(
            f"first picture after {sizes[-1]:,} {kind}",
            f"{sum(last[phase] for phase in PHASES):.1f} s of CPU",
            "3 s at 128,000 ops, 10 s at 200,000",
        )
        print_row(
            f"memory, {sizes[-1]:,} {kind}",
            f"{last['memory'] / last['size']:.1f} times the recording",
            "at most 5 times",
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--phases"]:
        print(json.dumps(phases(sys.argv[2])))
    else:
        main(sys.argv[1:])
