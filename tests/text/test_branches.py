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
    assert (found.when, found.use) == (True, 2)


@pytest.mark.parametrize(
    "body",
    ["n = w.shape[0]", "print(w)", "n = len(w)", "ws.append(w)", "ok = w is None", "s = f'{w}'"],
)
def test_a_branch_that_only_looks_at_an_object(body: str) -> None:
    assert "w" not in SourceText(f"if flag:\n    {body}\n").branches
