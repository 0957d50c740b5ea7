"""The ops of a run by their attributes."""

from __future__ import annotations

import pytest

from tapeviz.recorder import history


def test_attributes_find_an_op_without_a_look_at_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = history.History()
    attrs = [("T", number) for number in (1, 2)]
    for number, each in enumerate(attrs, 1):
        ran.lines.append(f'{{"e":"op","id":{number},"type":"Sin","inputs":[1],"outputs":[2]}}')
        ran.attrs.append(each)

    def read(line: str) -> None:
        pytest.fail(f"read {line}")

    monkeypatch.setattr(history, "from_json", read)
    assert [ran.find_by_attrs(each) for each in attrs] == [1, 2]
