"""The part of a stream that is shown, compared with one budget for the whole text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tapeviz.kernel.inside.budget import OutputBudget

_texts = st.lists(st.text(alphabet="ab…\n\r\b", max_size=30), max_size=20)


def shown(pieces: list[str], head: int, tail: int, line: int) -> str:
    budget = OutputBudget(head, tail, line)
    return "".join([*map(budget.feed, pieces), budget.close()])


@given(_texts)
def test_short_output_is_untouched(pieces: list[str]):
    assert shown(pieces, head=1000, tail=100, line=1000) == "".join(pieces)


@given(_texts, st.integers(1, 50), st.integers(1, 20))
def test_head_and_tail_are_kept_however_it_was_written(pieces: list[str], head: int, tail: int):
    text = "".join(pieces)
    result = shown(pieces, head, tail, line=10_000)
    if len(text) <= head + tail:
        assert result == text
    else:
        assert result.startswith(text[:head])
        assert result.endswith(text[-tail:])
        assert result[head:-tail] == "\n… 1 kB left out …\n"


@given(_texts, st.integers(1, 8))
def test_lines_are_cut_however_they_were_written(pieces: list[str], line: int):
    whole = shown(["".join(pieces)], 10_000, 100, line)
    assert shown(pieces, 10_000, 100, line) == whole
    for text in whole.replace("\r", "\n").replace("\b", "\n").split("\n"):
        assert len(text.partition("… ")[0]) <= line or "left out" in text


def test_words_on_what_is_missing():
    assert shown(["x" * 12 + "\ny"], 100, 10, 10) == "x" * 10 + "… 2 characters left out\ny"
    budget = OutputBudget(head=10, tail=5)
    assert budget.feed("a" * 3_000_000 + "\n") == "a" * 10
    assert "3.0 MB" not in budget.close()  # the line itself was cut, not the stream


def test_a_progress_bar_is_not_one_long_line():
    bar = "".join(f"{n:4d}/5000 {'=' * 20}" + "\b" * 30 + "\r" for n in range(5000))
    assert shown([bar], 10_000_000, 100, 10_000) == bar
