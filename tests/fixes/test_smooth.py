"""Edits that put something with a slope in the place of what has none: what they write."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tapeviz.analysis.causes.values.cancelled import Cancelled
from tapeviz.analysis.causes.values.multiplied_by_zero import MultipliedByZero
from tapeviz.analysis.findings import Evidence
from tapeviz.fixes.model import FixCase
from tapeviz.fixes.table import edits_for
from tapeviz.trace.ids import OpId, TensorId

from ..traces import tensor_of
from .fix_cases import OP, fix_case

HEAD = "with tf.GradientTape() as tape:\n"
TAIL = "tape.gradient(loss, x)\n"

LINES: list[tuple[str | Evidence, str, str]] = [
    (
        "not-differentiable",
        "n = tf.math.count_nonzero(x > 0.1, axis=1, dtype=tf.float32)",
        "n = tf.reduce_sum(tf.sigmoid(x - 0.1), axis=1)",
    ),
    ("left-tensorflow", "y = np.heaviside(x - 1.0, 0.5)", "y = tf.sigmoid(x - 1.0)"),
    (
        "not-differentiable",
        "h = tf.histogram_fixed_width(x, [0.0, a + b], nbins=4)",
        "h = tf.reduce_sum(tf.nn.relu(1.0 - tf.abs(tf.clip_by_value((tf.reshape(x, [-1, 1]) - 0.0) "
        "/ ((a + b) - 0.0) * 4 - 0.5, 0.0, 4 - 1.0) - tf.range(4, dtype=tf.float32))), axis=0)",
    ),
    (
        "not-differentiable",
        "b = tf.keras.layers.Discretization([0.0, 1.0])(x)",
        "b = tf.reduce_sum(tf.sigmoid(tf.expand_dims(x, -1) - [0.0, 1.0]), axis=-1)",
    ),
    (
        "not-differentiable",
        "v = tf.gather(c, tf.keras.layers.Discretization([0.0, 1.0])(x))",
        "v = tf.gather(c, tf.keras.layers.Discretization([0.0, 1.0])(x)) + (tf.reduce_sum("
        "tf.sigmoid(tf.expand_dims(x, -1) - [0.0, 1.0]), axis=-1) - tf.cast("
        "tf.keras.layers.Discretization([0.0, 1.0])(x), tf.float32)) * (tf.gather(c, tf.minimum("
        "tf.keras.layers.Discretization([0.0, 1.0])(x) + 1, tf.shape(c)[0] - 1)) - tf.gather(c, "
        "tf.keras.layers.Discretization([0.0, 1.0])(x)))",
    ),
    (
        "not-differentiable",
        "h = tf.histogram_fixed_width_bins(x, r)",
        "h = tf.clip_by_value((x - r[0]) / (r[1] - r[0]) * 100 - 0.5, -0.5, 100 - 0.5)",
    ),
    (
        "not-differentiable",
        "loss = tf.reduce_sum(tf.boolean_mask(data, x > 0.5))",
        "loss = tf.reduce_sum(data * tf.sigmoid(x - 0.5))",
    ),
    (
        "not-differentiable",
        "loss = data[x > 0.5] + 1.0",
        "loss = (data * tf.sigmoid(x - 0.5)) + 1.0",
    ),
    (
        "not-differentiable",
        "loss = tf.where(x > 0.5, a, b)",
        "loss = tf.sigmoid(x - 0.5) * a + (1.0 - tf.sigmoid(x - 0.5)) * b",
    ),
    (
        "not-differentiable",
        "n = tf.math.count_nonzero(x, axis=1)",
        "n = tf.reduce_sum(tf.abs(x), axis=1)",
    ),
    (
        "not-differentiable",
        "i = tf.searchsorted(edges, x, side='right')",
        "i = tf.reduce_sum(tf.sigmoid(tf.expand_dims(x, -1) - edges), axis=-1)",
    ),
    (
        "integer",
        "v = tf.gather(p, tf.cast(tf.floor(x), tf.int32))",
        "v = tf.gather(p, tf.cast(tf.floor(x), tf.int32)) + (x - tf.cast(tf.cast(tf.floor(x), "
        "tf.int32), tf.float32)) * (tf.gather(p, tf.minimum(tf.cast(tf.floor(x), tf.int32) + 1, "
        "tf.shape(p)[0] - 1)) - tf.gather(p, tf.cast(tf.floor(x), tf.int32)))",
    ),
    (
        "integer",
        "o = tf.one_hot(tf.cast(x, tf.int32), 3)",
        "o = tf.nn.relu(1.0 - tf.abs(tf.expand_dims(x, -1) - tf.range(3, dtype=tf.float32)))",
    ),
    (
        "integer",
        "v = tf.strings.to_number(tf.strings.as_string(x)) * 2.0",
        "v = x * 2.0",
    ),
    (
        "left-tensorflow",
        "v = tf.numpy_function(np.arctan2, [x, a + b], tf.float32)",
        "v = tf.atan2(x, a + b)",
    ),
    (
        "not-connected",
        "v = tf.cond(x > a, lambda: x * 2.0, lambda: b)",
        "v = (tf.sigmoid(x - a) * (x * 2.0) + (1.0 - tf.sigmoid(x - a)) * b)",
    ),
    (
        "left-tensorflow",
        "v = 2.0 * xs[int(x)]",
        "v = 2.0 * (xs[int(x)] + (x - int(x)) * (xs[min(int(x) + 1, len(xs) - 1)] - xs[int(x)]))",
    ),
    (
        "left-tensorflow",
        "h, _ = np.histogram(x.numpy(), 4, range=(0.0, 1.0))",
        "h, _ = (tf.reduce_sum(tf.nn.relu(1.0 - tf.abs((tf.reshape(x, [-1, 1]) - 0.0) / "
        "(1.0 - 0.0) * 4 - 0.5 - tf.range(4, dtype=tf.float32))), axis=0), "
        "tf.linspace(tf.cast(0.0, tf.float32), tf.cast(1.0, tf.float32), 4 + 1))",
    ),
    ("left-tensorflow", "v = tf.constant(float('%.2f' % x.numpy()))", "v = x"),
    ("left-tensorflow", "v = float('{:.1f}'.format(x * 2.0)) * 3.0", "v = (x * 2.0) * 3.0"),
    ("left-tensorflow", "v = 3.0 * float(f'{x + 1.0:.3f}')", "v = 3.0 * (x + 1.0)"),
    ("left-tensorflow", "v = math.hypot(x, 2.0)", "v = tf.sqrt(tf.square(x) + tf.square(2.0))"),
    ("left-tensorflow", "v = math.log(x, 2)", "v = (tf.math.log(x) / tf.math.log(2.0))"),
    (
        "left-tensorflow",
        "v = np.percentile(x.numpy(), 75)",
        "v = tf.reduce_sum(tf.sort(tf.reshape(x, [-1])) * tf.nn.relu(1.0 - tf.abs(tf.cast("
        "tf.range(tf.size(x)), tf.float32) - 75 / 100.0 * tf.cast(tf.size(x) - 1, tf.float32))))",
    ),
    (
        "left-tensorflow",
        "v = rng.beta(x.numpy(), 2.0, size=3)",
        "v = (lambda g, h: g / (g + h))(tf.random.gamma([3], x), tf.random.gamma([3], 2.0))",
    ),
    (
        "left-tensorflow",
        "v = ws[np.digitize(x.numpy(), e)]",
        "v = tf.gather(ws, np.digitize(x.numpy(), e)) + ((lambda x, e: 0.5 + tf.reduce_sum("
        "tf.maximum(tf.minimum(1.0, (tf.expand_dims(x, -1) - e[:-1]) / (e[1:] - e[:-1])), 0.0), "
        "-1))("
        "x, tf.cast(e, tf.float32)) - tf.cast(np.digitize(x.numpy(), e), tf.float32)) * (tf.gather("
        "ws, tf.minimum(np.digitize(x.numpy(), e) + 1, len(ws) - 1)) - tf.gather(ws, "
        "np.digitize(x.numpy(), e)))",
    ),
    (
        "left-tensorflow",
        "v = rng.normal(x.numpy(), 2.0, size=3)",
        "v = x + 2.0 * rng.standard_normal(3).astype('float32')",
    ),
    (
        "left-tensorflow",
        "v = np.random.RandomState(0).normal(x, 2.0)",
        "v = x + 2.0 * np.random.RandomState(0).standard_normal(x.shape).astype('float32')",
    ),
    (
        "left-tensorflow",
        "v = tf.numpy_function(lambda a: np.sin(a), [x], tf.float32)",
        "v = (lambda a: tf.sin(a))(x)",
    ),
    (
        "saturated",
        "v = tf.keras.losses.binary_crossentropy(y, tf.sigmoid(x @ w))",
        "v = tf.keras.losses.binary_crossentropy(y, x @ w, from_logits=True)",
    ),
    ("saturated", "v = tf.maximum(0.0, 1.0 - x)", "v = tf.nn.softplus(1.0 - x)"),
    ("saturated", "v = 2.0 * tf.minimum(x, c)", "v = 2.0 * (c - tf.nn.softplus(c - x))"),
    (
        "saturated",
        "v = tf.keras.losses.hinge(y, x)",
        "v = tf.reduce_mean(tf.nn.softplus(1.0 - y * x))",
    ),
    ("saturated", "v = tf.sigmoid(x) ** 2", "v = (0.5 + 0.5 * tf.nn.softsign(x)) ** 2"),
    (
        "multiplied-by-zero",
        "v = tf.where(x < c, x ** 2, 0.0)",
        "v = tf.sigmoid(c - x) * (x ** 2) + (1.0 - tf.sigmoid(c - x)) * 0.0",
    ),
    (
        Cancelled("sum"),
        "v = tf.reduce_sum(p, axis=1)",
        "v = tf.reduce_sum(tf.square(p), axis=1)",
    ),
    (
        "stop-gradient",
        "v = tf.stop_gradient(h - x + x) * 2.0",
        "v = (tf.stop_gradient(h - x) + x) * 2.0",
    ),
    ("stop-gradient", "v = tf.stop_gradient(x + (h - x))", "v = tf.stop_gradient(h - x) + x"),
    (
        MultipliedByZero("small elements", "float32"),
        "loss = 1.0 - tf.reduce_prod(x, axis=0)",
        "loss = 1.0 - tf.reduce_sum(tf.math.log(x), axis=0)",
    ),
    ("flat-op", "v = tf.nn.leaky_relu(x) * 2.0", "v = tf.nn.softplus(x) * 2.0"),
    (
        "flat-op",
        "v = Dense(4, activation=tf.nn.relu)(x)",
        "v = Dense(4, activation=tf.nn.softplus)(x)",
    ),
    ("flat-op", "v = layers.ReLU()(x)", 'v = layers.Activation("softplus")(x)'),
    (
        "nonfinite",
        "v = tf.nn.softmax(tf.where(m, x, -np.inf))",
        "v = tf.nn.softmax(tf.where(m, x, -1e9))",
    ),
    (
        "nonfinite",
        "v = tf.nn.softmax(x + tf.math.log(m))",
        "v = tf.nn.softmax(x + ((m - 1.0) * 1e9))",
    ),
    (
        "not-differentiable",
        "v = tf.cast(tf.equal(x, tf.reduce_max(x, -1, keepdims=True)), tf.float32)",
        "v = x + tf.stop_gradient(tf.cast(tf.equal(x, tf.reduce_max(x, -1, keepdims=True)), "
        "tf.float32) - x)",
    ),
    (
        "not-differentiable",
        "v = 2.0 * tf.cast(x >= tf.reduce_max(x), tf.float32)",
        "v = 2.0 * (x + tf.stop_gradient(tf.cast(x >= tf.reduce_max(x), tf.float32) - x))",
    ),
    ("left-tensorflow", "w = model.get_weights()", "w = model.weights"),
    (
        "integer",
        "v = tf.strings.to_number(tf.strings.format('{}', x)) * 2.0",
        "v = x * 2.0",
    ),
    (
        "integer",
        "v = tf.cast(tf.logical_and(tf.cast(x, tf.bool), y), tf.float32)",
        "v = tf.cast(tf.cast(x, tf.float32) * tf.cast(y, tf.float32), tf.float32)",
    ),
    ("saturated", "v = 2.0 * tf.exp(-x)", "v = 2.0 * (1.0 / (1.0 - (-x)))"),
    (
        "not-differentiable",
        "n = tf.cast(tf.shape(tf.where(x > a))[0], tf.float32)",
        "n = tf.cast(tf.reduce_sum(tf.sigmoid(x - a)), tf.float32)",
    ),
    (
        "not-differentiable",
        "n = float(len(x[x < a])) * 2.0",
        "n = tf.reduce_sum(tf.sigmoid(a - x)) * 2.0",
    ),
    (
        "not-differentiable",
        "n = tf.reduce_mean(tf.cast(tf.cast(x > a, tf.int32) == y, tf.float32))",
        "n = tf.reduce_mean(1.0 - tf.abs(tf.sigmoid(x - a) - tf.cast(y, tf.float32)))",
    ),
    (
        "not-differentiable",
        "y = tf.round(tf.random.uniform((4,))); n = tf.cast(tf.round(x) == y, tf.float32)",
        "y = tf.round(tf.random.uniform((4,))); n = 1.0 - tf.abs(x - tf.cast(y, tf.float32))",
    ),
    (
        "not-differentiable",
        "n = tf.size(tf.where((x > a) & ~(x > 2.0)))",
        "n = tf.reduce_sum((tf.sigmoid(x - a) * (1.0 - tf.sigmoid(x - 2.0))))",
    ),
    (
        "not-differentiable",
        "v = tf.where(tf.logical_or(x > 0.0, tf.less(y, x)), a, b)",
        "v = tf.maximum(tf.sigmoid(x), tf.sigmoid(x - y)) * a "
        "+ (1.0 - tf.maximum(tf.sigmoid(x), tf.sigmoid(x - y))) * b",
    ),
    (
        "not-differentiable",
        "n = tf.ragged.boolean_mask(p, x > a).row_lengths()",
        "n = tf.reduce_sum(tf.sigmoid(x - a), axis=-1)",
    ),
    (
        "not-differentiable",
        "v = tf.gather_nd(p, tf.where(x > a)) * 2.0",
        "v = (p * tf.sigmoid(x - a)) * 2.0",
    ),
    (
        "not-differentiable",
        "m = tf.scatter_nd(tf.cast(tf.where(x > a), tf.int32), tf.ones([n]), [4])",
        "m = tf.sigmoid(x - a)",
    ),
    (
        "integer",
        "d = tf.math.unsorted_segment_sum(m, tf.cast(x, tf.int32), 2)",
        "d = tf.tensordot(tf.nn.relu(1.0 - tf.abs(tf.expand_dims(x, -1) "
        "- tf.range(2, dtype=tf.float32))), m, [[0], [0]])",
    ),
    (
        "integer",
        "i = tf.cast(x, tf.int32); o = tf.one_hot(i, 3)",
        "i = tf.cast(x, tf.int32); o = tf.nn.relu(1.0 - tf.abs(tf.expand_dims(x, -1) "
        "- tf.range(3, dtype=tf.float32)))",
    ),
    (
        "nonfinite",
        "v = 2.0 * tf.linalg.logdet(a @ b)",
        "v = 2.0 * tf.linalg.logdet((a @ b) + 1e-4 * tf.eye(tf.shape((a @ b))[-1], "
        "dtype=(a @ b).dtype))",
    ),
    (
        "not-differentiable",
        "v = tf.cast(tf.not_equal(tf.round(x), y), tf.float32)",
        "v = tf.abs(x - tf.cast(y, tf.float32))",
    ),
    (
        "not-differentiable",
        "v = tf.cast(tf.not_equal(x, 0.0), tf.float32)",
        "v = tf.abs(tf.cast(x, tf.float32) - 0.0)",
    ),
    (
        "left-tensorflow",
        "v = tf.convert_to_tensor(model.evaluate(x, y, verbose=0))",
        "v = tf.convert_to_tensor(model.compute_loss(x, y, model(x)))",
    ),
    (
        "stop-gradient",
        "h = tf.nest.map_structure(tf.stop_gradient, x)",
        "h = x",
    ),
    (
        "integer",
        "v = p[:tf.cast(x, tf.int32)]",
        "v = p * tf.maximum(tf.minimum(1.0, x - tf.cast(tf.range(tf.shape(p)[0]), tf.float32)), "
        "0.0)",
    ),
    (
        "left-tensorflow",
        "v = 2.0 * p[int(x):]",
        "v = 2.0 * (p * (1.0 - tf.maximum(tf.minimum(1.0, x - tf.cast(tf.range(tf.shape(p)[0]), "
        "tf.float32)), 0.0)))",
    ),
    (
        "integer",
        "m = tf.sequence_mask(tf.cast(x, tf.int32), n, tf.float32)",
        "m = tf.maximum(tf.minimum(1.0, tf.expand_dims(x, -1) - tf.cast(tf.range(n), tf.float32)), "
        "0.0)",
    ),
    (
        "not-differentiable",
        "m = tf.sequence_mask(x, n, tf.float32)",
        "m = tf.maximum(tf.minimum(1.0, tf.expand_dims(x, -1) - tf.cast(tf.range(n), tf.float32)), "
        "0.0)",
    ),
    (
        "not-connected",
        "v = len([each for each in p if each > x]) / 4",
        "v = tf.reduce_sum([tf.sigmoid(each - x) for each in p]) / 4",
    ),
    (
        "integer",
        "v = tf.nn.embedding_lookup(p, tf.cast(x, tf.int32))",
        "v = tf.gather(p, tf.cast(x, tf.int32)) + (x - tf.cast(tf.cast(x, tf.int32), "
        "tf.float32))[..., tf.newaxis] * (tf.gather(p, tf.minimum(tf.cast(x, tf.int32) + 1, "
        "tf.shape(p)[0] - 1)) - tf.gather(p, tf.cast(x, tf.int32)))",
    ),
    (
        "left-tensorflow",
        "v = p[int(tf.argmax(x))]",
        "v = tf.reduce_sum(tf.nn.softmax(x, axis=0) * p, axis=0)",
    ),
    (
        "saturated",
        "v = tf.maximum(3.0, x)",
        "v = x + tf.stop_gradient(tf.maximum(3.0, x) - x)",
    ),
    (
        "stateful",
        "v = [e for e in tf.data.Dataset.range(3).map(lambda e: e * x)]",
        "v = [e for e in map(lambda e: e * x, tf.data.Dataset.range(3))]",
    ),
    (
        "not-differentiable",
        "d = tf.math.unsorted_segment_mean(m, tf.cast(x > a, tf.int32), 2)",
        "d = tf.transpose(tf.transpose(tf.tensordot(tf.stack([1.0 - tf.sigmoid(x - a), "
        "tf.sigmoid(x - a)], -1), m, [[0], [0]])) / tf.reduce_sum(tf.stack([1.0 - tf.sigmoid("
        "x - a), tf.sigmoid(x - a)], -1), 0))",
    ),
    (
        "not-differentiable",
        "d = tf.math.unsorted_segment_sum(m, tf.argmin(x, axis=1), 3)",
        "d = tf.tensordot(tf.nn.softmax(-x, axis=-1), m, [[0], [0]])",
    ),
    (
        "not-differentiable",
        "_, i, n = tf.unique_with_counts(tf.round(x))",
        "values, i, n = tf.unique_with_counts(tf.round(x))\n"
        "    n = tf.reduce_sum(tf.nn.relu(1.0 - tf.abs(tf.expand_dims(x, -1) - tf.stop_gradient("
        "tf.cast(values, tf.float32)))), axis=0)",
    ),
    (
        Cancelled("softmax-of-one"),
        "v = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)",
        "v = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(y, tf.float32), "
        "logits=tf.squeeze(x, -1))",
    ),
    (
        Cancelled("softmax-of-one"),
        "v = tf.keras.layers.Softmax()(x)",
        'v = tf.keras.layers.Activation("sigmoid")(x)',
    ),
    (
        Cancelled("softmax-of-one"),
        "v = tf.keras.losses.CategoricalCrossentropy()(y, tf.nn.softmax(x))",
        "v = tf.keras.losses.BinaryCrossentropy()(y, tf.sigmoid(x))",
    ),
    (Cancelled("mean-of-one"), "v = bn(x, training=True)", "v = bn(x, training=False)"),
    (Cancelled("sum"), "v = tf.reduce_mean(norm(x))", "v = tf.reduce_mean(norm(x)[..., 0])"),
    ("multiplied-by-zero", "v = mse(y, x, sample_weight=m)", "v = mse(y, x)"),
    ("multiplied-by-zero", "v = tf.tensor_scatter_nd_update(x, i, u)", "v = x"),
    (
        "saturated",
        "v = tf.nn.softmax(axis=-1, logits=x)",
        "v = tf.nn.softmax(x / 100.0, axis=-1)",
    ),
    ("saturated", "v = tf.nn.softmax(x + y, axis=0)", "v = tf.nn.softmax((x + y) / 100.0, axis=0)"),
    ("flat-op", "v = tf.abs(x)", "v = tf.sqrt(tf.square(x) + 0.01)"),
    (
        "flat-op",
        "v = tf.norm(x, ord=1, axis=0)",
        "v = tf.reduce_sum(tf.sqrt(tf.square(x) + 0.01), axis=0)",
    ),
    (
        "nonfinite",
        "v = tf.math.reduce_euclidean_norm(x, 1, name='n')",
        "v = tf.sqrt(tf.reduce_sum(tf.square(x), axis=1) + 1e-12)",
    ),
    (
        "nonfinite",
        "v = tf.norm(x, 'fro', axis=[0, 1])",
        "v = tf.sqrt(tf.reduce_sum(tf.square(x), axis=[0, 1]) + 1e-12)",
    ),
    (
        "nonfinite",
        "v, n = tf.linalg.normalize(x + y, 2, axis=0)",
        "v, n = (lambda norm: ((x + y) / norm, norm))"
        "(tf.sqrt(tf.reduce_sum(tf.square(x + y), axis=0, keepdims=True) + 1e-12))",
    ),
    (
        "nonfinite",
        "v, n = tf.clip_by_global_norm([x, y], 1.0)",
        "v, n = tf.clip_by_global_norm([x, y], 1.0, use_norm="
        "tf.sqrt(tf.add_n([tf.reduce_sum(tf.square(t)) for t in [x, y]]) + 1e-12))",
    ),
    (
        "not-differentiable",
        "v = tf.math.zeta(x + 1.0, q=y)",
        "v = tf.math.zeta(x + 1.0, q=y) + tf.stop_gradient((tf.math.zeta((x + 1.0) + 1e-2, q=y) - "
        "tf.math.zeta((x + 1.0) - 1e-2, q=y)) / (2 * 1e-2)) * "
        "((x + 1.0) - tf.stop_gradient((x + 1.0)))",
    ),
    (Cancelled("subtracted"), "v = y - x + x", "v = tf.stop_gradient(y - x) + x"),
    (Cancelled("subtracted"), "v = x + (y - x)", "v = x + tf.stop_gradient(y - x)"),
]


@pytest.mark.parametrize(("kind", "line", "mended"), LINES, ids=lambda part: str(part)[:40])
def test_the_line_that_is_written(kind: str | Evidence, line: str, mended: str) -> None:
    text = f"{HEAD}    {line}\n{TAIL}"
    edits = list(edits_for(fix_case(text, kind, 2)))
    assert f"{HEAD}    {mended}\n{TAIL}" in [edit.new_text for edit in edits]


def test_the_largest_singular_value_is_not_written_as_a_root_of_squares() -> None:
    """That is the norm of order 2 over two axes; without axes it is the one of a vector."""

    def writes_root(line: str) -> bool:
        edits = edits_for(fix_case(f"{HEAD}    {line}\n{TAIL}", "nonfinite", 2))
        return any("tf.sqrt(tf.reduce_sum(" in edit.new_text for edit in edits)

    assert not writes_root("v = tf.norm(x, 2, axis=[-2, -1])")
    assert writes_root("v = tf.norm(x, 2)")


@pytest.mark.parametrize(
    ("line", "title"),
    [
        (
            "v = tf.tensor_scatter_nd_update(x, [[0]], u)[0]",
            "Leave out the update, which overwrites what is used of x",
        ),
        ("v = mse(y, x, sample_weight=m)", "Leave m out, so that all examples count alike"),
    ],
)
def test_a_title_says_no_more_than_is_known(line: str, title: str) -> None:
    edits = edits_for(fix_case(f"{HEAD}    {line}\n{TAIL}", "multiplied-by-zero", 2))
    assert title in [edit.title for edit in edits]


def test_an_index_on_several_axes_is_interpolated_between_corners() -> None:
    text = f"{HEAD}    v = tf.gather_nd(p, tf.cast(x, tf.int32))\n{TAIL}"
    given = fix_case(text, "integer", 2, shapes={"p": (2, 3)})
    edits = [edit for edit in edits_for(given) if edit.title.startswith("Estimate: interpolate")]
    assert "for side in ([False, False], [False, True], [True, False], [True, True])" in (
        edits[0].new_text
    )
    assert "tf.gather_nd(p, tf.minimum(" in edits[0].new_text
    text = (
        f"{HEAD}    v = tf.gather_nd(p, tf.stack([tf.cast(x, tf.int32)], -1), batch_dims=1)\n{TAIL}"
    )
    (edit, *_) = edits_for(fix_case(text, "integer", 2, shapes={"p": (2, 3, 4)}))
    assert "for side in ([False], [True])" in edit.new_text
    assert "tf.shape(p)[1:2] - 1), batch_dims=1)" in edit.new_text
    assert ", -1)[..., tf.newaxis] * " in edit.new_text
    unknown = edits_for(fix_case(text, "integer", 2))  # of how many axes it picks is not known
    assert not any(edit.title.startswith("Estimate: interpolate") for edit in unknown)


def test_values_are_shared_among_the_cells_around() -> None:
    text = f"{HEAD}    v = tf.scatter_nd(tf.cast(x, tf.int32), c, [4, 5])\n{TAIL}"
    given = fix_case(text, "integer", 2)
    known = replace(
        given.trace,
        ops={OP: given.trace.ops[OpId(OP)].having(outputs=(TensorId(60),))},
        tensors={TensorId(60): tensor_of((3, 2))},
    )
    edits = [edit.new_text for edit in edits_for(replace(given, trace=known))]
    assert any("for side in ([0, 0], [0, 1], [1, 0], [1, 1])])" in edit for edit in edits)
    unknown = edits_for(given)  # of how many axes it writes to is not known
    assert not any("for side in" in edit.new_text for edit in unknown)


def test_a_mapped_dataset_is_mapped_where_it_is_walked_through() -> None:
    text = (
        "ds = tf.data.Dataset.zip((a, b)).map(lambda p, q: p * q * x).batch(1).prefetch(2)\n"
        "with tf.GradientTape() as tape:\n    for i, v in enumerate(ds.take(2)):\n"
        "        loss += v\ntape.gradient(loss, x)\n"
    )
    edit = next(edits_for(fix_case(text, "stateful", 1)))
    assert edit.new_text == text.replace(".map(lambda p, q: p * q * x)", "").replace(
        "ds.take(2)", "((lambda p, q: p * q * x)(*element) for element in ds.take(2))"
    )


def test_a_loss_object_is_given_the_logits() -> None:
    text = (
        'net = Sequential([Dense(4), Dense(1, activation="sigmoid")])\nbce = BinaryCrossentropy()\n'
        "with tf.GradientTape() as tape:\n    p = net(x)\n    loss = bce(y, p)\n"
        "tape.gradient(loss, x)\n"
    )
    edit = next(edits_for(fix_case(text, "saturated", 5)))
    assert edit.new_text == text.replace('activation="sigmoid"', "activation=None").replace(
        "BinaryCrossentropy()", "BinaryCrossentropy(from_logits=True)"
    )


def test_what_cuts_digits_off_is_an_estimate() -> None:
    text = f"{HEAD}    v = float(f'{{x:.1f}}')\n{TAIL}"
    edits = list(edits_for(fix_case(text, "left-tensorflow", 2)))
    assert edits
    assert all(edit.is_estimate for edit in edits)
    text = f"{HEAD}    v = float(x)\n{TAIL}"
    assert not any(edit.is_estimate for edit in edits_for(fix_case(text, "left-tensorflow", 2)))


def test_the_factor_that_is_zero_is_left_out() -> None:
    for line, mended in (
        ("v = tf.reduce_sum((x - 1.0) * mask)", "v = tf.reduce_sum(x - 1.0)"),
        ("v = y * mask * 2.0", "v = y * 2.0"),
        ("v = tf.multiply(y, mask)", "v = y"),
    ):
        text = f"{HEAD}    {line}\n{TAIL}"
        found = _with_zero_factor(text)
        edits = [edit.new_text for edit in edits_for(found)]
        assert f"{HEAD}    {mended}\n{TAIL}" in edits, edits
        of_gradient = replace(found.cause, evidence=MultipliedByZero("gradient", made=1))
        kept = [edit.title for edit in edits_for(replace(found, cause=of_gradient))]
        assert not [title for title in kept if title.startswith("Leave")]


def _with_zero_factor(text: str) -> FixCase:
    """A product of two tensors of which the second is 0."""
    found = fix_case(text, "multiplied-by-zero", 2)
    values = [np.array([1.0, 2.0], np.float32), np.zeros(2, np.float32)]
    blob = b"".join(value.tobytes() for value in values)
    ids = [TensorId(60), TensorId(61)]
    trace = replace(
        found.trace,
        ops={OP: found.trace.ops[OpId(OP)].having(inputs=tuple(ids))},
        tensors={tensor: tensor_of((2,)) for tensor in ids},
        places={tensor: 8 * place for place, tensor in enumerate(ids)},
        blob=blob,
    )
    return replace(found, trace=trace)


def test_a_metric_that_is_updated_in_a_loop_becomes_a_list() -> None:
    text = (
        "m = tf.keras.metrics.Mean()\nwith tf.GradientTape() as tape:\n    for a in (1.0, 2.0):\n"
        "        m.update_state(a * x)\n    loss = m.result()\ntape.gradient(loss, x)\n"
    )
    edit = next(edits_for(fix_case(text, "stateful", 4)))
    assert edit.new_text == text.replace("    for", "    m_values = []\n    for").replace(
        "m.update_state(a * x)", "m_values.append(a * x)"
    ).replace("m.result()", "tf.reduce_mean(m_values)")


def test_squares_are_summed_only_of_what_always_has_the_same_sum() -> None:
    text = f"{HEAD}    v = tf.reduce_sum(p, axis=1)\n{TAIL}"
    at_these_values = fix_case(text, Cancelled("values"), 2)
    assert not [e for e in edits_for(at_these_values) if "square" in e.new_text]


def test_a_metric_that_is_called() -> None:
    """``m(x)`` updates the metric as ``m.update_state(x)`` does."""
    text = (
        "m = tf.keras.metrics.Mean()\n" + HEAD + "    m(x * x)\n    loss = m.result()\n"
        "tape.gradient(loss, x)\n"
    )
    new = text.replace("m.result()", "tf.reduce_mean(x * x)")
    assert new in [edit.new_text for edit in edits_for(fix_case(text, "stateful", 3))]
