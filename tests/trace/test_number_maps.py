"""Pairs of numbers, looked up by the first."""

from __future__ import annotations

from array import array

import pytest

from tapeviz.trace.number_maps import GrowingMap, NumberMap, NumberPairs


def test_pairs_of_one_number_keep_their_order() -> None:
    pairs = NumberPairs(array("q", [7, -3, 7, 9, 7]), array("q", [1, 2, 0, 4, 5]))
    assert list(pairs.keys) == [-3, 7, 7, 7, 9]
    assert pairs.all(7) == [1, 0, 5]
    assert pairs.last(7) == 5
    assert list(pairs.distinct()) == [-3, 7, 9]
    assert pairs.all(9) == [4]


def test_a_number_without_a_pair() -> None:
    pairs = NumberPairs(array("q", [7]), array("q", [1]))
    assert pairs.all(8) == pairs.all(-1) == []
    assert pairs.last(8) is None
    assert pairs.last(-1) is None
    empty = NumberPairs(array("q"), array("q"))
    assert not len(empty)
    assert empty.all(0) == []


def test_a_map_of_numbers_is_as_a_dictionary() -> None:
    given = {5: 40, -3: 8, 9: 0}
    known = _map_of(given)
    assert dict(known) == given
    assert len(known) == 3
    assert 6 not in known
    assert known.get(6) is None
    with pytest.raises(KeyError):
        known[100]
    assert not _map_of({})


def _map_of(given: dict[int, int]) -> NumberMap[int, int]:
    growing = GrowingMap()
    for key, value in given.items():
        growing.add(key, value)
    return growing.map()


def test_a_growing_map_goes_on_after_a_look() -> None:
    growing = GrowingMap()
    growing.add(5, 50)
    first = growing.map()
    growing.add(5, 51)
    growing.add(6, 60)
    assert dict(first) == {5: 50}
    assert dict(growing.map()) == {5: 51, 6: 60}


def test_a_copy_has_what_was_there_by_then() -> None:
    growing = GrowingMap()
    growing.copy(1, 2)  # nothing yet
    growing.add(1, 10)
    growing.copy(1, 3)
    growing.copy(3, 4)
    growing.add(1, 11)
    growing.copy(9, 1)  # has nothing, and so takes nothing away
    assert dict(growing.map()) == {1: 11, 3: 10, 4: 10}
    growing.copy(1, 4)
    growing.add(3, 12)
    assert dict(growing.map()) == {1: 11, 3: 12, 4: 11}


def test_of_two_entries_with_one_key_the_last_holds() -> None:
    known: NumberMap[int, int] = NumberMap(
        NumberPairs(array("q", [7, 8, 7]), array("q", [1, 2, 3]))
    )
    assert dict(known) == {7: 3, 8: 2}
    assert len(known) == 2


def test_a_few_more_entries_come_before_those_of_the_pairs() -> None:
    own = NumberMap[int, int](NumberPairs(array("q", [7, 8]), array("q", [1, 2])))
    more = own.with_more({8: 5, 3: 0})
    assert dict(more) == {3: 0, 7: 1, 8: 5}
    assert (list(more), len(more)) == ([3, 7, 8], 3)
    assert 3 in more
    assert 3 not in own
    assert (more.get(8), own.get(8), more.get(9)) == (5, 2, None)
