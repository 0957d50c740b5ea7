"""How long until the first picture after the start of the app, against ``python snippet.py``.

    python tests/benchmarks/bench_start.py [ROUNDS]

Both sides run in turn, from the start of a process: the plain one to its end, the app, with the
snippet named on its command line, until the window shows a graph. The ratio of the medians is the
result. Needs no display: Qt paints into memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from figures import print_row

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "resources" / "examples" / "slice_assign.py"

# The app as its command starts it, until a graph is drawn; then it closes as a user closes it.
APP = """
import sys, time
from tapeviz.cli import main
import tapeviz.app.main as start
shown = start.open_first
def open_first(window, paths):
    from PySide6.QtCore import QTimer
    timer = QTimer(window)
    def look():
        if window.document.scene is not None and window.document.scene.boxes:
            print(f"picture {time.time() - BEGAN:.3f}", flush=True)
            timer.stop()
            window.close()
    timer.timeout.connect(look)
    timer.start(10)
    shown(window, paths)
start.open_first = open_first
sys.exit(main([sys.argv[1]]))
"""


def plain() -> float:
    began = time.time()
    subprocess.run([sys.executable, str(EXAMPLE)], check=True, capture_output=True)
    return time.time() - began


def app() -> float:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    program = f"BEGAN = {time.time()!r}\n{APP}"
    ran = subprocess.run(
        [sys.executable, "-c", program, str(EXAMPLE)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    said = [line for line in ran.stdout.splitlines() if line.startswith("picture ")]
    assert said, ran.stderr
    return float(said[0].split()[1])


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(plain())
        ours.append(app())
    print(f"python {EXAMPLE.name:<20} {median(theirs):7.2f} s")
    print(f"first picture of the app    {median(ours):7.2f} s")
    ratio = median(ours) / median(theirs)
    print_row("first picture of the app from its start, against python", f"{ratio:.2f} times", "1")


if __name__ == "__main__":
    main()
