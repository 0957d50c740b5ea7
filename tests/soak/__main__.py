"""The suite that tries to break it: kills, deaths, floods, damaged files; prints one table.

python tests/soak [NAME…]        LONG=1: all of it, an hour; TINY=1: one of each; SEED=N: others

Exits with 1 if a row failed or a part did not end well, with 2 if there is no part of a name.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.soak.figures import LONG, MARK, rows, table

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
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        try:
            out, _ = process.communicate(timeout=LONGEST)
            ending = process.returncode and f"it ended with status {process.returncode}"
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)  # with the windows that it started
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            out, _ = process.communicate()
            ending = f"not over after {LONGEST} s"
    lines = out.splitlines()
    if not ending and not rows(lines):
        ending = "it printed no row"
    return [*lines, f"{MARK} {name} | 1 | 1 | {ending}"] if ending else lines


def can_do_without_network() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*NO_NETWORK, "true"], capture_output=True).returncode == 0


def main(names: list[str]) -> int:
    parts = {path.stem.removeprefix("soak_"): path for path in sorted(HERE.glob("soak_*.py"))}
    unknown = [name for name in names if name not in parts]
    if unknown:
        print(f"No part {', '.join(unknown)}: there are {', '.join(parts)}.", file=sys.stderr)
        return 2
    chosen = [parts[name] for name in names or parts]
    printed: list[str] = []
    for path in chosen:
        print(f"== {path.stem.removeprefix('soak_')}", file=sys.stderr, flush=True)
        printed += run_part(path)
    if not names and can_do_without_network():
        print("== once more without a network", file=sys.stderr, flush=True)
        found = rows([line for path in chosen for line in run_part(path, without_network=True)])
        tried, failed = (sum(row[at] for row in found) for at in (1, 2))
        worst = "; ".join(what for what, _, failed, _ in found if failed) or "-"
        printed.append(f"{MARK} once without a network | {tried:,} | {failed:,} | {worst}")
    print(table(printed))
    return int(any(failed for _, _, failed, _ in rows(printed)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
