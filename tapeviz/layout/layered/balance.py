"""Balance points on a line by springs, and keep their distances.

Minimises Σ w·(|d| + d²/2s), d the length of a spring beyond its rest, subject to
``x[b] - x[a] >= gap`` for each fence. The term |d| makes as many springs as possible exactly
straight; the smaller d² chooses the middle where |d| leaves a choice. Solved by ADMM (Boyd et al.,
"Distributed optimization and statistical learning via the alternating direction method of
multipliers", 2011), with two steps of conjugate gradients for each linear system, which start from
the last solution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints
from .ranking import topological_order

SOFTNESS = 1500.0
"""s in the formula, px: at d = s both terms pull with the same force."""
STEP = 12.0
"""Px that a spring of weight 1 moves in one iteration."""
ITERATIONS, DRAFT_ITERATIONS, LARGE_ITERATIONS = 700, 150, 40
"""At most; the positions are nearly balanced after 700."""


@dataclass(frozen=True, slots=True)
class Springs:
    """Spring k pulls ``second[k]`` to ``first[k] + rest[k]``."""

    first: Ints
    second: Ints
    rest: Floats
    weight: Floats


@dataclass(frozen=True, slots=True)
class Fences:
    """The least distances of points on a line. ``right[k]`` stays at least ``gap[k]`` to the right
    of ``left[k]``; acyclic."""

    left: Ints
    right: Ints
    gap: Floats


def balance(
    count: int, springs: Springs, fences: Fences, start: Floats, iterations: int = ITERATIONS
) -> tuple[Floats, Floats]:
    """Positions, which may violate fences slightly, and each spring's length beyond its rest.

    The length is exactly 0 for a spring that should be straight.
    """
    first = np.concatenate([springs.first, fences.left])
    second = np.concatenate([springs.second, fences.right])
    offset = np.concatenate([springs.rest, fences.gap])
    cut = len(springs.first)
    threshold = springs.weight * STEP
    shrink = 1.0 / (1.0 + threshold / SOFTNESS)
    links = np.bincount(first, minlength=count) + np.bincount(second, minlength=count)
    inertia = 1.0 / np.maximum(links, 1)

    def pulled(force: Floats) -> Floats:
        """The sum of the forces on each point if every spring and fence pulls with ``force``."""
        total = np.bincount(second, force, count) - np.bincount(first, force, count)
        return np.asarray(total, dtype=np.float64)

    x: Floats = start
    copy = x[second] - x[first] - offset
    np.maximum(copy[cut:], 0.0, out=copy[cut:])
    dual = np.zeros_like(copy)
    for iteration in range(iterations):
        previous = x
        x = _towards(x, copy - dual + offset, first, second, inertia, pulled)
        aim = 1.6 * (x[second] - x[first] - offset) - 0.6 * copy + dual  # over-relaxed
        copy = aim.copy()
        edges = aim[:cut]
        copy[:cut] = np.sign(edges) * np.maximum(np.abs(edges) - threshold, 0.0) * shrink
        np.maximum(aim[cut:], 0.0, out=copy[cut:])
        dual = aim - copy
        if iteration % 10 == 9 and np.abs(x - previous).max(initial=0.0) < 0.02:
            break
    return x, copy[:cut]


def _towards(
    x: Floats,
    wanted: Floats,
    first: Ints,
    second: Ints,
    inertia: Floats,
    pulled: Callable[[Floats], Floats],
) -> Floats:
    """Two steps of preconditioned conjugate gradients that minimise
    Σ (x[second] - x[first] - wanted)²."""
    residual = pulled(wanted - (x[second] - x[first]))
    step = direction = inertia * residual
    size = _dot(residual, step)
    for _ in range(2):
        if size < 1e-9:
            break
        change = pulled(direction[second] - direction[first])
        rate = size / _dot(direction, change)
        x = x + rate * direction
        residual = residual - rate * change
        step = inertia * residual
        before, size = size, _dot(residual, step)
        direction = step + (size / before) * direction
    return x


def _dot(a: Floats, b: Floats) -> float:
    return float(np.einsum("i,i", a, b))  # without BLAS, whose threads cost more than they save


def within_fences(wanted: Floats, fences: Fences) -> Floats:
    """Positions near ``wanted`` that keep every fence.

    Pushing to the right and pushing to the left both keep every fence, so their mean does too.
    Raises ``ValueError`` if the fences have a cycle.
    """
    count = len(wanted)
    order, out, into = _left_to_right(count, fences)
    leftmost = wanted.tolist()
    for a in order:
        for b, gap in out[a]:
            leftmost[b] = max(leftmost[b], leftmost[a] + gap)
    rightmost = wanted.tolist()
    for b in reversed(order):
        for a, gap in into[b]:
            rightmost[a] = min(rightmost[a], rightmost[b] - gap)
    middle: Floats = (np.array(leftmost) + np.array(rightmost)) / 2
    return middle


Neighbours = list[list[tuple[int, float]]]


def _left_to_right(count: int, fences: Fences) -> tuple[list[int], Neighbours, Neighbours]:
    out: Neighbours = [[] for _ in range(count)]
    into: Neighbours = [[] for _ in range(count)]
    pairs = list(zip(fences.left.tolist(), fences.right.tolist(), strict=True))
    for (a, b), gap in zip(pairs, fences.gap.tolist(), strict=True):
        out[a].append((b, gap))
        into[b].append((a, gap))
    order = topological_order(count, pairs)
    if len(order) < count:
        raise ValueError("the fences go around in a circle")
    return order, out, into
