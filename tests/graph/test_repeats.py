"""How groups and repeats are recognized: by stretches, names of layers, places of ops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from msgspec import structs

from tapeviz.graph.groups.branches import Branch, shared_levels
from tapeviz.graph.groups.gathering import Words, bundle, gather_lines, prune
from tapeviz.graph.groups.shapes import Shapes, weigh
from tapeviz.stretches import find_stretches
from tapeviz.text.called_names import CalledNames
from tapeviz.text.source import SourceText
from tapeviz.trace import events as e
from tapeviz.trace.ids import OpId, SiteId, TensorId, VariableId
from tapeviz.trace.levels.blocks import block_parts
from tapeviz.trace.levels.frames import Level
from tapeviz.trace.levels.op_levels import OpLevels
from tapeviz.trace.model import EMPTY_TRACE
from tapeviz.trace.ops import Op, OpDescription
from tapeviz.trace.sites import Site, StackFrame
from tapeviz.trace.variables import Variable, Version

from ..traces import Script, op_at, trace_of

NO_WORDS = Words(lambda number: "", lambda span: "", str, [])


@pytest.mark.parametrize(
    ("tokens", "found"),
    [
        ("xababy", [(1, 5, 2)]),
        ("abcdef", []),
        ("", []),
        ("aabaabaab", [(0, 9, 3)]),
        ("ababababxcdcdcd", [(0, 8, 2), (9, 15, 2)]),
        ("xltdadtalddaltdadtaldda", [(1, 23, 11)]),
        ("xyxyxyxyxyzaaaa", [(0, 10, 2), (11, 15, 1)]),
        (4 * "baabbbabaaa", [(0, 44, 11)]),
    ],
)
def test_a_stretch_is_found_by_its_period(tokens: str, found: list[tuple[int, int, int]]) -> None:
    assert find_stretches(tokens) == found


def test_blocks_are_the_common_parts_of_names() -> None:
    stem = ["conv1_pad", "conv1_conv", "pool1_pool", "avg_pool", "predictions"]
    names = [f"conv{i}_block{j}_{k}" for i in (2, 3) for j in (1, 2) for k in ("1_conv", "1_bn")]
    blocks = block_parts([*stem, *names])
    assert blocks["conv2_block1_1_conv"] == (("layer", "conv2"), ("layer", "conv2_block1_1"))
    assert blocks["conv1_pad"] == (("layer", "conv1"),)
    assert "predictions" not in blocks


def test_a_number_at_the_end_makes_no_block() -> None:
    kinds = ("dense", "batch_normalization", "multi_head_attention")
    numbers = ("", "_1", "_2", "_1_1", "_1_2")  # a graph numbers a name that it has already
    assert block_parts([kind + number for kind in kinds for number in numbers]) == {}


def test_layers_that_the_snippet_numbers_make_a_block() -> None:
    names = [f"{block}_conv{i}" for block in ("down1", "down2", "up1", "up2") for i in (1, 2)]
    blocks = block_parts(names)
    assert {blocks[name] for name in names[:2]} == {(("layer", "down1"),)}
    assert len(set(blocks.values())) == 4


def test_blocks_that_differ_in_their_number_are_turns() -> None:
    names = [f"block_{i}_{k}" for i in range(1, 5) for k in ("expand", "expand_BN", "project")]
    blocks = block_parts(["Conv1", *names])
    assert blocks["block_3_project"] == (("loop", "block"), ("turn", "turn 3"))
    assert blocks["block_3_expand"][:2] == (("loop", "block"), ("turn", "turn 3"))
    assert "Conv1" not in blocks


def _layer(title: str, ops: int = 4) -> Branch:
    return Branch("layer", title, 42, None, [], ops)


def test_a_block_of_one_layer_has_the_name_of_the_layer() -> None:
    inner = Branch("layer", "conv2d_3", 42, None, [0], 4)
    root = Branch("", "", 0, None, [Branch("layer", "conv2d", 42, None, [inner], 4)], 4)
    prune(root, 2, [])
    (kept,) = root.children
    assert isinstance(kept, Branch)
    assert (kept.title, kept.children) == ("conv2d_3", [0])


@pytest.mark.parametrize(("model", "title"), [("functional_1", "dense"), ("encoder", "encoder")])
def test_a_layer_alone_in_a_model_without_a_name_of_its_own_gives_it_its_own(
    model: str, title: str
) -> None:
    inner = Branch("layer", "dense", 28, None, [0], 4)
    root = Branch("", "", 0, None, [Branch("layer", model, 28, None, [inner], 4)], 4)
    prune(root, 2, [])
    (kept,) = root.children
    assert isinstance(kept, Branch)
    assert kept.title == title


def test_what_the_turns_of_a_short_loop_call_stays_apart() -> None:
    turns = [
        Branch(
            "turn",
            f"turn {i}",
            6,
            None,
            [Branch("function", "mix", 7, None, list(range(i, i + 5)))],
        )
        for i in (0, 5, 10)
    ]
    root = Branch("", "", 0, None, [Branch("loop", "for w in ws", 6, None, [*turns])])
    weigh(root, {})
    prune(root, 4, [7] * 15)
    assert [kept.title for kept in root.children if isinstance(kept, Branch)] == ["mix"] * 3


def test_a_repeat_is_named_by_the_layer_that_has_most_of_a_turn() -> None:
    ops = [op_at(6, number, "Mul", [], []) for number in range(60)]
    root = Branch("", "", 0)
    for start in range(0, 60, 6):
        cell = Branch("layer", "lstm_cell", 6, None, list(range(start, start + 4)), 4)
        root.children += [cell, start + 4, start + 5]
    shapes = Shapes(ops, EMPTY_TRACE)
    shapes.count(root)
    words = Words(lambda number: "", lambda span: "", str, [6] * 60)
    bundle(root, words, shapes)
    (repeat,) = root.children
    assert isinstance(repeat, Branch)
    assert (repeat.title, len(repeat.children)) == ("lstm_cell", 10)


def test_a_layer_of_few_ops_and_its_weights_fold_into_one_box() -> None:
    """Dense is three ops and two variables: five boxes."""
    for values, is_kept in ((2, True), (0, False)):
        dense = Branch("layer", "dense", 1, None, [1, 2, 3])
        root = Branch("", "", 0, None, [dense, 4])
        weigh(root, {1: values})
        prune(root, 2, [])
        assert (dense in root.children) is is_kept


def test_a_line_with_calls_in_it_folds_under_the_name_that_it_binds() -> None:
    lines = {**dict.fromkeys(range(9), 7), **dict.fromkeys(range(9, 12), 8)}
    ops = [op_at(lines.get(number, 0), number, "Exp", [], []) for number in range(32)]
    gram = Branch("function", "gram", 7, None, [1, 2, 3, 4], 4)
    other = Branch("function", "gram", 3, None, [20], 4)
    names = {8: "losses[1]", 11: "loss"}
    root = Branch("", "", 0, None, [5, gram, 6, 7, 8])
    root.children += [9, other, 10, 11, 30, 31]
    words = Words(
        lambda number: names.get(number, ""), lambda span: "", str, [op.line for op in ops]
    )
    gather_lines(root, ops, words)
    line, *others = root.children
    assert isinstance(line, Branch)
    assert (line.title, line.kind, line.ops) == ("losses", "line", 8)
    assert gram in line.children
    assert others == [9, other, 10, 11, 30, 31]


def test_the_ops_of_a_model_that_one_line_calls_are_no_group_of_their_own() -> None:
    ops = [op_at(6, number, "Relu6", [], []) for number in range(9)]
    loop = Branch("loop", "block", 6, None, [8], 1)
    children: list[Branch | int] = [0, 1, 2, 3, 4, loop, 5]
    model = Branch("layer", "model", 6, None, list(children), 7)
    words = replace(NO_WORDS, lines=[op.line for op in ops])
    gather_lines(Branch("", "", 0, None, [model], 7), ops, words)
    assert model.children == children


def test_a_repeat_of_several_layers_is_named_by_them() -> None:
    trace = Script("y = model(x)\n").trace()
    root = Branch("", "", 0)
    for number in range(4):
        end = f"_{number}" if number else ""
        root.children += [_layer(f"{name}{end}") for name in ("norm", "attention", "dense")]
    for number, child in enumerate(root.children):
        assert isinstance(child, Branch)
        child.shape = number % 3
    bundle(root, NO_WORDS, Shapes([], trace))
    (repeat,) = root.children
    assert isinstance(repeat, Branch)
    assert (repeat.title, len(repeat.children)) == ("norm … dense", 4)


@pytest.mark.parametrize(("ends", "title"), [([], "critic × 3"), ([2], "critic … Mean")])
def test_calls_of_one_layer_on_a_line_are_counted_in_its_title(ends: list[int], title: str) -> None:
    ops = [op_at(line, number, "Mean", [], []) for number, line in enumerate((7, 7, 7, 8))]
    first, second, third = (Branch("layer", "critic", 7, None, [0], 4) for _ in range(3))
    root = Branch("", "", 0, None, [first, 0, second, 1, third, *ends, 3], 16)
    words = replace(NO_WORDS, kind=lambda number: "Mean", lines=[op.line for op in ops])
    gather_lines(root, ops, words)
    line, other = root.children
    assert isinstance(line, Branch)
    assert (line.title, other) == (title, 3)


@pytest.mark.parametrize(
    ("count", "inside", "every", "is_repeat"),
    [(4, 2, 60, True), (3, 2, 60, False), (4, 0, 60, False), (4, 2, 70, False)],
)
def test_blocks_of_layers_that_are_alike_are_a_repeat_if_they_are_most_of_the_ops(
    count: int, inside: int, every: int, is_repeat: bool
) -> None:
    root = Branch("", "", 0, ops=every)
    for number in range(count):
        layers = [Branch("layer", f"dense_{n}", 1, None, [], 4) for n in range(inside)]
        root.children.append(Branch("layer", f"block_{number}", 1, None, [*layers], 8, shape=5))
    bundle(root, NO_WORDS, Shapes([], trace_of("", [], {})))
    titles = [child.title for child in root.children if isinstance(child, Branch)]
    assert titles == (["block"] if is_repeat else [f"block_{n}" for n in range(count)])


@pytest.mark.parametrize("header", ["while c", "for t in range(3)"])
def test_a_loop_turns_where_it_goes_back_if_nothing_tells_its_turns(header: str) -> None:
    s = Script(f"{header}:\n    y = f(x)\n    x = g(y)\nz = h(x)\n")
    for _ in range(3):
        s.op("Exp", [s.tensor()], line=2)
        s.op("Sin", [s.tensor()], line=3)
    s.op("Tanh", [s.tensor()], line=4)
    trace = s.trace()
    places = OpLevels(trace)
    found = [[place.title for place in places.of(op)] for op in trace.ops.values()]
    assert found == [[header, f"turn {n // 2 + 1}"] for n in range(6)] + [[]]


def test_a_turn_begins_when_its_variable_is_bound() -> None:
    s = Script("def f(x):\n    for i, j in x:\n        g(i)\nf(1); f(2)\n")
    for _ in range(2):
        for _ in range(2):
            for name in ("i", "j"):
                s.events.append(e.NameBound(name, s.site(2, 4), []))
            s.op("Exp", [s.tensor()], at=(3, 4))
    trace = s.trace()
    places = OpLevels(trace)
    turns = [[p.title for p in places.of(op) if p.kind == "turn"] for op in trace.ops.values()]
    assert turns[:2] == [["turn 1"], ["turn 2"]]


def test_an_operation_recorded_without_its_scope_stays_in_the_turn_that_it_ran_in() -> None:
    """The layers around it are known from the ops inside it."""
    function, loop = Level("function", "loss", 9, 1), Level("loop", "for layer", 3, 5)
    turn, next_turn = Level("turn", "turn 1", 3, 6), Level("turn", "turn 2", 3, 7)
    model, dense = Level("layer", "model", 3, ("model", 2)), Level("layer", "d", 3, ("d", (4, 8)))
    around = [function, model, loop, turn, dense]
    assert shared_levels([function, loop, turn], around) == 4
    assert shared_levels([function, loop, next_turn], around) == 3
    assert shared_levels([function], around) == 1
    assert shared_levels([function, model, loop, turn, dense], around) == 5
    assert shared_levels([turn], around) == 0


CALLS = """\
from tensorflow.keras import layers
class Net:
    def call(self, x):
        for layer in self.hidden:
            x = layer(x)
        x = tf.nn.softmax(x)
        return self.head(x)
