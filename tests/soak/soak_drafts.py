"""The window is killed while somebody types: how much of the text is lost?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.soak.figures import SEED, count, print_detail, print_row

MOST_LOST = 0.5
PROGRAM = """
import time
from PySide6.QtCore import QTimer
from tapeviz.app.main import make_application
from tapeviz.app.storage.settings import Settings
from tapeviz.app.window import Window
from tapeviz.document import Document
from tests.document.sample import SamplePipeline, make_stages

application = make_application()
window = Window(Document(SamplePipeline(), make_stages()), Settings())
window.show()
number = 0

def type_line():
    global number
    window.source.editor.insertPlainText(f"x{number} = 0\\n")
    print(number, time.monotonic(), flush=True)
    number += 1

timer = QTimer()
timer.timeout.connect(type_line)
timer.start(20)
application.exec()
"""


def lost(home: Path, random: Random) -> float:
    """Seconds of typing that no draft has."""
    environment = {**os.environ, "TAPEVIZ_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**environment, "PYTHONPATH": str(Path(__file__).parents[2])},
        text=True,
    )
    assert process.stdout is not None
    typed = dict([_pair(process.stdout.readline())])
    time.sleep(random.uniform(0.1, 2.5))
    killed = time.monotonic()
    process.kill()
    *whole, _ = process.stdout.read().split("\n")  # the last line may be torn
    typed.update(map(_pair, whole))
    process.wait()
    kept = -1
    for file in (home / "drafts").glob("*.json"):
        text = json.loads(file.read_text())["text"]
        kept = max([kept, *(int(found) for found in re.findall(r"x(\d+) = 0", text))])
    return max((killed - when for number, when in typed.items() if number > kept), default=0.0)


def _pair(line: str) -> tuple[int, float]:
    number, when = line.split()
    return int(number), float(when)


def main() -> None:
    tried = count(200, 10)
    worst, failed = 0.0, 0
    for number in range(tried):
        with tempfile.TemporaryDirectory(prefix="soak-") as home:
            seconds = lost(Path(home), Random(f"{SEED}-{number}"))
        if seconds > MOST_LOST:
            failed += 1
            print_detail(f"kill {number}: {seconds:.2f} s of typing lost")
        worst = max(worst, seconds)
    print_row("kill −9 while typing", tried, failed, f"{worst:.2f} s of typing lost")


if __name__ == "__main__":
    main()
