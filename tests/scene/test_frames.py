"""Frames around groups, drawn by hand: what they say in their header and beside their wires."""

from __future__ import annotations

import networkx as nx

from tapeviz.graph.model import Edge, Frame, Node, NodeId
from tapeviz.layout.model import Layout, Point, Rect
from tapeviz.scene.model import FrameBox
from tapeviz.scene.parts.frames import frame_width, frames_of, header_group
from tapeviz.scene.primitives import TextRun
from tapeviz.scene.theme import THEMES
from tapeviz.trace.model import Trace

AROUND = Rect.from_sides(0, 0, 600, 400)


def framed(
    frame: Frame,
    *wires: tuple[str, float],
    through: tuple[Point, ...] = (),
    inner: dict[str, Rect] | None = None,
) -> FrameBox:
    """A frame in which values of these names go from turn to turn, upwards at these x; ``through``:
    a wire that runs through it; ``inner``: frames within."""
    graph: nx.MultiDiGraph = nx.MultiDiGraph(frames=(frame,))
    rects: dict[str, Rect] = {}
    routes: dict[tuple[str, str, int], tuple[Point, ...]] = {}
    for name, x in wires:
        box = NodeId(name)
        graph.add_node(box, node=Node(box, "op", name, "", "Add", 1, name=name))
        edge = Edge(box, box, 0, None, None, is_carried=True)
        graph.add_edge(box, box, 0, edge=edge)
        rects[box] = Rect(100, 200, 80, 40)
        routes[box, box, 0] = ((120, 220), (120, 233), (x, 233), (x, 167), (120, 167), (120, 180))
    routes["", "", 0] = through
    layout = Layout("layered", "down", rects, routes, AROUND, {frame.path: AROUND, **(inner or {})})
    return frames_of(graph, layout, Trace(""))[0]


def test_values_that_run_back_side_by_side_share_their_words() -> None:
    frame = framed(Frame("loop", "for z in zs", 3), ("p", 200), ("m", 192), ("total", 400))
    assert [words for words, _ in frame.carried] == ["m, p → next turn", "total → next turn"]
    (first, across), (second, _) = (place for _, place in frame.carried)
    assert first > 200
    assert across == 200
    assert second > 400 or second < 400 - 60


def test_words_beside_a_wire_cover_no_other_wire() -> None:
    loop = Frame("loop", "for z in zs", 3)
    ((_, plain),) = framed(loop, ("p", 200)).carried
    ((_, moved),) = framed(loop, ("p", 200), through=((150, plain[1]), (500, plain[1]))).carried
    assert abs(moved[1] - plain[1]) > 8
    everywhere = tuple((x, y) for y in range(160, 240, 4) for x in (0, 600))
    assert framed(loop, ("p", 200), through=everywhere).carried == ()


def test_words_beside_a_wire_cover_no_header() -> None:
    loop = Frame("loop", "for z in zs", 3)
    ((_, plain),) = framed(loop, ("p", 200)).carried
    layer = Rect.from_sides(plain[0] - 4, plain[1] + 2, plain[0] + 90, 390)
    ((_, moved),) = framed(loop, ("p", 200), inner={"loop/layer": layer}).carried
    assert moved[1] < layer.top - 8


def test_a_header_says_which_turns_differ() -> None:
    assert framed(Frame("a", "loop", 3, "", 1, 8, (8,))).note == "line 3 · turn 8 differs"
    assert framed(Frame("a", "loop", 3, "", 1, 2407, (2407,))).note == "line 3 · turn 2,407 differs"
    some = framed(Frame("a", "loop", 3, "", 1, 9, (1, 2, 5, 8)))
    assert some.note == "line 3 · turns 1, 2, 5, … differ"


def test_a_header_shows_whole_words() -> None:
    def words(title: str, *others: int) -> list[str]:
        frame = framed(Frame("a", title, 3, "", 1, 8, others or (8,)))
        texts = [
            p for p in header_group(frame, THEMES["light"]).primitives if isinstance(p, TextRun)
        ]
        return [text.text for text in texts if text.role != "frame-turn"]

    assert words("for t in ts") == ["for t in ts", "line 3 · turn 8 differs"]
    assert words("for t in " + "ts" * 14) == ["for t in " + "ts" * 14, "turn 8 differs"]
    assert words("for t in " + "ts" * 80)[0].endswith("…")
    assert words("for t in " + "ts" * 14, 1, 2, 3, 4, 5)[1:] == ["some differ"]
    assert words("for t in " + "ts" * 20, 1, 2, 3, 4, 5)[1:] == []


def test_a_header_with_long_words_asks_for_little_room() -> None:
    short, long = Frame("a", "for t in ts", 3, "", 1, 8), Frame("a", "for t in ts" * 9, 3, "", 1, 8)
    assert frame_width(short)[0] < frame_width(long)[0] < 3 * frame_width(short)[0]
