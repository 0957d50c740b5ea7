"""Python names bound to tensors, variables and other values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tapeviz.trace import events as e

from ..sampling import parametrize_sampled
from .conftest import Recorded

Record = Callable[..., Recorded]

BINDINGS = [
    ("x = tf.constant(1.0)", [("x", [[]])]),
    ("x = y = tf.constant(1.0)", [("x", [[]]), ("y", [[]])]),
    ("x: tf.Tensor = tf.constant(1.0)", [("x", [[]])]),
    ("x, (y, *z) = tf.constant(1.0), [tf.constant(2.0), 'text']", [("x", [[]]), ("y", [[]])]),
    (
        "class A: pass\nself = A()\nself.a, b = tf.constant(1.0), tf.constant(2.0)",
        [("self.a", [[]]), ("b", [[]])],
    ),
    ("c = [0]\nc[0], (x, y) = tf.constant(1.0), (2.0, tf.constant(2.0))", [("y", [[]])]),
    ("print((x := tf.constant(1.0)))", [("x", [[]])]),
    ("x = tf.constant(1.0)\nx += 1.0", [("x", [[]]), ("x", [[]])]),
    ("for x in [tf.constant(1.0), tf.constant(2.0)]: pass", [("x", [[]]), ("x", [[]])]),
    ("c = [0]\nc[0] = tf.constant(1.0)", [("c[0]", [[]])]),
    ("p = {}\np['w'] = tf.constant(1.0)", [("p['w']", [[]])]),
    ("c = [tf.constant(1.0), (2.0, tf.constant(2.0))]", [("c", [[0], [1, 1]])]),
    ("p = {'w': tf.Variable(1.0), 'n': 3}", [("p", [["w"]])]),
    (
        "class A: pass\nself = A()\nself.w = tf.constant(1.0)",
        [("self.w", [[]])],
    ),
    ("def f(x, *, k): pass\nf(tf.constant(1.0), k=tf.constant(2.0))", [("x", [[]]), ("k", [[]])]),
    (
        "def f(*xs, **ks): pass\nf(tf.constant(1.0), k=tf.constant(2.0))",
        [("xs", [[0]]), ("ks", [["k"]])],
    ),
    ("s = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))", [("s", [[]])]),
]


@parametrize_sampled(2, ("text", "expected"), BINDINGS)
def test_a_name_is_bound(record: Record, text: str, expected: object) -> None:
    seen = record(text)
    assert not seen.of(e.Raised)
    found = [
        (event.name, [keys for _, keys in event.tensors])
        for event in seen.of(e.NameBound)
        if event.tensors
    ]
    assert sorted(found, key=str) == sorted(expected, key=str)  # type: ignore[call-overload]
    assert all(tensor for event in seen.of(e.NameBound) for tensor, _ in event.tensors)


def test_names_that_autograph_makes_up_are_no_names_of_the_snippet(record: Record) -> None:
    """``itr_1`` of the outer loop, ``continue_`` and ``break_`` of the inner one; ``itr_2`` is the
    snippet's own."""
    seen = record(
        """
        @tf.function
        def f(n):
            itr_2 = n * 0
            for i in tf.range(n):
                for j in tf.range(i):
                    if j == 1: continue
                    if j > 3: break
                    itr_2 += j
            return itr_2
        f(tf.constant(3))
        """
    )
    bound = {event.name for event in seen.of(e.NameBound) if event.tensors}
    assert {"i", "j", "itr_2"} <= bound <= {"n", "i", "j", "itr_2"}


def test_the_place_of_a_binding_is_the_name(record: Record) -> None:
    seen = record("first = 0\nsecond = tf.constant(\n    1.0)\n")
    bound = next(event for event in seen.of(e.NameBound) if event.name == "second")
    assert seen.frames(bound.site)[0][1] == 2
    assert seen.frames(bound.site)[0][2] in (0, -1)


def test_names_of_one_statement_are_bound_when_all_values_are_there(record: Record) -> None:
    """A function on the right still reads the old value of the first name."""
    seen = record("def f():\n    c = tf.constant(3.0)\n    return c\na, b = tf.constant(1.0), f()")
    assert [event.name for event in seen.of(e.NameBound) if event.tensors] == ["c", "a", "b"]


def test_numbers_and_arrays_are_named_by_type_and_object(record: Record) -> None:
    seen = record("a = np.ones(3)\nf = 2.5\nn = [1, 2.0]\nt = 'text'\nd = {'k': 1}\n")
    bound = seen.of(e.NameBound)
    assert {event.name: event.value for event in bound} == {
        "a": "ndarray",
        "f": "float",
        "n": "list",
    }
    assert all(event.object > 0 for event in bound)
    assert {event.name: event.shape for event in bound} == {"a": [3], "f": None, "n": None}
    assert {event.name: event.dtype for event in bound} == {"a": "float64", "f": "", "n": ""}


