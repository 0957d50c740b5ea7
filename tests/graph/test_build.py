from __future__ import annotations

from collections import Counter

import msgspec
import networkx as nx
import pytest

from tapeviz.graph.build import build
from tapeviz.graph.model import Edge, Node
from tapeviz.graph.scope_walk import ScopeWalk
from tapeviz.trace import events as e
from tapeviz.trace.ids import TensorId, VariableId
from tapeviz.trace.ops import Op

from ..traces import Script
from .unfolded import unfolded

SLICE_ASSIGN = """\
x = tf.Variable([[2.0, 3.0, 4.0], [1.0, 10.0, 100.0]])
patch = tf.Variable([[0.0, 1.0], [2.0, 3.0]])
with tf.GradientTape() as tape:
    x[:2, :2].assign(patch)
    y = tf.matmul(x, tf.transpose(x))
    o = tf.reduce_mean(y)
tape.gradient(o, patch)
"""


def nodes(graph: nx.MultiDiGraph) -> dict[str, Node]:
    """Nodes by title."""
    return {node.title: node for _, node in graph.nodes(data="node")}


def edges(graph: nx.MultiDiGraph) -> list[Edge]:
    return [edge for _, _, edge in graph.edges(data="edge")]


def arrows(graph: nx.MultiDiGraph) -> set[tuple[str, str]]:
    titles = {name: node.title for name, node in graph.nodes(data="node")}
    return {(titles[a], titles[b]) for a, b, _ in graph.edges(keys=True)}


def slice_assign() -> Script:
    s = Script(SLICE_ASSIGN)
    x = s.variable("x", value=[[2, 3, 4], [1, 10, 100]], line=1)
    patch = s.variable("patch", value=[[0, 1], [2, 3]], line=2)
    tape = s.tape(line=3)
    begin, end, strides = (s.tensor((2,), dtype="int32") for _ in range(3))
    value = s.read(patch, (2, 2), line=4)
    s.op("ResourceStridedSliceAssign", [x, begin, end, strides, value], line=4, outputs=0)
    first, second = s.read(x, (2, 3), line=5), s.read(x, (2, 3), line=5)
    turned = s.op("Transpose", [second, s.tensor((2,), dtype="int32")], (3, 2), line=5)
    y = s.op("MatMul", [first, turned], (2, 2), line=5, name="y")
    o = s.op("Mean", [y, s.tensor((2,), dtype="int32")], line=6, name="o")
    s.exit(tape)
    with s.call(tape, [o], [patch], line=7, variables=[patch]) as results:
        ones = s.op("Fill", [s.tensor((0,), dtype="int32"), s.tensor(value=1.0)])
        s.op("MatMul", [ones, turned], (2, 3))
        results.append(0)
    return s


def test_a_slice_assign_reads_as_the_user_thinks_of_it() -> None:
    graph = unfolded(slice_assign().trace())
    found = nodes(graph)
    assert {title: node.subtitle for title, node in found.items()} == {
        "x": "Variable · 2×3",
        "patch": "Variable · 2×2",
        "x[:2,:2] ← patch": "assign · line 4",
        "x′": "after line 4 · 2×3",
        "Transpose": "3×2 · line 5",
        "y": "MatMul · 2×2",
        "o": "Mean",
    }
    assert arrows(graph) == {
        ("x", "x[:2,:2] ← patch"),
        ("patch", "x[:2,:2] ← patch"),
        ("x[:2,:2] ← patch", "x′"),
        ("x′", "Transpose"),
        ("x′", "y"),
        ("Transpose", "y"),
        ("y", "o"),
    }
    assign = found["x[:2,:2] ← patch"]
    assert assign.assigns
    assert not assign.is_recorded
    assert found["y"].is_recorded
    assert nx.is_directed_acyclic_graph(graph)


