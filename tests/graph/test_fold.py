from __future__ import annotations

import random
from dataclasses import replace

import msgspec
import networkx as nx
import pytest
from msgspec import structs

from tapeviz.graph.build import build
from tapeviz.graph.groups.fold import fold, group_id, path_of
from tapeviz.graph.groups.opening import MOST_BOXES, OpenGroups, choose_open
from tapeviz.graph.groups.tree import GROUPINGS, Group, Tree, grow, upwards
from tapeviz.graph.model import Frame
from tapeviz.graph.op_graph import OpGraph
from tapeviz.trace.model import EMPTY_TRACE, Trace

from ..traces import Script
from .test_build import arrows, nodes, slice_assign


def wired(count: int, edges: list[tuple[int, int]]) -> OpGraph:
    """A graph of ops 1, 2, … on lines of their own."""
    s = Script()
    made: list[int] = []
    for index in range(count):
        inputs = [made[a] for a, b in edges if b == index]
        made.append(s.op("Op", inputs, line=index + 1))
    return build(s.trace())


def grouped(graph: OpGraph, home: dict[str, str]) -> Tree:
    """A tree of plain groups."""
    paths = {above for path in home.values() for above in upwards(path)}
    groups = {
        path: Group(path, "layer", path.rpartition("/")[2], 0, path.rpartition("/")[0], 5, n)
        for n, path in enumerate(sorted(paths))
    }
    return Tree(groups, [home.get(name, "") for name in graph])


@pytest.mark.parametrize("seed", range(30))
def test_folding_stretches_of_the_order_leaves_no_cycle_and_loses_no_edge(seed: int) -> None:
    rng = random.Random(seed)
    count = 40
    edges = [
        (a, b) for b in range(1, count) for a in rng.sample(range(b), min(b, rng.randint(0, 3)))
    ]
    graph = wired(count, edges)
    home = {f"op:{i + 1}": f"g{i // 10}/h{i // rng.randint(3, 5)}" for i in range(5, count)}
    tree = grouped(graph, home)
    for share in (0.0, 0.3, 0.7, 1.0):
        closed = frozenset(path for path in tree.groups if rng.random() < share)
        if len(set(home.values())) != len({h.split("/")[1] for h in home.values()}):
            continue  # a stretch across two groups is none
        folded = fold(graph, tree, OpenGroups(closed, {}))
        homes = {
            member: name
            for name, node in folded.nodes(data="node")
            for member in (node.members or (name,))
        }
        assert sorted(homes) == sorted(graph)
        made = map(graph.edge, range(len(graph.edges)))
        ends = [(homes[edge.source], homes[edge.target]) for edge in made]
        kept = {(source, target) for source, target in ends if source != target}
        assert kept == set(folded.edges())


@pytest.mark.parametrize(("values", "drawn"), [(8, 8), (9, 1)])
def test_many_values_from_one_op_to_another_are_one_edge(values: int, drawn: int) -> None:
    s = Script()
    first = s.op("Unpack", [], outputs=values)
    s.op("Neg", [s.op("Pack", range(first, first + values))])
    graph = build(s.trace())
    folded = fold(graph, grouped(graph, {}), OpenGroups(frozenset(), {}))
    edges = [edge for *_, edge in folded.edges("op:1", data="edge")]
    assert len(edges) == drawn
    assert sum(len(edge.links) for edge in edges) == values
    assert folded.number_of_edges("op:2", "op:3") == 1


