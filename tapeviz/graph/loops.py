"""The sequence of what ran in, the iterations of the Python loop in it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

_CANDIDATES = 12
_BRANCHES = 10
"""How many iterations, or ranges of them, one range holds."""
_LEAST_OPS = 4
"""Two ops in a row are no loop; two rounds of two are."""


def find_loop(keys: Sequence[Hashable]) -> list[str]:
    """For each element the path of its iteration: ``iterations 1–10/iteration 3``; else empty.

    A loop inside an iteration follows as ``iteration 3/iteration 3.1``.
    A loop is a stretch that repeats with a period, at least twice. Of all periods the one that
    covers most wins, the shortest among equals; several stretches of it are several loops.
    """
    paths = [""] * len(keys)
    codes = _codes(keys)
    best: tuple[int, int] = (0, 0)
    for period in _periods(codes):
        covered = sum(end - start for start, end in _stretches(codes, period))
        # A multiple of the true period covers as much or a little less: it must be clearly more.
        if covered > best[0] * 1.02:
            best = (covered, period)
    if not best[1]:
        return paths
    period = best[1]
    stretches = _stretches(codes, period)
    for number, (start, end) in enumerate(stretches, 1):
        prefix = f"loop {number}/" if len(stretches) > 1 else ""
        inside = find_loop(codes[start : start + period].tolist())
        names = [prefix + path for path in _range_paths(-(-(end - start) // period))]
        for position in range(start, end):
            index, offset = divmod(position - start, period)
            inner = inside[offset].replace("iteration ", f"iteration {index + 1}.")
            paths[position] = f"{names[index]}/{inner}" if inner else names[index]
    return paths


def _codes(keys: Sequence[Hashable]) -> NDArray[np.int64]:
    known: dict[Hashable, int] = {}
    return np.fromiter((known.setdefault(key, len(known)) for key in keys), np.int64, len(keys))


def _periods(codes: NDArray[np.int64]) -> list[int]:
    """Distances at which the same thing happens again, the commonest, in ascending order."""
    last: dict[int, int] = {}
    distances: Counter[int] = Counter()
    for position, code in enumerate(codes.tolist()):
        if code in last:
            distances[position - last[code]] += 1
        last[code] = position
    common = [distance for distance, _ in distances.most_common(_CANDIDATES)]
    # What happens several times an iteration at uneven distances hides the period: its rarest
    # elements tell it.
    counts = np.bincount(codes) if len(codes) else np.zeros(0, np.int64)
    for code in np.flatnonzero(counts > 1)[np.argsort(counts[counts > 1], kind="stable")][:8]:
        gaps = np.diff(np.flatnonzero(codes == code))
        common.append(int(np.median(gaps)))
    return sorted({period for period in common if period > 0})


def _stretches(codes: NDArray[np.int64], period: int) -> list[tuple[int, int]]:
    """Where the sequence repeats with this period for at least two periods: [start, end)."""
    if len(codes) < 2 * period:
        return []
    same = np.concatenate(([False], codes[:-period] == codes[period:], [False]))
    turns = np.flatnonzero(same[1:] != same[:-1])
    return [
        (int(start), int(end) + period)
        for start, end in zip(turns[::2], turns[1::2], strict=True)
        if end - start >= period and end - start + period >= _LEAST_OPS
    ]


def _range_paths(count: int) -> list[str]:
    """A path for each iteration, in ranges of ten, of a hundred, … where there are many."""
    widths = []
    width = _BRANCHES
    while width < count:
        widths.append(width)
        width *= _BRANCHES
    paths = []
    for index in range(count):
        parts = []
        for one in reversed(widths):
            first = index // one * one
            parts.append(f"iterations {first + 1}–{min(first + one, count)}")
        paths.append("/".join([*parts, f"iteration {index + 1}"]))
    return paths
