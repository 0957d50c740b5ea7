"""Group neighbouring lines of straight-line code into sections.

A section is a stretch of whole lines, as they ran in a function, a turn or the program. Where the
code allows it only the last of its values is read outside, as of the lines that compute a term of a
loss. Sections lie in sections, so that a picture may open as many as it has room for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, pairwise

import numpy as np

from .branches import Branch, first_op, inner_first, ops_in
from .reads import Reads

MOST = 5
"""Boxes directly in a group; what has more is grouped."""
_TRUNK = 0.7
"""More than this part of what is joined stays open in it."""
_MUCH = 0.25
"""A layer with more than this part of a picture's ops has sections."""
_ENOUGH = 0.8
"""Sections of lines that read each other leave at most this part of the boxes."""
_MANY = 3
_LEAST_SEQUENCES = 3
_NEVER = np.iinfo(np.int64).max
Make = Callable[[list[Branch | int]], Branch]


@dataclass(frozen=True, slots=True)
class _Unit:
    """The children of a line, or a section of some lines. ``lines``: the numbers of these."""

    children: list[Branch | int]
    ops: int
    lines: range


@dataclass(slots=True)
class _Stretch:
    """Units whose values are read among them, or by the line ``reach`` at last."""

    units: deque[_Unit]
    boxes: int
    ops: int
    reach: int


def gather_sections(
    root: Branch,
    reads: Reads,
    line_of: Callable[[Branch | int], int],
    make: Callable[[Branch, list[Branch | int]], Branch],
    least: int,
    pinned: Collection[int] = frozenset(),
) -> None:
    """Group the children of every branch that has more than ``MOST``. The ops of a layer, unless it
    is most of a picture, stay together: its name says more than those of its sections.

    ``line_of``: the line of a child; ``make``: makes the branch of some children of a branch;
    ``least``: the least number of ops of a section; ``pinned``: the numbers of ops that are never
    folded away, between which sections end. Takes time linear in ops times depth of groups.
    """
    held: set[int] = set()
    """The identities of the branches with pinned ops."""
    for branch in inner_first(root):
        is_held = [
            id(child) in held if isinstance(child, Branch) else child in pinned
            for child in branch.children
        ]
        if any(is_held):
            held.add(id(branch))
        if branch.kind != "loop" and len(branch.children) > MOST:
            lines = [line_of(child) for child in branch.children]
            is_whole = branch.kind == "layer" and branch.ops < _MUCH * root.ops
            is_bare = len(branch.children) == branch.ops and len(set(lines)) == 1
            if not (is_whole and is_bare):
                branch.children = [*_gathered(branch, lines, is_held, reads, make, least)]


def _gathered(
    branch: Branch,
    lines: Sequence[int],
    is_held: Sequence[bool],
    reads: Reads,
    make: Callable[[Branch, list[Branch | int]], Branch],
    least: int,
) -> Iterator[Branch | int]:
    """The children of a branch, with sections in place of some. What stands between two that are
    never folded away, or before or after them, is one."""
    runs = [list(run) for _, run in groupby(range(len(lines)), is_held.__getitem__)]
    is_cut = len(runs) > 1 + is_held[0] + is_held[-1]
    for run in runs if is_cut else [list(range(len(lines)))]:
        children = [branch.children[place] for place in run]
        if is_cut and is_held[run[0]]:
            yield from children
            continue
        if len(children) > MOST:
            units = _by_line(children, [lines[place] for place in run])
            children = _Gatherer(list(units), reads, partial(make, branch), least).gathered()
        if is_cut and len(children) > 1 and ops_in(children) >= least:
            yield make(branch, children)
        else:
            yield from children


def _by_line(
    children: Sequence[Branch | int], lines: Sequence[int]
) -> Iterator[list[Branch | int]]:
    """The children of each line. If all are of one, as the layers of a model: each by itself, or
    where layers come in a sequence that begins anew several times, those of each sequence."""
    keys = list(lines)
    if len(set(lines)) == 1:
        likes = [_like(child) for child in children]
        starts = [place for place, like in enumerate(likes) if like == likes[0]]
        longest = max(b - a for a, b in pairwise([*starts, len(likes)]))
        has_rhythm = likes[0] and len(starts) >= _LEAST_SEQUENCES and longest < MOST
        keys = [bisect_right(starts, place) if has_rhythm else place for place in range(len(likes))]
    for _, run in groupby(zip(children, keys, strict=True), lambda pair: pair[1]):
        yield [child for child, _ in run]


def _like(child: Branch | int) -> str:
    """A layer's name without its number; empty for other children."""
    if isinstance(child, int) or child.kind != "layer":
        return ""
    return child.title.rstrip("0123456789").rstrip("_")


def _boxes(units: Iterable[_Unit]) -> int:
    return sum([len(unit.children) for unit in units])


