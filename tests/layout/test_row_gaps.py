"""Rows closer together: what fits then is in order, what would not stays as it is."""

from __future__ import annotations

import pytest
from test_wrapping import apart, chain

from tapeviz.layout import lay_out, lay_out_nested
from tapeviz.layout.nested import HEADER, PADDING
from tapeviz.layout.room.row_gaps import ENOUGH, LEAST, ROOMY, loosened, squeezed


def test_rows_come_closer_until_the_picture_fits() -> None:
    graph = chain(12, seed=1)
    plain = lay_out(graph)
    room = (plain.bounds.width, plain.bounds.height - 40)
    layout = squeezed(plain, room)
    assert layout.bounds.height == pytest.approx(room[1])
    rects = list(layout.rects.values())
    assert all(apart(a, b) for i, a in enumerate(rects) for b in rects[:i])
    for name, rect in layout.rects.items():
        before = plain.rects[name]
        assert (rect.x, rect.width, rect.height) == (before.x, before.width, before.height)
    for (source, target, _), line in layout.routes.items():
        assert line[0][1] == pytest.approx(layout.rects[source].bottom)
        assert line[-1][1] == pytest.approx(layout.rects[target].top)
        assert all(-1 <= y <= room[1] + 1 for _, y in line)


def test_gaps_keep_half_of_their_height_and_room_for_words() -> None:
    plain = lay_out(chain(12))
    layout = squeezed(plain, (plain.bounds.width, plain.bounds.height / 4))
    for i in range(11):
        before = plain.rects[str(i + 1)].top - plain.rects[str(i)].bottom
        gap = layout.rects[str(i + 1)].top - layout.rects[str(i)].bottom
        assert gap == pytest.approx(max(LEAST * before, min(before, ENOUGH)))
        assert gap < before


def test_rows_come_no_closer_than_makes_the_picture_larger() -> None:
    plain = lay_out(chain(12))
    width, height = plain.bounds.width, plain.bounds.height
    assert squeezed(plain, (width, height)) is plain
    assert squeezed(plain, (width / 2, height / 2)) is plain
    layout = squeezed(plain, (width / 2, 0.45 * height))
    assert layout.bounds.height == pytest.approx(0.9 * height)


def test_rows_within_a_frame_come_closer_too() -> None:
    graph = chain(8)
    for i in range(1, 7):
        graph.nodes[str(i)]["frame"] = "f"
    plain = lay_out_nested(graph, {"f": ""}, {"f": (80.0, 30.0)})
    boxes = sum(rect.height for rect in plain.rects.values())
    spare = plain.bounds.height - boxes - HEADER - PADDING
    room = (plain.bounds.width, plain.bounds.height - 0.2 * spare)
    layout = squeezed(plain, room)
    assert layout.bounds.height == pytest.approx(room[1])
    frame, before = layout.frames["f"], plain.frames["f"]
    assert frame.height < before.height
    first, last = layout.rects["1"], layout.rects["6"]
    assert frame.top + HEADER < first.top
    assert last.bottom + PADDING <= frame.bottom + 1e-6
    assert layout.rects["0"].bottom < frame.top
    assert frame.bottom < layout.rects["7"].top
    for name, rect in layout.rects.items():
        assert rect.height == plain.rects[name].height
    rects = list(layout.rects.values())
    assert all(apart(a, b) for i, a in enumerate(rects) for b in rects[:i])


def test_rows_stand_apart_where_there_is_room() -> None:
    plain = lay_out(chain(4))
    width, height = plain.bounds.width, plain.bounds.height
    for room, least in ((height + 1000, ROOMY), (height + 15, 0.0)):
        layout = loosened(plain, (width, room))
        assert height < layout.bounds.height <= room
        for i in range(3):
            here, there = layout.rects[str(i)], layout.rects[str(i + 1)]
            gap = there.top - here.bottom
            assert gap >= least - 0.01
            assert gap > plain.rects[str(i + 1)].top - plain.rects[str(i)].bottom
        for (source, target, _), line in layout.routes.items():
            assert line[0][1] == pytest.approx(layout.rects[source].bottom)
            assert line[-1][1] == pytest.approx(layout.rects[target].top)
    assert loosened(plain, (width, height)) is plain
    assert loosened(plain, (width - 10, height + 100)) is plain
