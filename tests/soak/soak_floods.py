"""Snippets that print without end or measure: how long does the window not answer?

python tests/soak/soak_floods.py [NAME…]
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.soak.figures import LONG, TINY, print_detail, print_row

LONGEST = 60.0
N = 1_000_000 if LONG else 300_000
FLOODS = {
    "short lines": f"for i in range({N}):\n    print(i)",
    "empty lines": f"print('\\n' * {N})",
    "a program": f"import subprocess\nsubprocess.run('yes | head -c {50 * N}', shell=True)",
    "one long line": f"print('x' * {10 * N})",
    "a line in pieces": f"for i in range({N}):\n    print('x', end='')",
    "long lines": f"for i in range({N // 100}):\n    print('x' * 5_000)",
    "a progress bar": f"for i in range({N // 4}):\n    print(f'\\r{{i}} ' + '=' * 20, end='')",
    "standard error": f"import sys\nfor i in range({N}):\n    print(i, file=sys.stderr)",
    "both streams": (
        f"import sys\nfor i in range({N // 4}):\n    print(i)\n    print(i, file=sys.stderr)"
    ),
    "wide characters": f"for i in range({N // 10}):\n    print('漢字∂' * 20)",
    "not text": f"import os\nfor i in range({N // 1000}):\n    os.write(1, os.urandom(4096))",
    "threads": (
        "import threading\n"
        f"def work():\n    for i in range({N // 16}):\n        print(i)\n"
        "all_of = [threading.Thread(target=work) for _ in range(8)]\n"
        "[t.start() for t in all_of]\n[t.join() for t in all_of]"
    ),
    "a large array": f"import numpy as np\nnp.set_printoptions(threshold=10**9)\n"
    f"print(np.arange({N // 2}))",
    "warnings": (
        f"import warnings\nwarnings.simplefilter('always')\n"
        f"for i in range({N // 50}):\n    warnings.warn(f'number {{i}}')"
    ),
    "a long traceback": f"raise ValueError('line\\n' * {N // 10})",
    "a stack of calls": "def f(n):\n    return f(n + 1) + 1\nf(0)",
}


def main(names: list[str]) -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from tests.soak.watched_app import (
        Gaps,
        end_app,
        is_quiet,
        machine_is_idle,
        open_app,
        turn_until,
    )

    window = open_app()
    gaps = Gaps()
    window.document.open_source("print('warm')")
    window.run()
    turn_until(lambda: is_quiet(window), 120)
    chosen = names or list(FLOODS)[:: 8 if TINY else 1]
    turn_until(lambda: False, 3.0)  # a process for the next run starts beside this
    is_idle = machine_is_idle()
    failed, worst, words = 0, -1.0, ""
    for name in chosen:
        window.document.open_source(FLOODS[name])
        turn_until(lambda: is_quiet(window), 30)
        gaps.reset()
        began = time.perf_counter()
        window.run()
        ended = turn_until(lambda: is_quiet(window) and not window.output._waiting, LONGEST)
        took = time.perf_counter() - began
        if not ended:
            window.document.stop()
            turn_until(lambda: is_quiet(window), 10)
        if not (gaps.are_short(is_idle) and ended):
            failed += 1
            print_detail(f"{name}: {gaps.words(is_idle)}; ran {took:.1f} s")
        if gaps.longest > worst:
            worst, words = gaps.longest, f"{gaps.words(is_idle)} ({name})"
    print_row("floods: gaps of the event loop", len(chosen), failed, words)
    end_app(window)


if __name__ == "__main__":
    main(sys.argv[1:])
