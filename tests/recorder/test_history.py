"""The ops of a run by their attributes and numbers."""

from __future__ import annotations

import pytest

from .loading import load_module

history = load_module("history")


def test_attributes_find_an_op_without_a_look_at_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = history.History()
    attrs = [("T", number) for number in (1, 2)]
    for number, each in enumerate(attrs, 1):
        ran.lines.append(f'{{"e":"op","id":{number},"type":"Sin","inputs":[1],"outputs":[2]}}')
        ran.attrs.append(each)
        ran.same_attrs(each, [2])  # as TensorFlow says besides where Python runs the op

    def read(line: str) -> None:
        pytest.fail(f"read {line}")

    monkeypatch.setattr(history, "from_json", read)
    monkeypatch.setattr(history, "_outputs_of", read)
    assert [ran.find_by_attrs(each) for each in attrs] == [1, 2]


def test_the_producer_of_a_tensor_is_found_without_reading_ops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = history.History()
    for number, outputs in enumerate(([5], [6, 7], []), 1):
        about = f'"type":"Split","attrs":{{"axes":[1,2]}},"inputs":[1],"outputs":{outputs}'
        ran.lines.append(f'{{"e":"op","id":{number},{about}}}')
        ran.attrs.append(None)

    def read(line: str) -> None:
        pytest.fail(f"read {line}")

    monkeypatch.setattr(history, "from_json", read)
    assert [ran.producer(tensor) for tensor in (5, 6, 7, 1, 2)] == [1, 2, 2, 0, 0]


def test_an_op_is_read_once_however_often_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = history.History()
    ran.lines += [f'{{"type":"Sin","inputs":[{k}],"outputs":[{k + 1}]}}' for k in range(1, 4)]
    ran.attrs += [("T", k) for k in range(1, 4)]
    lines: list[str] = []
    read = history.from_json

    def noted(line: str) -> object:
        lines.append(line)
        return read(line)

    monkeypatch.setattr(history, "from_json", noted)
    for _ in range(3):
        ops = list(ran.between(1, 3))
        assert [(op.inputs, op.attrs) for op in ops] == [([k], ("T", k)) for k in range(1, 4)]
    assert lines == ran.lines
