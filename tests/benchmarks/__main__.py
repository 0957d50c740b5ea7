"""All benchmarks, one after the other; the table for the README at the end.

python tests/benchmarks [NAME…]        LONG=1 for the long ones, too
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from figures import table

HERE = Path(__file__).parent


def main(names: list[str]) -> int:
    """Each script runs in a process of its own; one that fails does not stop the others."""
    scripts = {path.stem.removeprefix("bench_"): path for path in sorted(HERE.glob("bench_*.py"))}
    unknown = [name for name in names if name not in scripts]
    if unknown:
        print(f"No part {', '.join(unknown)}: there are {', '.join(scripts)}.", file=sys.stderr)
        return 2
    chosen = [scripts[name] for name in names or scripts]
    printed: list[str] = []
    failed: list[str] = []
    began, busy = time.monotonic(), _load()
    for path in chosen:
        print(f"== {path.stem.removeprefix('bench_')}", flush=True)
        run = subprocess.Popen([sys.executable, str(path)], stdout=subprocess.PIPE, text=True)
        assert run.stdout is not None
        for line in run.stdout:
            print(line, end="", flush=True)
            printed.append(line.rstrip("\n"))
        if run.wait():
            failed.append(path.stem)
    print()
    print(table(printed))
    minutes = (time.monotonic() - began) / 60
    print(f"{os.cpu_count()} cores, load {busy} before and {_load()} after {minutes:.0f} minutes")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


def _load() -> str:
    """How many processes want a core, besides the benchmarks: above 0.5 figures are too high."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
