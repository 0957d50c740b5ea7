"""Sets that share their lower numbers are what Python's sets are, and equal ones are one object."""

from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from tapeviz.analysis.flow.shared_sets import SharedSet, SharedSets, numbers_in

numbers = st.frozensets(st.integers(0, 12), max_size=8)


def made(sets: SharedSets, some: frozenset[int]) -> SharedSet:
    return sets.join(sets.of(number) for number in some)


@given(st.lists(numbers, max_size=6))
def test_join(some: list[frozenset[int]]) -> None:
    sets = SharedSets()
    joined = sets.join([made(sets, each) for each in some])
    expected = frozenset[int]().union(*some)
    assert list(numbers_in(joined)) == sorted(expected, reverse=True)
    assert joined is made(sets, expected)


@given(st.lists(numbers, min_size=1, max_size=4))
def test_intersect(some: list[frozenset[int]]) -> None:
    sets = SharedSets()
    found = reduce(sets.intersect, [made(sets, each) for each in some])
    assert found is made(sets, frozenset.intersection(*some))


def test_what_is_shared_is_not_looked_at_again() -> None:
    sets, long = SharedSets(), None
    for number in range(1_000):
        long = sets.join([long, sets.of(number)])
    assert long is not None
    above = sets.join([long, sets.of(1_000)])
    assert above is not None
    assert above.lower is long
    assert sets.intersect(above, sets.join([long, sets.of(1_001)])) is long
