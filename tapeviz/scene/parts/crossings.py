"""Find where wires cross: a margin there shows which of them goes on where."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ...layout.model import Point, Rect
from ..model import Crossing, Wire
from .geometry import curve, flattened

MARGIN = 1.6
"""Px of ground shown on both sides of a wire that crosses another."""
_MOST = 250
"""Wires up to which they have margins; a picture of more is looked at from afar."""
_REACH = 60.0
"""Px of margin along a wire before and after a point where it crosses another."""
_APART = 8.0
"""Px between two points of such a stretch, at most."""
_HEAD = 12.0
"""Px without a margin at its end, for the arrow head."""
Floats = NDArray[np.float64]


def with_crossings(wires: Sequence[Wire], frames: Collection[Rect] = ()) -> list[Wire]:
    """The wires, each with its stretches where it crosses wires of other boxes, in the order in
    which they are drawn: those of a strand one after the other. Wires that bend in the same point
    share a trunk, and do not cross. ``frames``: those drawn below the wires."""
    if len(wires) > _MOST:
        return list(wires)
    found: dict[int, list[Floats]] = {}
    lines: dict[int, Floats] = {}
    bends = [frozenset(wire.points[1:-1]) for wire in wires]
    for pair in _near_pairs(wires):
        if not bends[pair[0]].isdisjoint(bends[pair[1]]):
            continue
        for place in pair:
            if place not in lines:
                wire = wires[place]
                lines[place] = np.array(flattened(curve(wire.points, wire.axis)))
        first, second = pair
        meetings = _meetings(lines[first], lines[second])
        for place, at in zip(pair, meetings, strict=True):
            if len(at):
                found.setdefault(place, []).append(at)
    strands = _strands(wires, bends)
    made = [replace(wire, strand=strand) for wire, strand in zip(wires, strands, strict=True)]
    for place, some in found.items():
        stretches = _stretches(lines[place], np.concatenate(some))
        crossings = (part for stretch in stretches for part in _by_ground(stretch, frames))
        made[place] = replace(made[place], crossings=tuple(crossings))
    begins = {strand: place for place, strand in reversed([*enumerate(strands)])}
    return sorted(made, key=lambda wire: begins[wire.strand])


def _strands(wires: Sequence[Wire], bends: Sequence[frozenset[Point]]) -> list[str]:
    """For each wire its trunk, if it bends where wires of other boxes do; else its box."""
    at: dict[Point, list[int]] = {}
    for place, some in enumerate(bends):
        for bend in some:
            at.setdefault(bend, []).append(place)
    shared: nx.Graph[int] = nx.Graph()
    for places in at.values():
        if len({wires[place].edge[0] for place in places}) > 1:
            nx.add_path(shared, places)
    strands = [wire.edge[0] for wire in wires]
    for number, trunk in enumerate(nx.connected_components(shared)):
        for place in trunk:
            strands[place] = f"trunk {number}"
    return strands


def _by_ground(stretch: Floats, frames: Collection[Rect]) -> Iterator[Crossing]:
    """The parts of a stretch within frames, and those outside."""
    x, y = stretch.T
    inside = np.zeros(len(stretch), bool)
    for rect in frames:
        inside |= (rect.left < x) & (x < rect.right) & (rect.top < y) & (y < rect.bottom)
    ends = [0, *(np.flatnonzero(np.diff(inside)) + 1).tolist(), len(stretch) - 1]
    for start, end in pairwise(ends):
        points = tuple((float(a), float(b)) for a, b in stretch[start : end + 1])
        yield Crossing(points, bool(inside[start]))


def _near_pairs(wires: Sequence[Wire]) -> Iterator[tuple[int, int]]:
    """Pairs of wires from different boxes that could cross: a wire stays in the rectangles that
    its points span two by two."""
    if len(wires) < 2:
        return
    points = np.concatenate([np.array(wire.points) for wire in wires])
    owner = np.repeat(np.arange(len(wires)), [len(wire.points) for wire in wires])
    names = {wire.edge[0]: number for number, wire in enumerate(wires)}
    source = np.array([names[wire.edge[0]] for wire in wires])[owner]
    inner = np.flatnonzero(owner[1:] == owner[:-1])
    low = np.minimum(points[inner], points[inner + 1])
    high = np.maximum(points[inner], points[inner + 1])
    meet = ((low[:, None] <= high) & (low <= high[:, None])).all(axis=2)
    meet &= source[inner][:, None] < source[inner]
    here, there = np.nonzero(meet)
    pairs = np.unique(np.stack([owner[inner[here]], owner[inner[there]]], axis=1), axis=0)
    yield from ((int(first), int(second)) for first, second in pairs)


def _meetings(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """How far along each of two lines (points, 2) their crossings are, in px."""
    ahead, other = np.diff(first, axis=0)[:, None], np.diff(second, axis=0)[None]
    between = second[None, :-1] - first[:-1, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = _cross(ahead, other)
        along, beside = _cross(between, other) / turn, _cross(between, ahead) / turn
        hit = (along >= 0) & (along < 1) & (beside >= 0) & (beside < 1)
    here, there = np.nonzero(hit)
    return (
        np.interp(here + along[hit], np.arange(len(first)), _lengths(first)),
        np.interp(there + beside[hit], np.arange(len(second)), _lengths(second)),
    )


def _stretches(line: Floats, meetings: Floats) -> Iterator[Floats]:
    """The stretches of a line, before its arrow head, that are near one of its meetings."""
    lengths = _lengths(line)
    ends: list[list[float]] = []
    for at in np.sort(meetings).tolist():
        low, high = max(at - _REACH, 0.0), min(at + _REACH, float(lengths[-1]) - _HEAD)
        if ends and low <= ends[-1][1]:
            ends[-1][1] = high
        elif low < high:
            ends.append([low, high])
    for low, high in ends:
        inner = lengths[(lengths > low) & (lengths < high)]
        at = np.unique(np.concatenate([inner, np.arange(low, high, _APART), [high]]))
        yield np.stack([np.interp(at, lengths, line[:, axis]) for axis in (0, 1)], axis=1)


def _lengths(line: Floats) -> Floats:
    """Px from the beginning of a line to each of its points."""
    made: Floats = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    return made


def _cross(first: Floats, second: Floats) -> Floats:
    product: Floats = first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
    return product
