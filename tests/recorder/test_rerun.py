"""Calls of compiled functions in; the values of their inside, as they ran again compiled, out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tapeviz.analysis.backward.turn_values import turn_values
from tapeviz.trace import events as e
from tapeviz.trace.read import read

from ..sampling import sampled
from .conftest import Recorded
from .forks import FILENAME
from .rerun_constructs import CONSTRUCTS, SETUP, UNKNOWN

Record = Callable[..., Recorded]
_GROUPS = 4
EAGERLY = "tf.config.run_functions_eagerly(True)\n"


def _program(bodies: dict[str, str], calls: int) -> str:
    """Each body as a function of ``x``, called several times."""
    lines = [SETUP]
    for number, body in enumerate(bodies.values()):
        lines += [
            "@tf.function",
            f"def f{number}(x):",
            *(f"    {line}" for line in body.split("\n")),
        ]
    lines += [f"for step in range({calls}):"]
    lines += [f"    f{number}(x + 0.25 * step)" for number in range(len(bodies))]
    return "\n".join(lines)


def calls_of(seen: Recorded) -> Iterator[tuple[e.BodiesRun, e.OpRan]]:
    """The eager calls of traced functions, each with its op."""
    pending = None
    for event in seen.events:
        if isinstance(event, e.BodiesRun) and not event.into:
            pending = event
        elif pending is not None and isinstance(event, e.OpRan) and not event.graph:
            yield pending, event
            pending = None


def look(seen: Recorded, op: int, **asked: Any) -> e.InsideComputed:
    """Ask for a call's inside; what came with the answer is added to the recording."""
    answer, buffers = seen.ask("inside", op=op, **asked)
    assert "error" not in answer, answer
    events = [e.decode(line) for line in answer["events"]]
    seen.events += events
    seen.blob += b"".join(buffers)
    return next(event for event in events if isinstance(event, e.InsideComputed))


def words_of(seen: Recorded, inside: e.InsideComputed) -> set[str]:
    """What is said of the values but of lists and optionals, which are none."""
    return {
        word
        for _, symbol, _, word in inside.values
        if word != "unknown" or seen.tensor(symbol).dtype != "variant"
    }


def _group(number: int) -> dict[str, str]:
    names = sorted(CONSTRUCTS)[number::_GROUPS]
    return {name: CONSTRUCTS[name] for name in names}


@pytest.mark.parametrize("group", sampled(range(_GROUPS), 3))
def test_any_call_runs_again_with_the_same_bits(record: Record, group: int) -> None:
    bodies = _group(group)
    seen = record(_program(bodies, calls=3))
    assert not seen.of(e.Noted)
    assert not seen.of(e.Raised), seen.of(e.Raised)
    assert all(run.graphs for run in seen.of(e.BodiesRun)), "a file with such a line is refused"
    calls = list(calls_of(seen))
    assert len(calls) == 3 * len(bodies)
    for (run, op), name in zip(calls, list(bodies) * 3, strict=True):
        if run.call == 1:
            continue
        inside = look(seen, op.id)
        words = words_of(seen, inside)
        assert (inside.op, inside.call, inside.of) == (op.id, run.call, 3), name
        assert inside.graph == run.graphs[0]
        if name in UNKNOWN:
            assert "unknown" in {word for _, _, _, word in inside.values}, name
            assert inside.state != "differs"
        else:
            assert (name, inside.state) == (name, "equal"), inside.why
            assert words <= {"exact", "beside"}, (name, words)