def test_a_group_node_sums_up_its_members() -> None:
    graph = wired(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    tree = grouped(graph, {"op:2": "a", "op:3": "a"})
    folded = fold(graph, tree, OpenGroups(frozenset("a"), {}))
    node = folded.nodes[group_id("a")]["node"]
    assert (node.role, node.members, node.lines, node.line) == (
        "group",
        ("op:2", "op:3"),
        (2, 3),
        2,
    )
    merged = folded.edges["op:1", group_id("a"), 0]["edge"]
    assert (merged.source, merged.target) == ("op:1", group_id("a"))


def test_an_end_stands_beside_its_folded_group() -> None:
    graph = wired(6, [(i, i + 1) for i in range(5)])
    end = graph.places["op:6"]
    tree = replace(grouped(graph, {f"op:{i}": "a" for i in range(2, 7)}), ends={end: "a"})
    folded = fold(graph, tree, OpenGroups(frozenset("a"), {}))
    assert list(folded.edges()) == [("op:1", group_id("a")), (group_id("a"), "op:6")]
    assert folded.nodes[group_id("a")]["node"].members == ("op:2", "op:3", "op:4", "op:5")
    assert choose_open(graph, tree, [end], most=3).closed == {"a"}


@pytest.mark.parametrize(("most", "closed"), [(12, set()), (11, {"conv1", "conv2", "conv3"})])
def test_blocks_of_one_series_are_opened_together_or_not_at_all(most: int, closed: set) -> None:
    graph = wired(12, [(i, i + 1) for i in range(11)])
    ops = {"conv1": range(1, 3), "conv2": range(3, 6), "conv3": range(6, 11)}
    home = {f"op:{i}": path for path, numbers in ops.items() for i in numbers}
    assert choose_open(graph, grouped(graph, home), most=most).closed == closed


@pytest.mark.parametrize(("most", "closed"), [(8, set()), (7, {"a/net", "b/net"})])
def test_lines_that_call_the_same_are_opened_together(most: int, closed: set[str]) -> None:
    graph = wired(8, [(i, i + 1) for i in range(7)])
    home = {f"op:{i}": "a/net" if i < 4 else "b/net" for i in range(1, 8)}
    assert choose_open(graph, grouped(graph, home), most=most).closed == closed


@pytest.mark.parametrize(("most", "closed"), [(9, set()), (8, {"a/net", "b/net"})])
def test_calls_that_a_section_hides_are_opened_with_the_others(most: int, closed: set[str]) -> None:
    """One call alone would fit: then it would be open, and the other closed."""
    graph = wired(9, [(i, i + 1) for i in range(8)])
    home = {f"op:{i}": "a/net" if i < 5 else "b/net" for i in range(1, 9)}
    tree = grouped(graph, {**home, "op:9": "b"})
    changes: dict[str, dict[str, object]] = {"a": {"last": 1, "ops": 3}, "b": {"last": 2}}
    changes |= {path: {"title": "net"} for path in ("a/net", "b/net")}
    groups = {path: structs.replace(tree.groups[path], **changes[path]) for path in changes}
    tree = replace(tree, groups=groups)
    assert choose_open(graph, tree, most=most).closed == closed


def test_groups_are_open_that_were_open_in_the_round_before() -> None:
    graph = wired(12, [(i, i + 1) for i in range(11)])
    ops = {"a": range(1, 5), "b/turn 7": range(5, 9), "c": range(9, 13)}
    home = {f"op:{i}": path for path, numbers in ops.items() for i in numbers}
    tree = grouped(graph, home)
    opening = choose_open(graph, tree, ruled={"a": False, "b": True, "b/turn": True}, most=7)
    assert opening.closed == {"a", "c"}
    assert opening.ruled == {"a": False, "b": True, "b/turn": True, "c": False}
    assert choose_open(graph, tree, ruled={"a": False}, most=40).closed == {"a"}


def test_the_target_is_an_end_of_the_layer_that_made_it() -> None:
    s = Script()
    x = s.variable("x", value=1.0, line=1)
    tape = s.tape(line=3)
    out = s.read(x, line=3)
    for kind in ("Sin", "Cos", "Exp", "Tanh", "Square", "Mean"):
        out = s.op(kind, [out], line=3, scope="block")
    s.exit(tape)
    with s.call(tape, [out], [x], line=4) as results:
        results.append(0)
    trace = s.trace()
    graph = build(trace)
    tree = grow(graph, trace)
    (end,) = tree.ends
    assert tree.ends[end] == "block"
    assert graph.node(end).tensor == out


@pytest.mark.parametrize("count", [31, 200, 3000])
def test_ops_that_nothing_groups_become_stretches(count: int) -> None:
    s = Script()
    out = s.tensor()
    for i in range(count):
        out = s.op(f"Kind{i % 7 * (i % 11)}", [out], line=i + 1)
    trace = s.trace()
    graph = build(trace)
    tree = grow(graph, trace)
    for most in (MOST_BOXES, 14):
        folded = fold(graph, tree, choose_open(graph, tree, most=most))
        assert len(folded) <= max(most, 17)
    opened = fold(graph, tree, choose_open(graph, tree, unfolded=tree.groups))
    assert len(opened) == len(graph)


def steep() -> Script:
    s = Script()
    x = s.tensor(value=2.0, name="x", line=1)
    tape = s.tape()
    s.watch(tape, x)
    y = x
    for _ in range(2):
        first = s.next_op
        out = s.op("Identity", [s.op("Round", [y], at=(4, 8))], line=8)
        s.recorded("steep", [y], [out], first, line=8)
        y = out
    s.bind("y", y, 8)
    with s.call(tape, [y], [x]) as results:
        results.append(0)
    return s


def test_a_recorded_operation_is_closed_until_the_user_opens_it() -> None:
    trace = steep().trace()
    graph = build(trace)
    tree = grow(graph, trace)
    folded = fold(graph, tree, choose_open(graph, tree))
    groups = [node for _, node in folded.nodes(data="node") if node.role == "group"]
    assert [(group.title, group.subtitle) for group in groups] == [
        ("steep", "custom_gradient · line 8"),
        ("y", "steep · custom_gradient"),
    ]
    entries = [op for op in trace.ops.values() if op.is_recorded_operation]
    assert [group.op for group in groups] == [op.id for op in entries]
    x = trace.calls[0].sources[0].tensor
    into = folded.edges[f"const:{x}", groups[0].id, 0]["edge"]
    assert (into.tensor, into.consumer) == (x, entries[0].id)
    opening = choose_open(graph, tree, unfolded=[path_of(groups[0])])
    opened = fold(graph, tree, opening, [path_of(groups[0])])
    assert {"Round", "y"} <= set(nodes(opened))
    assert [frame.path for frame in opened.graph["frames"]] == [path_of(groups[0])]


def test_every_grouping_folds_a_real_shape() -> None:
    trace = slice_assign().trace()
    graph = build(trace)
    for grouping in ("", *GROUPINGS):
        tree = grow(graph, trace, grouping)
        folded = fold(graph, tree, choose_open(graph, tree, most=0))
        assert nx.is_directed_acyclic_graph(folded)
    with pytest.raises(KeyError):
        grow(graph, trace, "colour")


LOOP = """\
w = tf.Variable([1.0])
with tf.GradientTape() as tape:
    for t in range(9):
        gates = state @ w
        if t == odd: gates = tf.stop_gradient(gates)
        state = tf.tanh(gates) * gates
tape.gradient(state, w)
"""


def recurrent(turns: int, odd: int = -1) -> Trace:
    """A cell run in a Python loop; the turn ``odd`` (from 0) takes an ``if``."""
    s = Script(LOOP)
    w = s.variable("w", value=[1.0], line=1)
    tape = s.tape(line=2)
    state = s.tensor((1,), name="state")
    for turn in range(turns):
        s.bind("t", 0, 3)
        gates = s.op("MatMul", [state, s.read(w, (1,), line=4)], (1,), line=4)
        if turn == odd:
            gates = s.op("StopGradient", [gates], (1,), line=5)
        state = s.op("Mul", [s.op("Tanh", [gates], (1,), line=6), gates], (1,), line=6)
    s.bind("state", state, 6)
    with s.call(tape, [state], [w], line=7, variables=[w]) as results:
        results.append(0)
    return s.trace()


def test_a_loop_is_one_turn_with_what_it_carries_and_what_its_turns_share() -> None:
    trace = recurrent(50)
    graph = build(trace)
    tree = grow(graph, trace)
    (repeat,) = (group for group in tree.groups.values() if group.turns)
    assert (repeat.title, repeat.line, len(repeat.turns)) == ("for t in range(9)", 3, 50)
    folded = fold(graph, tree, choose_open(graph, tree))
    assert folded.graph["frames"] == (Frame(repeat.path, repeat.title, 3, "", 50, 50, ()),)
    assert arrows(folded) == {
        ("state", "MatMul"),  # how it begins
        ("w", "MatMul"),
        ("MatMul", "Tanh"),
        ("MatMul", "state"),
        ("Tanh", "state"),
    }
    back = [edge for _, _, edge in folded.edges(data="edge") if edge.is_carried]
    titles = {name: node.title for name, node in folded.nodes(data="node")}
    assert [(titles[edge.source], titles[edge.target]) for edge in back] == [("state", "MatMul")]
    shown = nodes(folded)["MatMul"]
    assert len(shown.members) == 49
    every = {member for _, node in folded.nodes(data="node") for member in (node.id, *node.members)}
    assert every == set(graph)


@pytest.mark.parametrize("has_layer", [False, True])
def test_many_variables_that_all_turns_share_are_one_box_outside_of_them(has_layer: bool) -> None:
    scopes = ["net" if has_layer and number in range(2, 8) else "" for number in range(10)]
    s = Script("for t in range(9):\n    state = cell(state)\n")
    tape = s.tape(line=1)
    weights = [s.variable(f"w{number}", value=[1.0], line=1) for number in range(10)]
    state = s.tensor((1,), name="state")
    for _ in range(9):
        s.bind("t", 0, 1)
        for number, weight in enumerate(weights):
            inputs = [state, s.read(weight, (1,), line=2)]
            state = s.op(f"Op{number}", inputs, (1,), line=2, scope=scopes[number])
    s.bind("state", state, 2)
    with s.call(tape, [state], weights[:1], line=3, variables=weights[:1]) as results:
        results.append(0)
    trace = s.trace()
    graph = build(trace)
    tree = grow(graph, trace)
    (repeat,) = (group for group in tree.groups.values() if group.turns)
    shared = tree.groups[f"{repeat.path}/variables"]
    assert (shared.kind, shared.ops) == ("values", 9)
    assert (f"{shared.path}/net variables" in tree.groups) == has_layer
    folded = fold(graph, tree, choose_open(graph, tree, most=20))
    box = folded.nodes[group_id(shared.path)]
    assert box["frame"] == ""
    edges = folded.out_edges(group_id(shared.path), data="edge")
    assert edges
    assert not any(edge.is_carried for _, _, edge in edges)


def test_the_variables_of_a_model_that_runs_twice_are_a_group() -> None:
    s = Script("import tensorflow as tf\n")
    tape = s.tape()
    weights = [s.variable(f"w{number}", value=[1.0]) for number in range(9)]
    outs = []
    for run in range(2):
        out = s.tensor((1,), name=f"x{run}")
        for scope, some in (("encoder", weights[:4]), ("head", weights[4:8])):
            for weight in some:
                out = s.op("Mul", [out, s.read(weight, (1,))], (1,), line=2, scope=scope)
        outs.append(s.op("Sub", [out, s.read(weights[8], (1,))], (1,), line=3))
    loss = s.op("SquaredDifference", outs, (1,), name="loss")
    with s.call(tape, [loss], weights, variables=weights) as results:
        results += [s.tensor([1.0]) for _ in weights]
    trace = s.trace()
    graph = build(trace)
    tree = grow(graph, trace)
    shared = [group for group in tree.groups.values() if group.kind == "values"]
    assert [(group.path, group.ops) for group in shared] == [
        ("variables", 9),
        ("variables/encoder variables", 4),
        ("variables/head variables", 4),
    ]
    folded = fold(graph, tree, choose_open(graph, tree, unfolded=["variables"], most=0))
    assert {"encoder variables", "head variables", "w8"} <= set(nodes(folded))


def test_what_all_turns_share_is_in_the_closed_loop_unless_it_is_a_source() -> None:
    trace = recurrent(50)
    graph = build(trace)
    (w,) = graph.pinned & set(graph.values)
    for pinned, titles in (
        (graph.pinned, {"w", "for t in range(9)", "state"}),
        (graph.pinned - {w}, {"for t in range(9)", "state"}),
    ):
        graph.pinned = pinned
        tree = grow(graph, trace)
        folded = fold(graph, tree, choose_open(graph, tree, pinned, most=0))
        assert set(nodes(folded)) == titles
        opened = fold(graph, tree, choose_open(graph, tree, pinned))
        assert opened.nodes[nodes(opened)["w"].id]["frame"] == ""
        assert sum(edge.is_carried for _, _, edge in opened.edges(data="edge")) == 1


@pytest.mark.parametrize("turn", [1, 7, 50])
def test_any_turn_can_be_shown(turn: int) -> None:
    trace = recurrent(50)
    graph = build(trace)
    tree = grow(graph, trace)
    path = next(group.path for group in tree.groups.values() if group.turns)
    folded = fold(graph, tree, choose_open(graph, tree, turns={path: turn}))
    assert folded.graph["frames"][0].turn == turn
    products = [op.id for op in trace.ops.values() if op.type == "MatMul"]
    assert [node.op for _, node in folded.nodes(data="node") if node.type == "MatMul"] == [
        products[turn - 1]
    ]
    assert len(folded) == 5


def test_a_turn_of_another_shape_is_listed_and_can_be_shown() -> None:
    trace = recurrent(50, odd=30)
    graph = build(trace)
    tree = grow(graph, trace)
    opening = choose_open(graph, tree)
    folded = fold(graph, tree, opening)
    (frame,) = folded.graph["frames"]
    assert (frame.turn, frame.others) == (50, (31,))
    assert "StopGradient" not in nodes(folded)
    odd = fold(graph, tree, choose_open(graph, tree, turns={frame.path: 31}))
    assert "StopGradient" in nodes(odd)


def test_loops_inside_of_loops() -> None:
    s = Script("for i in a:\n    for j in b:\n        y = f(y)\n    y = g(y)\nprint(y)\n")
    tape = s.tape()
    y = x = s.tensor((1,), name="x")
    s.watch(tape, x)
    for _ in range(10):
        s.bind("i", 0, 1)
        for _ in range(8):
            s.bind("j", 0, 2)
            for kind in ("Exp", "Sin"):
                y = s.op(kind, [y], (1,), line=3)
        y = s.op("Tanh", [y], (1,), line=4)
    with s.call(tape, [y], [x]) as results:
        results.append(0)
    trace = s.trace()
    graph = build(trace)
    tree = grow(graph, trace)
    folded = fold(graph, tree, choose_open(graph, tree))
    outer, inner = folded.graph["frames"]
    assert (outer.count, inner.count, inner.parent) == (10, 8, outer.path)
    assert sorted(nodes(folded)) == ["Exp", "Sin", "Tanh", "x"]
    carried = {
        (edge.source.split(":")[0], folded.nodes[edge.target]["node"].title)
        for _, _, edge in folded.edges(data="edge")
        if edge.is_carried
    }
    assert carried == {("op", "Exp")}


def test_the_stretches_of_an_interrupted_block_are_named_by_their_first_layers() -> None:
    s = Script()
    tape = s.tape()
    y = x = s.tensor((1,), name="x")
    s.watch(tape, x)
    layers = [
        "conv",
        "drop",
        "conv_1",
        "conv_2",
        "conv_transpose",
        "drop_1",
        "conv_3",
        "drop_2",
        "conv_4",
        "conv_5",
    ]
    for layer in layers:
        for kind in ("MatMul", "Add", "Relu", "Mul"):
            y = s.op(kind, [y], (1,), line=3, scope=f"model/{layer}")
    with s.call(tape, [y], [x]) as results:
        results.append(0)
    groups = grow(build(s.trace()), s.trace()).groups.values()
    known = {group.path: group for group in groups}
    titles = [
        group.title
        for group in groups
        if group.kind == "layer" and group.parent and known[group.parent].kind == "line"
    ]
    assert titles == ["conv", "drop", "conv_1 …", "drop_1", "conv_3", "drop_2", "conv_4 …"]


def test_a_large_graph_opens_within_forty_boxes() -> None:
    s = Script()
    tape = s.tape()
    y = x = s.tensor((1,), name="x")
    s.watch(tape, x)
    odd = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29}  # nothing repeats
    for block in range(30):
        for layer in ("a_conv", "a_bn", "b_conv", "b_bn"):
            for kind in ("MatMul", "Add", "Relu", "Mul", "Tanh")[: 5 - (block in odd)]:
                y = s.op(kind, [y], (1,), line=3, scope=f"model/block{block}_{layer}")
    with s.call(tape, [y], [x]) as results:
        results.append(0)
    trace = s.trace()
    graph = build(trace)
    tree = grow(graph, trace)
    folded = fold(graph, tree, choose_open(graph, tree))
    assert 20 < len(folded) <= MOST_BOXES
    assert {"block0", "block29"} <= set(nodes(folded))
    block = next(path for path, group in tree.groups.items() if group.title == "block3")
    opened = fold(graph, tree, choose_open(graph, tree, unfolded=[block]))
    assert {"block3_a", "block3_b"} <= set(nodes(opened))
    assert "block3" not in nodes(opened)
    closed = fold(graph, tree, choose_open(graph, tree, folded=["model"]))
    assert "model" in nodes(closed)
    assert not {"block0", "block29"} & set(nodes(closed))