def test_every_edge_is_one_link_of_the_analysis() -> None:
    trace = slice_assign().trace()
    graph = unfolded(trace)
    links = [(edge.tensor, edge.consumer) for edge in edges(graph)]
    assert len(links) == len(set(links))
    for edge in edges(graph):
        taken = trace.ops[edge.consumer].inputs if edge.consumer is not None else ()
        assert edge.tensor is None or edge.consumer is None or edge.tensor in taken


def test_all_of_it_has_the_backward_pass_and_the_axes() -> None:
    graph = unfolded(slice_assign().trace(), shows_all=True)
    backward = [node for node in nodes(graph).values() if node.is_backward]
    assert {node.type for node in backward} == {"Fill", "MatMul"}
    assert sum(node.role == "constant" for _, node in graph.nodes(data="node")) == 7


def test_an_optimizers_last_update_is_left_out() -> None:
    s = Script()
    w = s.variable("w", value=[1.0], line=1)
    tape = s.tape(line=2)
    loss = s.op("Sum", [s.read(w, (1,), line=3)], line=3, name="loss")
    s.exit(tape)
    with s.call(tape, [loss], [w], line=4, variables=[w]) as results:
        grad = s.op("Tile", [loss], (1,))
        results.append(grad)
    step = s.op("Mul", [grad, s.tensor(value=0.1)], (1,), line=5)
    s.op("AssignSubVariableOp", [w, step], line=5, outputs=0)
    assert set(nodes(unfolded(s.trace()))) == {"w", "loss"}
    assert any(node.assigns for node in nodes(unfolded(s.trace(), shows_all=True)).values())


def three_steps() -> Script:
    s = Script("w.assign_sub(lr * grad)\n")
    w = s.variable("w", value=[1.0], line=1)
    for _ in range(3):
        tape = s.tape()
        loss = s.op("Sum", [s.read(w, (1,), line=3)], line=3, name="loss")
        s.exit(tape)
        with s.call(tape, [loss], [w], line=4, variables=[w]) as results:
            results.append(s.op("Tile", [loss], (1,)))
        s.bind("grad", results[0], 4)
        step = s.op("Mul", [results[0], s.tensor(value=0.1)], (1,), line=1)
        s.op("AssignSubVariableOp", [w, step], line=1, outputs=0)
    return s


def test_a_training_steps_picture_is_its_own_with_its_variables_at_their_version() -> None:
    trace = three_steps().trace()
    for number, call in enumerate(trace.calls):
        graph = unfolded(trace, call)
        assert arrows(graph) == {("w", "loss")}
        words = "after 1 update" if number == 1 else f"after {number} updates"
        assert nodes(graph)["w"].subtitle == (f"{words} · 1" if number else "Variable · 1")
    everything = unfolded(trace, shows_all=True)
    assert sum(node.assigns for _, node in everything.nodes(data="node")) == 3


def test_a_value_computed_before_is_one_node_that_opens() -> None:
    s = Script()
    w = s.variable("w", value=[1.0])
    raw = s.tensor((3,), name="raw", line=1)
    x = s.op("Mul", [s.op("Exp", [raw], (3,), line=2), s.tensor(value=2.0)], (3,), line=3, name="x")
    tape = s.tape()
    y = s.op("Mul", [s.read(w, (1,), line=5), x], (3,), line=5, name="y")
    s.exit(tape)
    with s.call(tape, [y], [w], variables=[w]) as results:
        results.append(0)
    trace = s.trace()
    graph = unfolded(trace)
    assert arrows(graph) == {("w", "y"), ("x", "y")}
    x_node = nodes(graph)["x"]
    assert (x_node.role, x_node.is_recorded, x_node.opens) == ("constant", False, "before/x")
    opened = unfolded(trace, opened=["before/x"])
    assert ("Exp", "x") in arrows(opened)
    further = nodes(opened)["Exp"]
    assert further.opens == "before/Exp line 2"
    assert ("raw", "Exp") in arrows(unfolded(trace, opened=[x_node.opens, further.opens]))


