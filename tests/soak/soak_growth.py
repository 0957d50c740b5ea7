"""How each phase grows with the recording: the exponents of ``make bench ONLY=growth``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.soak.figures import print_row

BENCH = Path(__file__).parents[1] / "benchmarks" / "bench_growth.py"
MOST = 1.3


def main() -> None:
    run = subprocess.run(
        [sys.executable, str(BENCH)], stdout=subprocess.PIPE, text=True, check=True
    )
    found = {}
    for line in run.stdout.splitlines():
        if line.startswith("@@"):
            what, figure, *_ = line[2:].split("|")
            for exponent in re.findall(r"\^\s*([0-9.]+)|exponent\s+([0-9.]+)", figure):
                found[what.strip()] = max(found.get(what.strip(), 0.0), float("".join(exponent)))
    above = {what: power for what, power in found.items() if power > MOST}
    what, worst = max(found.items(), key=lambda pair: pair[1])
    print_row("growth: exponents of the phases", len(found), len(above), f"{worst:.2f} ({what})")


if __name__ == "__main__":
    main()