def test_a_product_in_another_order_than_written_is_not_called_exact(record: Record) -> None:
    """TensorFlow makes (c * 0.1) * (u * x) of ``0.1 * (u * c * x)`` while nobody looks at it."""
    seen = record("""
        v, c = tf.Variable([0.5, -0.25, 0.75]), tf.Variable(1.5)
        @tf.function
        def step(x):
            with tf.GradientTape() as tape: loss = tf.reduce_sum(tf.tanh(v * x * c) / 3.0)
            gradient = tape.gradient(loss, v)
            v.assign_sub(0.1 * gradient)
            return loss
        step(tf.constant([1.0, 2.0, 3.0]))
        @tf.function
        def turn(x):
            for i in tf.range(4):
                for j in tf.range(i):
                    x = tf.sin(x)
                if i % 2 == 0:
                    x = tf.exp(x)
            return x
        turn(tf.constant([1.0, 2.0, 3.0]))
        """)
    (_, step), (_, turn) = calls_of(seen)
    words = {symbol: word for _, symbol, _, word in look(seen, step.id).values}
    names = {bound.name: bound.tensors[0][0] for bound in seen.of(e.NameBound) if bound.tensors}
    assert (words[names["loss"]], words[names["gradient"]]) == ("exact", "beside")
    # What is left in loops and branches is that of the run in each turn.
    values = look(seen, turn.id).values
    for type_, count in (("Sin", 6), ("Exp", 2)):
        (op,) = (op for op in seen.of(e.OpRan) if op.type == type_)
        found = {
            tuple(path[1::2]): word for path, symbol, _, word in values if symbol == op.outputs[0]
        }
        assert set(found.values()) == {"exact"}, type_
        assert len(found) == count, type_


def _named(seen: Recorded) -> dict[int, list[int]]:
    """The tensors that ``y`` was bound to on each line."""
    found: dict[int, list[int]] = {}
    for bound in seen.of(e.NameBound):
        if bound.name == "y":
            found.setdefault(seen.line(bound.site), []).extend(
                tensor for tensor, _ in bound.tensors
            )
    return found


def test_values_are_those_of_the_body_run_by_python(record: Record) -> None:
    names = sampled([name for name, body in CONSTRUCTS.items() if "y = " in body], 2)
    bodies = {name: CONSTRUCTS[name] for name in names}
    text = _program(bodies, calls=2)
    compiled = record(text)
    eager = record(text.replace(SETUP, SETUP + "\n" + EAGERLY.strip()))
    values: dict[int, list[tuple[list[Any], int]]] = {}
    for run, op in calls_of(compiled):
        for path, symbol, tensor, _ in look(compiled, op.id).values:
            values.setdefault(symbol, []).append(([run.call, *path], tensor))
    compared = 0
    for line, tensors in _named(eager).items():
        symbols = set(_named(compiled).get(line - 1, ()))
        probed = sorted(value for symbol in symbols for value in values.get(symbol, ()))
        if len(probed) != len(tensors):
            continue  # a name that two traces or branches share
        for (path, mine), theirs in zip(probed, tensors, strict=True):
            expected = eager.value(theirs)
            if mine and expected.dtype.kind == "f":
                got = compiled.value(mine)
                np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-6, err_msg=f"{path}")
                compared += 1
    assert compared > 4 * len(bodies)


def test_any_turn_of_a_loop_is_known_when_it_is_asked_for(record: Record) -> None:
    seen = record(
        """
        w = tf.Variable(0.9)
        @tf.function
        def f():
            a = tf.constant(1.0)
            for _ in tf.range(40):
                a = a * w + 0.3
            return a
        y = f()
        """
    )
    ((_, op),) = calls_of(seen)
    look(seen, op.id)
    assert not list(turn_values(read(seen.events, seen.blob, "", FILENAME), 21))
    more = look(seen, op.id, turns=[20])
    assert more.adds
    assert all(20 in path[1::2] for path, *_ in more.values)
    trace = read(seen.events, seen.blob, "", FILENAME)
    (turn,) = turn_values(trace, 21)
    assert (turn.turn, turn.count) == (21, 40)
    expected = [1.0]
    for _ in range(21):
        expected.append(expected[-1] * 0.9 + 0.3)
    held = {
        tensor in turn.begun: trace.value(tensor)
        for name, _, tensor in turn.values
        if name in ("a", "y")
    }
    np.testing.assert_allclose([held[True], held[False]], expected[-2:], rtol=1e-5)