head = layers.Dense(3)
y = critic(fake) - self.critic(real)
z = net(x)
"""


@pytest.mark.parametrize(
    ("frames", "scope", "titles"),
    [
        ([(9, 4)], "sequential_1/dense", ["critic", "dense"]),
        ([(9, 19)], "sequential_1/dense", ["critic", "dense"]),
        ([(9, -1)], "critic_2/dense", ["critic", "dense"]),  # a graph counts scopes, too
        ([(9, 4)], "encoder/dense", ["encoder", "dense"]),  # the author named it
        ([(1, -1)], "sequential_1/sequential", ["sequential_1", "sequential"]),
        ([(7, 15), (10, 4)], "net_1/dense_9/MatMul", ["net", "head", "MatMul"]),
        ([(6, 12), (10, 4)], "net_1", ["net"]),
        ([(6, 12), (10, 4)], "net_1/dense_2", ["net", "dense_2"]),  # of a function of a module
        ([(5, 16), (10, 4)], "net_1/dense_2", ["net", "dense_2"]),  # of a loop variable
        ([(4, 8), (10, 4)], "", ["net"]),  # of a tf.Module
        ([(4, 8), (5, 16)], "", ["Net"]),
        ([(7, 15), (10, 4)], "functional/net/dense_9", ["net", "net", "head"]),
    ],
)
def test_a_layer_that_keras_named_has_the_name_by_which_it_was_called(
    frames: list[tuple[int, int]], scope: str, titles: list[str]
) -> None:
    assert _titles(("call", "<module>")[-len(frames) :], frames, scope) == titles


def test_layers_that_keras_calls_are_in_one_call_of_their_model() -> None:
    """Each binds its parameter once more; its ops are in it, whether another layer ran them or
    not. Those of Keras's own layers are in the same call of the model."""
    s = Script(
        "class Wide(Layer):\n    def call(self, x):\n        return self.base(x) + x @ self.a\n"
        "y = model(x)\n"
    )
    for layer in ("wide", "wide_1"):
        site = s.site(3, 4, function="call")
        s.events.append(e.NameBound("x", site, []))
        for inside in ("/dense", ""):
            s.op("MatMul", [s.tensor()] * 2, at=(3, 4), scope=f"sequential/{layer}{inside}")
            ran = s.events[-1]
            assert isinstance(ran, e.OpRan)
            s.events[-1] = structs.replace(ran, site=site)
    s.op("MatMul", [s.tensor()] * 2, line=4, scope="sequential/dense")
    trace = s.trace()
    levels = OpLevels(trace)
    first, second, third, fourth, fifth = (levels.of(op) for op in trace.ops.values())
    assert [level.title for level in first] == ["model", "wide", "dense"]
    assert first[:2] == second
    assert third[:2] == fourth
    assert first[0] == third[0] == fifth[0]
    assert first[1] != third[1]
    assert [level.title for level in fifth] == ["model", "dense"]