def test_a_cut_is_shown_up_to_the_source_through_earlier_state() -> None:
    """The variable was written before the tape began: the far side of the cut is in the picture,
    another variable's updates are not, nor what else was made from the source."""
    s = Script()
    a, c, d = (s.variable(name, value=1.0) for name in "acd")
    s.op("AssignVariableOp", [c, s.op("Exp", [s.read(a, line=2)], line=2)], outputs=0, line=2)
    s.op("AssignAddVariableOp", [d, s.tensor(value=1.0)], outputs=0, line=3)
    tape = s.tape()
    y = s.op("Mul", [s.read(c, line=4), s.read(d, line=4)], line=4, name="y")
    s.op("Sin", [s.read(a, line=5)], line=5, name="aside")
    s.exit(tape)
    with s.call(tape, [y], [a], variables=[a]) as results:
        results.append(0)
    found = arrows(unfolded(s.trace()))
    assert found == {("a", "Exp"), ("Exp", "c ←"), ("c ←", "c′"), ("c′", "y"), ("d", "y")}


def test_nested_tapes_show_the_inner_backward_pass() -> None:
    s = Script()
    x = s.tensor(value=3.0, name="x", line=1)
    outer, inner = s.tape(), s.tape()
    s.watch(outer, x)
    s.watch(inner, x)
    y = s.op("Square", [x], line=5, name="y")
    s.exit(inner)
    with s.call(inner, [y], [x], line=6) as results:
        results.append(s.op("Mul", [x, s.op("Mul", [s.tensor(value=2.0), s.tensor(value=1.0)])]))
    s.bind("dy", results[0], 6)
    s.exit(outer)
    with s.call(outer, [results[0]], [x], line=7) as results:
        results.append(s.op("Identity", [y]))
    found = nodes(unfolded(s.trace()))
    assert found["dy"].is_backward
    assert found["dy"].is_recorded
    assert "Identity" not in found


def test_a_variable_made_from_a_tensor_keeps_the_link() -> None:
    s = Script()
    a = s.variable("a", value=2.0, line=1)
    tape = s.tape()
    doubled = s.op("Mul", [s.read(a, line=3), s.tensor(value=2.0)], line=3)
    b = s.variable("b", initial=doubled, line=3)
    y = s.op("Square", [s.read(b, line=4)], line=4, name="y")
    with s.call(tape, [y], [a], line=5, variables=[a]) as results:
        results.append(0)
    graph = unfolded(s.trace())
    assert arrows(graph) == {("a", "Mul"), ("2.0", "Mul"), ("Mul", "b"), ("b", "y")}
    made = next(edge for edge in edges(graph) if edge.target.startswith("var:"))
    creation = s.trace().variables[VariableId(b)].versions[0].op
    assert (made.tensor, made.consumer) == (doubled, creation)


@pytest.mark.parametrize("is_direct", [True, False])
def test_a_way_through_the_form_of_a_tensor_is_shown_where_there_is_no_other(
    is_direct: bool,
) -> None:
    s = Script()
    a = s.variable("a", value=2.0, line=1)
    kept = s.variable("kept", value=0.0, line=1)
    earlier = s.op("Square", [s.read(a, line=2)], line=2, name="earlier")
    s.op("AssignVariableOp", [kept, earlier], outputs=0, line=2)
    tape = s.tape()
    value = s.op("ZerosLike", [s.read(kept, line=3)], line=3)
    if is_direct:
        value = s.op("Round", [s.op("AddV2", [value, s.read(a, line=4)], line=4)], line=4)
    y = s.op("Exp", [value], line=5, name="y")
    with s.call(tape, [y], [a], line=6, variables=[a]) as results:
        results.append(0)
    assert ("earlier" in nodes(unfolded(s.trace()))) is not is_direct


def test_how_a_variable_got_its_first_value_is_left_out() -> None:
    s = Script()
    dims = s.tensor((1,), dtype="int32")
    random = s.op("RandomStandardNormal", [dims], (3,), line=1)
    w = s.variable("w", initial=random, line=1)
    tape = s.tape()
    y = s.op("Sum", [s.read(w, (3,))], line=2, name="y")
    with s.call(tape, [y], [w], variables=[w]) as results:
        results.append(0)
    assert set(nodes(unfolded(s.trace()))) == {"w", "y"}


