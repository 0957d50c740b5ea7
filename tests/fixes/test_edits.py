"""Edits of the text: what they put where, and that nothing else changes."""

from __future__ import annotations

import ast
import itertools
from dataclasses import replace
from textwrap import dedent

import pytest

from tapeviz.analysis.causes.connections.left_tensorflow import LeftTensorFlow
from tapeviz.analysis.causes.connections.not_connected import NotConnected
from tapeviz.analysis.causes.table import KINDS
from tapeviz.analysis.causes.tapes.not_watched import NotWatched
from tapeviz.analysis.causes.tapes.outside_tape import OutsideTape
from tapeviz.analysis.causes.tapes.replaced_source import ReplacedSource
from tapeviz.analysis.causes.values.saturated import NoOverlap
from tapeviz.analysis.findings import Evidence
from tapeviz.files.examples import examples
from tapeviz.fixes.plan import Plan
from tapeviz.fixes.smooth.argmax import soften_argmax
from tapeviz.fixes.smooth.branches import weigh_both
from tapeviz.fixes.source import ParsedSource
from tapeviz.fixes.table import FIXES, edits_for
from tapeviz.fixes.tables.errors import edits_for_error
from tapeviz.fixes.tapes.closures import compute_when_called
from tapeviz.text.diffs import short_diff
from tapeviz.text.source import SourceText
from tapeviz.trace import events as e
from tapeviz.trace.ids import TensorId
from tapeviz.trace.model import Failure, Trace

from ..analysis.cases import CASES
from ..sampling import sampled
from ..traces import op_at
from .fix_cases import evidence_of, fix_case

