"""Names of variables: those that the snippet gives to layers, before those that Keras makes up."""

from __future__ import annotations

import pytest
from msgspec import structs

from tapeviz.text.called_names import CalledNames
from tapeviz.text.source import SourceText
from tapeviz.trace import events as e
from tapeviz.trace.ids import VariableId
from tapeviz.trace.levels.scopes import layer_scopes
from tapeviz.trace.model import Trace
from tapeviz.trace.naming import layer_titles, variable_titles
from tapeviz.trace.ops import Op
from tapeviz.trace.sites import StackFrame
from tests.traces import Script

MODEL = """class Net(tf.keras.Model):
    def __init__(self, size):
        self.stem, self.W1 = Dense(4), Dense(4)
        self.head, self.body = Dense(size), tf.keras.Sequential([Dense(4)])
    def call(self, x):
        x = self.stem(x)
        x = self.W1(x)
        x = self.body(x)
        return self.head(x)
actor, critic = Net(2), Net(1)
a = actor(x)
c = critic(x)
d = dense(x)
actor.fit(x)
"""


@pytest.mark.parametrize(
    ("scope", "lines", "titles"),
    [
        ("net/dense_3", (9, 11), ["actor", "head"]),
        ("net_1/dense_7", (9, 12), ["critic", "head"]),
        ("net/dense_1", (7, 11), ["actor", "W1"]),
        ("net/sequential/dense_2", (8, 11), ["actor", "body", "dense_2"]),
        ("dense_9", (13,), ["dense"]),
        ("dense_9", (14,), ["dense_9"]),
        ("made_by_hand/dense_9", (12,), ["made_by_hand", "dense_9"]),
        ("", (12,), []),
    ],
)
def test_a_layer_has_the_name_by_which_the_snippet_calls_it(
    scope: str, lines: tuple[int, ...], titles: list[str]
) -> None:
    frames = [StackFrame("call" if line < 10 else "<module>", line) for line in lines]
    found = layer_titles(CalledNames(SourceText(MODEL)), layer_scopes(scope), frames)
    assert [title.text for title in found] == titles


IN_A_METHOD = """class Net(tf.keras.Model):
    def train_step(self, x):
        return self(x)
D = tf.keras.Sequential([Dense(4)])
net = Net()
y = D(x)
base = tf.keras.applications.MobileNetV2(weights=None)
z = base(x)
"""


@pytest.mark.parametrize(
    ("scope", "line", "title"),
    [
        ("net_2", 3, "net"),
        ("sequential_1", 6, "D"),
        ("mobilenetv2_1.00_224", 8, "base"),
        ("scaler", 8, "scaler"),
    ],
)
def test_a_model_has_the_name_of_its_object(scope: str, line: int, title: str) -> None:
    frames = [StackFrame("train_step" if line == 3 else "<module>", line, -1)]
    found = layer_titles(CalledNames(SourceText(IN_A_METHOD)), layer_scopes(scope), frames)
    assert [each.text for each in found] == [title]


ON_ONE_LINE = """class Net(tf.keras.Model):
    def __init__(self):
        self.stem, self.bn = Conv2D(8, 3), BatchNormalization()
        self.up, self.down = Dense(8), Dense(4)
    def call(self, x):
        return self.down(self.up(tf.nn.relu(self.bn(self.stem(x)))))
net = Net()
def step(x):
    return bce(1, net(x)) + bce(0, net(-x))
step(x)
"""