def test_what_is_pinned_is_never_inside_of_a_fold() -> None:
    trace = recurrent(200, odd=3)
    graph = build(trace)
    tree = grow(graph, trace)
    cut = next(place for place in range(len(graph)) if graph.node(place).type == "StopGradient")
    folded = fold(graph, tree, choose_open(graph, tree, [cut], most=3))
    assert graph.names[cut] in folded
    assert folded.graph["frames"][0].turn == 4


def test_nothing_folds_to_nothing() -> None:
    empty = build(EMPTY_TRACE)
    assert len(fold(empty, grow(empty, EMPTY_TRACE), OpenGroups(frozenset(), {}))) == 0


def test_a_target_in_the_last_turn_stands_beside_the_folded_loop() -> None:
    trace = recurrent(200)
    graph = build(trace)
    tree = grow(graph, trace)
    last = max(place for place in range(len(graph)) if tree.home[place])
    graph.pinned = frozenset({last})
    tree = grow(graph, trace)
    folded = fold(graph, tree, choose_open(graph, tree, [last], most=3))
    assert graph.names[last] in folded
    assert not folded.graph["frames"]
    opened = fold(graph, tree, choose_open(graph, tree, [last]))
    assert opened.graph["frames"][0].turn == 200
    assert opened.nodes[graph.names[last]]["frame"] == opened.graph["frames"][0].path