@pytest.mark.parametrize("is_caught", [False, True])
def test_the_op_that_raised_is_drawn_with_its_inputs(is_caught: bool) -> None:
    s = Script()
    w, x = s.variable("w", value=[1.0, 2.0, 3.0]), s.tensor((4, 5), name="x")
    turned = s.op("Reshape", [s.read(w, (3,))], (3, 1), line=2)
    words = "Matrix size-incompatible: In[0]: [4,5], In[1]: [3,1]"
    site = s.site(3)
    s.events.append(
        e.OpRan(99, "MatMul", [x, turned], [], site=site, error=f"InvalidArgumentError: {words}")
    )
    ended = f"Exception encountered when calling Dense.call().\n\n{words} name: "
    s.events.append(e.Raised("InvalidArgumentError", "another" if is_caught else ended))
    graph = unfolded(s.trace())
    drawn = {("w", "Reshape"), ("Reshape", "MatMul"), ("x", "MatMul")}
    assert arrows(graph) == ({("w", "Reshape")} if is_caught else drawn)
    if not is_caught:
        assert nodes(graph)["MatMul"].subtitle == "line 3 · raised"


def test_data_made_on_one_line_is_one_value() -> None:
    s = Script()
    w = s.variable("w", value=[1.0], line=1)
    dims = s.tensor((1,), dtype="int32")
    normal = s.op("RandomStandardNormal", [dims], (3,), line=2)
    scaled = s.op("Mul", [normal, s.tensor(value=2.0)], (3,), line=2)
    data = s.op("AddV2", [scaled, s.tensor(value=1.0)], (3,), line=2, name="data")
    tape = s.tape()
    y = s.op("Mul", [s.read(w, (1,)), data], (3,), line=3, name="y")
    with s.call(tape, [y], [w], variables=[w]) as results:
        results.append(0)
    graph = unfolded(s.trace())
    assert arrows(graph) == {("w", "y"), ("data", "y")}
    assert nodes(graph)["data"].role == "constant"


def test_shapes_are_hidden_unless_they_are_values() -> None:
    s = Script()
    x = s.tensor((4,), name="x", line=1)
    tape = s.tape()
    s.watch(tape, x)
    shape = s.op("Shape", [x], (1,), dtype="int32", line=2)
    indices = [s.tensor((1,), dtype="int32") for _ in range(3)]
    count = s.op("StridedSlice", [shape, *indices], dtype="int32", line=2)
    packed = s.op("Pack", [count, s.tensor(value=2, dtype="int32")], (2,), dtype="int32")
    tall = s.op("Reshape", [x, packed], (2, 2), line=2)
    total = s.op("Sum", [tall, s.tensor((2,), dtype="int32")], line=3, name="total")
    with s.call(tape, [total], [x]) as results:
        results.append(0)
    assert set(nodes(unfolded(s.trace()))) == {"x", "Reshape", "total"}
    number = s.op("Cast", [count], line=4)
    mean = s.op("RealDiv", [total, number], line=4, name="mean")
    with s.call(tape, [mean], [x]) as results:
        results.append(0)
    assert {"Shape", "StridedSlice", "Cast"} <= set(nodes(unfolded(s.trace())))
    assert "Pack" not in nodes(unfolded(s.trace()))


def test_a_source_without_a_path_is_there_with_what_became_of_it() -> None:
    s = Script()
    a, b = s.variable("a", value=1.0), s.variable("b", value=2.0)
    tape = s.tape()
    s.op("Exp", [s.read(a)], name="unused", line=3)
    y = s.op("Square", [s.read(b)], name="y", line=4)
    with s.call(tape, [y], [a], variables=[a]) as results:
        results.append(0)
    graph = unfolded(s.trace())
    assert arrows(graph) == {("a", "unused"), ("b", "y")}


