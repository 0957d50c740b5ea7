"""The suite that tries to break it: kills, deaths, floods, damaged files; prints one table.

python tests/soak [NAME…]        LONG=1: all of it, an hour; TINY=1: one of each; SEED=N: others
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.soak.figures import LONG, MARK, table

HERE = Path(__file__).parent
NO_NETWORK = ("unshare", "--map-root-user", "--net", "--")
LONGEST = 2400 if LONG else 420
"""Seconds for each part; one that takes longer is ended and counts as failed."""


def run_part(script: Path, *, without_network: bool = False) -> list[str]:
    """The output of one part, which runs in a process of its own."""
    words = [sys.executable, str(script)]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    if without_network:
        words, environment["TINY"] = [*NO_NETWORK, *words], "1"
        environment.pop("LONG", None)
    name = script.stem.removeprefix("soak_")
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            out, _ = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            out += f"{MARK} {name} | 1 | 1 | not over after {LONGEST} s\n"
    if process.returncode and MARK not in out:
        out += f"{MARK} {name} | 1 | 1 | it ended with status {process.returncode}\n"
    return out.splitlines()


def can_do_without_network() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*NO_NETWORK, "true"], capture_output=True).returncode == 0


def main(names: list[str]) -> int:
    scripts = sorted(HERE.glob("soak_*.py"))
    chosen = [path for path in scripts if not names or path.stem.removeprefix("soak_") in names]
    printed: list[str] = []
    for path in chosen:
        print(f"== {path.stem.removeprefix('soak_')}", file=sys.stderr, flush=True)
        printed += run_part(path)
    if not names and can_do_without_network():
        print("== once more without a network", file=sys.stderr, flush=True)
        rows = [row for path in chosen for row in run_part(path, without_network=True)]
        reported = [row.removeprefix(MARK).split("|") for row in rows if row.startswith(MARK)]
        tried, failed = (sum(int(row[at].replace(",", "")) for row in reported) for at in (1, 2))
        worst = "; ".join(row[0].strip() for row in reported if int(row[2].replace(",", "")))
        printed.append(f"{MARK} once without a network | {tried:,} | {failed:,} | {worst or '-'}")
    print(table(printed))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
