"""Values that went through NumPy come back linked; the oracle is NumPy, moved a little."""

from __future__ import annotations

import json
from textwrap import dedent, indent
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tapeviz.analysis import diagnose
from tapeviz.fixes import Outcome, cross_cuts
from tapeviz.recording.live import Snippet

if TYPE_CHECKING:
    from tapeviz.analysis.findings import Finding
    from tapeviz.recording.live import Recorder

# Each the body of a function of x, a tensor of three float64 numbers.
BODIES = {
    "a number of Python that becomes a constant": """
        share = tf.constant(float(x[0])) * tf.constant(0.0)
        return tf.constant(float(x[0]), tf.float64) ** 2 + tf.cast(share, tf.float64)
    """,
    "inverse functions of Python": """
        import math
        angle = math.atan2(x[1], x[0]) * math.asin(x[0] / 4.0) * math.asinh(x[2])
        return tf.constant(angle, tf.float64)
        """,
    "ufunc of an array": "return tf.reduce_sum(tf.constant(np.sin(x.numpy()) ** 2))",
    "ufunc of a tensor": "return tf.reduce_sum(tf.constant(np.exp(x)) * 2.0)",
    "several ufuncs": """
        a = x.numpy()
        return tf.reduce_sum(tf.constant(np.tanh(a) * np.log1p(a**2) / (1 + np.abs(a))))
        """,
    "reductions": """
        a = x.numpy()
        return tf.constant(a.sum() * np.mean(a) + np.prod(a) + a.std() + np.var(a))
        """,
    "max and min": """
        a = x.numpy()
        return tf.constant(a.max() * 2 - np.min(a))
        """,
    "the larger and the smaller of two": """
        a = x.numpy()
        return tf.constant(np.sum(np.maximum(a, 0) * np.minimum(1.5, a**2)))
        """,
    "dot": """
        a = x.numpy()
        return tf.constant(np.dot(a, a) + a @ np.arange(3.0) + np.outer(a, a).sum())
        """,
    "stack and concatenate": """
        a = x.numpy()
        m = np.stack([a, a**2])
        return tf.reduce_sum(tf.constant(np.concatenate([m, m * 2.0], axis=1)) ** 2)
        """,
    "reshape and transpose": """
        a = x.numpy().reshape(3, 1)
        return tf.reduce_sum(tf.constant((a @ a.T)[1:, ::2].ravel() ** 2))
        """,
    "an index": """
        a = x.numpy()
        return tf.constant(a[0] * a[-1] ** 2)
        """,
    "a mask": """
        a = x.numpy()
        return tf.reduce_sum(tf.constant(a[a > 0] ** 3))
        """,
    "where and clip": """
        a = x.numpy()
        return tf.reduce_sum(tf.constant(np.where(a > 0, a**2, -a) + np.clip(a, -0.5, 1.0)))
        """,
    "norm": "return tf.constant(np.linalg.norm(x.numpy()) ** 3)",
    "float": """
        y = float(x[0]) * 2 + float(x[1]) ** 2
        return tf.constant(y, tf.float64)
        """,
    "math": "return tf.constant(math.sin(x[0]) * math.exp(float(x[1])), tf.float64)",
    "item and tolist": """
        a, b, c = x.numpy().tolist()
        return tf.constant(a * b + c * x.numpy()[0].item(), tf.float64)
        """,
    "a list in a loop": """
        out = []
        for v in x.numpy():
            out.append(v * v)
        return tf.reduce_sum(tf.convert_to_tensor(out, tf.float64) * 2.0)
        """,
    "np.array of a list": """
        return tf.reduce_sum(tf.constant(np.array([float(v) ** 2 for v in x])))
        """,
    "written into zeros": """
        out = np.zeros(3)
        for i in range(3):
            out[i] = x[i].numpy() ** 2
        return tf.reduce_sum(tf.constant(out) * tf.constant(out))
        """,
    "augmented": """
        a = x.numpy()
        b = a * 1.0
        b *= a
        b += 1.0
        return tf.reduce_sum(tf.constant(b) ** 2)
        """,
    "python sum": "return tf.constant(sum(v**2 for v in x.numpy()))",
    "a helper": "return tf.constant(helper(x.numpy(), k=2.0))",
    "a method": "return tf.constant(Scaler(3.0).apply(x.numpy()).sum())",
    "beside a tensor": """
        return tf.reduce_sum(x.numpy() * np.sin(x) * tf.constant([1.0, 2.0, 3.0], tf.float64))
        """,
    "a variable": """
        v = tf.Variable(x)
        return tf.reduce_sum(tf.constant(v.numpy() ** 2))
        """,
    "numpy_function": """
        return tf.reduce_sum(tf.numpy_function(lambda a: np.cos(a) * a, [x], tf.float64))
        """,
    "cumulative": """
        a = x.numpy()
        b = np.cumsum(a) ** 2 + np.append(np.diff(a), 0.0)
        return tf.reduce_sum(tf.constant(b))
        """,
    "einsum": """
        a = x.numpy()
        return tf.constant(np.einsum('i,j->', a, a**2))
        """,
    "sorted": """
        b = np.sort(x.numpy()) * np.array([1.0, 2.0, 4.0])
        return tf.reduce_sum(tf.constant(b))
        """,
    "astype": """
        return tf.reduce_sum(tf.cast(tf.constant(x.numpy().astype('float64')), tf.float64) ** 2)
        """,
    "solve": """
        a = x.numpy()
        m = np.eye(3) * 3.0 + np.outer(a, a)
        return tf.reduce_sum(tf.constant(np.linalg.solve(m, a)))
        """,
    "interp and median": """
        a = x.numpy()
        return tf.constant(np.interp(a[0], [0.0, 1.0, 2.0], [0.0, 3.0, 4.0]) + np.median(a))
        """,
    "round trip twice": """
        a = np.sin(x.numpy())
        b = tf.exp(tf.constant(a))
        return tf.reduce_sum(tf.constant(np.square(b.numpy())))
        """,
}
PROGRAM = """
import json, math
import numpy as np
import tensorflow as tf

def helper(a, k):
    return k * np.sum(a ** 2)

class Scaler:
    def __init__(self, k):
        self.k = k
    def apply(self, a):
        return self.k * a * a

def check(f):
    start = np.array([0.5, -0.8, 1.2])
    x = tf.Variable(start)
    with tf.GradientTape() as tape:
        y = f(x)
    tape.gradient(y, x)
    slopes = []
    for moved in 1e-5 * np.eye(3):
        ends = [f(tf.constant(start + sign * moved)) for sign in (1, -1)]
        slopes.append(float(ends[0].numpy() - ends[1].numpy()) / 2e-5)
    print(json.dumps(slopes))

"""