def test_a_shuffled_dataset_is_read_in_the_order_of_the_run(record: Record) -> None:
    """More elements than one list holds."""
    seen = record(
        """
        rows = tf.data.Dataset.range(300).shuffle(300)
        @tf.function
        def f(rows):
            order = tf.zeros([0], tf.int64)
            for row in rows:
                tf.autograph.experimental.set_loop_options(
                    shape_invariants=[(order, tf.TensorShape([None]))])
                order = tf.concat([order, [row]], 0)
            return order
        for _ in range(2):
            print(f(rows).numpy().tolist())
        """
    )
    orders = [[int(word) for word in line[1:-1].split(",")] for line in seen.out.splitlines()]
    asked = [20, 127, 128, 129, 299]
    for (_, op), order in zip(calls_of(seen), orders, strict=True):
        inside = look(seen, op.id, turns=asked)
        symbols = {
            each for name in seen.of(e.NameBound) if name.name == "row" for each, _ in name.tensors
        }
        found = {
            path[1]: int(seen.value(tensor))
            for path, of, tensor, _ in inside.values
            if of in symbols
        }
        assert {turn: order[turn] for turn in asked} == {turn: found[turn] for turn in asked}
        assert inside.state == "equal"


TRAINED = """
x = tf.random.stateless_uniform([40, 3], [3, 5], -1.0, 2.0)
t = tf.constant([[1.0], [2.0], [0.5]])
w = tf.Variable([1.0, -0.5, 0.25])
held = tf.Variable(tf.zeros([40, 3]))
def fit(at, row):
    before = tf.exp(w)
    held.scatter_nd_update([[at]], [before])
    with tf.GradientTape() as tape:
        slope = tf.sin(row * w) / 3.0
    w.assign_sub(0.1 * tape.gradient(slope, w) * 0.3)
@tf.function
def epoch(rows):
    for at, row in rows.enumerate():
        fit(at, row)
fit_whole = tf.function(fit)
@tf.function
def epoch_of_calls(rows):
    at = tf.constant(0, tf.int64)
    for row in rows:
        fit_whole(at, row)
        at += 1
rows = tf.data.Dataset.from_tensor_slices(x)
for run in (epoch, epoch_of_calls):
    for each in (rows, rows.shuffle(40)):
        run(each)
        print(held.numpy().tobytes().hex())
"""


def test_values_in_a_loop_over_a_dataset_are_those_that_the_run_had(record: Record) -> None:
    """TensorFlow multiplies the numbers 0.1 and 0.3 first, where nobody asks for what is between:
    some of the variable's values differ from those of the ops as written. What a body does that
    calls functions is not known so far."""
    seen = record(TRAINED)
    held = [np.frombuffer(bytes.fromhex(line), "f").reshape(40, 3) for line in seen.out.split()]
    names = {
        symbol
        for bound in seen.of(e.NameBound)
        if bound.name == "before"
        for symbol, _ in bound.tensors
    }
    calls = [
        (run, op) for run, op in calls_of(seen) if seen.tensor(op.inputs[0]).dtype == "variant"
    ]
    known = list(range(40))
    for (_, op), expected, turns in zip(calls, held, [known, known, [], []], strict=True):
        inside = look(seen, op.id, turns=range(40))
        assert inside.state == "equal", inside.why
        found = dict[int, Any]()
        for path, symbol, tensor, word in inside.values:
            if symbol in names and word == "exact":
                found[path[1]] = seen.value(tensor)
        assert sorted(found) == turns
        assert all(np.array_equal(found[turn], expected[turn]) for turn in turns)


LONG_LOOP = """
import resource
@tf.function
def f(n):
    x = tf.random.normal([256, 256])
    for _ in tf.range(n):
        x = tf.tanh(x)
    return tf.reduce_sum(x)
y = f(tf.constant(2))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
y = f(tf.constant(3000))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10)
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (1 << 30)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
"""


def test_the_turns_of_long_loops_take_no_memory(record: Record) -> None:
    """All that the loop computes is 1.5 GB."""
    seen = record(LONG_LOOP)
    assert seen.out == "True\n"
    _, (_, op) = calls_of(seen)
    inside = look(seen, op.id)
    assert (inside.state, inside.turns[0][-1]) == ("equal", 3000)