def test_what_prepares_data_is_opened_after_what_a_gradient_can_pass() -> None:
    graph = wired(12, [(i, i + 1) for i in range(11)])
    home = {f"op:{i}": "data" if i < 8 else "model" for i in range(1, 13)}
    tree = grouped(graph, home)
    tree = replace(tree, groups={path: _with_its_ops(tree, path) for path in tree.groups})
    assert choose_open(graph, tree, most=10).closed == {"model"}
    assert choose_open(graph, replace(tree, recorded=frozenset({"model"})), most=10).closed == {
        "data"
    }


def test_data_is_no_part_of_a_series_that_a_gradient_passes() -> None:
    """As the calls of a model in which a first layer takes a number that needs no gradient."""
    graph = wired(12, [(i, i + 1) for i in range(11)])
    home = {f"op:{i}": "net 1" if i < 6 else "net 2" for i in range(1, 13)}
    tree = grouped(graph, home)
    assert choose_open(graph, tree, most=10).closed == {"net 1", "net 2"}
    tree = replace(tree, recorded=frozenset({"net 2"}))
    assert choose_open(graph, tree, most=10).closed == {"net 1"}


def _with_its_ops(tree: Tree, path: str) -> Group:
    group, ops = tree.groups[path], tree.home.count(path)
    return msgspec.structs.replace(group, ops=ops, is_library="/" in path)