def program() -> str:
    functions = (
        f"def f{number}(x):\n{indent(dedent(body), '    ')}\ncheck(f{number})\n"
        for number, body in enumerate(BODIES.values())
    )
    return PROGRAM + "\n".join(functions)


@pytest.fixture(scope="module")
def linked(recorder: Recorder) -> dict[str, tuple[object, list[float], str]]:
    """For each body: the gradient, the slopes by NumPy alone, and what the tape itself said."""
    plain = recorder.record(Snippet(program()))
    before = plain.wait(120)
    statuses = [call.findings[0].status for call in diagnose(before).calls]
    plain.release()
    live = recorder.record(Snippet(program(), options={"follow_numpy": True}))
    trace = live.wait(120)
    live.release()
    assert trace.failure is None, trace.failure
    printed = "".join(text for stream, text in before.printed if stream == "stdout")
    slopes = [json.loads(line) for line in printed.splitlines()]
    found = [call.findings[0] for call in diagnose(trace).calls]
    assert len(found) == len(slopes) == len(statuses) == len(BODIES)
    tensors = [finding.tensor or finding.bridged for finding in found]
    values = [trace.value(tensor) if tensor is not None else None for tensor in tensors]
    return dict(zip(BODIES, zip(values, slopes, statuses, strict=True), strict=True))


@pytest.mark.parametrize("name", BODIES)
def test_followed(name: str, linked: dict[str, tuple[object, list[float], str]]) -> None:
    value, slopes, status = linked[name]
    assert status in ("none", "flows" if name == "beside a tensor" else "none")
    assert value is not None
    np.testing.assert_allclose(value, slopes, rtol=1e-4, atol=1e-6)  # type: ignore[arg-type]


