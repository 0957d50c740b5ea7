from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from tapeviz.graph.nodes import op_word
from tapeviz.graph.words import ranked_names, shape_words, version_name, write_word
from tapeviz.text.op_words import friendly
from tapeviz.trace.events import VariableMade
from tapeviz.trace.ids import SiteId, TensorId
from tapeviz.trace.model import Binding
from tapeviz.trace.sites import Site, StackFrame
from tapeviz.wording import listed

from ..traces import Script, op_at, trace_of
from .unfolded import unfolded


@pytest.mark.parametrize(
    ("op_type", "words"),
    [
        ("AddV2", "Add"),
        ("BatchMatMulV2", "MatMul"),
        ("FusedBatchNormV3", "FusedBatchNorm"),
        ("Conv2D", "Conv2D"),
        ("SelectV2", "Where"),
        ("RealDiv", "Div"),
        ("Relu6", "Relu6"),
        ("__inference_train_step_412", "train_step"),
        ("__forward_f_57", "f"),
        ("__forward___backward_f_12_57", "∂f"),
        ("__inference___backward___backward_f_12_34_57", "∂∂f"),
        ("V2", "V2"),
    ],
)
def test_an_op_type_as_people_say_it(op_type: str, words: str) -> None:
    assert friendly(op_type) == words


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a", "b", "c"], "a, b, c"),
        ([f"losses[{number}]" for number in range(2, 7)], "losses[2…6]"),
        (["losses[0]", "losses[1]", "losses[3]", "losses[4]"], "losses[0], losses[1], … 2 more"),
        (["a", "b", "c", "d[0]"], "a, b, … 2 more"),
    ],
)
def test_many_names_are_listed_in_short(names: list[str], words: str) -> None:
    assert listed(names) == words


def test_versions_and_shapes() -> None:
    assert [version_name("x", n) for n in (0, 1, 2, 3, 4, 12)] == [
        "x",
        "x′",
        "x″",
        "x‴",
        "x⁽⁴⁾",
        "x⁽¹²⁾",
    ]
    assert shape_words(()) == ""
    assert shape_words((2, None, 3)) == "2×?×3"
    assert shape_words(None) == "?"
    assert write_word("ResourceScatterNdUpdate") == "scatter update"
    assert write_word("ResourceApplyAdam") == "Adam"


def assign_title(line: str, kind: str = "AssignVariableOp", name: str = "x", above: int = 0) -> str:
    """The title of an assign to ``x`` that ran on the last line."""
    source = "\n" * above + line + "\n"
    s = Script(source)
    number = above + 1
    x = s.variable("x", (3,))
    s.bind(name, x)
    value = s.tensor((3,), name="v")
    inputs = [x, value] if "Strided" not in kind else [x, value, value, value, value]
    s.op(kind, inputs, line=number, outputs=0)
    s.op("Square", [s.read(x, (3,))], (3,), name="y")
    graph = unfolded(s.trace())
    return next(node.title for _, node in graph.nodes(data="node") if node.assigns)


@pytest.mark.parametrize(
    ("line", "kind", "title"),
    [
        ("x.assign(a + 2 * b)", "AssignVariableOp", "x ← a + 2 * b"),
        ("x.assign(value=a)", "AssignVariableOp", "x ← a"),
        ("x.assign_add(step)", "AssignAddVariableOp", "x += step"),
        ("x.assign_sub(lr * g)", "AssignSubVariableOp", "x −= lr * g"),
        ("x[0].assign(v)", "ResourceStridedSliceAssign", "x[0] ← v"),
        ("c[0].assign(v)", "AssignVariableOp", "x ← v"),
        ("x[1:, 0].assign(v)", "ResourceStridedSliceAssign", "x[1:,0] ← v"),
        ("for c in cs: c.assign(v)", "AssignVariableOp", "x ← v"),
        ("x.assign(" + "a + " * 20 + "b)", "AssignVariableOp", "x ← …"),
        ("x.assign(a); x.assign(b)", "AssignVariableOp", "x ←"),
        ("optimizer.apply_gradients(pairs)", "AssignSubVariableOp", "x −="),
        ("x.scatter_update(s)", "ResourceScatterUpdate", "x ← s"),
        ("x.scatter_nd_add(at, v)", "ResourceScatterNdAdd", "x ← v"),
        ("x.assign(", "AssignVariableOp", "x ←"),
    ],
)
def test_a_write_reads_as_the_snippet_says_it(line: str, kind: str, title: str) -> None:
    assert assign_title(line, kind) == title


