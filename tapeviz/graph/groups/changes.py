"""Group neighbouring ops that are the same in two compared runs, and those that differ.

A picture of both runs folds what is the same, and opens what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from ...trace.ids import OpId
from ...trace.ops import Op
from .branches import Branch, inner_first

_LEAST = 2
"""Ops of a group in which all differ, at least: each would have a mark of its own."""
_SEVERAL = -1
"""The number of a branch with ops of several segments."""


@dataclass(frozen=True, slots=True)
class Segments:
    """The segments of an op graph. ``of``: op → the number of its segment: of neighbours that
    differ alike, in both runs the same; ``unlike``: the numbers of those that differ from the other
    run."""

    of: Mapping[OpId, int] = field(default_factory=dict)
    unlike: frozenset[int] = frozenset()

    def differs(self, op: OpId) -> bool:
        return self.of.get(op) in self.unlike


ALL_ALIKE = Segments()


def segments_of(
    first: Sequence[OpId],
    second: Sequence[OpId],
    pairs: Iterable[tuple[OpId, OpId]],
    turned: Collection[OpId],
) -> tuple[Segments, Segments]:
    """The segments of two sequences of ops, in the order in which they ran. ``pairs``: ops that
    are the same in both; of these ``turned``, ops of the first sequence, differ all the same."""
    ours, theirs = set(first), set(second)
    partners = {op: other for op, other in pairs if op in ours and other in theirs}
    own = {other: op for op, other in partners.items()}
    follows = {(own.get(a), own.get(b)) for a, b in pairwise(second)}
    gone, numbers = _numbered(first, partners, follows, turned)
    is_turned = frozenset(number for op, number in gone.items() if op in turned)
    unlike = frozenset(number for op, number in gone.items() if op not in partners) | is_turned
    new: dict[OpId, int] = {}
    for last, op in zip((None, *second), second, strict=False):
        if op in own:
            new[op] = gone[own[op]]
        else:
            numbers += last is None or last in own
            new[op] = numbers
    added = frozenset(number for op, number in new.items() if op not in own)
    return Segments(gone, unlike), Segments(new, added | is_turned)


def _numbered(
    ops: Sequence[OpId],
    partners: Mapping[OpId, OpId],
    follows: Collection[tuple[OpId | None, OpId | None]],
    turned: Collection[OpId],
) -> tuple[dict[OpId, int], int]:
    """The number of the segment of each op, and the highest. ``follows``: pairs of ops whose
    partners stand next to each other."""
    found: dict[OpId, int] = {}
    number = 0
    last: OpId | None = None
    for op in ops:
        if op in partners:
            goes_on = (last, op) in follows and (last in turned) == (op in turned)
        else:
            goes_on = last is not None and last not in partners
        number += not goes_on
        found[op] = number
        last = op
    return found, number


def gather_segments(
    root: Branch,
    ops: Sequence[Op],
    segments: Segments,
    make: Callable[[Branch, list[Branch | int]], Branch],
    least: int,
) -> None:
    """Group the children of each branch that are of one segment: at least ``least`` ops that are
    the same in both runs, or ``_LEAST`` that differ.

    An op that was not compared stays with the one before it. ``make``: makes the branch of some
    children of a branch. Takes linear time.
    """
    numbers: dict[int, int | None] = {}
    """The segment of each branch, by the id of the Python object."""
    for branch in inner_first(root):
        known: list[int | None] = []
        for child in branch.children:
            if isinstance(child, Branch):
                number = numbers[id(child)]
            else:
                number = segments.of.get(ops[child].id)
            known.append(known[-1] if number is None and known else number)
        several = set(known) - {None}
        numbers[id(branch)] = several.pop() if len(several) == 1 else _SEVERAL if several else None
        if numbers[id(branch)] == _SEVERAL and branch.kind != "loop":
            branch.children = list(_gathered(branch, known, segments, make, least))


def _gathered(
    branch: Branch,
    numbers: Sequence[int | None],
    segments: Segments,
    make: Callable[[Branch, list[Branch | int]], Branch],
    least: int,
) -> Iterator[Branch | int]:
    """The children of a branch, those of a segment in a branch of their own."""
    pairs = zip(numbers, branch.children, strict=True)
    for number, run in groupby(pairs, lambda pair: pair[0]):
        inside = [child for _, child in run]
        size = sum(child.ops if isinstance(child, Branch) else 1 for child in inside)
        is_large = size >= (_LEAST if number in segments.unlike else least)
        if is_large and len(inside) > 1 and number is not None and number != _SEVERAL:
            yield make(branch, inside)
        else:
            yield from inside
