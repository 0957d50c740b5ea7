"""How long until the picture stands, warm, against ``python snippet.py``: side by side, as a ratio.

    python tests/benchmarks/bench_warm_run.py [SNIPPET] [ROUNDS]

The warm run is a second run of a session: repair, run in the waiting kernel, read, replay,
diagnose, lay out and compose. Both are wall-clock seconds; the ratio of the medians is the result.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from figures import print_row

from tapeviz.analysis import diagnose
from tapeviz.drawing import draw
from tapeviz.files.examples import default_example
from tapeviz.kernel import KernelPool, own_interpreter
from tapeviz.recording.live import Recorder, Snippet
from tapeviz.view import DEFAULT_VIEW


def plain(path: Path) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, str(path)], check=True, capture_output=True)
    return time.perf_counter() - began


def warm(recorder: Recorder, path: Path) -> float:
    began = time.perf_counter()
    live = recorder.record(Snippet(path.read_text(encoding="utf-8"), str(path)))
    trace = live.wait(120)
    _, scene = draw(trace, diagnose(trace), DEFAULT_VIEW)
    took = time.perf_counter() - began
    assert scene.boxes, trace.failure
    live.release()
    return took


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else default_example().path
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    pool = KernelPool(own_interpreter())
    recorder = Recorder(pool)
    first = warm(recorder, path)
    time.sleep(5)
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(plain(path))
        ours.append(warm(recorder, path))
        time.sleep(2)
    pool.close()
    print(f"first run of a session      {first:7.3f} s")
    print(f"python {path.name:<20} {median(theirs):7.3f} s")
    print(f"warm run to picture         {median(ours):7.3f} s")
    ratio = median(ours) / median(theirs)
    print_row(
        "a run to its picture, a kernel in reserve, against python", f"{ratio:.2f} times", "1"
    )


if __name__ == "__main__":
    main()