@pytest.mark.parametrize(
    ("scope", "titles"),
    [("strided_slice", ["net", "strided_slice"]), ("net/Exp", ["net", "Exp"])],
)
def test_a_scope_that_tensorflow_opens_in_a_module_is_in_the_module(
    scope: str, titles: list[str]
) -> None:
    assert _titles(("__call__", "<module>"), [(4, 8), (10, 4)], scope) == titles


@pytest.mark.parametrize(
    ("path", "scope", "titles"),
    [
        ("model/conv2d/kernel", "model_1/conv2d_1/convolution", ["model", "conv2d", "convolution"]),
        ("model/conv2d_1/kernel", "model_1/conv2d_1_2", ["model", "conv2d_1"]),
        ("model/dense/kernel", "model_1/conv2d_1", ["model_1", "conv2d_1"]),  # of no such layer
        # of a model that is a part of another, which was made later
        (
            "sequential/dense/kernel",
            "mixup_1/sequential_1/dense_1",
            ["mixup_1", "sequential", "dense"],
        ),
    ],
)
def test_a_layer_in_a_numbered_scope_of_a_graph_has_its_own_name(
    path: str, scope: str, titles: list[str]
) -> None:
    assert _layers_of_traced(path, scope)[0] == titles


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("online.d1.kernel", ["online", "d1", "MatMul"]),
        ("d1.kernel", ["mlp", "d1", "MatMul"]),
        ("dense/kernel", ["mlp", "dense", "MatMul"]),
        ("self.kernel", ["mlp", "dense", "MatMul"]),
    ],
)
def test_a_layer_is_called_as_the_snippet_calls_its_variables(name: str, titles: list[str]) -> None:
    """Two layers of one class that are called on one line have no name by their calls."""
    found = _layers_of_traced("mlp/dense/kernel", "mlp_1/dense_1/MatMul", name=name)
    assert found[0] == titles


