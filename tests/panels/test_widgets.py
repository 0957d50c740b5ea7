"""Small widgets that several panels show."""

from __future__ import annotations

import pytest

from tapeviz.panels.widgets import isolated, plain_label


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("∂y / ∂متغير = 6.0", "∂y / ∂\u2068متغير\u2069 = 6.0"),
        ("מִשְׁקָל_1: None", "\u2068מִשְׁקָל_1\u2069: None"),
        ("größe = 1, 变量 = 2", "größe = 1, 变量 = 2"),
    ],
)
def test_a_name_that_reads_from_the_right_keeps_its_place(text: str, shown: str) -> None:
    assert isolated(text) == shown
    assert plain_label(text).text() == shown