def test_what_a_folded_layer_hands_to_the_next_turn_runs_back_to_it() -> None:
    s = Script("h = x\nfor t in range(9):\n    h = cell(x[t], h)\n")
    data, state = s.tensor((9,), name="x"), s.tensor((1,), name="h")
    for _ in range(9):
        s.bind("t", 0, 2)
        now = s.op("StridedSlice", [data], (1,), line=3)
        state = s.op("Mul", [now, state], (1,), line=3, scope="cell")
        for kind in ("Tanh", "Sin", "Exp"):
            state = s.op(kind, [state], (1,), line=3, scope="cell")
    trace = s.trace()
    graph = build(trace)
    tree = grow(graph, trace)
    folded = fold(graph, tree, choose_open(graph, tree, most=4))
    back = [edge for _, _, edge in folded.edges(data="edge") if edge.is_carried]
    titles = {name: node.title for name, node in folded.nodes(data="node")}
    assert [(titles[edge.source], titles[edge.target]) for edge in back] == [("cell", "cell")]


def test_a_loop_in_a_loop_carries_its_values_by_one_line_for_all_turns_of_the_outer_one() -> None:
    s = Script("for t in range(4):\n    for u in range(5):\n        h = f(h)\n    h = g(h)\n")
    state = s.tensor((1,), name="h")
    for _ in range(4):
        s.bind("t", 0, 1)
        for _ in range(5):
            s.bind("u", 0, 2)
            state = s.op("Tanh", [s.op("Mul", [state], (1,), line=3)], (1,), line=3)
        state = s.op("Add", [state], (1,), line=4)
    trace = s.trace()
    graph = build(trace)
    tree = grow(graph, trace)
    opening = choose_open(graph, tree)
    folded = fold(graph, tree, opening)
    titles = {name: node.title for name, node in folded.nodes(data="node")}
    edges = [edge for _, _, edge in folded.edges(data="edge")]
    found = sorted((titles[edge.source], titles[edge.target], edge.is_carried) for edge in edges)
    within = [("Mul", "Tanh", False), ("Tanh", "Add", False)]
    assert found == sorted([*within, ("Add", "Mul", True), ("Tanh", "Mul", True)])
    (inner,) = (path for path in opening.turns if path.startswith("for t in range(4)/turn 4/"))
    closed = fold(graph, tree, replace(opening, closed=opening.closed | {inner}))
    assert len(closed) == 2
    assert not any(source == target for source, target in closed.edges())