def test_a_value_that_left_is_linked_to_the_constant_it_came_back_as() -> None:
    s = Script()
    x = s.tensor(value=2.0, name="x", line=1)
    tape = s.tape()
    s.watch(tape, x)
    square = s.op("Square", [x], line=3, name="square")
    back = s.tensor(value=4.0)
    y = s.op("Exp", [back], line=4, name="y")
    with s.call(tape, [y], [x]) as results:
        results.append(0)
    graph = unfolded(s.trace(), came_back={TensorId(back): (TensorId(square),)})
    assert arrows(graph) == {("x", "square"), ("square", "4.0"), ("4.0", "y")}


def test_a_custom_gradients_inside_is_a_group() -> None:
    s = Script()
    x = s.tensor(value=2.0, name="x", line=1)
    tape = s.tape()
    s.watch(tape, x)
    first = s.next_op
    rounded = s.op("Round", [x], at=(4, 8))
    out = s.op("Identity", [rounded], line=8)
    s.recorded("steep", [x], [out], first, line=8)
    y = s.op("Square", [out], line=9, name="y")
    with s.call(tape, [y], [x]) as results:
        results.append(0)
    trace = s.trace()
    graph = unfolded(trace)
    found = nodes(graph)
    assert found["Round"].group == found["Identity"].group != ""
    assert "steep" in found["Round"].group
    entry = next(op for op in trace.ops.values() if op.is_recorded_operation)
    into = next(edge for edge in edges(graph) if edge.source == f"const:{x}")
    assert (x, entry.id) in into.links
    assert found["Round"].lines == (4, 8)


def test_without_a_gradient_call_everything_forward_is_shown() -> None:
    s = Script()
    a = s.tensor(value=2.0, name="a")
    s.op("Exp", [s.op("Square", [a], line=2)], line=2)
    assert arrows(unfolded(s.trace())) == {("a", "Square"), ("Square", "Exp")}


def test_a_long_recording_is_built_alike_each_time() -> None:
    s = Script()
    w = s.variable("w", value=[1.0])
    tape = s.tape()
    state = s.tensor((1,), name="state")
    for _ in range(3_200):
        read = s.read(w, (1,), line=4)
        state = s.op("Tanh", [s.op("Mul", [state, read], (1,), line=4)], (1,), line=5)
        state = s.op("AddV2", [state, s.tensor(value=1.0)], (1,), line=6)
    with s.call(tape, [state], [w], variables=[w]) as results:
        results.append(0)
    trace = s.trace()
    graph = unfolded(trace)
    assert graph.number_of_nodes() > 9_500
    assert [*graph] == [*unfolded(trace)]


def test_state_that_only_serves_bookkeeping_is_left_out() -> None:
    """A random generator's counter is read, turned into a seed, and written."""
    s = Script()
    counter = s.variable("seed", (2,), trainable=False)
    s.events[-2] = msgspec.structs.replace(s.events[-2], dtype="int32")  # type: ignore[type-var]
    w = s.variable("w", value=[1.0])
    tape = s.tape()
    for _ in range(2):
        state = s.op("ReadVariableOp", [counter], (2,), dtype="int32")
        seed = s.op("Mul", [state, s.tensor(value=3, dtype="int32")], (2,), dtype="int32", line=4)
        step = s.tensor((2,), dtype="int32")
        s.op("AssignAddVariableOp", [counter, step], outputs=0, line=4)
        shape = s.tensor((1,), dtype="int32")
        mask = s.op("StatelessRandomUniform", [shape, seed], (1,), line=5)
        y = s.op("Mul", [s.read(w, (1,)), mask], (1,), line=6, name="y")
    with s.call(tape, [y], [w], variables=[w]) as results:
        results.append(0)
    graph = unfolded(s.trace())
    assert arrows(graph) == {("w", "y"), ("RandomUniform", "y")}
    assert any(
        node.title == "seed" for _, node in unfolded(s.trace(), shows_all=True).nodes("node")
    )


