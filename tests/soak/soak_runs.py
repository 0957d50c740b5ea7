"""Run after run in one window: memory, descriptors and threads stay as they are."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.soak.figures import count, print_detail, print_row

WARM = 12
"""Runs before the first look: caches fill, and garbage is frozen once."""
SNIPPETS = (
    "x = tf.Variable(1.0)\nwith tf.GradientTape() as t:\n    y = x * x\ng = t.gradient(y, x)\n",
    "x = tf.Variable([1.0, 2.0])\nc = tf.Variable(1.0)\nwith tf.GradientTape() as t:\n"
    "    c.assign(tf.reduce_sum(x))\n    y = c * c\nt.gradient(y, x)\n",
    "raise ValueError('x')",
    "x = tf.Variable(1.0)\nfor i in range(20):\n    with tf.GradientTape() as t:\n"
    "        y = x ** 2\n    x.assign_sub(0.1 * t.gradient(y, x))\n",
)


def state() -> tuple[float, int, int]:
    """Megabytes in memory, open descriptors, threads."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    memory = next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
    return memory / 1024, len(os.listdir("/proc/self/fd")), threading.active_count()


def main() -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from tests.soak.watched_app import end_app, is_quiet, open_app, turn_until

    window = open_app()
    window.document.fix_trials.is_on = False
    runs, failed, before = count(500, 40), 0, state()
    for number in range(WARM + runs):
        if number == WARM:
            turn_until(lambda: False, 5.0)  # as at the end: the next kernel stands ready
            before = state()
        window.document.open_source(SNIPPETS[number % len(SNIPPETS)])
        window.run()
        if not turn_until(lambda: is_quiet(window), 120):
            failed += 1
            print_detail(f"run {number} is not over after 120 s")
    turn_until(lambda: False, 5.0)
    after = state()
    memory, descriptors, threads = (now - then for now, then in zip(after, before, strict=True))
    is_flat = memory < 20 + 0.1 * runs and descriptors <= 4 and threads <= 3
    print_row(
        "runs in one window",
        runs,
        failed + (not is_flat),
        f"{memory:+.0f} MB, {descriptors:+.0f} descriptors, {threads:+.0f} threads",
    )
    end_app(window)


if __name__ == "__main__":
    main()
