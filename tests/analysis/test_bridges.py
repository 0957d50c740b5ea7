"""The gradient across an assign is the derivative of what ran: it agrees with finite differences.

One recording holds a function for each kind of write. Each is differentiated by a tape, which
gives None, and then run again with its argument moved a little; both are in float64.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

WRITES = {
    "whole": "v.assign(p * p)",
    "add": "v.assign_add(p * p)",
    "subtract": "v.assign_sub(tf.sin(p))",
    "slice": "v[1:].assign(p[1:] * p[:2])",
    "strided slice": "v[::2].assign(p[::2] ** 3)",
    "one element": "v[1].assign(p[0] * p[2])",
    "broadcast into a slice": "v[:2].assign(p[2:] * 2.0)",
    "scatter_update": "v.scatter_update(tf.IndexedSlices(p[:2] ** 2, [2, 0]))",
    "scatter_add": "v.scatter_add(tf.IndexedSlices(p[:2] ** 2, [1, 1]))",
    "scatter_sub": "v.scatter_sub(tf.IndexedSlices(p[:2] ** 2, [1, 0]))",
    "scatter_nd_update": "v.scatter_nd_update([[2], [0]], p[1:] * p[0])",
    "scatter_nd_add": "v.scatter_nd_add([[2], [2]], p[1:] * p[0])",
    "scatter_nd_sub": "v.scatter_nd_sub([[0], [1]], tf.exp(p[1:]))",
    "chain": "u.assign(p * 2.0); v.assign(u * u + v)",
    "twice": "v.assign(p * p); v.assign_add(v * p)",
    "overwritten in part": "v.assign(p * p); v[0].assign(p[1])",
    "loop": "[v.assign(tf.sin(v) * p) for _ in range(3)]",
    "inner step": "inner_step(v, p)",
    "new variable": "v = tf.Variable(p * p)",
    "layer's weight": "layer.kernel.assign(tf.reshape(p, (3, 1))); v.assign(layer(ones)[0] + v)",
}
PROGRAM = """
import json
import numpy as np
import tensorflow as tf

tf.keras.backend.set_floatx("float64")
layer = tf.keras.layers.Dense(1, use_bias=False)
layer.build((None, 3))
ones = tf.ones((1, 3), tf.float64)

def inner_step(v, p):
    v.assign(p)
    with tf.GradientTape() as inner:
        loss = tf.reduce_sum(v ** 3)
    v.assign_sub(0.1 * inner.gradient(loss, v))

def compute(write, p):
    names = dict(globals(), p=p)
    names["v"] = tf.Variable([0.3, 0.7, -0.4], dtype=tf.float64)
    names["u"] = tf.Variable([0.0, 0.0, 0.0], dtype=tf.float64)
    exec(write, names)
    v = names["v"]
    return tf.reduce_sum(v ** 2 * tf.constant([1.0, 2.0, 3.0], tf.float64)) + v[1]

start = np.array([0.5, -0.8, 1.2])
for write in json.loads('''WRITES'''):
    p = tf.Variable(start)
    with tf.GradientTape() as tape:
        out = compute(write, p)
    tape.gradient(out, p)
    slopes = []
    for moved in 1e-6 * np.eye(3):
        ends = [compute(write, tf.constant(start + sign * moved)) for sign in (1, -1)]
        slopes.append(float(ends[0] - ends[1]) / 2e-6)
    print(json.dumps(slopes))
"""


@pytest.fixture(scope="module")
def bridged(recorder: Recorder) -> list[tuple[str, object, list[float]]]:
    """For each write: its name, the bridged gradient, the finite differences."""
    from tapeviz.analysis import diagnose
    from tapeviz.recording.live import Snippet

    text = PROGRAM.replace("WRITES", json.dumps(list(WRITES.values())))
    live = recorder.record(Snippet(text))
    trace = live.wait(120)
    live.release()
    assert trace.failure is None, trace.failure
    findings = [
        call.findings[0] for call in diagnose(trace).calls if call.findings[0].source == "p"
    ]
    printed = "".join(text for stream, text in trace.printed if stream == "stdout")
    slopes = [json.loads(line) for line in printed.splitlines()]
    assert len(findings) == len(slopes) == len(WRITES)
    return [
        (name, trace.value(finding.bridged) if finding.bridged else None, slope)
        for name, finding, slope in zip(WRITES, findings, slopes, strict=True)
    ]


@pytest.mark.parametrize("name", WRITES)
def test_bridge(name: str, bridged: list[tuple[str, object, list[float]]]) -> None:
    value, slopes = next((value, slopes) for known, value, slopes in bridged if known == name)
    assert value is not None
    np.testing.assert_allclose(value, slopes, rtol=1e-6, atol=1e-8)  # type: ignore[arg-type]