def test_counters_of_long_loops_are_not_told_for_ever(record: Record) -> None:
    seen = record("for i in range(2500):\n    j = i * 2\n")
    assert len(seen.of(e.NameBound)) == 2 * 2500  # turns are counted by them
    seen = record("for i in range(12_000):\n    j = i * 2\n")
    assert len(seen.of(e.NameBound)) == 2 * 10_000


def test_each_turn_of_a_long_loop_that_runs_ops_is_told(record: Record) -> None:
    seen = record(
        """
        for i in range(12_000):
            j = i * 2
        x = tf.constant(1.0)
        for i in range(12_000):
            x = x * 1.0
        """
    )
    sites = Counter(event.site for event in seen.of(e.NameBound) if event.name == "i")
    assert {seen.frames(site)[0][1]: count for site, count in sites.items()} == {
        1: 10_000,
        4: 12_000,
    }


def test_a_model_is_named_by_what_it_is(record: Record) -> None:
    seen = record(
        """
        import keras
        model = keras.Sequential([keras.layers.Dense(2)])
        model.build((None, 3))
        layer = model.layers[0]
        kernel = layer.kernel
        weights = model.trainable_variables
        block = tf.Module()
        """
    )
    values = {event.name: event.value for event in seen.of(e.NameBound) if event.value}
    assert values["model"] == "keras model"
    assert values["layer"] == "keras layer"
    assert values["block"] == "Module"
    made = {
        event.path or event.name: event.id for event in seen.of(e.VariableMade)
    }  # Keras 2: a name
    (path,) = [path for path in made if path.endswith("dense/kernel")]
    assert seen.bound("kernel") == [made[path]]
    assert set(seen.bound("weights")) <= set(made.values())
    assert len(seen.bound("weights")) == 2


def test_a_value_that_leaves(record: Record) -> None:
    seen = record(
        """
        import numpy
        x = tf.constant(2.0)
        v = tf.Variable([2.0, 3.0])
        a = x.numpy()
        b = float(x)
        c = int(x)
        if x > 1.0: pass
        d = [1, 2, 3][tf.constant(1)]
        g = np.sin(x)
        h = numpy.add(numpy.exp(v), 1.0)
        i = v.numpy()
        j = np.asarray(x)
        k = np.stack([x, x])
        m = tf.numpy_function(lambda a: a * 2, [x], tf.float32)
        n = np.random.RandomState(0).normal(x)
        made = np.random.default_rng(0)
        o = made.normal(0.0, x)
        made = tf.sin
        p = made(x)
        q = []
        q.append(x)
        q = np.array(q)
        """
    )
    found = [(seen.line(event.site), event.how) for event in seen.of(e.ValueLeft)]
    for expected in [
        (4, "numpy"),
        (5, "float"),
        (6, "int"),
        (7, "bool"),
        (8, "index"),
        (9, "np.sin"),
        (10, "numpy.exp"),
        (11, "numpy"),
        (12, "np.asarray"),
        (13, "np.stack"),
        (14, "numpy_function"),
        (15, "np.random.RandomState(0).normal"),
        (17, "made.normal"),
    ]:
        assert expected in found
    for line in (19, 21):  # the names mean a function of TensorFlow and a list there
        assert line not in [each for each, _ in found]
    objects = {event.object for event in seen.of(e.ValueLeft)}
    for name in "abgij":
        (bound,) = [event for event in seen.of(e.NameBound) if event.name == name]
        assert bound.object in objects
    x = seen.bound("x")[0]
    assert {event.tensor for event in seen.of(e.ValueLeft) if event.how == "np.sin"} == {x}


def test_what_tensorflow_takes_for_itself_does_not_leave(record: Record) -> None:
    seen = record(
        """
        x = tf.constant([3.0, 1.0])
        y = tf.reshape(x, tf.shape(x))
        print(x)
        """
    )
    assert not seen.of(e.ValueLeft)


def test_an_eager_loop_of_tensorflow_asks_its_condition(record: Record) -> None:
    seen = record("z = tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)])")
    assert [event.how for event in seen.of(e.ValueLeft)] == ["while_loop"] * 4  # 3 turns, and none


def test_what_a_model_predicts_leaves(record: Record) -> None:
    seen = record(
        """
        import keras
        model = keras.Sequential([keras.layers.Dense(2)])
        out = model.predict(np.ones([3, 4], "float32"), verbose=0)
        """
    )
    left = [event for event in seen.of(e.ValueLeft) if event.how == "predict"][-1]
    assert seen.line(left.site) == 3
    (bound,) = [event for event in seen.of(e.NameBound) if event.name == "out"]
    assert left.object == bound.object
    assert seen.tensor(left.tensor).shape in ([3, 2], [None, 2])  # Keras 2 traces it for any batch


@pytest.mark.parametrize("method", ["predict", "predict_on_batch"])
def test_what_a_model_is_asked_for_leaves_with_what_it_is_given(
    method: str, record: Record
) -> None:
    how = "verbose=0" if method == "predict" else ""
    seen = record(
        f"""
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
        given = tf.ones([3, 4])
        out = model.{method}(given, {how})
        """
    )
    assert method in {event.how for event in seen.of(e.ValueLeft)}