def test_a_variable_that_left_is_linked_in_the_version_that_was_read() -> None:
    s = Script()
    v = s.variable("v", value=2.0)
    s.op("AssignAddVariableOp", [v, s.tensor(value=1.0)], outputs=0, line=2)
    s.read(v, line=3)
    back = s.tensor(value=9.0)
    s.op("AssignAddVariableOp", [v, s.tensor(value=1.0)], outputs=0, line=4)
    tape = s.tape()
    y = s.op("Exp", [back], line=4, name="y")
    with s.call(tape, [y], [v], variables=[v]) as results:
        results.append(0)
    graph = unfolded(s.trace(), came_back={TensorId(back): (TensorId(v),)})
    assert ("v", "9.0") in arrows(graph)
    assert nodes(graph)["v"].subtitle == "after 1 update"


def test_a_compiled_function_is_one_op() -> None:
    s = Script()
    w = s.variable("w", value=[1.0], line=1)
    tape = s.tape()
    x = s.tensor((1,), name="x", line=2)
    first = s.next_op
    y = s.op("__forward_energy_44", [x, w], (1,), line=5)
    s.recorded("__forward_energy_44", [x, w], [y], first, line=5)
    s.bind("y", y, 5)
    with s.call(tape, [y], [w], variables=[w]) as results:
        results.append(s.op("__backward_energy_45", [y], (1,)))
    trace = s.trace()
    graph = unfolded(trace)
    assert arrows(graph) == {("w", "y"), ("x", "y")}
    node = nodes(graph)["y"]
    entry = next(op for op in trace.ops.values() if op.is_recorded_operation)
    assert (node.op, node.role, node.group, node.is_recorded) == (entry.id, "op", "", True)
    assert {link for edge in edges(graph) for link in edge.links} == {(x, entry.id), (w, entry.id)}
    assert {edge.state for edge in edges(graph)} == {"recorded"}


@pytest.mark.parametrize("case", ["argmax", "tensor"])
def test_pinned_are_the_cuts_whose_closing_lets_the_gradient_pass(case: str) -> None:
    s = Script()
    v = s.variable("v", [4])
    given = s.tensor([4], name="given")
    with_tape = s.tape()
    read = s.read(v, [4])
    if case == "argmax":
        place = s.op("ArgMax", [read], dtype="int64")
        score = s.op("OneHot", [place], [4])
        source = v
    else:  # no tape follows it, nor what is made of it
        score = s.op("Softplus", [s.op("Exp", [given], [4])], [4])
        score = s.op("Mul", [read, score], [4])
        source = given
    is_near = s.op("LessEqual", [score, s.tensor([4])], [4], dtype="bool")
    chosen = s.op("SelectV2", [is_near, s.op("Square", [score], [4]), score], [4])
    loss = s.op("Sum", [chosen])
    s.exit(with_tape)
    with s.call(with_tape, [loss], [source], variables=[v]) as results:
        results.append(0)
    graph = build(s.trace())
    pinned = {graph.node(place).type for place in graph.pinned}
    assert pinned - {"Variable", "Constant", ""} == {"Sum", "ArgMax" if case == "argmax" else "Exp"}


def test_of_many_sources_those_without_a_gradient_are_pinned() -> None:
    s = Script()
    weights = [s.variable(f"w{number}", value=1.0) for number in range(10)]
    tape = s.tape()
    y = s.op("AddN", [s.read(weight) for weight in weights], name="y")
    with s.call(tape, [y], weights, variables=weights) as results:
        results += [s.tensor(value=0.0 if weight == weights[3] else 1.0) for weight in weights]
    graph = build(s.trace())
    assert {graph.node(place).name for place in graph.pinned} == {"w3", "y"}


