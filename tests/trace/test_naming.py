"""Names of variables: those that the snippet gives to layers, before those that Keras makes up."""

from __future__ import annotations

import pytest
from msgspec import structs

from tapeviz.text.called_names import CalledNames
from tapeviz.text.source import SourceText
from tapeviz.trace import events as e
from tapeviz.trace.model import StackFrame, VariableId
from tapeviz.trace.naming import layer_titles
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
"""


@pytest.mark.parametrize(
    ("scope", "lines", "titles"),
    [
        ("net/dense_3", (9, 11), ["actor", "head"]),
        ("net_1/dense_7", (9, 12), ["critic", "head"]),
        ("net/dense_1", (7, 11), ["actor", "W1"]),
        ("net/sequential/dense_2", (8, 11), ["actor", "body", "dense_2"]),
        ("dense_9", (13,), ["dense"]),
        ("made_by_hand/dense_9", (12,), ["made_by_hand", "dense_9"]),
        ("", (12,), []),
    ],
)
def test_a_layer_has_the_name_by_which_the_snippet_calls_it(
    scope: str, lines: tuple[int, ...], titles: list[str]
) -> None:
    frames = [StackFrame("call" if line < 10 else "<module>", line) for line in lines]
    found = layer_titles(CalledNames(SourceText(MODEL)), scope, frames)
    assert [title.text for title in found] == titles


def named(*reads: tuple[str, str, tuple[int, ...]]) -> tuple[list[str], dict[str, str]]:
    """The names of variables by (path, scope and lines of the frames of the first read); and what
    they are without the names of layers."""
    s = Script(MODEL)
    handles = []
    for path, scope, lines in reads:
        handles.append(s.tensor((), dtype="resource", handle=True))
        s.events.append(e.VariableMade(handles[-1], path.split("/")[-1], "float32", [2], path=path))
        s.op("ReadVariableOp", [handles[-1]], (2,), scope=scope)
        read = s.events[-1]
        assert isinstance(read, e.OpRan)
        within = "call" if len(lines) > 1 else "<module>"
        place = s.site(*lines, function=within)
        s.events.remove(read)
        s.events.append(structs.replace(read, site=place))
    trace = s.trace()
    return [trace.variable_names[VariableId(handle)] for handle in handles], dict(trace.given_names)


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
