"""Pairs of numbers, looked up by the first."""

from __future__ import annotations

from array import array

from tapeviz.trace.columns import NumberPairs


def test_pairs_of_one_number_keep_their_order() -> None:
    pairs = NumberPairs(array("q", [7, -3, 7, 9, 7]), array("q", [1, 2, 0, 4, 5]))
    assert list(pairs.keys) == [-3, 7, 7, 7, 9]
    assert pairs.all(7) == [1, 0, 5]
    assert pairs.first(7) == 1
    assert pairs.all(9) == [4]


def test_a_number_without_a_pair() -> None:
    pairs = NumberPairs(array("q", [7]), array("q", [1]))
    assert pairs.all(8) == pairs.all(-1) == []
    assert pairs.first(8) is None
    empty = NumberPairs(array("q"), array("q"))
    assert not len(empty)
    assert empty.all(0) == []