def test_titles_of_groups_say_assign_as_its_box_does() -> None:
    s = Script()
    x = s.variable("x", (3,))
    s.op("AssignSubVariableOp", [x, s.op("AddV2", [s.read(x, (3,)), x], (3,))], outputs=0)
    words = [op_word(op) for op in s.trace().ops.values()]
    assert words[-2:] == ["Add", "assign_sub"]


def test_names_bound_where_a_tensor_was_made_come_before_those_of_parameters() -> None:
    """Of calls in a compiled function the frames in between are not known."""
    tensor = TensorId(7)

    def site(function: str, line: int) -> Site:
        return Site(SiteId(line), (StackFrame(function, line), StackFrame("<module>", 20)))

    made = op_at(3, 1, "Fill", (), (tensor,)).having(site=site("step", 3))
    bindings = tuple(
        Binding(name, place, when, ((tensor, name),))
        for when, (name, place) in enumerate((("x", site("call", 9)), ("begin", site("step", 3))))
    )
    trace = trace_of("", [made], {tensor: [1.0]})
    trace = replace(
        trace, bindings=bindings, names={tensor: ("x", "begin")}, producers={tensor: made.id}
    )
    assert ranked_names(trace)[tensor] == ("begin", "x")


def test_a_tensors_own_name_comes_first() -> None:
    s = Script()
    a = s.tensor(value=[1.0, 2.0], name="a")
    y = s.op("Square", [a], (2,), line=2)
    s.bind("parts[0]", y)
    s.bind("y", y)
    both = s.op("Split", [a], (1,), line=3, outputs=2)
    s.bind("low", both)
    s.bind("high", both + 1)
    titles = {node.title: node for _, node in unfolded(s.trace()).nodes(data="node")}
    assert {"a", "y", "low, high"} == set(titles)
    assert titles["low, high"].subtitle == "Split · 1"


def test_a_variable_is_called_by_a_name_that_no_other_has() -> None:
    s = Script()
    first, second, third = (s.variable(f"v{n}", (2,), line=1) for n in range(3))
    s.events = [event for event in s.events if type(event).__name__ != "NameBound"]
    for handle, name in ((first, "pair[0]"), (second, "pair[1]"), (third, "third")):
        s.bind(name, handle)
        s.bind("each", handle)
    names = s.trace().variable_names
    assert sorted(names.values()) == ["pair[0]", "pair[1]", "third"]


def test_a_name_of_two_variables_comes_before_that_of_three() -> None:
    s = Script()
    handles = [s.variable("kernel", (2,), line=1) for _ in range(3)]
    s.events = [event for event in s.events if type(event).__name__ != "NameBound"]
    s.events = [
        msgspec.structs.replace(
            event, path="dense/kernel" if event.id == handles[2] else "conv/kernel"
        )
        if isinstance(event, VariableMade)
        else event
        for event in s.events
    ]
    for handle in handles:
        s.bind("each", handle)
    names = s.trace().variable_names
    assert sorted(names.values()) == ["conv/kernel", "conv/kernel", "dense/kernel"]


def test_a_target_is_an_op_even_if_nothing_leads_to_it() -> None:
    s = Script()
    w = s.variable("w", value=1.0)
    tape = s.tape()
    squared = s.op("Square", [s.tensor((3,))], (3,), line=2)
    loss = s.op("Sum", [squared], line=2, name="loss")
    with s.call(tape, [loss], [w], variables=[w]) as results:
        results.append(0)
    nodes = {node.title: node for _, node in unfolded(s.trace()).nodes(data="node")}
    assert nodes["loss"].role == "op"
    assert "Square" in nodes


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("scale:0", "scale"),
        ("gru_cell/kernel", "gru_cell/kernel"),
        ("Variable:0", "ws[1]"),
        ("variable_3", "ws[1]"),
    ],
)
def test_a_name_that_somebody_gave_says_more_than_a_place_in_a_list(path: str, name: str) -> None:
    s = Script("g = tape.gradient(loss, ws)\n")
    handle = s.variable("w", (2,), line=1)
    s.events = [
        msgspec.structs.replace(event, path=path) if isinstance(event, VariableMade) else event
        for event in s.events
        if type(event).__name__ != "NameBound"
    ]
    s.bind("ws[1]", handle)
    assert list(s.trace().variable_names.values()) == [name]


def test_a_value_that_is_thrown_away_has_no_name() -> None:
    s = Script("_, y = tf.linalg.slogdet(x)\n")
    x = s.variable("x", (2, 2))
    s.op("LogMatrixDeterminant", [s.read(x, (2, 2))], line=1, name="_")
    graph = unfolded(s.trace())
    assert "LogMatrixDeterminant" in {node.title for _, node in graph.nodes(data="node")}
