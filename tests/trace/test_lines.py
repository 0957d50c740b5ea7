from __future__ import annotations

from tapeviz.trace.lines import PackedLines


def test_packed_lines_are_the_lines_in_their_order() -> None:
    lines = [b'{"e":"op","id":%d}' % number + b" " * (number % 700) for number in range(3000)]
    packed = PackedLines(lines[:1500])
    before = packed.copy()
    packed.extend(lines[1500:])
    assert [*packed] == lines == [*packed]
    assert len(packed) == 3000
    assert before == tuple(lines[:1500])
    assert before != packed
    assert PackedLines() == ()


def test_the_last_lines_are_known_wherever_they_are_packed() -> None:
    packed = PackedLines()
    lines = [b"x" * 999 + b"%d" % number for number in range(600)]
    for count, line in enumerate(lines, 1):
        packed.append(line)
        if count > 2:
            assert packed.ends_with(lines[count - 3 : count])
            assert not packed.ends_with([line, line])