@pytest.mark.parametrize(
    ("missing", "pinned"),
    [
        (range(4, 10), {"y"}),  # the whole model: its box says so
        (range(4, 9), {"y", *(f"w{number}" for number in range(4, 9))}),
    ],
)
def test_the_sources_of_a_model_without_any_gradient_are_not_pinned(
    missing: range, pinned: set[str]
) -> None:
    s = Script()
    weights = [s.variable(f"w{number}", value=1.0) for number in range(10)]
    tape = s.tape()
    scopes = ["encoder/dense"] * 4 + ["decoder/dense"] * 6
    y = s.op("AddN", map_reads(s, weights, scopes), name="y")
    with s.call(tape, [y], weights, variables=weights) as results:
        results += [0 if number in missing else s.tensor(value=1.0) for number in range(10)]
    graph = build(s.trace())
    assert {graph.node(place).name for place in graph.pinned} == pinned


def map_reads(s: Script, weights: list[int], scopes: list[str]) -> list[int]:
    reads = ((s.read(weight), scope) for weight, scope in zip(weights, scopes, strict=True))
    return [s.op("Exp", [read], scope=scope) for read, scope in reads]


def test_the_op_where_nan_began_is_pinned_while_a_picture_with_it_can_be_read() -> None:
    s = Script()
    x = s.variable("x", value=1.0)
    tape = s.tape()
    finite = s.op("Exp", [s.read(x)], value=1.0)
    masked = s.op("Log", [finite], name="masked", value=float("-inf"))  # not on the way
    finite = s.op("Add", [finite, s.op("Exp", [masked], value=0.0)], value=1.0)
    began = s.op("Sqrt", [finite], name="began", value=float("nan"))
    y = s.op("Square", [began], name="y", value=float("nan"))
    with s.call(tape, [y], [x], variables=[x]) as results:
        results.append(s.tensor(value=float("nan")))
    graph = build(s.trace())
    names = [{graph.node(place).name for place in pinned} for pinned, *_ in graph.pins]
    assert names == [{"x", "y", "began"}, {"y", "began"}, {"y"}]


@pytest.mark.parametrize("origin", ["forward", "hidden", "backward"])
def test_the_first_step_that_gave_nan_is_pinned_unless_it_was_given_the_nan_of_the_target(
    origin: str,
) -> None:
    """The backward pass begins at the end: its first NaN is where a forward NaN is first seen."""
    nan = float("nan")
    s = Script()
    x = s.variable("x", value=1.0)
    tape = s.tape()
    began = s.op("Sqrt", [s.read(x)], name="began", value=1.0 if origin == "backward" else nan)
    later = s.op("Square", [began], name="later", value=nan if origin == "forward" else 1.0)
    number = s.last_op
    y = s.op("Neg", [later], name="y", value=nan if origin == "forward" else -1.0)
    with s.call(tape, [y], [x], variables=[x]) as results:
        results.append(s.tensor(value=nan))
        s.step(number, [s.tensor(value=1.0)], [s.tensor(value=nan)])
    graph = build(s.trace())
    pinned = {graph.node(place).name for place in graph.pinned}
    assert pinned == {"x", "y", "began" if origin == "forward" else "later"}


def test_what_the_targets_were_made_from_is_walked_once_though_sources_are_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Script("import tensorflow as tf\nloss = f(variables)\n")
    variables = [script.variable(f"v{k}", (), line=1) for k in range(20)]
    tape = script.tape(line=2)
    cut = [script.op("Round", [script.read(each, line=2)], line=2) for each in variables]
    loss = script.op("AddN", cut, line=2, name="loss")
    script.exit(tape)
    with script.call(tape, [loss], variables, line=3, variables=variables) as results:
        results += [0] * len(variables)
    kept: Counter[int] = Counter()
    keep = ScopeWalk._keep_op

    def counted(walk: ScopeWalk, op: Op) -> list[TensorId]:
        kept[op.id] += op.id not in walk.scope.ops
        return keep(walk, op)

    monkeypatch.setattr(ScopeWalk, "_keep_op", counted)
    graph = build(script.trace())
    assert len(graph) >= 2 * len(variables)
    assert set(kept.values()) == {1}
