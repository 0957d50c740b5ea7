"""A branch is said to use a name if its run would leave a record of that."""

from __future__ import annotations

import pytest

from tapeviz.text.source import SourceText


@pytest.mark.parametrize(
    "body",
    [
        "y = w * 2",
        "f(w)",
        "y = w[0]",
        "w.assign(0)",
        "y = abs(w)",
        "y = [w]",
        "w.layer(x)",
        "w > 1",
    ],
)
def test_a_branch_that_computes_with_a_name(body: str) -> None:
    (found,) = SourceText(f"if flag:\n    {body}\n").branches["w"]
    assert (found.when, found.uses) == (True, (2,))


@pytest.mark.parametrize(
    "body",
    ["n = w.shape[0]", "print(w)", "n = len(w)", "ws.append(w)", "ok = w is None", "s = f'{w}'"],
)
def test_a_branch_that_only_looks_at_an_object(body: str) -> None:
    assert "w" not in SourceText(f"if flag:\n    {body}\n").branches


def test_an_elif_knows_the_branches_before_it_that_use_the_name() -> None:
    chain = "if a:\n    y = w\nelif b:\n    y = v\nelif c:\n    y = w + 1\nelse:\n    y = 0\n"
    found = {branch.test.lineno: branch for branch in SourceText(chain).branches["w"]}
    assert {line: branch.uses for line, branch in found.items()} == {3: (2, 6), 5: (2, 6)}


def test_what_stands_after_a_return_is_the_other_branch() -> None:
    text = "def f(a):\n    if a:\n        return 0\n" + "    pass\n" * 30 + "    return w\n"
    (found,) = SourceText(text).branches["w"]
    assert (found.when, found.uses, found.test.lineno) == (False, (34,), 2)


def test_of_many_returns_the_last_ones_have_what_stands_after() -> None:
    """Else the time would grow with the square of their number."""
    returns = "".join(f"    if a == {n}:\n        return {n}\n" for n in range(200))
    found = SourceText(f"def f(a):\n{returns}    return w\n").branches["w"]
    assert [branch.test.lineno for branch in found] == [2 * n + 2 for n in range(150, 200)]


@pytest.mark.parametrize("element", ["w[0]", "net.ws['a']", "net.layers[0].ws[1]"])
def test_a_branch_that_computes_with_an_element(element: str) -> None:
    (found,) = SourceText(f"if flag:\n    y = {element} * 2\n").branches[element]
    assert found.uses == (2,)


def test_an_element_of_a_long_sum_in_a_branch() -> None:
    total = " + ".join(f"x{n}" for n in range(800))
    assert SourceText(f"if flag:\n    y = ({total})[0]\n").branches["x0"]


def test_the_branches_of_a_match_know_the_lines_of_each_other() -> None:
    cases = (f"    case {k}:\n        y = {y}\n" for k, y in ((1, "w"), (2, "w"), ("_", "0")))
    text = "match k:\n" + "".join(cases)
    found = SourceText(text).branches["w"]
    assert [branch.lines for branch in found] == [range(3, 4), range(5, 6)]
    assert [branch.uses for branch in found] == [(3, 5), (3, 5)]
    assert found[0].around is found[1].around  # of many branches it is made once
    assert found[0].around == {1, 3, 5, 7}