BEFORE_AND_AFTER = [
    (
        "left-tensorflow",
        2,
        """
        with tf.GradientTape() as tape:
            h = np.multiply(3.0, x.numpy())
            y = tf.constant(h, tf.float32)
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            h = tf.multiply(3.0, x)
            y = tf.cast(h, tf.float32)
        tape.gradient(y, x)
        """,
    ),
    (
        "not-differentiable",
        3,
        """
        value = 1.0
        with tf.GradientTape() as tape:
            y = tf.round(net(2.0)) * tf.round(net(value))
        tape.gradient(y, w)
        """,
        """
        value = 1.0
        with tf.GradientTape() as tape:
            value2 = net(2.0)
            value3 = net(value)
            y = (value2 + tf.stop_gradient(tf.round(value2) - value2)) * \
(value3 + tf.stop_gradient(tf.round(value3) - value3))
        tape.gradient(y, w)
        """,
    ),
    (
        "not-differentiable",
        2,
        """
        with tf.GradientTape() as tape:
            a = 3.0; y = tf.round(net(a))
        tape.gradient(y, w)
        """,
        """
        with tf.GradientTape() as tape:
            a = 3.0; y = net(a) + tf.stop_gradient(tf.round(net(a)) - net(a))
        tape.gradient(y, w)
        """,
    ),
    (
        "not-differentiable",
        1,
        """
        order = tf.argsort(s, direction="DESCENDING", stable=True)[:2]
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(s, order)) + tf.reduce_sum(tf.gather(v, order))
        tape.gradient(y, s)
        """,
        """
        ordered = tf.sort(s, direction="DESCENDING")[:2]
        permutation = tf.nn.softmax(-tf.abs(ordered[..., tf.newaxis] - s[..., tf.newaxis, :]))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(ordered) + tf.reduce_sum(tf.tensordot(permutation, v, 1))
        tape.gradient(y, s)
        """,
    ),
    (
        "not-differentiable",
        2,
        """
        def nearest(x):
            return tf.argmin(d, axis=1)
        labels = nearest(x)
        means = tf.math.unsorted_segment_mean(x, labels, 3)
        with tf.GradientTape() as tape:
            y = tf.gather(means, labels) - means[0]
        tape.gradient(y, s)
        """,
        """
        def nearest(x):
            return tf.nn.softmax(-d, axis=1)
        labels = nearest(x)
        means = tf.transpose(tf.transpose(tf.tensordot(labels, x, [[0], [0]])) / \
tf.reduce_sum(labels, axis=0))
        with tf.GradientTape() as tape:
            y = tf.tensordot(labels, means, 1) - means[0]
        tape.gradient(y, s)
        """,
    ),
    (
        "left-tensorflow",
        2,
        """
        def predict(x):
            if x[0] < t:
                if x[1] < u:
                    return a
                else:
                    return b
            return c
        with tf.GradientTape() as tape:
            loss = predict(x)
        tape.gradient(loss, t)
        """,
        """
        def predict(x):
            weight = tf.sigmoid(t - x[0])
            weight2 = tf.sigmoid(u - x[1])
            return weight * (weight2 * a + (1.0 - weight2) * b) + (1.0 - weight) * c
        with tf.GradientTape() as tape:
            loss = predict(x)
        tape.gradient(loss, t)
        """,
    ),
    (
        "saturated",
        3,
        """
        with tf.GradientTape() as tape:
            # as the motor has it
            action = tf.clip_by_value(actor(state), -1.0, 1.0)  # in turns
        tape.gradient(action, w)
        """,
        """
        with tf.GradientTape() as tape:
            # as the motor has it
            action = actor(state)
            action = action + tf.stop_gradient(tf.clip_by_value(action, -1.0, 1.0) - action)  # in turns
        tape.gradient(action, w)
        """,  # noqa: E501
    ),
    (
        "integer",
        2,
        """
        with tf.GradientTape() as tape:
            q = tf.cast(net(x), tf.int8)
            y = tf.cast(q, tf.float32) * s
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            value = net(x)
            q = tf.cast(value, tf.int8)
            y = (value + tf.stop_gradient(tf.cast(q, tf.float32) - value)) * s
        tape.gradient(y, x)
        """,
    ),
    (
        "left-tensorflow",
        2,
        """
        def clamp(v):
            if v > 1.0:
                return 1.0
            if v < 0.5:
                return 0.5
            return v
        with tf.GradientTape() as tape:
            loss = clamp(w)
        tape.gradient(loss, w)
        """,
        """
        def clamp(v):
            weight = tf.sigmoid(v - 1.0)
            weight2 = tf.sigmoid(0.5 - v)
            return weight * 1.0 + (1.0 - weight) * (weight2 * 0.5 + (1.0 - weight2) * v)
        with tf.GradientTape() as tape:
            loss = clamp(w)
        tape.gradient(loss, w)
        """,
    ),
    (
        "left-tensorflow",
        2,
        """
        def penalty(w):
            if not w > 0.0:
                return 3.0
            return w ** 2
        with tf.GradientTape() as tape:
            loss = penalty(w)
        tape.gradient(loss, w)
        """,
        """
        def penalty(w):
            weight = 1.0 - tf.sigmoid(w)
            return weight * 3.0 + (1.0 - weight) * (w ** 2)
        with tf.GradientTape() as tape:
            loss = penalty(w)
        tape.gradient(loss, w)
        """,
    ),
    (
        "left-tensorflow",
        4,
        """
        with tf.GradientTape() as tape:
            if t < 0.5:
                level = 1.0
            elif t < c + d:
                level = 3.0
                rate = 0.2
            else:
                rate += 0.1
            loss = a * level - rate
        tape.gradient(loss, t)
        """,
        """
        with tf.GradientTape() as tape:
            weight = tf.sigmoid(0.5 - t)
            weight2 = tf.sigmoid((c + d) - t)
            level = weight * 1.0 + (1.0 - weight) * (weight2 * 3.0 + (1.0 - weight2) * level)
            rate = weight * rate + (1.0 - weight) * (weight2 * 0.2 + (1.0 - weight2) * (rate + 0.1))
            loss = a * level - rate
        tape.gradient(loss, t)
        """,
    ),
    (
        "left-tensorflow",
        2,
        """
        with tf.GradientTape() as tape:
            if w > 0.5:
                b = 2.0
            else:
                a = b
            loss = a * b
        tape.gradient(loss, w)
        """,
        """
        with tf.GradientTape() as tape:
            weight = tf.sigmoid(w - 0.5)
            b, a = weight * 2.0 + (1.0 - weight) * b, weight * a + (1.0 - weight) * b
            loss = a * b
        tape.gradient(loss, w)
        """,
    ),
    (
        "left-tensorflow",
        3,
        """
        w = tf.Variable(0.7)
        with tf.GradientTape() as tape:
            if w > 0.5:
                y = tf.constant(1.0)
            else:
                y = tf.constant(0.0)
            loss = y * 2.0
        tape.gradient(loss, w)
        """,
        """
        w = tf.Variable(0.7)
        with tf.GradientTape() as tape:
            weight = tf.sigmoid(w - 0.5)
            y = weight * tf.constant(1.0) + (1.0 - weight) * tf.constant(0.0)
            loss = y * 2.0
        tape.gradient(loss, w)
        """,
    ),
    (
        "left-tensorflow",
        3,
        """
        w = tf.Variable(0.7)
        with tf.GradientTape() as tape:
            y = 1.0 if 0.5 <= w else w * 2.0
        tape.gradient(y, w)
        """,
        """
        w = tf.Variable(0.7)
        with tf.GradientTape() as tape:
            y = (tf.sigmoid(w - 0.5) * 1.0 + (1.0 - tf.sigmoid(w - 0.5)) * (w * 2.0))
        tape.gradient(y, w)
        """,
    ),
    (
        "assign",
        4,
        """
        a = tf.Variable(1.0)
        c = tf.Variable(0.0)
        with tf.GradientTape() as tape:
            c.assign(2 * a)  # keep me
            # and me
            y = c.read_value() ** 2 + f(c=c)
        tape.gradient(y, a)
        """,
        """
        a = tf.Variable(1.0)
        c = tf.Variable(0.0)
        with tf.GradientTape() as tape:
            c_new = 2 * a  # keep me
            # and me
            y = c_new ** 2 + f(c=c_new)
        c.assign(c_new)
        tape.gradient(y, a)
        """,
    ),
    (
        "assign",
        2,
        """
        with tf.GradientTape() as tape:
            tf.assign(c, a * 2.0)
            y = c ** 2
        tape.gradient(y, a)
        """,
        """
        with tf.GradientTape() as tape:
            c_new = a * 2.0
            y = c_new ** 2
        c.assign(c_new)
        tape.gradient(y, a)
        """,
    ),
    (
        "assign",
        3,
        """
        with tf.GradientTape() as tape:
            err = w ** 2
            ema.assign(0.9 * ema + 0.1 * err)
        tape.gradient(ema, w)
        """,
        """
        with tf.GradientTape() as tape:
            err = w ** 2
            ema_new = 0.9 * ema + 0.1 * err
        ema.assign(ema_new)
        tape.gradient(ema_new, w)
        """,
    ),
    (
        "assign",
        4,
        """
        class Counter(tf.Module):
            def __call__(self, x):
                with tf.GradientTape() as tape:
                    self.total.assign_add(x + 1)
                    y = self.total * 2
                return tape.gradient(y, x)
        """,
        """
        class Counter(tf.Module):
            def __call__(self, x):
                with tf.GradientTape() as tape:
                    total_new = self.total + (x + 1)
                    y = total_new * 2
                self.total.assign(total_new)
                return tape.gradient(y, x)
        """,
    ),
    (
        "assign",
        4,
        """
        w = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            for _ in range(3):
                w.assign(w * a)
            y = w
        tape.gradient(y, a)
        """,
        """
        w = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            w_new = w
            for _ in range(3):
                w_new = w_new * a
                w.assign(w_new)
            y = w_new
        tape.gradient(y, a)
        """,
    ),
    (
        "new-variable",
        2,
        """
        with tf.GradientTape() as tape:
            v = tf.Variable(p * 5.0, name="v")
            y = v * tf.Variable([p, p])
        tape.gradient(y, p)
        """,
        """
        with tf.GradientTape() as tape:
            v = p * 5.0
            y = v * tf.Variable([p, p])
        tape.gradient(y, p)
        """,
    ),
    (
        "not-watched",
        1,
        """
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:

            # the square
            y = x * x
        tape.gradient(y, x)
        """,
        """
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)

            # the square
            y = x * x
        tape.gradient(y, x)
        """,
    ),
    (
        "not-watched",
        1,
        """
        x = tf.constant(3.0)
        with tf.GradientTape() as tape: y = x * x
        tape.gradient(y, x)
        """,
        """
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        tape.gradient(y, x)
        """,
    ),
    (
        "outside-tape",
        2,
        """
        x = tf.Variable(3.0)
        y = x * x
        print(y)
        u = y + 1
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = u * 2
        tape.gradient(z, x)
        """,
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            print(y)
            u = y + 1
            z = u * 2
        tape.gradient(z, x)
        """,
    ),
    (
        "outside-tape",
        4,
        """
        w = tf.Variable(3.0)
        memory = []
        for x in (1.0, 2.0):
            memory.append(w * x)
        total = sum(memory)
        with tf.GradientTape() as tape:
            loss = total * 2.0
        tape.gradient(loss, w)
        """,
        """
        w = tf.Variable(3.0)
        memory = []
        with tf.GradientTape() as tape:
            for x in (1.0, 2.0):
                memory.append(w * x)
            total = sum(memory)
            loss = total * 2.0
        tape.gradient(loss, w)
        """,
    ),
    (
        OutsideTape("thread"),
        2,
        """
        def work(x):
            return w * x
        with tf.GradientTape() as tape:
            with ThreadPoolExecutor(2) as pool:
                first = pool.submit(work, 1.0)
                rest = list(pool.map(work, (2.0, 3.0)))
            loss = first.result() + sum(rest)
        tape.gradient(loss, w)
        """,
        """
        def work(x):
            return w * x
        with tf.GradientTape() as tape:
            with ThreadPoolExecutor(2) as pool:
                first = work(1.0)
                rest = list(map(work, (2.0, 3.0)))
            loss = first + sum(rest)
        tape.gradient(loss, w)
        """,
    ),
    (
        OutsideTape("thread"),
        2,
        """
        def work(x):
            made.append(w * x)
        with tf.GradientTape() as tape:
            threads = [threading.Thread(target=work, args=(x,)) for x in (1.0, 2.0)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            loss = sum(made)
        tape.gradient(loss, w)
        """,
        """
        def work(x):
            made.append(w * x)
        with tf.GradientTape() as tape:
            threads = [threading.Thread(target=work, args=(x,)) for x in (1.0, 2.0)]
            for thread in threads:
                thread.run()
            loss = sum(made)
        tape.gradient(loss, w)
        """,
    ),
    (
        NoOverlap(),
        3,
        """
        def iou(a, b):
            low, high = tf.maximum(a[:2], b[:2]), tf.minimum(a[2:], b[2:])
            sides = tf.maximum(0.0, high - low)
            inter = sides[0] * sides[1]
            union = size(a) + size(b) - inter
            return inter / union
        with tf.GradientTape() as tape:
            loss = 1 - iou(a, b)
        tape.gradient(loss, a)
        """,
        """
        def iou(a, b):
            low, high = tf.maximum(a[:2], b[:2]), tf.minimum(a[2:], b[2:])
            sides = tf.maximum(0.0, high - low)
            inter = sides[0] * sides[1]
            union = size(a) + size(b) - inter
            hull = (tf.maximum(0.0, tf.maximum(a[2:], b[2:]) - tf.minimum(a[:2], b[:2]))[0] \
* tf.maximum(0.0, tf.maximum(a[2:], b[2:]) - tf.minimum(a[:2], b[:2]))[1])
            return (inter / union - (hull - union) / hull)
        with tf.GradientTape() as tape:
            loss = 1 - iou(a, b)
        tape.gradient(loss, a)
        """,
    ),
    (
        "outside-tape",
        5,
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = x * x
        k = 2.0
        z = y * k
        other = 5
        tape.gradient(z, x)
        """,
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = x * x
            k = 2.0
            z = y * k
        other = 5
        tape.gradient(z, x)
        """,
    ),
    (
        "stop-gradient",
        2,
        """
        with tf.GradientTape() as tape:
            y = 2.0 * tf.stop_gradient(x + 1.0) + tf.stop_gradient(x)
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            y = 2.0 * (x + 1.0) + x
        tape.gradient(y, x)
        """,
    ),
    (
        "stop-gradient",
        2,
        """
        with tf.GradientTape() as tape:
            i, y = tf.while_loop(lambda i, y: i < 3, step, (0, x), back_prop=False)
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            i, y = tf.while_loop(lambda i, y: i < 3, step, (0, x))
        tape.gradient(y, x)
        """,
    ),
    (
        "stop-gradient",
        2,
        """
        def encode(x):
            x = tf.stop_gradient(x)  # frozen for now
            return x * 2.0
        with tf.GradientTape() as tape:
            y = encode(x)
        tape.gradient(y, x)
        """,
        """
        def encode(x):
            return x * 2.0
        with tf.GradientTape() as tape:
            y = encode(x)
        tape.gradient(y, x)
        """,
    ),
    (
        "stop-gradient",
        3,
        """
        with tf.GradientTape() as tape:
            if training:
                x = tf.stop_gradient(x)
            y = x * 2.0
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            if training:
                pass
            y = x * 2.0
        tape.gradient(y, x)
        """,
    ),
    (
        "integer",
        1,
        """
        x = tf.Variable([[1, -2], [3, 4]], name="x2")
        with tf.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
        """,
        """
        x = tf.Variable([[1.0, -2.0], [3.0, 4.0]], name="x2")
        with tf.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
        """,
    ),
    (
        "integer",
        1,
        """
        x = tf.ones([2, 3], dtype=tf.int32)
        with tf.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
        """,
        """
        x = tf.ones([2, 3], dtype=tf.float32)
        with tf.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
        """,
    ),
    (
        "left-tensorflow",
        3,
        """
        import numpy as np
        with tf.GradientTape() as tape:
            a = (x * 2).numpy()
            print(a.sum())
            b = np.mean(a, axis=0) + a.T.reshape(2, -1).max()
        tape.gradient(b, x)
        """,
        """
        import numpy as np
        with tf.GradientTape() as tape:
            a = x * 2
            print(a.sum())
            b = tf.reduce_mean(a, axis=0) + tf.reduce_max(tf.reshape(tf.transpose(a), [2, -1]))
        tape.gradient(b, x)
        """,
    ),
    (  # what the value is put into is read later; what it is multiplied by stays NumPy's
        "left-tensorflow",
        6,
        """
        import numpy as np
        with tf.GradientTape() as tape:
            out = []
            scale = np.array([1.0, 3.0])
            for row in (x, 2.0 * x):
                p = row.numpy()
                out.append(np.log(p))
            scale = scale / scale.mean()
            y = tf.reduce_sum(np.array(out) * scale[0])
        tape.gradient(y, x)
        """,
        """
        import numpy as np
        with tf.GradientTape() as tape:
            out = []
            scale = np.array([1.0, 3.0])
            for row in (x, 2.0 * x):
                p = row
                out.append(tf.math.log(p))
            scale = scale / scale.mean()
            y = tf.reduce_sum(tf.stack(out) * scale[0])
        tape.gradient(y, x)
        """,
    ),
    (
        "not-differentiable",
        2,
        """
        with tf.GradientTape() as tape:
            order = tf.argsort(x, direction="DESCENDING")
            y = tf.cast(tf.math.invert_permutation(order), tf.float32) * 3.0
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            order = tf.argsort(x, direction="DESCENDING")
            y = tf.cast(tf.reduce_sum(tf.sigmoid(x[..., tf.newaxis, :] - x[..., tf.newaxis]), -1) - 0.5, tf.float32) * 3.0
        tape.gradient(y, x)
        """,  # noqa: E501
    ),
    (
        "not-differentiable",
        2,
        """
        with tf.GradientTape() as tape:
            y = tf.one_hot(i, 3, on_value=1 - x, off_value=x) * 2
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            y = (tf.one_hot(i, 3) * ((1 - x) - x) + x) * 2
        tape.gradient(y, x)
        """,
    ),
    (
        "left-tensorflow",
        3,
        """
        with tf.GradientTape() as tape:
            p = np.squeeze(x)
            y.append(float(x[0]))
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            p = np.squeeze(x)
            y.append(x[0])
        tape.gradient(y, x)
        """,
    ),
    (
        "integer",
        2,
        """
        with tf.GradientTape() as tape:
            y = tf.cast(tf.cast(x / s, tf.int8), tf.float32) * s
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            y = ((x / s) + tf.stop_gradient(tf.cast(tf.cast(x / s, tf.int8), tf.float32) - (x / s))) * s
        tape.gradient(y, x)
        """,  # noqa: E501
    ),
    (
        "not-differentiable",
        2,
        """
        with tf.GradientTape() as tape:
            y = tf.clip_by_value(tf.round(x), 0.0, 7.0)
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            y = tf.clip_by_value(x + tf.stop_gradient(tf.round(x) - x), 0.0, 7.0)
        tape.gradient(y, x)
        """,
    ),
    (
        "not-differentiable",
        2,
        """
        with tf.GradientTape() as tape:
            y = tf.round(x + 1) * 3.0
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            y = ((x + 1) + tf.stop_gradient(tf.round(x + 1) - (x + 1))) * 3.0
        tape.gradient(y, x)
        """,
    ),
    (
        "nonfinite",
        2,
        """
        with tf.GradientTape() as tape:
            y = tf.where(x > 0, x * tf.math.log(x), 0 * x)
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            y = tf.where(x > 0, x * tf.math.log(tf.where(x > 0, x, tf.ones_like(x))), 0 * x)
        tape.gradient(y, x)
        """,
    ),
    (
        "nonfinite",
        2,
        """
        with tf.GradientTape() as tape:
            y = tf.norm(x, axis=1, keepdims=True) / 2
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            y = tf.sqrt(tf.reduce_sum(tf.square(x), axis=1, keepdims=True) + 1e-12) / 2
        tape.gradient(y, x)
        """,
    ),
    (
        "stateful",
        3,
        """
        with tf.GradientTape() as tape:
            ta = tf.TensorArray(tf.float32, 1)
            ta.write(0, x)
            y = ta.read(0)
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            ta = tf.TensorArray(tf.float32, 1)
            ta = ta.write(0, x)
            y = ta.read(0)
        tape.gradient(y, x)
        """,
    ),
    (
        "nonfinite",
        2,
        """
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(x * tf.math.log(x / p))
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.math.xlogy(x, tf.math.divide_no_nan(x, p)))
        tape.gradient(y, x)
        """,
    ),
]


AMONG_OTHERS: list[tuple[str | Evidence, int, str, str]] = [
    (  # a compiled function: it cannot share a list
        "not-differentiable",
        6,
        """
        @tf.function
        def play(n):
            total, s = 0.0, 0
            for _ in tf.range(n):
                for _ in tf.range(n):
                    a = tf.random.categorical(theta[s], 1)[0, 0]
                    s = moves[s, a]
                    total += rewards[s]
            return tf.reduce_mean(total), s
        with tf.GradientTape() as tape:
            loss, _ = play(3)
        tape.gradient(loss, theta)
        """,
        """
        @tf.function
        def play(n):
            total, s = 0.0, 0
            log_p = 0.0
            for _ in tf.range(n):
                for _ in tf.range(n):
                    draw = tf.random.categorical(theta[s], 1)
                    log_p += tf.reduce_sum(tf.gather(tf.nn.log_softmax(theta[s]), draw, \
batch_dims=1))
                    a = draw[0, 0]
                    s = moves[s, a]
                    total += rewards[s]
            value = tf.reduce_mean(total)
            return value + tf.stop_gradient(value) * (log_p - tf.stop_gradient(log_p)), s
        with tf.GradientTape() as tape:
            loss, _ = play(3)
        tape.gradient(loss, theta)
        """,
    ),
    (  # both calls of a function that is said in TensorFlow
        "left-tensorflow",
        5,
        """
        def f(v):
            return np.tanh(v)
        with tf.GradientTape() as tape:
            p = tf.numpy_function(f, [a], tf.float32)
            q = tf.numpy_function(f, [b], tf.float32)
            loss = p - q
        tape.gradient(loss, a)
        """,
        """
        def f(v):
            return tf.tanh(v)
        with tf.GradientTape() as tape:
            p = f(a)
            q = f(b)
            loss = p - q
        tape.gradient(loss, a)
        """,
    ),
    (  # a state of several parts
        "assign",
        5,
        """
        @tf.function
        def step(z):
            gain = (p + q) / (p + q + r)
            p.assign((1 - gain) * (p + q))
            x.assign_add(gain * (z - x))
            return x
        with tf.GradientTape() as tape:
            y = step(z)
        tape.gradient(y, q)
        """,
        """
        @tf.function
        def step(z):
            gain = (p + q) / (p + q + r)
            p_new = (1 - gain) * (p + q)
            p.assign(p_new)
            x_new = x + gain * (z - x)
            x.assign(x_new)
            return x_new
        with tf.GradientTape() as tape:
            y = step(z)
        tape.gradient(y, q)
        """,
    ),
    (  # a cross-entropy by hand
        "saturated",
        2,
        """
        with tf.GradientTape() as tape:
            p = tf.clip_by_value(tf.sigmoid(z), 1e-7, 1 - 1e-7)
            loss = -tf.reduce_mean(y * tf.math.log(p) + (1.0 - y) * tf.math.log(1.0 - p))
        tape.gradient(loss, z)
        """,
        """
        with tf.GradientTape() as tape:
            p = tf.clip_by_value(tf.sigmoid(z), 1e-7, 1 - 1e-7)
            loss = -tf.reduce_mean(-tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z))
        tape.gradient(loss, z)
        """,
    ),
    (  # a window moves
        "integer",
        2,
        """
        with tf.GradientTape() as tape:
            i = tf.cast(a, tf.int32)
            y = tf.reduce_sum(x[:, i : i + 3])
        tape.gradient(y, a)
        """,
        """
        with tf.GradientTape() as tape:
            i = tf.cast(a, tf.int32)
            y = tf.reduce_sum(x[:, i : i + 3] + (a - tf.cast(i, tf.float32)) * \
(tf.reshape(x[:, i + 1 : (i + 1) + 3], tf.shape(x[:, i : i + 3])) - x[:, i : i + 3]))
        tape.gradient(y, a)
        """,
    ),
    (
        "integer",
        2,
        """
        with tf.GradientTape() as tape:
            yx = tf.cast(a, tf.int32)
            y = tf.slice(x, [yx[0], 0], [3, 3])
        tape.gradient(y, a)
        """,
        """
        with tf.GradientTape() as tape:
            yx = tf.cast(a, tf.int32)
            value = tf.slice(x, [yx[0], 0], [3, 3])
            y = value + (a[0] - tf.cast(yx[0], tf.float32)) * \
(tf.slice(x, [yx[0] + 1, 0], [3, 3]) - value)
        tape.gradient(y, a)
        """,
    ),
    (  # what a model predicts, in several parts
        "replaced-source",
        2,
        """
        with tf.GradientTape() as tape:
            a, b = model.predict(x, verbose=0)
            y = tf.convert_to_tensor(b)[0]
        tape.gradient(y, a)
        """,
        """
        with tf.GradientTape() as tape:
            a, b = model(x)
            y = tf.convert_to_tensor(b)[0]
        tape.gradient(y, a)
        """,
    ),
    (  # a sum is compared
        "integer",
        2,
        """
        with tf.GradientTape() as tape:
            low = tf.cast(x, tf.int32)
            keep = rows + 1 >= low
            y = tf.reduce_sum(tf.cast(keep, tf.float32) * v)
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            low = tf.cast(x, tf.int32)
            keep = tf.sigmoid(tf.cast(rows + 1, tf.float32) - x)
            y = tf.reduce_sum(tf.cast(keep, tf.float32) * v)
        tape.gradient(y, x)
        """,
    ),
    (
        "integer",
        3,
        """
        class Chooser:
            def pick(self, s):
                return tf.argmax(s @ self.w, 1)
        def act(net, s):
            return tf.gather(table, net.pick(s))
        with tf.GradientTape() as tape:
            y = act(Chooser(), x)
        tape.gradient(y, w)
        """,
        """
        class Chooser:
            def pick(self, s):
                return tf.nn.softmax((s @ self.w), axis=1)
        def act(net, s):
            return tf.tensordot(net.pick(s), table, 1)
        with tf.GradientTape() as tape:
            y = act(Chooser(), x)
        tape.gradient(y, w)
        """,
    ),
    (
        "not-connected",
        7,
        """
        q = Net()
        target, kernel = clone_model(q), q.trainable_variables[0]
        with tf.GradientTape() as tape:
            best = tf.reduce_max(target(after), axis=1)
            later = target(after)
            loss = f(target(before) - best - tf.stop_gradient(later[0]))
        tape.gradient(loss, kernel)
        """,
        """
        q = Net()
        target, kernel = clone_model(q), q.trainable_variables[0]
        with tf.GradientTape() as tape:
            best = tf.reduce_max(target(after), axis=1)
            later = target(after)
            loss = f(q(before) - best - tf.stop_gradient(later[0]))
        tape.gradient(loss, kernel)
        """,
    ),
    (
        "not-differentiable",
        2,
        """
        with tf.GradientTape() as tape:
            best, places = tf.math.top_k(x, 2)
            y = tf.scatter_nd(places[:, None], ones, [4]) * tf.one_hot(tf.range(4), 4)
            y += tf.reduce_sum(tf.one_hot(places, 4), 0)
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            best, places = tf.math.top_k(x, 2)
            y = (tf.scatter_nd(places[:, None], ones, [4]) + tf.nn.softmax(x) - \
tf.stop_gradient(tf.nn.softmax(x))) * tf.one_hot(tf.range(4), 4)
            y += tf.reduce_sum((tf.one_hot(places, 4) + tf.nn.softmax(x)[..., tf.newaxis, :] - \
tf.stop_gradient(tf.nn.softmax(x)[..., tf.newaxis, :])), 0)
        tape.gradient(y, x)
        """,
    ),
    (
        "not-differentiable",
        2,
        """
        with tf.GradientTape() as tape:
            y = tf.one_hot(tf.argmax(a, -1), 3) @ tf.one_hot(tf.argmax(net(x), axis=-1), 3)
        tape.gradient(y, x)
        """,
        """
        with tf.GradientTape() as tape:
            soft = tf.nn.softmax(a)
            soft2 = tf.nn.softmax(net(x))
            y = (soft + tf.stop_gradient(tf.one_hot(tf.argmax(soft, axis=-1), 3) - soft)) @ \
(soft2 + tf.stop_gradient(tf.one_hot(tf.argmax(soft2, axis=-1), 3) - soft2))
        tape.gradient(y, x)
        """,
    ),
    (
        "left-tensorflow",
        4,
        """
        w = tf.exp(x)
        names = ["a", "b"]
        with tf.GradientTape() as tape:
            drawn = Counter(random.choices(names, weights=[float(v) for v in w], k=9))
            loss = tf.constant(drawn["a"] * 2.0)
        tape.gradient(loss, x)
        """,
        """
        w = tf.exp(x)
        names = ["a", "b"]
        log_p = 0.0
        with tf.GradientTape() as tape:
            positions = random.choices(range(len(names)), weights=[float(v) for v in w], k=9)
            log_p += tf.reduce_sum(tf.gather(tf.math.log(w / tf.reduce_sum(w)), positions))
            drawn = Counter([names[i] for i in positions])
            loss = tf.constant(drawn["a"] * 2.0)
            log_p = tf.cast(log_p, tf.float32)
            loss = loss + tf.stop_gradient(loss) * (log_p - tf.stop_gradient(log_p))
        tape.gradient(loss, x)
        """,
    ),
    (
        ReplacedSource("computed-again", listed=4),
        1,
        """
        z = a + b
        with tf.GradientTape() as tape:
            tape.watch(z)
            loss = tf.exp(a + b)
        tape.gradient(loss, z)
        """,
        """
        z = a + b
        with tf.GradientTape() as tape:
            tape.watch(z)
            loss = tf.exp(z)
        tape.gradient(loss, z)
        """,
    ),
    (
        "assign",
        2,
        """
        with tf.GradientTape() as outer:
            w.assign(start)
            for _ in range(2):
                with tf.GradientTape() as inner:
                    y = w * w
                w.assign_sub(inner.gradient(y, w))
            last = w * 2.0
        outer.gradient(last, start)
        """,
        """
        with tf.GradientTape() as outer:
            w_new = start
            for _ in range(2):
                with tf.GradientTape() as inner:
                    inner.watch(w_new)
                    y = w_new * w_new
                w_new = w_new - inner.gradient(y, w_new)
            last = w_new * 2.0
        w.assign(w_new)
        outer.gradient(last, start)
        """,
    ),
    (
        "nonfinite",
        2,
        """
        with tf.GradientTape() as tape:
            loss = tf.math.log(tf.sqrt(x)) + y ** 0.3
        tape.gradient(loss, x)
        """,
        """
        with tf.GradientTape() as tape:
            loss = tf.math.log(tf.sqrt(x + 1e-7) + 1e-7) + (y + 1e-7) ** 0.3
        tape.gradient(loss, x)
        """,
    ),
    (
        "nonfinite",
        4,
        """
        with tf.GradientTape() as tape:
            e = tf.exp(x)
            p = e / tf.reduce_sum(e, axis=1, keepdims=True)
            loss = tf.math.log(p[:, 0]) + tf.exp(x) / (tf.exp(x) + 1)
        tape.gradient(loss, x)
        """,
        """
        with tf.GradientTape() as tape:
            e = tf.exp(x)
            p = e / tf.reduce_sum(e, axis=1, keepdims=True)
            loss = (x - tf.reduce_logsumexp(x, axis=1, keepdims=True))[:, 0] + \
tf.exp(x) / (tf.exp(x) + 1)
        tape.gradient(loss, x)
        """,
    ),
    (
        "nonfinite",
        4,
        """
        with tf.GradientTape() as tape:
            e = tf.exp(x)
            p = e / tf.reduce_sum(e, axis=1)
            loss = p * tf.exp(x) / (tf.exp(x) + 1) + 1 / (1 + tf.exp(x))
        tape.gradient(loss, x)
        """,
        """
        with tf.GradientTape() as tape:
            e = tf.exp(x - tf.reduce_max(x, axis=1, keepdims=True))
            p = e / tf.reduce_sum(e, axis=1)
            loss = p * tf.exp(x) / (tf.exp(x) + 1) + 1 / (1 + tf.exp(x))
        tape.gradient(loss, x)
        """,
    ),
    (
        "nonfinite",
        2,
        """
        with tf.GradientTape() as tape:
            loss = tf.cosh(x)
        tape.gradient(loss, x)
        """,
        """
        with tf.GradientTape() as tape:
            loss = tf.cosh(tf.clip_by_value(x, -80.0, 80.0))
        tape.gradient(loss, x)
        """,
    ),
    (
        "outside-tape",
        4,
        """
        class Line:
            def __init__(self):
                self.a = tf.Variable(2.0)
                self.update()
            def update(self):
                self.slope = self.a ** 2
            def at(self, x):
                return self.slope * x
            def renewed(self):
                self.update()
                return self.slope
        line = Line()
        with tf.GradientTape() as tape:
            loss = line.at(3.0)
        tape.gradient(loss, line.a)
        """,
        """
        class Line:
            def __init__(self):
                self.a = tf.Variable(2.0)
                self.update()
            def update(self):
                self.slope = self.a ** 2
            def at(self, x):
                self.update()
                return self.slope * x
            def renewed(self):
                self.update()
                return self.slope
        line = Line()
        with tf.GradientTape() as tape:
            loss = line.at(3.0)
        tape.gradient(loss, line.a)
        """,
    ),
    *(
        (
            "not-differentiable",
            2,
            f"""
            with tf.GradientTape() as tape:
                h = tf.round(w)
                loss = {wrong}
            tape.gradient(loss, w)
            """,
            """
            with tf.GradientTape() as tape:
                h = tf.round(w)
                loss = w + tf.stop_gradient(h - w)
            tape.gradient(loss, w)
            """,
        )
        for wrong in ("h - tf.stop_gradient(h - w)", "h + tf.stop_gradient(w - h)")
    ),
    (
        NotConnected("repeated"),
        4,
        """
        with tf.GradientTape() as tape:
            n = tf.constant(0)
            v = 1.0
            while n < 90 and norm(v) > e:
                v = v * w
                n += 1
            loss = tf.cast(n, tf.float32)
        tape.gradient(loss, w)
        """,
        """
        with tf.GradientTape() as tape:
            n = tf.constant(0.0)
            v = 1.0
            while n < 90 and norm(v) > e:
                level_before = norm(v)
                n_before = n
                v = v * w
                n += 1
            weight = 1.0 if norm(v) > e else (e - level_before) / (norm(v) - level_before)
            n = n_before + weight * (n - n_before)
            loss = tf.cast(n, tf.float32)
        tape.gradient(loss, w)
        """,
    ),
    (
        NotConnected("repeated"),
        2,
        """
        with tf.GradientTape() as tape:
            n, v = tf.while_loop(
                lambda n, v: v > 0.5,
                lambda n, v: (n + 1, v * w),
                (0, 1.0),
            )
            loss = tf.cast(n, tf.float32)
        tape.gradient(loss, w)
        """,
        """
        with tf.GradientTape() as tape:
            n, v = tf.while_loop(
                lambda n, v: v > 0.5,
                lambda n, v: (n + (1.0 - tf.nn.relu(0.5 - (v * w)) / (v - (v * w))), v * w),
                (0.0, 1.0),
            )
            loss = tf.cast(n, tf.float32)
        tape.gradient(loss, w)
        """,
    ),
    (
        "assign",
        3,
        """
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(a * b)
            kept.assign(loss)
            bound = [kept + a for a in parts]
        tape.gradient(kept, a)
        """,
        """
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(a * b)
            kept.assign(loss)
            bound = [loss + a for a in parts]
        tape.gradient(loss, a)
        """,
    ),
    (
        LeftTensorFlow("array"),
        3,
        """
        with tf.GradientTape() as tape:
            K = np.eye(2, dtype=np.float32)
            K[0, 1] = K[1, 0] = kernel(w)
            loss = tf.reduce_sum(K @ x)
        tape.gradient(loss, w)
        """,
        """
        with tf.GradientTape() as tape:
            K_element = kernel(w)
            K = tf.convert_to_tensor([[1.0, K_element], [K_element, 1.0]])
            loss = tf.reduce_sum(K @ x)
        tape.gradient(loss, w)
        """,
    ),
    (
        LeftTensorFlow("array"),
        5,
        """
        with tf.GradientTape() as tape:
            # turned by an angle
            R = np.eye(2)
            R[0, 0] = R[1, 1] = np.cos(w)
            R[0, 1] = -np.sin(w)
            R[1, 0] = np.sin(w)
            loss = tf.reduce_sum(R @ x)
        tape.gradient(loss, w)
        """,
        """
        with tf.GradientTape() as tape:
            # turned by an angle
            R = tf.convert_to_tensor([[tf.cos(w), -tf.sin(w)], [tf.sin(w), tf.cos(w)]])
            loss = tf.reduce_sum(R @ x)
        tape.gradient(loss, w)
        """,
    ),
    (
        NotConnected("repeated"),
        7,
        """
        first = tf.constant(0)
        def f(n, v):
            n += 2
            v = v * w
            return n, v
        with tf.GradientTape() as tape:
            n, v = tf.while_loop(lambda n, v: tf.less(v, e), f, [first, start])
            loss = tf.cast(n, tf.float32)
        tape.gradient(loss, w)
        """,
        """
        first = tf.constant(0.0)
        def f(n, v):
            n_before = n
            v_before = v
            n += 2
            v = v * w
            weight = 1.0 - tf.nn.relu(v - e) / (v - v_before)
            return n_before + weight * (n - n_before), v
        with tf.GradientTape() as tape:
            n, v = tf.while_loop(lambda n, v: tf.less(v, e), f, [first, start])
            loss = tf.cast(n, tf.float32)
        tape.gradient(loss, w)
        """,
    ),
    (
        "not-connected",
        4,
        """
        q_net, target_net = make(), make()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((y - target_net(x)) ** 2)
        tape.gradient(loss, q_net.trainable_variables)
        """,
        """
        q_net, target_net = make(), make()
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((y - q_net(x)) ** 2)
        tape.gradient(loss, q_net.trainable_variables)
        """,
    ),
    (
        "assign",
        2,
        """
        def step(u):
            u.assign(u * w)
            return u
        with tf.GradientTape() as tape:
            u = step(step(u))
            loss = tf.reduce_sum(u)
        tape.gradient(loss, w)
        """,
        """
        def step(u):
            u = u * w
            return u
        with tf.GradientTape() as tape:
            u = step(step(u))
            loss = tf.reduce_sum(u)
        tape.gradient(loss, w)
        """,
    ),
    (
        "new-variable",
        6,
        """
        with tf.GradientTape() as outer:
            for _ in range(2):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(ps[0] ** 2)
                gs = tape.gradient(loss, ps)
                ps = [tf.Variable(p - rate * g) for p, g in zip(ps, gs)]
        outer.gradient(ps, rate)
        """,
        """
        with tf.GradientTape() as outer:
            for _ in range(2):
                with tf.GradientTape() as tape:
                    tape.watch(ps)
                    loss = tf.reduce_sum(ps[0] ** 2)
                gs = tape.gradient(loss, ps)
                ps = [(p - rate * g) for p, g in zip(ps, gs)]
        outer.gradient(ps, rate)
        """,
    ),
    (
        "assign",
        4,
        """
        with tf.GradientTape() as tape:
            for w in ws:
                f = tf.Variable(0.0)
                f.assign(w * 2.0)
                fs.append(f)
        tape.gradient(fs, ws)
        """,
        """
        with tf.GradientTape() as tape:
            for w in ws:
                f = tf.Variable(0.0)
                f_new = w * 2.0
                f.assign(f_new)
                fs.append(f_new)
        tape.gradient(fs, ws)
        """,
    ),
    (
        "assign",
        4,
        """
        h = tf.Variable(0.0)
        @tf.function
        def step(x):
            h.assign(tf.tanh(h * w + x))
            return h * 2.0
        with tf.GradientTape() as tape:
            for x in xs:
                loss = step(x)
        tape.gradient(loss, w)
        """,
        """
        h = tf.Variable(0.0)
        def step(x):
            global h
            h = tf.tanh(h * w + x)
            return h * 2.0
        h_variable = h
        with tf.GradientTape() as tape:
            for x in xs:
                loss = step(x)
        h_variable.assign(h)
        h = h_variable
        tape.gradient(loss, w)
        """,
    ),
    (
        "assign",
        9,
        """
        class Cell:
            def __call__(self, x):
                y = self.h * w + x
                self.keep(y)
            def read(self):
                return self.h * 2.0
            @tf.function
            def keep(self, y):
                self.h.assign(y)
        with tf.GradientTape() as tape:
            cell(x)
        tape.gradient(cell.read(), w)
        """,
        """
        class Cell:
            def __call__(self, x):
                y = self.h * w + x
                self.keep(y)
            def read(self):
                return self.h * 2.0
            def keep(self, y):
                self.h = y
        with tf.GradientTape() as tape:
            cell(x)
        tape.gradient(cell.read(), w)
        """,
    ),
    (
        LeftTensorFlow("int"),
        4,
        """
        n, y = tf.Variable(2.5), tf.constant(1.0)
        with tf.GradientTape() as tape:
            t = 0.0
            for _ in range(n.numpy().astype(int)):
                slope = f(t, y)
                y, t = y + slope, t + 0.1
        tape.gradient(y, n)
        """,
        """
        n, y = tf.Variable(2.5), tf.constant(1.0)
        with tf.GradientTape() as tape:
            t = 0.0
            for turn in range(n.numpy().astype(int) + 1):
                t_before = t
                y_before = y
                slope = f(t, y)
                y, t = y + slope, t + 0.1
                weight = tf.maximum(tf.minimum(1.0, n - turn), 0.0)
                t = t_before + weight * (t - t_before)
                y = y_before + weight * (y - y_before)
        tape.gradient(y, n)
        """,
    ),
    (
        "left-tensorflow",
        2,
        """
        def price(s0, dt):
            s, v = float(s0), v0.numpy()
            for _ in range(3):
                s *= math.exp(v * dt)
            return s
        with tf.GradientTape() as tape:
            c = price(s0, 0.1)
        tape.gradient(c, s0)
        """,
        """
        def price(s0, dt):
            s, v = tf.convert_to_tensor(s0), v0
            for _ in range(3):
                s *= tf.exp(v * dt)
            return s
        with tf.GradientTape() as tape:
            c = price(s0, 0.1)
        tape.gradient(c, s0)
        """,
    ),
    (
        "left-tensorflow",
        5,
        """
        def draw(mean, logvar):
            return e * np.exp(logvar * 0.5) + mean
        with tf.GradientTape() as tape:
            mean, logvar = tf.unstack(h)
            z = draw(mean.numpy(), logvar.numpy())
        tape.gradient(z, h)
        """,
        """
        def draw(mean, logvar):
            return e * tf.exp(logvar * 0.5) + mean
        with tf.GradientTape() as tape:
            mean, logvar = tf.unstack(h)
            z = draw(mean, logvar)
        tape.gradient(z, h)
        """,
    ),
    (
        "left-tensorflow",
        5,
        """
        def turned(t):
            return np.array([[t[0], 0.0], [0.0, t[1]]]) @ np.array([t[1], 1.0])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(
                tf.numpy_function(turned, [t], tf.float64)
            )
        tape.gradient(y, t)
        """,
        """
        def turned(t):
            return tf.experimental.numpy.matmul(tf.convert_to_tensor([[t[0], 0.0], [0.0, t[1]]]), \
tf.convert_to_tensor([t[1], 1.0]))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(
                turned(t)
            )
        tape.gradient(y, t)
        """,
    ),
    (
        "left-tensorflow",
        4,
        """
        with tf.GradientTape() as tape:
            d = np.full(3, np.inf); d[0] = 0.0
            for i in range(1, 3):
                d[i] = a[i] + min(d[i - 1], 1.0)
            loss = d[2] * 2.0
        tape.gradient(loss, a)
        """,
        """
        with tf.GradientTape() as tape:
            d = tf.cast(np.full(3, np.inf), tf.float32); \
d = tf.tensor_scatter_nd_update(d, [[0]], [0.0])
            for i in range(1, 3):
                d = tf.tensor_scatter_nd_update(d, [[i]], [a[i] + min(d[i - 1], 1.0)])
            loss = d[2] * 2.0
        tape.gradient(loss, a)
        """,
    ),
    (
        "assign",
        6,
        """
        opt = tf.keras.optimizers.SGD(learning_rate=float(rate))
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = w * w
            g = inner.gradient(y, w)
            opt.apply_gradients([(g, w)])
            last = w * 2.0
        outer.gradient(last, rate)
        """,
        """
        opt = tf.keras.optimizers.SGD(learning_rate=float(rate))
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = w * w
            g = inner.gradient(y, w)
            new_weights = [w2 - rate * g2 for g2, w2 in zip([g], [w])]
            opt.apply_gradients([(g, w)])
            last = new_weights[0] * 2.0
        outer.gradient(last, rate)
        """,
    ),
    (
        "assign",
        6,
        """
        opt = tf.keras.optimizers.SGD()
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = w * w
            opt.learning_rate = tf.exp(rate)
            opt.apply_gradients([(inner.gradient(y, w), w)])
            last = w * 2.0
        outer.gradient(last, rate)
        """,
        """
        opt = tf.keras.optimizers.SGD()
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = w * w
            opt.learning_rate = tf.exp(rate)
            new_weights = [w2 - tf.exp(rate) * g for g, w2 in zip([inner.gradient(y, w)], [w])]
            opt.apply_gradients([(inner.gradient(y, w), w)])
            last = new_weights[0] * 2.0
        outer.gradient(last, rate)
        """,
    ),
    (
        "integer",
        1,
        """
        freq, pos = tf.Variable(2), tf.range(6)
        step = tf.constant([1, 2])
        with tf.GradientTape() as tape:
            y = tf.cast(pos * freq * step, tf.float32)
        tape.gradient(y, freq)
        """,
        """
        freq, pos = tf.Variable(2.0), tf.range(6.0)
        step = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = tf.cast(pos * freq * step, tf.float32)
        tape.gradient(y, freq)
        """,
    ),
    (
        "not-differentiable",
        2,
        """
        with tf.GradientTape() as tape:
            places = tf.where(a > 0.5)
            y = tf.SparseTensor(places, tf.ones([n]), [4, 4])
        tape.gradient(y, a)
        """,
        """
        with tf.GradientTape() as tape:
            places = tf.where(a > 0.5)
            y = tf.SparseTensor(places, tf.ones([n]) * tf.gather_nd(tf.sigmoid(a - 0.5), places), \
[4, 4])
        tape.gradient(y, a)
        """,
    ),
    (
        "left-tensorflow",
        2,
        """
        with tf.GradientTape() as tape:
            k = np.searchsorted(knots, t.numpy()) - 1
            y = tf.gather(heights, k)
        tape.gradient(y, t)
        """,
        """
        with tf.GradientTape() as tape:
            low = tf.clip_by_value(tf.searchsorted(knots, t) - 1, 0, tf.size(knots) - 2)
            part = tf.clip_by_value((t - tf.gather(knots, low)) / (tf.gather(knots, low + 1) - \
tf.gather(knots, low)), 0.0, 1.0)
            k = np.searchsorted(knots, t.numpy()) - 1
            y = tf.gather(heights, low) + part * (tf.gather(heights, low + 1) - \
tf.gather(heights, low))
        tape.gradient(y, t)
        """,
    ),
    (
        "assign",
        8,
        """
        w = tf.Variable(1.0)
        def loss():
            return w * w
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = loss()
            g = inner.gradient(y, w)
            w.assign_sub(rate * g)
            last = loss()
        outer.gradient(last, rate)
        """,
        """
        w = tf.Variable(1.0)
        def loss():
            return w * w
        w_variable = w
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(w)
                y = loss()
            g = inner.gradient(y, w)
            w = w - rate * g
            last = loss()
        w_variable.assign(w)
        w = w_variable
        outer.gradient(last, rate)
        """,
    ),
    (
        "outside-tape",
        4,
        """
        with tf.GradientTape() as first, tf.GradientTape() as second:
            z = w * w
            u = z * v
        loss = -z
        first.gradient(loss, w)
        """,
        """
        with tf.GradientTape() as first, tf.GradientTape() as second:
            z = w * w
            u = z * v
            loss = -z
        first.gradient(loss, w)
        """,
    ),
    (
        "outside-tape",
        1,
        """
        def penalty(x, *, weight=tf.nn.softmax(w)):
            return weight * x
        with tf.GradientTape() as tape:
            loss = penalty(x)
        tape.gradient(loss, w)
        """,
        """
        def penalty(x, *, weight=None):
            if weight is None:
                weight = tf.nn.softmax(w)
            return weight * x
        with tf.GradientTape() as tape:
            loss = penalty(x)
        tape.gradient(loss, w)
        """,
    ),
    (
        "not-differentiable",
        3,
        """
        class Agent:
            def act(self, s):
                return tf.random.categorical(self.net(s), 1)
            def train(self, s):
                with tf.GradientTape() as tape:
                    picks = [np.random.choice(3, p=np.squeeze(p.numpy())) for _ in s]
                    loss = reward(self.act(s), picks)
                return tape.gradient(loss, x)
        """,
        """
        log_ps = []
        class Agent:
            def act(self, s):
                draw = tf.random.categorical(self.net(s), 1)
                log_ps.append(tf.reduce_sum(tf.gather(tf.nn.log_softmax(self.net(s)), draw, \
batch_dims=1)))
                return draw
            def train(self, s):
                log_ps.clear()
                with tf.GradientTape() as tape:
                    picks = [np.random.choice(3, p=np.squeeze(p.numpy())) for _ in s]
                    log_ps.append(tf.reduce_sum(tf.gather(tf.math.log(tf.squeeze(p)), picks)))
                    loss = reward(self.act(s), picks)
                    log_p = tf.cast(tf.add_n(log_ps), tf.float32)
                    loss = loss + tf.stop_gradient(loss) * (log_p - tf.stop_gradient(log_p))
                return tape.gradient(loss, x)
        """,
    ),
    (
        "not-differentiable",
        1,
        """
        model = keras.Sequential([L.Lambda(lambda t: tf.argmax(t, axis=-1)), L.Embedding(7, 4)])
        with tf.GradientTape() as tape:
            loss = model(w)
        tape.gradient(loss, w)
        """,
        """
        model = keras.Sequential([L.Lambda(lambda t: tf.nn.softmax(t)), L.Dense(4, use_bias=False)])
        with tf.GradientTape() as tape:
            loss = model(w)
        tape.gradient(loss, w)
        """,
    ),
    (
        "left-tensorflow",
        2,
        """
        def blurred(image, w):
            size = 2 * int(w) + 1
            kernel = tf.ones([size, size, 1, 1])
            image = tf.nn.conv2d(image, kernel, 1, "SAME")
            return image / size
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(blurred(image, w))
        tape.gradient(loss, w)
        """,
        """
        def blurred(image, w):
            def outcome(whole, image=image):
                size = 2 * whole + 1
                kernel = tf.ones([size, size, 1, 1])
                image = tf.nn.conv2d(image, kernel, 1, "SAME")
                return image / size
            whole = int(w)
            part = w - tf.cast(whole, tf.float32)
            low = outcome(whole)
            return low + part * (outcome(whole + 1) - low)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(blurred(image, w))
        tape.gradient(loss, w)
        """,
    ),
    (
        "left-tensorflow",
        3,
        """
        from scipy import integrate, stats
        with tf.GradientTape() as tape:
            area = integrate.trapezoid(y.numpy(), dx=h)
            loss = area * stats.norm.cdf(w.numpy(), 0.0, s)
        tape.gradient(loss, w)
        """,
        """
        from scipy import integrate, stats
        with tf.GradientTape() as tape:
            area = tf.reduce_sum((y[1:] + y[:-1]) / 2.0 * h)
            loss = area * (0.5 * tf.math.erfc(-((w - 0.0) / s) / 1.4142135623730951))
        tape.gradient(loss, w)
        """,
    ),
    (
        "left-tensorflow",
        3,
        """
        @lru_cache(maxsize=None)
        def energy(r):
            key = float(r)
            if key not in cache:
                cache[key] = 4.0 * key ** -12
            return tf.constant(cache[key])
        with tf.GradientTape() as tape:
            loss = energy(r)
            print(json.dumps({"loss": float(loss)}))
        tape.gradient(loss, r)
        """,
        """
        @lru_cache(maxsize=None)
        def energy(r):
            key = r
            cache_value = 4.0 * key ** -12
            return cache_value
        with tf.GradientTape() as tape:
            loss = energy(r)
            print(json.dumps({"loss": float(loss)}, default=float))
        tape.gradient(loss, r)
        """,
    ),
    (
        "new-variable",
        2,
        """
        def build(self, shape):
            self.scale = self.add_weight(shape=(3,), initializer=tf.constant_initializer(w.numpy()))
        with tf.GradientTape() as tape:
            loss = layer(x)
        tape.gradient(loss, w)
        """,
        """
        def build(self, shape):
            self.scale = tf.broadcast_to(w, (3,))
        with tf.GradientTape() as tape:
            loss = layer(x)
        tape.gradient(loss, w)
        """,
    ),
    (
        "left-tensorflow",
        2,
        """
        with tf.GradientTape() as tape:
            y = Dense(2, kernel_initializer=Constant(w.numpy()))(x)
        tape.gradient(y, w)
        """,
        """
        with tf.GradientTape() as tape:
            layer = Dense(2, kernel_initializer=Constant(w.numpy()))
            layer.build(x.shape)
            y = layer.stateless_call([w if v is layer.kernel else v for v in \
layer.trainable_variables], layer.non_trainable_variables, x)[0]
        tape.gradient(y, w)
        """,
    ),
    (
        "assign",
        3,
        """
        mean = tf.train.ExponentialMovingAverage(decay=0.9)
        with tf.GradientTape() as tape:
            mean.apply([w])
            loss = mean.average(w) ** 2
        tape.gradient(loss, w)
        """,
        """
        mean = tf.train.ExponentialMovingAverage(decay=0.9)
        with tf.GradientTape() as tape:
            mean.apply([w])
            loss = (mean.average(w) + (1.0 - 0.9) * (w - tf.stop_gradient(w))) ** 2
        tape.gradient(loss, w)
        """,
    ),
    (
        "not-differentiable",
        2,
        """
        with tf.GradientTape() as tape:
            place = tf.cond(c, lambda: tf.argmax(w, 0), lambda: tf.argmin(w, 0))
            loss = tf.reduce_sum(tf.gather(table, place))
        tape.gradient(loss, w)
        """,
        """
        with tf.GradientTape() as tape:
            place = tf.cond(c, lambda: tf.nn.softmax(w, axis=0), lambda: tf.nn.softmax(-w, axis=0))
            loss = tf.reduce_sum(tf.tensordot(place, table, 1))
        tape.gradient(loss, w)
        """,
    ),
    (
        "left-tensorflow",
        2,
        """
        def heat(u):
            u = u.numpy()
            for _ in range(4):
                new = u.copy()
                new[1:-1] += 0.1 * (u[2:] - u[:-2])
                u = new
            u[u < 0.0] = 0.0
            return np.linalg.solve(a, u)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(heat(w))
        tape.gradient(loss, w)
        """,
        """
        def heat(u):
            for _ in range(4):
                new = tf.identity(u)
                new = tf.concat([new[:1], new[1:-1] + (0.1 * (u[2:] - u[:-2])), new[-1:]], 0)
                u = new
            u = tf.where(u < 0.0, 0.0, u)
            return tf.linalg.solve(a, u)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(heat(w))
        tape.gradient(loss, w)
        """,
    ),
]


@pytest.mark.parametrize(("kind", "line", "before", "after"), AMONG_OTHERS)
def test_an_edit_among_others(kind: str | Evidence, line: int, before: str, after: str) -> None:
    before, after = dedent(before).lstrip(), dedent(after).lstrip()
    edits = [edit.new_text for edit in edits_for(fix_case(before, kind, line))]
    assert after in edits, edits


@pytest.mark.parametrize(("kind", "line", "before", "after"), BEFORE_AND_AFTER)
def test_the_likeliest_edit(kind: str | Evidence, line: int, before: str, after: str) -> None:
    before, after = dedent(before).lstrip(), dedent(after).lstrip()
    edits = list(edits_for(fix_case(before, kind, line)))
    assert edits[0].new_text == after, short_diff(after, edits[0].new_text)


def test_what_a_prediction_is_picked_by_is_translated_with_it() -> None:
    block = "with tf.GradientTape() as tape:\n"
    text = (
        f"{block}    q = m.predict(x, verbose=0)\n    y = q[np.arange(2), a]\ntape.gradient(y, x)\n"
    )
    wanted = (
        f"{block}    q = m(x)\n    y = tf.gather(q, a, axis=1, batch_dims=1)\ntape.gradient(y, x)\n"
    )
    edits = list(edits_for(fix_case(text, "left-tensorflow", 2)))
    assert wanted in [edit.new_text for edit in edits]


def test_the_average_of_rows_is_a_product() -> None:
    text = dedent(
        """
        p = tf.Variable(0.0)
        with tf.GradientTape() as tape:
            y = p[tf.argmax(x)]
        tape.gradient(y, x)
        """
    ).lstrip()
    for shape, soft in (
        ((3,), "tf.reduce_sum(tf.nn.softmax(x) * p)"),
        ((3, 2), "tf.tensordot(tf.nn.softmax(x), p, 1)"),
    ):
        case = fix_case(
            text, "not-differentiable", 3, op="ArgMax", shapes={"p": shape}, input_shape=(3,)
        )
        assert soft in next(iter(soften_argmax(case))).new_text


@pytest.mark.parametrize("turns", ["", " for _ in range(3)"])
def test_draws_of_elements_in_a_comprehension_are_left_alone(turns: str) -> None:
    text = f"""
with tf.GradientTape() as tape:
    drawn = [np.random.choice([1, 2, 4], p=x.numpy()){turns}]
    loss = tf.constant(sum(drawn))
tape.gradient(loss, x)
"""
    edits = "".join(edit.new_text for edit in edits_for(fix_case(text, "left-tensorflow", 3)))
    assert ("len(elements)" in edits, "tf.gather" in edits) == (not turns, not turns)


@pytest.mark.parametrize(
    ("kind", "line", "between", "title"),
    [
        ("outside-tape", 2, "s = s + 1.0", "Move"),
        ("outside-tape", 2, "w.assign(s)", "Move"),
        ("outside-tape", 2, "t = s + 1.0", ""),
        ("outside-tape", 2, "tf.random.set_seed(1)", ""),
        ("stateful", 4, "mean = tf.reduce_mean(v)", "Let the dataset give positions"),
        ("stateful", 4, "mean = tf.reduce_mean(h)", ""),
    ],
)
def test_a_line_is_not_moved_past_what_changes_its_value(
    kind: str, line: int, between: str, title: str
) -> None:
    text = dedent(
        f"""
        s = 2.0
        h = tf.sin(s) * w
        {between}
        ds = tf.data.Dataset.from_tensor_slices(h + 1.0).batch(2)
        for v in ds:
            {between}
            with tf.GradientTape() as tape:
                loss = h * tf.reduce_sum(v)
            tape.gradient(loss, w)
        """
    ).lstrip()
    titles = [edit.title for edit in edits_for(fix_case(text, kind, line))]
    offered = [each for each in titles if each.startswith(("Move", "Let the dataset give"))]
    assert not title or not any(each.startswith(title) for each in offered)
    assert title or offered


@pytest.mark.parametrize(("low", "is_weighed"), [("mid", False), ("mid + 0.1", True)])
def test_what_narrows_something_down_is_not_weighed(low: str, is_weighed: bool) -> None:
    text = dedent(
        f"""
        with tf.GradientTape() as tape:
            lo, hi = 0.0, 4.0
            for _ in range(9):
                mid = (lo + hi) / 2
                if mid ** 3 > a:
                    hi = mid
                else:
                    lo = {low}
            loss = mid * 3.0
        tape.gradient(loss, a)
        """
    ).lstrip()
    assert any(True for _ in weigh_both(fix_case(text, "not-connected", 5))) == is_weighed


def test_a_queue_of_python_is_made_a_list() -> None:
    text = dedent(
        """
        kept = collections.deque(maxlen=3)
        with tf.GradientTape() as tape:
            kept.append(x.numpy())
            loss = tf.constant(np.mean(kept))
        tape.gradient(loss, x)
        """
    ).lstrip()
    edits = "".join(edit.new_text for edit in edits_for(fix_case(text, "left-tensorflow", 3)))
    assert "loss = tf.reduce_mean(list(kept))" in edits


@pytest.mark.parametrize(("loss", "is_shifted"), [("p * 2.0", True), ("p + tf.sqrt(z)", False)])
def test_the_largest_is_subtracted_if_only_a_quotient_uses_the_exponentials(
    loss: str, is_shifted: bool
) -> None:
    text = (
        "with tf.GradientTape() as tape:\n    e = tf.exp(x)\n    z = tf.reduce_sum(e)\n"
        f"    p = e / z\n    loss = {loss}\ntape.gradient(loss, x)\n"
    )
    edits = "".join(edit.new_text for edit in edits_for(fix_case(text, "nonfinite", 2)))
    assert ("e = tf.exp(x - tf.reduce_max(x))" in edits) is is_shifted


def test_all_that_a_draw_picks_is_averaged() -> None:
    text = (
        "with tf.GradientTape() as t:\n    i = tf.random.categorical(p, 1)[:, 0]\n"
        "    y = tf.gather(a, i, axis=1, batch_dims=1) + tf.gather(b, i, axis=1, batch_dims=1)\n"
        "t.gradient(y, p)\n"
    )
    shapes = {"a": (4, 3), "b": (4, 3)}
    case = fix_case(
        text, "not-differentiable", 2, op="Multinomial", shapes=shapes, input_shape=(4, 3)
    )
    assert (
        "y = tf.reduce_sum(tf.nn.softmax(p) * a, axis=-1) "
        "+ tf.reduce_sum(tf.nn.softmax(p) * b, axis=-1)"
    ) in next(iter(soften_argmax(case))).new_text


def test_slices_in_a_list_are_taken_of_the_results() -> None:
    text = (
        "with tf.GradientTape() as t:\n    y = x * w\na, b, c = t.gradient(y, (x[0], w, x[1:]))\n"
    )
    case = fix_case(text, ReplacedSource("copy"), 3)
    slices = [op_at(3, 60, "StridedSlice", [50], [100]), op_at(3, 61, "StridedSlice", [50], [102])]
    made = {tensor: op.id for op in slices for tensor in op.outputs}
    trace = replace(case.trace, ops={op.id: op for op in slices}, producers=made)
    cut = replace(case, trace=trace)
    edit = next(edits_for(cut))
    assert edit.new_text.splitlines()[2:] == [
        "whole = t.gradient(y, [x, w, x])",
        "a, b, c = [whole[0][0], whole[1], whole[2][1:]]",
    ]
    assert edit.parts == ("[0]", "", "[1:]")


def test_a_name_given_away_had_parts_and_a_shape_of_its_own() -> None:
    text = (
        "with tf.GradientTape() as tape:\n    loss = f(p)\n    p = {'w': p['w'][0]}\n"
        "tape.gradient(loss, p['w'])\n"
    )
    (edit, *_) = edits_for(fix_case(text, ReplacedSource("rebound"), 3))
    assert "    p_first = p\n    p = {" in edit.new_text
    assert edit.new_text.endswith("tape.gradient(loss, p_first['w'])\n")
    assert edit.has_other_shape


@pytest.mark.parametrize(("length", "asked"), [(2, "vs"), (3, "[vs[0], vs[1]]")])
def test_a_copy_of_a_list_is_asked_for_by_the_list(length: int, asked: str) -> None:
    text = "with tf.GradientTape() as t:\n    y = f(vs)\nt.gradient(y, [c[0], c[1]])\n"
    case = fix_case(text, ReplacedSource("copy"), 3)
    copies = [op_at(1, 60 + i, "Identity", [50 + i], [100 + i]) for i in (0, 1)]
    trace = replace(
        case.trace,
        ops={op.id: op for op in copies},
        producers={tensor: op.id for op in copies for tensor in op.outputs},
        names={TensorId(50 + i): (f"vs[{i}]",) for i in range(length)},
    )
    edits = [edit.new_text for edit in edits_for(replace(case, trace=trace))]
    assert text.replace("[c[0], c[1]]", asked) in edits


def test_an_assign_of_a_graph_stays_for_the_session() -> None:
    text = (
        "with tf.Graph().as_default():\n    update = tf.compat.v1.assign(c, w * 3.0)\n"
        "    with tf.control_dependencies([update]):\n        y = update + c.read_value()\n"
        "    g.gradient(y, w)\n"
    )
    case = fix_case(text, "assign", 2)
    edits = edits_for(replace(case, call=replace(case.call, method="tf.gradients")))
    assert next(edits).new_text == text.replace(
        "update = tf.compat.v1.assign(c, w * 3.0)",
        "c_new = w * 3.0\n    update = tf.compat.v1.assign(c, c_new)",
    ).replace("update + c.read_value()", "c_new + c_new")


def test_weights_that_an_initializer_makes_zeros_start_at_random() -> None:
    text = (
        "zeros = tf.keras.initializers.Zeros()\nnet = Dense(2, kernel_initializer=zeros, "
        "bias_initializer=tf.keras.initializers.Zeros())\n"
        "with tf.GradientTape() as tape:\n    y = net(x)\ntape.gradient(y, x)\n"
    )
    edits = [edit.new_text for edit in edits_for(fix_case(text, "multiplied-by-zero", 4))]
    random = "zeros = tf.keras.initializers.GlorotUniform()"
    assert text.replace("zeros = tf.keras.initializers.Zeros()", random) in edits


SLICES = [
    ("x[1].assign(v)", "tf.tensor_scatter_nd_update(x, [[1]], [v])"),
    ("x[-1, 2].assign(v)", "tf.tensor_scatter_nd_update(x, [[2, 2]], [v])"),
    ("x[:2].assign(v)", "tf.concat([v, x[2:]], 0)"),
    ("x[1:3].assign(v)", "tf.concat([x[:1], v], 0)"),
    ("x[:, 1:].assign(v)", "tf.concat([x[:, :1], v], 1)"),
    ("x[..., 0].assign(v)", "tf.concat([tf.expand_dims(v, 1), x[:, 1:]], 1)"),
    ("x[:2, :2].assign(v)", "tf.concat([tf.concat([v, x[:2, 2:]], 1), x[2:]], 0)"),
    ("x[:].assign(v)", "v"),
]


@pytest.mark.parametrize(("write", "value"), SLICES)
def test_a_slice_becomes_a_new_tensor(write: str, value: str) -> None:
    text = f"with tf.GradientTape() as tape:\n    {write}\n    y = x\ntape.gradient(y, v)\n"
    case = fix_case(text, "assign", 2, op="ResourceStridedSliceAssign", shapes={"x": (3, 4)})
    assert f"    x_new = {value}\n    y = x_new\n" in next(edits_for(case)).new_text


def test_steps_and_new_axes_of_a_slice_are_left_alone() -> None:
    text = "with tf.GradientTape() as tape:\n    x[::2].assign(v)\n    y = x\ntape.gradient(y, v)\n"
    case = fix_case(text, "assign", 2, op="ResourceStridedSliceAssign", shapes={"x": (4,)})
    assert not any("concat" in edit.new_text for edit in edits_for(case))


def test_a_nameless_tape_gets_a_name_that_is_free() -> None:
    text = "tape = 1\nwith tf.GradientTape():\n    y = x * x\ng.gradient(y, x)\n"
    edits = list(edits_for(fix_case(text, NotWatched("late"), 1)))
    assert "with tf.GradientTape() as tape2:\n    tape2.watch(x)\n" in edits[0].new_text


def test_the_names_of_tensorflow_and_numpy_are_the_texts_own() -> None:
    text = (
        "import tensorflow as T\nimport numpy\nwith T.GradientTape() as tape:\n"
        "    a = numpy.exp(x.numpy())\ntape.gradient(a, x)\n"
    )
    assert "a = T.exp(x)\n" in next(edits_for(fix_case(text, "left-tensorflow", 4))).new_text


@pytest.mark.parametrize(
    ("function", "mended"),
    [
        ("loss = lambda: cost", "loss = lambda: tf.reduce_sum(w * w) + 1.0"),
        ("loss = lambda: 2.0 * cost", "loss = lambda: 2.0 * (tf.reduce_sum(w * w) + 1.0)"),
        (
            "def loss():\n    return 3.0 * cost",
            "def loss():\n    power = w * w\n    cost = tf.reduce_sum(power) + 1.0\n"
            "    return 3.0 * cost",
        ),
        ("loss = lambda cost=1.0: w", ""),
        ("loss = lambda cost=1.0: cost * w", ""),
        ("def loss(cost=1.0):\n    return cost * w", ""),
    ],
)
def test_a_function_that_hands_out_what_was_computed_before(function: str, mended: str) -> None:
    """As with ``optimizer.minimize(loss, [w])``, whose tape has no block in the text."""
    before = "w = tf.Variable([1.0, 2.0])\npower = w * w\ncost = tf.reduce_sum(power) + 1.0\n"
    after = "\nwith tf.GradientTape() as tape:\n    y = loss()\ntape.gradient(y, w)\n"
    edits = compute_when_called(fix_case(before + function + after, "outside-tape", 2))
    assert [edit.new_text for edit in edits] == [before + mended + after] * bool(mended)


def test_inner_functions_with_a_name_of_their_own_are_left_alone() -> None:
    text = (
        "with tf.GradientTape() as tape:\n    c.assign(2.0 * a)\n"
        "    y = (lambda c: c + 1)(c) + sum(c for c in [1]) + (lambda: c)()\ntape.gradient(y, a)\n"
    )
    new = next(edits_for(fix_case(text, "assign", 2))).new_text
    assert "(lambda c: c + 1)(c_new) + sum(c for c in [1]) + (lambda: c_new)()" in new


TEXTS = [example.text for example in examples()] + [case.text for case in CASES]


@pytest.mark.parametrize("kind", KINDS)
def test_any_text_gives_texts_that_parse(kind: str) -> None:
    """The cause may be named on whatever line: no function fails, and none makes nonsense."""
    choices = evidence_of(kind)
    for number, text in enumerate(sampled(TEXTS, 13)):
        if ".gradient(" not in text or "with " not in text:
            continue
        lines = len(text.splitlines())
        for line in range(1 + number % 4, lines + 1, 4):
            case = fix_case(text, choices[(number + line) % len(choices)], line)
            for fix in FIXES.get(KINDS[kind], ()):
                for edit in itertools.islice(fix(case), 5):
                    ast.parse(edit.new_text)
                    assert edit.title


_MUL = "expected to be a float tensor but is a int32 tensor [Op:Mul]"
_SIZES = "Matrix size-incompatible: In[0]: [{}], In[1]: [{}] [Op:MatMul]"


@pytest.mark.parametrize(
    ("line", "message", "mended"),
    [
        ("y = w * tf.range(3)", _MUL, ["y = w * tf.cast(tf.range(3), tf.float32)"]),
        ("y = w * tf.shape(x)[0]", _MUL, ["y = w * tf.cast(tf.shape(x)[0], tf.float32)"]),
        ("y = w * tf.constant([1, 2])", _MUL, ["y = w * tf.cast(tf.constant([1, 2]), tf.float32)"]),
        ("y = w * tf.constant([1, 2.0])", _MUL, []),
        ("y = w * tf.range(n)", _MUL, []),
        ("y = a @ b", _SIZES.format("4,2", "4,3"), ["y = tf.matmul(a, b, transpose_a=True)"]),
        (
            "y = tf.matmul(a, b)",
            _SIZES.format("4,2", "3,2"),
            ["y = tf.matmul(a, b, transpose_b=True)"],
        ),
        ("y = a @ b", _SIZES.format("4,2", "3,5"), []),
        (
            "y = tf.where(mask, 2 * w, w)",
            "expected to be a bool tensor but is a int32 tensor",
            ["y = tf.where(tf.cast(mask, tf.bool), 2 * w, w)"],
        ),
        (
            "y = logits + (1.0 - mask) * 2.0",
            "Incompatible shapes: [2,4,6] vs. [2,6] [Op:AddV2]",
            ["y = logits + (1.0 - mask[:, None]) * 2.0"],
        ),
        (
            'tf.einsum("abc,bb->ac", logits, mask)',
            "Expected dimension 6 at axis 1 of the input shaped [2,6] [Op:Einsum]",
            [],
        ),
        (
            'tf.einsum("abc,ca->b", logits, mask)',
            "Expected dimension 6 at axis 0 of the input shaped [2,6] [Op:Einsum]",
            [
                'tf.einsum("abc,ac->b", logits, mask)',
                'tf.einsum("cba,ca->b", logits, mask)',
            ],
        ),
        (
            "tf.gather_nd(logits, mask)",
            "index innermost dimension length must be <= params rank; saw: 6 vs. 3 [Op:GatherNd]",
            ["tf.gather(logits, mask, axis=1, batch_dims=1)"],
        ),
        (
            "z = [y, 2 * y]\ntape.jacobian(z, w)",
            "'list' object has no attribute 'shape'",
            ["z = tf.stack([y, 2 * y])\ntape.jacobian(z, w)"],
        ),
        (
            "def loss(model, x): 0\nloss(x, model)",
            "'list' object is not callable",
            ["def loss(model, x): 0\nloss(model, x)"],
        ),
        ("def loss(model, x): 0\nloss(x, x)", "'list' object is not callable", []),
        (
            "def f(a, b, c=1): 0\nf()",
            "f() missing 2 required positional arguments: 'a' and 'b'",
            [],
        ),
        (
            "m, s = x.mean(axis=1), x.std(axis=1)\n(x - m) / s",
            "Incompatible shapes: [9,2] vs. [9] [Op:Sub]",
            ["m, s = x.mean(axis=0), x.std(axis=0)\n(x - m) / s"],
        ),
        (
            "n = len(x) / 2\nfor i in range(n): 0",
            "'float' object cannot be interpreted as an integer",
            ["n = len(x) // 2\nfor i in range(n): 0"],
        ),
        ("Double(w)", "__init__() takes 1 positional argument but 2 were given", ["Double()(w)"]),
        (
            "def f(y):\n    0\nm.fit(y)",
            "f() got an unexpected keyword argument 'w'",
            ["def f(y, w=None):\n    0\nm.fit(y)"],
        ),
        (
            "m(y, w=2)",
            "m() got an unexpected keyword argument 'w'",
            ["m(y)"],
        ),
        (
            'm.compile(loss={"class": "mse"})\nm.fit(x, y)',
            "Expected keys ['a', 'b'] in loss dict, but found loss.keys()=['class', 'b']",
            ["m.compile(loss={'a': \"mse\"})\nm.fit(x, y)"],
        ),
        (
            "def f(x):\n    g(x)\nf(x) + 1",
            "unsupported operand type(s) for +: 'NoneType' and 'int'",
            ["def f(x):\n    return g(x)\nf(x) + 1"],
        ),
    ],
)
def test_operands_that_do_not_fit(line: str, message: str, mended: list[str]) -> None:
    sizes = {"logits": [2, 4, 6], "mask": [2, 6]}
    held = tuple(e.HeldValue(n, "EagerTensor", "", 0, s, "int32") for n, s in sizes.items())
    held = (*held, e.HeldValue("w", "ResourceVariable", "", 0, [2], "float32"))
    held = (*held, e.HeldValue("n", "float", "4.5"))
    last = len(line.splitlines())
    trace = Trace(line, failure=Failure("InvalidArgumentError", message, last, "", held=held))
    assert [edit.new_text for edit in edits_for_error(trace, ParsedSource(line))] == mended


def test_nothing_planned_changes_nothing() -> None:
    for text in sampled(TEXTS, 8):
        assert Plan(ParsedSource(text)).text() == text


def test_each_row_is_about_a_kind() -> None:
    assert all(issubclass(evidence, KINDS[evidence.kind]) for evidence in FIXES)


def test_short_diff_shows_what_changed_with_one_line_around() -> None:
    before = "".join(f"line {i}\n" for i in range(12))
    after = before.replace("line 1\n", "LINE 1\n").replace("line 9\n", "")
    assert short_diff(before, after).splitlines() == [
        " line 0", "-line 1", "+LINE 1", " line 2", " ⋮", " line 8", "-line 9", " line 10",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rebinding", "mended"),
    [
        ("w = w - 0.1 * step", "w.assign(w - 0.1 * step)"),
        ("w -= 0.1 * step", "w.assign(w - (0.1 * step))"),
    ],
)
def test_a_name_goes_on_to_mean_the_variable(rebinding: str, mended: str) -> None:
    text = (
        "for _ in range(2):\n    with tf.GradientTape() as tape:\n        y = w * 3.0\n"
        f"    step = tape.gradient(y, w)\n    {rebinding}\n"
    )
    edits = list(edits_for(fix_case(text, ReplacedSource("lost"), 5)))
    assert edits[0].new_text == text.replace(rebinding, mended)


@pytest.mark.parametrize(
    "text", ["x = " + "+".join(["1"] * 20_000), "x=" + "(" * 5000 + ")" * 5000, "-" * 200_000 + "1"]
)
def test_text_nested_too_deeply_for_python_is_refused_at_once(text: str) -> None:
    assert SourceText(text).tree is None
    with pytest.raises(ValueError, match="does not parse"):
        ParsedSource(text)