@pytest.mark.parametrize(
    ("beside", "title"), [("model_1/dense_1", "dropout"), ("model_1/dense", "dropout_1")]
)
def test_a_layer_without_variables_is_numbered_like_those_beside_it(
    beside: str, title: str
) -> None:
    found = _layers_of_traced("model/dense/kernel", beside, "model_1/dropout_1")
    assert found[1] == ["model", title]


def _layers_of_traced(path: str, *scopes: str, name: str = "") -> list[list[str]]:
    """The layers of traced ops in some scopes, the first of which reads the variable of a path,
    which the snippet calls ``name``."""
    site = Site(SiteId(1), (StackFrame("train_step", 2, 0),))
    ops = [
        Op(
            *(OpId(n), "Mul" if n > 1 else "ReadVariableOp", (), (TensorId(4 + n),), n, None),
            frozenset(),
            OpDescription({}, site, scope, traced=7),
        )
        for n, scope in enumerate(scopes, 1)
    ]
    handle = VariableId(TensorId(4))
    version = Version(handle, 0, None, None, 0, (TensorId(5),))
    variable = Variable(handle, path, "float32", (), True, None, site, path, 0, (version,))
    made = {TensorId(5): ops[0].id}
    named = {"variables": {handle: variable}, "variable_names": {handle: name}}
    levels = OpLevels(trace_of("", ops, {}, producers=made, **named))
    return [[each.title for each in levels.of(op) if each.kind == "layer"] for op in ops]


