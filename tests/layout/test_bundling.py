"""Sources with the same readers share a trunk: no edge is lost, none runs through a box."""

from __future__ import annotations

import pytest
from measure import boxes_hit
from test_stacks import check, fan

from tapeviz.layout import lay_out, lay_out_nested
from tapeviz.layout.bundling import Bundled, find_bundles, is_trunk
from tapeviz.layout.room.stacks import Stacked, choose_stacks


def test_sources_that_all_go_to_the_same_readers_are_a_bundle() -> None:
    graph = fan(8, readers=2)
    graph.add_node("other", width=80, height=46, frame="")
    graph.add_edge("v0", "other", weight=1.0, carried=False)
    (bundle,) = find_bundles(graph)
    assert set(bundle.sources) == {f"v{i}" for i in range(8)}
    assert set(bundle.readers) == {"r0", "r1"}
    assert find_bundles(fan(8)) == find_bundles(fan(2, readers=2)) == []


def test_only_sources_of_one_frame_share_a_trunk() -> None:
    graph = fan(8, readers=2)
    for i in range(4):
        graph.nodes[f"v{i}"]["frame"] = "inside"
    found = {frozenset(bundle.sources) for bundle in find_bundles(graph)}
    assert found == {frozenset(f"v{i}" for i in range(k, k + 4)) for k in (0, 4)}


@pytest.mark.parametrize("room", [(2000.0, 900.0), (600.0, 410.0), (560.0, 300.0)])
@pytest.mark.parametrize("frames", [{}, {"inside": ""}])
def test_a_trunk_is_clear_of_boxes(room: tuple[float, float], frames: dict[str, str]) -> None:
    graph = fan(8, readers=3)
    for reader in ("r0", "r1") if frames else ():
        graph.nodes[reader]["frame"] = "inside"
    widths = dict.fromkeys(frames, (80.0, 30.0))
    layout = lay_out_nested(graph, frames, widths, direction="down", room=room)
    check(layout, graph)
    assert boxes_hit(layout.rects, layout.routes, 1.0) == []
    ends = {
        reader: {line[-2:] for key, line in layout.routes.items() if key[1] == reader}
        for reader in ("r0", "r1", "r2")
    }
    assert all(len(some) == 1 for some in ends.values())  # a single arrow


def test_a_trunk_that_runs_right() -> None:
    graph = fan(5, readers=2)
    layout = lay_out_nested(graph, {}, {}, direction="right", room=(900.0, 500.0))
    assert boxes_hit(layout.rects, layout.routes, 1.0) == []
    for (source, reader, _), line in layout.routes.items():
        assert line[0][0] == pytest.approx(layout.rects[source].right)
        assert line[-1][0] == pytest.approx(layout.rects[reader].left)


def test_stacks_that_share_a_trunk_stand_on_both_sides_of_it() -> None:
    graph = Bundled(fan(8, readers=3)).graph
    stacks = choose_stacks(graph, lay_out(graph), 4)
    stacked = Stacked(graph, stacks)
    rects = stacked.unstacked(lay_out(stacked.graph)).rects
    (trunk,) = (rect.x for name, rect in rects.items() if is_trunk(name))
    first, second = ([rects[name] for name in names] for names in stacks)
    assert all(rect.right < trunk for rect in first)
    assert all(rect.left > trunk for rect in second)
