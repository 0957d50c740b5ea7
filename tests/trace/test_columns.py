"""Pairs of numbers, looked up by the first."""

from __future__ import annotations

from array import array

import pytest

from tapeviz.trace.columns import NumberMap, NumberPairs


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
    known = NumberMap.of(given)
    assert dict(known) == given
    assert len(known) == 3
    assert 6 not in known
    assert known.get(6) is None
    with pytest.raises(KeyError):
        known[100]
    assert not NumberMap.of({})


def test_a_map_of_more_numbers_than_a_piece() -> None:
    given = {3 * number: number for number in range(50_001)}
    assert dict(NumberMap.of(given)) == given


def test_of_two_entries_with_one_key_the_last_holds() -> None:
    known: NumberMap[int, int] = NumberMap(
        NumberPairs(array("q", [7, 8, 7]), array("q", [1, 2, 3]))
    )
    assert dict(known) == {7: 3, 8: 2}
    assert len(known) == 2