def _titles(names: Sequence[str], frames: Sequence[tuple[int, int]], scope: str) -> list[str]:
    stack = tuple(StackFrame(name, *frame) for name, frame in zip(names, frames, strict=True))
    op = Op(
        OpId(1),
        "Exp",
        (),
        (),
        1,
        None,
        frozenset(),
        OpDescription({}, Site(SiteId(1), stack), scope),
    )
    found = OpLevels(trace_of(CALLS, [op], {})).of(op)
    return [level.title for level in found if level.kind in ("layer", "function")]


CALLED = """\
y = tf.exp(x) * tf.sin(tf.nn.moments(x, 0)[0]) + tf.nn.elu(x)
z = scale(tf.nn.moments(x, 0))
"""
EXP, MOMENTS, OTHER, SECOND = (1, 4, 13), (1, 23, 42), (1, 16, 46), (2, 10, 29)


@pytest.mark.parametrize(
    ("spans", "titles"),
    [
        ([EXP] * 3 + [MOMENTS] * 4 + [OTHER] * 2, ["moments"]),  # all of the branch is one line
        ([EXP] * 3 + [MOMENTS] * 3 + [SECOND] * 4, ["Exp", "moments"]),
        ([EXP] * 4 + [MOMENTS] * 4 + [OTHER, SECOND], ["exp", "moments"]),
        ([SECOND] * 3 + [EXP] * 2 + [MOMENTS] * 2 + [OTHER] * 2, ["Exp … Sin"]),
        ([MOMENTS] * 4 + [OTHER] + [SECOND], ["moments"]),  # hardly more than a call
        ([MOMENTS] * 4, []),
    ],
)
def test_ops_of_one_line_are_named_by_what_they_made_or_by_the_function(
    spans: list[tuple[int, int, int]], titles: list[str]
) -> None:
    ops = [
        Op(
            OpId(number),
            "Sin" if number > 8 else "Exp",
            (),
            (),
            number,
            None,
            frozenset(),
            OpDescription(
                {},
                Site(SiteId(number), (StackFrame("<module>", line, start, line, end),)),
            ),
        )
        for number, (line, start, end) in enumerate(spans, start=1)
    ]
    root = Branch("", "", 0, children=list(range(len(ops))))
    names = CalledNames(SourceText(CALLED))
    lines = [op.line for op in ops]
    words = Words(lambda number: "", names.function, lambda number: ops[number].type, lines)
    gather_lines(root, ops, words)
    found = [child.title for child in root.children if isinstance(child, Branch)]
    assert found == titles


class _Asked(list[Branch | int]):
    """Children that count how often they are gone through."""

    count = 0

    def __iter__(self) -> Iterator[Branch | int]:
        self.count += 1
        return super().__iter__()


def test_the_turns_of_a_loop_are_counted_once_for_all_of_them() -> None:
    turns = _Asked(Branch("turn", f"turn {n}", 1, None, [2 * n, 2 * n + 1], 2) for n in range(50))
    loop = Branch("loop", "for i in range(50)", 1, None, turns, 100)
    prune(Branch("", "", 0, None, [loop], 100), 2, [1] * 100)
    assert loop.children == turns
    assert turns.count < 6