@pytest.mark.parametrize(("count", "is_open"), [(12, True), (13, False)])
def test_small_layers_are_drawn_by_their_ops_all_or_none(count: int, is_open: bool) -> None:
    graph = wired(count, [(i, i + 1) for i in range(count - 1)])
    layers = {"a/l1": 1, "a/l2": 4, "b/l3": 7}
    home = {f"op:{first + i}": path for path, first in layers.items() for i in range(3)}
    tree = grouped(graph, home)
    tree = replace(tree, groups={path: _with_its_ops(tree, path) for path in tree.groups})
    assert choose_open(graph, tree).closed == (set() if is_open else set(layers))


@pytest.mark.parametrize("others", [0, 3])  # with these they are too many to be pinned
def test_sources_become_a_group_where_no_picture_with_them_can_be_read(others: int) -> None:
    s = Script()
    weights = [s.variable(f"w{number}", value=[1.0]) for number in range(6)]
    more = [s.tensor(value=[1.0]) for _ in range(others)]
    tape = s.tape()
    outs = [s.op("AddN", [s.read(w, (1,)) for w in weights], (1,), line=n) for n in (2, 3)]
    loss = s.op("Sub", outs, (1,), name="loss")
    sources = [*weights, *more]
    with s.call(tape, [loss], sources, variables=weights) as results:
        results += [s.tensor([1.0]) for _ in sources]
    trace = s.trace()
    graph = build(trace)
    made = []
    for choice in graph.pins:
        graph.pin(choice)
        groups = grow(graph, trace).groups.values()
        made.append([group.path for group in groups if group.kind == "values"])
    assert made == [[], ["variables"]]