class _Gatherer:
    """Makes sections of the lines of one branch."""

    def __init__(
        self, lines: Sequence[list[Branch | int]], reads: Reads, make: Make, least: int
    ) -> None:
        sizes = [ops_in(line) for line in lines]
        self._units = [
            _Unit(line, size, range(number, number + 1))
            for number, (line, size) in enumerate(zip(lines, sizes, strict=True))
        ]
        first, line_of = first_op(lines[0][0]), np.repeat(np.arange(len(lines)), sizes)
        makers, readers = reads.within(first, first + len(line_of) - 1)
        makers, readers = line_of[makers - first], line_of[readers - first]
        apart = makers != readers
        self._reads = Reads(makers[apart], readers[apart])
        """The lines that make and those that read."""
        self._make = make
        self._least = least

    def gathered(self) -> list[Branch | int]:
        """The children of all lines, with sections in place of some."""
        stack: list[_Stretch] = []
        reaches = np.full(len(self._units), -1, np.int64)
        np.maximum.at(reaches, self._reads.makers, self._reads.readers)
        reaches[reaches < 0] = _NEVER
        for unit, reach in zip(self._units, reaches.tolist(), strict=True):
            inside: list[_Stretch] = []
            while stack and stack[-1].reach <= unit.lines.start:
                inside.append(stack.pop())
            own = _Stretch(deque([unit]), len(unit.children), unit.ops, reach)
            stack.append(self._together([*reversed(inside), own], reach))
        units = list(self._together(stack, _NEVER).units)
        return [child for unit in self._fewer(units) for child in unit.children]

    def _together(self, stretches: Sequence[_Stretch], reach: int) -> _Stretch:
        """One stretch of several. If these are too many boxes, the largest become a section each;
        one that is most of it goes on as it is, so that sections in sections are not deep."""
        boxes = sum([stretch.boxes for stretch in stretches])
        ops = sum([stretch.ops for stretch in stretches])
        if len(stretches) > 2 and boxes > MOST:
            for stretch in sorted(stretches, key=lambda stretch: -stretch.boxes):
                if boxes <= MOST or stretch.boxes == 1:
                    break
                if stretch.ops <= _TRUNK * ops and self._can_join(stretch.units):
                    stretch.units = deque([self._joined(list(stretch.units))])
                    boxes -= stretch.boxes - 1
        longest = max(range(len(stretches)), key=lambda place: len(stretches[place].units))
        units = stretches[longest].units
        for stretch in reversed(stretches[:longest]):
            units.extendleft(reversed(stretch.units))
        for stretch in stretches[longest + 1 :]:
            units.extend(stretch.units)
        return _Stretch(units, boxes, ops, reach)

    def _can_join(self, units: Collection[_Unit]) -> bool:
        return _boxes(units) > 1 and sum([unit.ops for unit in units]) >= self._least

    def _joined(self, units: list[_Unit]) -> _Unit:
        """A section of these units."""
        is_small = len(units) == 2 and sum([unit.ops for unit in units]) < 2 * self._least
        inside = units if is_small else self._fewer(units)
        branch = self._make([child for unit in inside for child in unit.children])
        lines = range(units[0].lines.start, units[-1].lines.stop)
        return _Unit([branch], branch.ops, lines)

    def _fewer(self, units: list[_Unit]) -> list[_Unit]:
        """The units, or sections of neighbours so that there are at most ``MOST`` boxes: of those
        that read each other, and if these are few, of any."""
        while (boxes := _boxes(units)) > MOST:
            if len(units) == 1:
                return [self._in_pieces(units[0])]
            near, apart = self._links(units)
            every, fewer = set(range(len(units))), units
            for links in (near - apart, every - apart, every):
                runs = self._runs(units, links)
                if len(runs) == 1:  # it would be a section of all there is
                    continue
                joined = ([self._joined(run)] if self._can_join(run) else run for run in runs)
                fewer = list(chain.from_iterable(joined))
                if _boxes(fewer) <= max(MOST, _ENOUGH * boxes):
                    break
            if _boxes(fewer) == boxes:
                break
            units = fewer
        return units

    def _in_pieces(self, unit: _Unit) -> _Unit:
        """A line that has too many boxes by itself, in sections of about as many boxes each."""
        children = unit.children
        while len(children) > MOST:
            count = -(-len(children) // MOST)
            ends = [len(children) * piece // count for piece in range(count + 1)]
            pieces = [self._make(children[start:end]) for start, end in pairwise(ends)]
            if min(piece.ops for piece in pieces) < self._least:
                break
            children = [*pieces]
        return replace(unit, children=children)

    def _links(self, units: Sequence[_Unit]) -> tuple[set[int], set[int]]:
        """The places of the units that read a value of the unit before them; and those of the units
        after one that ``_MANY`` others read, as the model below several losses. In a section with
        one of these, that value would seem to come from it."""
        first, last = units[0].lines.start, units[-1].lines.stop - 1
        place = np.repeat(np.arange(len(units)), [len(unit.lines) for unit in units])
        makers, readers = self._reads.within(first, last)
        makers, readers = place[makers - first], place[readers - first]
        pairs = set(zip(makers.tolist(), readers.tolist(), strict=True))
        counts = Counter(maker for maker, reader in pairs if maker != reader)
        apart = {place + 1 for place, count in counts.items() if count >= _MANY}
        return set(readers[readers - makers == 1].tolist()), apart

    def _runs(self, units: Sequence[_Unit], links: Collection[int]) -> list[list[_Unit]]:
        """Runs of up to ``MOST`` boxes of units that are linked to the one before them; of a few
        more where neither has enough ops for a section, as lines of three ops each."""
        runs: list[list[_Unit]] = []
        for place, unit in enumerate(units):
            is_near = bool(runs) and place in links
            has_room = is_near and _boxes(runs[-1]) + len(unit.children) <= MOST
            if has_room or (is_near and not any(map(self._can_join, (runs[-1], [unit])))):
                runs[-1].append(unit)
            else:
                runs.append([unit])
        return runs