def bridge_of(recorder: Recorder, text: str) -> Finding:
    live = recorder.record(Snippet("import numpy as np\nimport tensorflow as tf\n" + dedent(text)))
    trace = live.wait(60)
    live.release()
    before = Outcome(trace, diagnose(trace))
    return cross_cuts(before, recorder, Snippet(trace.source)).calls[-1].findings[0]


def test_the_gradient_across_cuts_is_found_and_checked(recorder: Recorder) -> None:
    """Weights that nobody seeded are the same in the other run."""
    found = bridge_of(
        recorder,
        """
        x = tf.Variable(tf.random.normal([3]) + np.random.rand(3))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.constant(np.square(x.numpy())))
        print(tape.gradient(y, x))
        """,
    )
    assert found.status == "none"
    assert found.bridged_value is not None
    assert found.check is not None
    assert found.check.agrees
    assert not found.is_estimated
    assert not found.no_bridge


def test_an_error_after_the_call_and_a_draw_by_its_values_do_not_matter(recorder: Recorder) -> None:
    """The gradient is there in the other run: what raised for want of it does not, or later."""
    found = bridge_of(
        recorder,
        """
        x = tf.Variable([0.25, 0.75])
        with tf.GradientTape() as tape:
            p = tf.identity(x)
            drawn = np.random.choice(2, p=p.numpy() / p.numpy().sum())
            y = 3.0 * tf.constant(p.numpy()[drawn * 0])
        x.assign_sub(tape.gradient(y, x))
        """,
    )
    assert found.bridged_value is not None
    assert found.bridged_value.tolist() == [3.0, 0.0]


def test_ways_through_numpy_and_through_a_variable_are_added_up(recorder: Recorder) -> None:
    found = bridge_of(
        recorder,
        """
        x, v = tf.Variable(3.0), tf.Variable(0.0)
        with tf.GradientTape() as tape:
            a = tf.constant(2.0 * x.numpy())
            v.assign(a * x)
            y = a + v
        tape.gradient(y, x)
        """,
    )
    assert found.bridged_value is not None
    assert found.bridged_value == 14.0
    assert found.check is not None
    assert found.check.agrees
    assert not found.held


def test_a_rounding_by_numpy_is_an_estimate(recorder: Recorder) -> None:
    found = bridge_of(
        recorder,
        """
        x = tf.Variable([0.4, 1.7])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.constant(np.round(x.numpy())) * 3.0)
        tape.gradient(y, x)
        """,
    )
    assert found.is_estimated
    assert found.bridged_value is not None
    assert found.bridged_value.tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("np.linalg.svd(np.outer(x, x))[1]", "could not be followed through np.linalg.svd"),
        (
            "np.cbrt(x) * np.linalg.cond(np.outer(x, x) + np.eye(2))",
            "followed through np.linalg.cond",
        ),
        ("float(int(x[0] * 3))", "int() on line 6 cuts"),
        (
            "int.from_bytes(__import__('os').urandom(4), 'big') * x.numpy()",
            "computed something else",
        ),
    ],
)
def test_why_there_is_none(code: str, words: str, recorder: Recorder) -> None:
    found = bridge_of(
        recorder,
        f"""
        x = tf.Variable([0.5, 1.5], dtype=tf.float64)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.constant({code}))
        tape.gradient(y, x)
        """,
    )
    assert found.bridged_value is None
    assert words in found.no_bridge


def test_a_run_without_a_seed_draws_anew_and_one_with_a_seed_draws_the_same(
    recorder: Recorder,
) -> None:
    text = (
        "import random\nimport numpy as np\nimport tensorflow as tf\n"
        "print(random.random(), np.random.rand(), float(tf.random.normal([])))\n"
    )

    def printed(**options: int) -> str:
        live = recorder.record(Snippet(text, options=options))
        trace = live.wait(60)
        live.release()
        return "".join(text for stream, text in trace.printed if stream == "stdout")

    assert printed(seed=5) == printed(seed=5)
    first, second = printed().split(), printed().split()
    assert all(a != b for a, b in zip(first, second, strict=True))