TAPPED = """
tf.random.set_seed(7)
rows = iter(tf.data.Dataset.range(12).batch(3))
log = []
@tf.function
def inner(x):
    return tf.sin(x) + tf.random.normal([3])
@tf.function
def f(x, rows):
    y = inner(x) + tf.nn.dropout(x, 0.5) + tf.cast(next(rows), tf.float32)
    y += tf.numpy_function(lambda one: log.append(1) or np.cos(one), [x], tf.float32)
    for i in tf.range(3):
        tf.autograph.experimental.set_loop_options(parallel_iterations=1)
        y += tf.random.uniform([3], seed=4)
    if tf.reduce_sum(y) > 0.0:
        y *= tf.random.uniform([3])
    return y
for step in range(3):
    x = tf.constant([1.0, 2.0, 3.0]) * float(step)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, rows)
    print(y.numpy().tolist(), tape.gradient(y, x), len(log))
    print(f(x, rows).numpy().tolist() if step == 0 else "")
@tf.function
def raises(x):
    return tf.gather(inner(x), 7)
try:
    raises(tf.ones([3]))
except tf.errors.InvalidArgumentError as error:
    print(str(error).rpartition("[Op:")[0][-40:], error.op, type(error).__name__)
    print("tapeviz/recorder" in str(error), "tapeviz/recorder" in repr(error))
try:
    f(x, rows)
except tf.errors.OutOfRangeError as error:
    print(error.message.rpartition("\\n")[2].partition("[Op:")[0])
"""


def test_functions_that_draw_and_read_print_what_they_print_without(
    record: Record, run_plainly: Record
) -> None:
    """The turns of the loop run one after the other: TensorFlow lets the draws of turns that run at
    once come in any order (``LEGACY_RANDOM_OPS``, 2.21), and their sum then differs by a bit."""
    seen, plain = record(TAPPED), run_plainly(TAPPED)
    assert not seen.of(e.Noted)
    assert plain.out.count("False False") == 1
    assert seen.out == plain.out
    for run, op in calls_of(seen):
        if seen.tensor(op.inputs[0]).shape == [3] and len(op.outputs) >= 1 and run.call > 1:
            assert look(seen, op.id).state == "equal"


FIT = """
import numpy as np
keras = tf.keras
keras.utils.set_random_seed(3)
x = np.random.rand(64, 8).astype("float32")
y = np.random.rand(64, 1).astype("float32")
model = keras.Sequential(
    [
        keras.Input((8,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(1),
    ]
)
model.compile("adam", "mse", jit_compile=False, steps_per_execution=STEPS)
history = model.fit(x, y, batch_size=8, verbose=0, epochs=2)
print(history.history["loss"], [float(np.sum(one)) for one in model.get_weights()])
"""


@pytest.mark.parametrize(("steps", "often"), [(1, 16), (3, 6)])
def test_any_batch_of_fit_can_be_looked_into(
    record: Record, run_plainly: Record, steps: int, often: int
) -> None:
    text = FIT.replace("STEPS", str(steps))
    seen = record(text)
    assert not seen.of(e.Noted)
    assert seen.out == run_plainly(text).out
    assert max(run.call for run, _ in calls_of(seen)) == often
    graph = next(run.graphs for run, _ in calls_of(seen) if run.call == often)
    ops = [op.id for run, op in calls_of(seen) if run.graphs == graph]
    batches = set()
    for op in ops[-3:]:
        inside = look(seen, op)
        assert (inside.state, inside.of) == ("equal", often), inside.why
        assert words_of(seen, inside) == {"exact", "beside"}
        tensors = {tensor for _, _, tensor, _ in inside.values}
        shaped = [
            event
            for event in seen.of(e.TensorSeen)
            if event.id in tensors and event.shape == [8, 8]
        ]
        batches.add(seen.value(shaped[0].id).tobytes())
    assert len(batches) == 3