@pytest.mark.parametrize(
    ("scope", "lines", "titles"),
    [
        ("net/conv2d_5", (6, 9, 10), ["net", "stem"]),
        ("net/batch_normalization_1", (6, 9, 10), ["net", "bn"]),
        ("net/dense_3", (6, 9, 10), ["net", "dense_3"]),
        ("while/net_1/conv2d_5", (6, 9, 10), ["net", "stem"]),
        ("while/cond_1", (9, 10), []),
    ],
)
def test_of_several_layers_on_a_line_the_only_one_of_the_class_is_taken(
    scope: str, lines: tuple[int, ...], titles: list[str]
) -> None:
    """In a compiled function the column of a call is not known."""
    frames = [
        StackFrame("call" if line == 6 else "step" if line == 9 else "<module>", line, -1)
        for line in lines
    ]
    found = layer_titles(CalledNames(SourceText(ON_ONE_LINE)), layer_scopes(scope), frames)
    assert [title.text for title in found] == titles


def read_in(*reads: tuple[str, str, tuple[int, ...]]) -> Trace:
    """Variables by (path, scope and lines of the frames of the first read)."""
    s = Script(MODEL)
    for path, scope, lines in reads:
        handle = s.tensor((), dtype="resource", handle=True)
        s.events.append(e.VariableMade(handle, path.split("/")[-1], "float32", [2], path=path))
        s.op("ReadVariableOp", [handle], (2,), scope=scope)
        read = s.events[-1]
        assert isinstance(read, e.OpRan)
        within = "call" if len(lines) > 1 else "<module>"
        place = s.site(*lines, function=within)
        s.events.remove(read)
        s.events.append(structs.replace(read, site=place))
    return s.trace()


def named(*reads: tuple[str, str, tuple[int, ...]]) -> tuple[list[str], dict[str, str]]:
    """The names of the variables; and what they are without the names of layers."""
    trace = read_in(*reads)
    return [trace.variable_names[variable] for variable in trace.variables], dict(trace.given_names)


def test_a_variable_has_the_name_of_its_layer_in_the_snippet() -> None:
    names, given = named(
        ("net/dense_3/kernel", "net/dense_3", (9, 11)),
        ("net/dense_1/kernel", "net/dense_1", (7, 11)),
        ("net/sequential/dense_2/kernel", "net/sequential/dense_2", (8, 11)),
        ("net/dense_1/bias", "elsewhere", (12,)),
    )
    assert names == ["head.kernel", "W1.kernel", "dense_2/kernel", "dense_1/bias"]
    assert given["head.kernel"] == "dense_3/kernel"
    assert given.get("dense_2/kernel", "dense_2/kernel") == "dense_2/kernel"


def test_layers_of_one_name_are_told_apart_by_those_around_them() -> None:
    names, given = named(
        ("net/dense_3/kernel", "net/dense_3", (9, 11)),
        ("net_1/dense_7/kernel", "net_1/dense_7", (9, 12)),
    )
    assert names == ["actor.head.kernel", "critic.head.kernel"]
    assert given == {
        "actor.head.kernel": "dense_3/kernel",
        "critic.head.kernel": "dense_7/kernel",
    }


@pytest.mark.parametrize(
    ("path", "scope", "titles"),
    [
        ("net/dense_3/kernel", "net_2/dense_3_1/Cast", ["head.kernel", "actor.head.kernel"]),
        ("net/dense_3/kernel", "net_2/other_1/Cast", []),
        ("dense_3/kernel", "net_2/dense_3_1/Cast", ["head.kernel", "actor.head.kernel"]),
        (
            "net/other/dense/kernel",
            "net_2/other_1/dense_1_2",
            ["actor.other.dense.kernel"],
        ),
    ],
)
@pytest.mark.parametrize("within", [{"traced": 1}, {"graph": 1}])
def test_a_graph_numbers_its_scopes_anew(
    path: str, scope: str, titles: list[str], within: dict[str, int]
) -> None:
    """``graph``: the function raised while it was traced, and was never called."""
    trace = read_in((path, scope, (9, 11)))

    def traced(variable: VariableId) -> Op | None:
        op = trace.maker(trace.variables[variable].versions[0].reads[0])
        return op.having(**within) if op is not None else None

    found = variable_titles(CalledNames(SourceText(MODEL)), trace.variables, traced)
    assert found.get(next(iter(trace.variables)), []) == titles
