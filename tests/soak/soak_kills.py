"""The app is killed without a word, at any time: no process, no folder of it stays."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.soak.figures import SEED, count, print_detail, print_row

WITHIN = 5.0
ENDLESS = (
    "import subprocess\nchild = subprocess.Popen(['sleep', '600'])\n"
    "@tf.function\ndef f(x):\n    return x * x\n"
    "x = tf.Variable(1.0)\nwhile True:\n    x.assign(f(x))\n"
)
MENDED = (
    "import time\nx, c = tf.Variable(1.0), tf.Variable(1.0)\nwith tf.GradientTape() as t:\n"
    "    c.assign(3.0 * x)\n    y = c * c\nt.gradient(y, x)\ntime.sleep(1)\n"
)
"""Edits of it are tried for many seconds."""


def processes_with(mark: str) -> list[int]:
    """Those whose environment has the mark, zombies aside."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def left_behind(folder: Path, text: str, after: float) -> str:
    """Processes and files left five seconds after the app was killed; empty if there are none."""
    mark = f"TAPEVIZ_SOAK={secrets.token_hex(8)}"
    temporary = folder / "tmp"
    temporary.mkdir()
    snippet = folder / "snippet.py"
    snippet.write_text(text)
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "TAPEVIZ_HOME": str(folder)}
    environment |= {"TMPDIR": str(temporary), "TAPEVIZ_SOAK": mark.partition("=")[2]}
    environment.pop("XDG_RUNTIME_DIR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "tapeviz", str(snippet)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(after)
    process.kill()
    process.wait()
    until = time.monotonic() + WITHIN
    while time.monotonic() < until and (processes_with(mark) or os.listdir(temporary)):
        time.sleep(0.1)
    still = processes_with(mark)
    words = [f"process {_command(pid)}" for pid in still] + os.listdir(temporary)
    for pid in still:
        os.kill(pid, 9)
    return ", ".join(words)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:80]
    except OSError:
        return str(pid)


def main() -> None:
    tried, failures = count(30, 6), []
    for number in range(tried):
        random = Random(f"{SEED}-{number}")
        with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as name:
            after = random.choice((0.05, 0.3, 1.0)) * random.uniform(1, 3) + 9 * (number % 3 == 0)
            left = left_behind(Path(name), (ENDLESS, MENDED)[number // 3 % 2], after)
        if left:
            failures.append(left)
            print_detail(f"killed after {after:.1f} s: {left}")
    print_row("kill −9 of the app", tried, len(failures), (failures or ["nothing left"])[0][:80])


if __name__ == "__main__":
    main()
