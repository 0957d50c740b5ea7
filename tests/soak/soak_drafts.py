"""The window is killed while somebody types: how much of the text is lost?"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import NoReturn

from PySide6.QtCore import QTimer

sys.path.insert(0, str(Path(__file__).parents[2]))

from tapeviz.app.main import make_application
from tapeviz.app.storage.settings import Settings
from tapeviz.app.window import Window
from tapeviz.document import Document
from tests.document.sample import SamplePipeline, make_stages
from tests.soak.figures import SEED, count, print_detail, print_row

MOST_LOST = 0.5


def type_on(home: str, out: int) -> NoReturn:
    """Type in a window, and write each line's number and time to a pipe, until this is killed."""
    os.environ |= {"TAPEVIZ_HOME": home, "QT_QPA_PLATFORM": "offscreen"}
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # Qt says what the platform lacks
    application = make_application()
    window = Window(Document(SamplePipeline(), make_stages()), Settings())
    window.show()
    number = 0

    def type_line() -> None:
        nonlocal number
        window.source.editor.insertPlainText(f"x{number} = 0\n")
        os.write(out, f"{number} {time.monotonic()}\n".encode())
        number += 1

    timer = QTimer()
    timer.timeout.connect(type_line)
    timer.start(20)
    os._exit(application.exec())


def lost(home: str, random: Random) -> float:
    """Seconds of typing that no draft has. The window is in a fork of this process, which has
    imported all that it needs: 200 starts of Python would take longer than the typing."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        type_on(home, writing)
    os.close(writing)
    with open(reading, encoding="ascii") as lines:
        typed = dict([_pair(lines.readline())])
        time.sleep(random.uniform(0.1, 2.5))
        killed = time.monotonic()
        os.kill(process, signal.SIGKILL)
        *whole, _ = lines.read().split("\n")  # the last line may be torn
    typed.update(map(_pair, whole))
    os.waitpid(process, 0)
    kept = -1
    for file in Path(home, "drafts").glob("*.json"):
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
            seconds = lost(home, Random(f"{SEED}-{number}"))
        if seconds > MOST_LOST:
            failed += 1
            print_detail(f"kill {number}: {seconds:.2f} s of typing lost")
        worst = max(worst, seconds)
    print_row("kill −9 while typing", tried, failed, f"{worst:.2f} s of typing lost")


if __name__ == "__main__":
    main()