def test_state_between_calls_that_others_write_to(record: Record) -> None:
    seen = record(
        """
        v, w = tf.Variable(1.0), tf.Variable([1.0, 2.0])
        drawing = tf.random.Generator.from_seed(3)
        @tf.function
        def first(x):
            v.assign_add(x)
            return v * w + drawing.truncated_normal([2])
        @tf.function
        def second(x):
            w.assign(w * x + v)
            return tf.reduce_sum(w / 3.0)
        for step in range(21):
            first(tf.constant(0.1))
            second(tf.constant(0.9))
            if step == 17:
                v.assign(0.5)
            if step == 18:
                drawing.truncated_normal([1])
            if step == 19:
                w.scatter_nd_update([[0]], [4.0])  # lists: the callback gets its name as bytes
        """
    )
    asked = [op for run, op in calls_of(seen) if run.call in (13, 18, 19, 20, 21)]
    assert len(asked) == 10
    assert {look(seen, op.id).state for op in asked} == {"equal"}


def test_calls_that_raised_are_known_up_to_there_and_the_calls_after_them(record: Record) -> None:
    seen = record("""
        v = tf.Variable(1.0)
        @tf.function
        def f(x):
            y = v * x
            v.assign_add(1.0)
            tf.debugging.assert_less(y, 9.0)
            return y + v
        for x in (1.0, 2.0, 7.0, 0.5, 8.0, 0.25, 0.5):
            try:
                f(tf.constant(x))
            except tf.errors.InvalidArgumentError:
                pass
        """)
    (y,) = seen.op("Mul").outputs
    found = []
    for _, op in calls_of(seen):
        inside = look(seen, op.id)
        assert "tapeviz" not in inside.why
        (value,) = (tensor for _, symbol, tensor, _ in inside.values if symbol == y)
        found.append((inside.state, float(seen.value(value))))
    raised = [("unchecked", 21.0), ("unchecked", 40.0)]
    ended = [("equal", value) for value in (1.0, 4.0, 2.0, 1.5, 3.5)]
    assert found == [*ended[:2], raised[0], ended[2], raised[1], *ended[3:]]


def test_state_that_a_loop_with_python_may_have_written(record: Record) -> None:
    """What Python gave in each turn is known; the writes to ``w`` and ``m``, which the next call
    reads, follow from it."""
    seen = record(
        """
        w, m = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
        @tf.function
        def step(x):
            s = tf.constant([0.0, 0.0])
            for i in tf.range(3):
                s += w * tf.ensure_shape(tf.numpy_function(np.sin, [x], tf.float32), [])
            m.assign(0.9 * m + s)
            w.assign_sub(0.1 * m)
            return m * w
        for n in range(12):
            step(tf.constant(0.1 * n))
        """
    )
    asked = [op for run, op in calls_of(seen) if run.call in (3, 7, 11, 12)]
    assert len(asked) == 4
    assert {look(seen, op.id).state for op in asked} == {"equal"}


def test_a_gradient_goes_through_the_inside_of_the_call_that_was_looked_into(
    record: Record,
) -> None:
    seen = record(
        """
        @tf.function
        def f(x):
            y = tf.sin(x)
            if x[0] > 0.0:
                y = y * 2.0
            else:
                y = y * 3.0
            return tf.reduce_sum(tf.stop_gradient(y) ** 2)
        for step in range(4):
            f(tf.constant([0.5, 0.25]) * (step - 1.5))
        """
    )
    for run, op in calls_of(seen):
        inside = look(seen, op.id)
        program = [["op", number] for _, _, number in reversed(inside.ops)]
        request = {"seeds": [[op.outputs[0], 0]], "program": program, "wanted": [op.inputs[0]]}
        answer, buffers = seen.ask("replay", **request, how="beyond")
        seen.events += [e.decode(line) for line in answer["events"]]
        seen.blob += b"".join(buffers)
        replayed = [event for event in seen.events if isinstance(event, e.ReplayRan)][-1]
        (result,) = replayed.results.values()
        x = np.array([0.5, 0.25]) * (run.call - 2.5)
        factor = 2.0 if x[0] > 0.0 else 3.0
        expected = 2.0 * factor**2 * np.sin(x) * np.cos(x)
        np.testing.assert_allclose(seen.value(result), expected, rtol=1e-5)
