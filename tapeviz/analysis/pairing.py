"""Pair the items of two sequences: which one of the first is which of the second."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from difflib import SequenceMatcher
from typing import TypeVar

Item = TypeVar("Item")
Key = Callable[[Item], Hashable]
Places = list[tuple[int, int]]
_MANY = 1500


def pair_in_order(
    before: Sequence[Item], after: Sequence[Item], keys: Sequence[tuple[Key[Item], Key[Item]]]
) -> list[tuple[Item, Item]]:
    """Pairs in the order of both. What the first key leaves between its matches, the next one
    pairs. ``keys``: for each pass the key of an item before, and of one after.
    """
    return [(before[i], after[j]) for i, j in _matched(before, after, keys, 0, 0)]


def pair_anywhere(
    before: Iterable[Item], after: Iterable[Item], key: Key[Item], other: Key[Item]
) -> list[tuple[Item, Item]]:
    """The first of each key with the first of the same key, the second with the second."""
    waiting: defaultdict[Hashable, deque[Item]] = defaultdict(deque)
    for item in after:
        waiting[other(item)].append(item)
    found = []
    for item in before:
        if waiting.get(known := key(item)):
            found.append((item, waiting[known].popleft()))
    return found


def _matched(
    before: Sequence[Item],
    after: Sequence[Item],
    keys: Sequence[tuple[Key[Item], Key[Item]]],
    start: int,
    other_start: int,
) -> Places:
    if not before or not after or not keys:
        return []
    (key, other), *others = keys
    first, second = _made_distinct(list(map(key, before))), _made_distinct(list(map(other, after)))
    pairs: Places = []
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    for what, i, j, k, m in matcher.get_opcodes():
        if what == "equal":
            pairs += zip(
                range(start + i, start + j), range(other_start + k, other_start + m), strict=True
            )
        else:
            pairs += _matched(before[i:j], after[k:m], others, start + i, other_start + k)
    return pairs


def _made_distinct(keys: list[Hashable]) -> list[Hashable]:
    """Make equal keys distinct by counting them: the matcher is quadratic in equal items."""
    if len(keys) <= _MANY:
        return keys
    seen: Counter[Hashable] = Counter()
    counted: list[Hashable] = []
    for key in keys:
        seen[key] += 1
        counted.append((key, seen[key]))
    return counted
