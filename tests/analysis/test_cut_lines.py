"""The first lines of a set of cuts are those that sorting all of them gives."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeviz.analysis.causes.ops.not_differentiable import NotDifferentiable
from tapeviz.analysis.findings import Cause
from tapeviz.analysis.flow import cut_lines
from tapeviz.analysis.flow.cut_lines import CutLine, CutLines
from tapeviz.analysis.flow.shared_lists import SharedList, not_seen
from tapeviz.analysis.flow.shared_sets import SharedSets, contains
from tapeviz.trace.ids import OpId, TensorId


@pytest.fixture(scope="module", autouse=True)
def few_lines() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cut_lines, "MOST_LINES", 3)
        yield


Cut = tuple[int, int]
"""Its line, 0 for one that is left out, and its place in the order."""


def cause_of(cut: int, line: int) -> Cause:
    return Cause(NotDifferentiable(), line, "", links=((TensorId(cut), OpId(cut)),))


def row_of(line: CutLine) -> tuple[object, ...]:
    return line.label, line.key[0], line.first.links[0][1], sorted(op for _, op in line.cause.links)


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=9),
    st.lists(st.frozensets(st.integers(0, 8)), min_size=1, max_size=5),
)
def test_first_lines(cuts: list[Cut], asked: list[frozenset[int]]) -> None:
    causes = [cause_of(number, line) for number, (line, _) in enumerate(cuts)]
    lines = CutLines(causes, lambda cut: cuts[cut][1], lambda cut: cuts[cut][0] or None)
    sets = SharedSets()
    for some in asked:
        numbers = sorted((n for n in some if n < len(cuts) and cuts[n][0]), reverse=True)
        made = sets.join(sets.of(n) for n in some if n < len(cuts))
        expected: dict[int, list[int]] = {}
        for number in sorted(numbers, key=lambda cut: cuts[cut][1]):
            expected.setdefault(cuts[number][0], []).append(number)
        rows = [(label, cuts[of[0]][1], of[0], sorted(of)) for label, of in expected.items()]
        assert [row_of(line) for line in lines.of(made)] == rows[:3]
        for row in rows:
            line = lines.line(made, row[0])
            assert line is not None
            assert row_of(line) == row
        assert all(contains(made, n) == (n in some) for n in range(len(cuts)))


def test_a_shared_list_is_a_tuple_whose_end_is_read_once() -> None:
    end = SharedList("b", SharedList("c"))
    several = [SharedList("a", end), SharedList("z", end)]
    assert several[0] == ("a", "b", "c")
    assert (hash(several[0]), len(several[0]), several[0][1]) == (hash(("a", "b", "c")), 3, "b")
    seen: set[int] = set()
    assert [[*not_seen(some, seen)] for some in several] == [["a", "b", "c"], ["z"]]
    assert [*not_seen(("a", "b"), seen)] == ["a", "b"]


class Compared:
    """Equal to all others, and counts how often one was asked."""

    count = 0

    def __eq__(self, other: object) -> bool:
        Compared.count += 1
        return isinstance(other, Compared)

    __hash__ = None  # type: ignore[assignment]


def test_shared_lists_are_compared_up_to_the_end_that_they_share() -> None:
    end: SharedList[Compared] | None = None
    for _ in range(9):
        end = SharedList(Compared(), end)
    first, other = SharedList(Compared(), end), SharedList(Compared(), end)
    Compared.count = 0
    assert first == other
    assert (first != end, first != tuple(other)[1:], Compared.count) == (True, True, 1)
    assert first == tuple(other)
    assert SharedList("a", SharedList("b")) != SharedList("a", SharedList("c"))
