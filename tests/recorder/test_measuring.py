"""Of large tensors a sample tells the norm; what is not finite is found all the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tapeviz.analysis.causes.values.nonfinite import Nonfinite
from tapeviz.analysis.diagnose import diagnose
from tapeviz.recording.live import Recorder, Snippet
from tapeviz.trace import events as e

from .conftest import Recorded

Record = Callable[..., Recorded]

# The sample has 32 of the 1,024 rows of 256 elements: not this element.
HIDDEN = 5 * 256 + 3
START = f"""
x = np.random.default_rng(1).uniform(0.5, 1.5, [512, 512]).astype("float32")
x.flat[{HIDDEN}] = {{}}
x = tf.constant(x)
"""


def bound(seen: Recorded, name: str) -> e.TensorSeen:
    return seen.tensor(seen.bound(name)[0])


def nonfinite(seen: Recorded, name: str) -> tuple[float | None, ...]:
    """How many elements are NaN, and how many infinite."""
    return tuple((bound(seen, name).stats or [])[4:])


def test_the_norm_of_a_large_result_is_an_estimate(record: Record) -> None:
    """That of what nothing computed, of a gradient asked for, and of a smaller result is not."""
    text = START.format(1.0) + (
        "with tf.GradientTape() as tape:\n"
        "    tape.watch(x)\n"
        "    y = x * 3.0\n"
        "    z = x / y\n"
        "    less = y[:128] - 1.0\n"
        "    loss = tf.reduce_sum(y * y)\n"
        "g = tape.gradient(loss, x)\n"
    )
    seen = record(text)
    assert not bound(seen, "x").estimated
    assert bound(seen, "y").estimated
    assert not bound(seen, "z").estimated, "a quotient may be infinite"
    assert not bound(seen, "less").estimated
    sent = [each for each in seen.of(e.TensorSeen) if each.id == seen.bound("g")[0]]
    assert not sent[-1].estimated
    exact, estimate = ((bound(seen, name).stats or [])[3] or 0.0 for name in "xy")
    assert estimate == pytest.approx(3 * exact, rel=0.1)
    assert estimate != pytest.approx(3 * exact, rel=1e-6), "it is one of all elements"


def test_the_norms_of_random_numbers_and_of_a_variable_made_from_them_are_estimates(
    record: Record,
) -> None:
    """The variable is read from the memory of its initial value; after a write from another."""
    text = (
        "x = tf.random.normal([512, 512])\n"
        "v = tf.Variable(x * 0.5)\n"
        "y = v.read_value()\n"
        "v.assign_add(tf.math.log(x * 0.0))\n"
        "z = v.read_value()\n"
    )
    seen = record(text)
    norm = (bound(seen, "x").stats or [])[3]
    assert norm == pytest.approx(512, rel=0.1)
    assert (bound(seen, "y").stats or [])[3] == pytest.approx((norm or 0.0) / 2, rel=1e-6)
    assert bound(seen, "x").estimated
    assert bound(seen, "y").estimated
    assert nonfinite(seen, "z")[1] > 0


def test_the_norms_of_many_products_in_a_row_are_estimates(record: Record) -> None:
    text = START.format(1.0) + (
        "y = x * 1e-6\n"
        "for _ in range(12):\n"
        "    z = tf.einsum('ab,bc->ac', y, x)\n"
        "    y = z * 1e-3\n"
    )
    seen = record(text)
    norms = [seen.tensor(each).estimated for each in seen.bound("z")]
    assert norms == [True] * 12


def test_larger_tensors_are_sampled_since_smaller_ones_between_are_read(record: Record) -> None:
    """The largest norm that y may have by its inputs grows a thousandfold each turn."""
    text = START.format(1.0) + (
        "t = tf.tanh(tf.ones_like(x))\n"
        "y = x * 1.0\n"
        "for _ in range(12):\n"
        "    y = y * t\n"
        "    z = tf.concat([y, y], 0) ** 2.0\n"
    )
    seen = record(text)
    assert [seen.tensor(each).estimated for each in seen.bound("z")] == [True] * 12
    assert not all(seen.tensor(each).estimated for each in seen.bound("y"))


@pytest.mark.parametrize(
    ("element", "lines", "counts"),
    [
        ("0.0", "y = tf.math.log(x)", (0, 1)),
        ("-1.0", "y = tf.sqrt(x)", (1, 0)),
        ("-1.0", "y = x ** 0.5", (1, 0)),
        ("0.0", "y = 1.0 / x", (0, 1)),
        ("1e30", "y = x * x", (0, 1)),
        ("1e13", "y = x ** 3.0", (0, 1)),
        ("1e34", "y = x / 1e-5", (0, 1)),
        ("2e38", "y = tf.reduce_sum(tf.stack([x, x]), 0)", (0, 1)),
        ("1e6", "h = x * x\nh = h * h\ny = h * h", (0, 1)),
        ("1e30", "h = x + 1.0\nh = tf.transpose(h)\ny = h * h", (0, 1)),
        ("np.inf", "y = x + 1.0", (0, 1)),
        ("1.0", "w = tf.Variable(x)\nw[2, 259].assign(np.nan)\ny = w * 2.0", (1, 0)),
        ("1.0", "y = tf.stack([x[0], x[0] * tf.math.log(0.0)] * 256)", (0, 131072)),
    ],
)
def test_one_element_that_is_not_finite_is_found(
    record: Record, element: str, lines: str, counts: tuple[int, int]
) -> None:
    """In the result of the op that made it, and in all that is computed from that."""
    seen = record(START.format(element) + lines + "\nz = tf.nn.relu(y - 1.0) * 2.0\nlast = y + z\n")
    assert nonfinite(seen, "y") == counts
    assert sum(nonfinite(seen, "last")) == sum(counts)


def test_a_result_is_zero_only_if_all_elements_are(record: Record) -> None:
    seen = record(START.format(1.0) + "y = tf.where(x == 1.0, x, 0.0)\nz = y * 2.0\no = z * 0.0\n")
    assert [(bound(seen, name).stats or [])[3] for name in "yzo"] == [1.0, 2.0, 0.0]
    assert not any(bound(seen, name).estimated for name in "yzo")


def test_a_sample_with_rows_that_differ_much_is_not_enough(record: Record) -> None:
    text = "y = tf.concat([x, x * 1e3, x, x, x, x, x, x, x, x, x, x, x, x], 0)\nz = y * 2.0\n"
    seen = record(START.format(1.0) + text)
    assert not bound(seen, "z").estimated
    assert (bound(seen, "z").stats or [])[3] == pytest.approx(
        2 * ((bound(seen, "y").stats or [])[3] or 0.0), rel=1e-5
    )


def test_a_value_that_a_sample_measured_is_known_again(record: Record) -> None:
    """One that was let go of is computed anew, and compared with what was measured."""
    text = START.format(1.0) + "ys = [x * float(i) for i in range(1, 9)]\ndel ys\n"
    seen = record(text, keep_budget=4 * 2**20)
    first = seen.ops("Mul")[0].outputs[0]
    assert seen.tensor(first).estimated
    about, (raw,) = seen.ask("tensor", id=first)
    assert about == {"dtype": "float32", "shape": [512, 512]}
    assert np.frombuffer(raw, "float32")[HIDDEN] == 1.0


def test_the_cause_of_a_nan_is_the_op_that_made_its_first_element(recorder: Recorder) -> None:
    """Though no sample of a large tensor, forward or backward, has that element."""
    text = START.format("0.0") + (
        "with tf.GradientTape() as tape:\n"
        "    tape.watch(x)\n"
        "    h = tf.nn.relu(x + 0.0) * 1.0\n"
        "    r = tf.sqrt(h)\n"
        "    s = tf.tanh(r * 0.5) + h\n"
        "    loss = tf.reduce_mean(s * 0.0 + 2.0 * s)\n"
        "g = tape.gradient(loss, x)\n"
    )
    live = recorder.record(Snippet("import numpy as np\nimport tensorflow as tf\n" + text))
    trace = live.wait(60)
    live.release()
    finding = diagnose(trace).calls[0].findings[0]
    assert finding.status == "nonfinite"
    assert finding.cause is not None
    assert finding.cause.op == "Sqrt"
    assert finding.cause.line == text[: text.index("tf.sqrt")].count("\n") + 3
    assert isinstance(finding.cause.evidence, Nonfinite)
    assert finding.cause.evidence.how == "point"
    h = next(tensor for tensor, names in trace.names.items() if "h" in names)
    stats = trace.stats(h)
    assert stats is not None
    assert stats.is_estimate, "the case has a sample in it"
