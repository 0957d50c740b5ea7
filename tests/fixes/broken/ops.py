"""Ops without a gradient, and stops."""

from __future__ import annotations

import numpy as np

from . import Row

ROWS: dict[str, Row] = {
    "a custom gradient that gives None for one of its arguments": (
        """
        @tf.custom_gradient
        def quantised(x, s):
            y = tf.round(x / s) * s
            def grad(dy):
                return dy, None
            return y, grad
        x, s = tf.Variable([0.3, 1.7, -2.2]), tf.Variable(0.5)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(quantised(x, s) ** 2)
        tape.gradient(loss, [s, x])
        """,
        "return dy, inner.gradient(y, s, dy)",
        26.0,
    ),
    "a probability that is rounded in a cross entropy, which is flat at 0 and 1": (
        """
        w = tf.Variable([[0.3], [-0.8]])
        x, y = tf.constant([[1.0, 2.0], [0.5, -1.0]]), tf.constant([[1.0], [0.0]])
        with tf.GradientTape() as tape:
            p = tf.round(tf.sigmoid(x @ w))
            loss = tf.reduce_mean(tf.keras.losses.binary_crossentropy(y, p))
        g = tape.gradient(loss, w)
        """,
        "p = tf.sigmoid(x @ w)",
        [[-0.2126388], [-1.1463925]],
    ),
    "a probability that is compared with a half": (
        """
        w = tf.Variable([2.0, -1.0])
        with tf.GradientTape() as tape:
            p = tf.sigmoid(w)[:1]
            loss = tf.reduce_sum(tf.cast(p < 0.5, tf.float32) * 3.0)
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum((1.0 - p) * 3.0)",
        [-0.3149808, 0.0],
    ),
    "the rank of a matrix": (
        """
        a = tf.Variable([[1.0, 0.0], [0.0, 0.5]])
        with tf.GradientTape() as tape:
            y = tf.cast(tf.linalg.matrix_rank(a), tf.float32)
        tape.gradient(y, a)
        """,
        "y = tf.cast(tf.reduce_sum(tf.tanh(tf.linalg.svd(a, compute_uv=False)), -1), tf.float32)",
        [[0.4199743, 0.0], [0.0, 0.7864477]],
    ),
    "a count of what was predicted right": (
        """
        p, labels = tf.Variable([0.8, 0.4]), tf.constant([1, 0])
        with tf.GradientTape() as tape:
            right = tf.math.count_nonzero(tf.equal(tf.round(p), tf.cast(labels, tf.float32)))
            loss = tf.cast((2 - right) / 2, tf.float32)
        tape.gradient(loss, p)
        """,
        "right = tf.reduce_sum(1.0 - tf.abs(p - tf.cast(labels, tf.float32)))",
        [-0.5, 0.5],
    ),
    "a range with a step that is a variable": (
        """
        step = tf.Variable(0.5)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.range(1.0, 2.9, step) ** 2)
        tape.gradient(loss, step)
        """,
        "loss = tf.reduce_sum((1.0 + step * "
        "tf.cast(tf.range(tf.size(tf.range(1.0, 2.9, step))), tf.float32)) ** 2)",
        26.0,
    ),
    "a range up to a variable": (
        """
        end = tf.Variable(4.0)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.range(end))
        tape.gradient(loss, end)
        """,
        "loss = tf.reduce_sum(tf.cast(tf.range(tf.size(tf.range(end))), tf.float32) "
        "* (end / tf.stop_gradient(end)))",
        1.5,
    ),
    "scores of the boxes that are kept": (
        """
        boxes = tf.Variable([[0.0, 0.0, 1.0, 1.0], [0.1, 0.3, 0.9, 1.2], [2.0, 2.0, 3.0, 3.0]])
        scores = tf.constant([0.9, 0.8, 0.7])
        with tf.GradientTape() as tape:
            keep = tf.image.non_max_suppression(boxes, scores, 2)
            loss = tf.reduce_sum(tf.gather(scores, keep))
        tape.gradient(loss, boxes)
        """,
        "loss = tf.reduce_sum(scores * kept_softly)",
        [  # central differences of the sum of 1 - sigmoid(10 * (overlap - 0.5))
            [-0.82619, -0.82619, 0.82619, -1.20387],
            [1.03273, 1.36911, -1.03273, 0.66095],
            [0.0, 0.0, 0.0, 0.0],
        ],
    ),
    "an accuracy of Keras": (
        """
        p = tf.Variable([0.25, 0.75])
        with tf.GradientTape() as tape:
            loss = 1.0 - tf.keras.metrics.binary_accuracy(tf.constant([0.0, 1.0]), p)
        tape.gradient(loss, p)
        """,
        "loss = 1.0 - (tf.constant([0.0, 1.0]) * p + (1.0 - tf.constant([0.0, 1.0])) * (1.0 - p))",
        [1.0, -1.0],
    ),
    "an accuracy of Keras for class numbers": (
        """
        p = tf.Variable([[0.25, 0.75], [0.5, 0.5]])
        with tf.GradientTape() as tape:
            right = tf.keras.metrics.sparse_categorical_accuracy([0, 1], p * 1.0)
            loss = -tf.reduce_sum(right)
        tape.gradient(loss, p)
        """,
        "right = tf.gather((p * 1.0), tf.cast(tf.reshape([0, 1], [-1]), tf.int32), batch_dims=1)",
        [[-1.0, 0.0], [0.0, -1.0]],
    ),
    "rows that are partitioned by a comparison": (
        """
        x, w = tf.constant([1.0, 2.0]), tf.Variable([0.0, 0.0])
        with tf.GradientTape() as tape:
            parts = tf.dynamic_partition(x, tf.cast(w > 0.0, tf.int32), 2)
            loss = tf.reduce_sum(parts[1])
        tape.gradient(loss, w)
        """,
        "parts = [tf.einsum('n...,n->n...', x, (part * tf.sigmoid(w) + (1.0 - part) * "
        "(1.0 - tf.sigmoid(w)))) for part in range(2)]",
        [0.25, 0.5],
    ),
    "costs that a predicted class and a true one pick": (
        """
        w, gold = tf.Variable([[0.0, 0.0]]), tf.constant([0])
        cost = tf.constant([[0.0, 1.0], [2.0, 0.0]])
        with tf.GradientTape() as tape:
            tags = tf.argmax(w, axis=-1, output_type=tf.int32)
            pairs = tf.stack([gold, tags], axis=-1)
            loss = tf.reduce_mean(tf.gather_nd(cost, pairs))
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(w) * tf.gather(cost, gold), axis=-1))",
        [[-0.25, 0.25]],
    ),
    "what the positions of a max pooling pick": (
        """
        image, depth = tf.Variable(tf.zeros([1, 2, 2, 1])), tf.constant([1.0, 2.0, 3.0, 6.0])
        with tf.GradientTape() as tape:
            _, places = tf.nn.max_pool_with_argmax(image, 2, 2, "SAME")
            loss = tf.reduce_sum(tf.gather(depth, places))
        tape.gradient(loss, image)
        """,
        "loss = tf.reduce_sum(in_window(depth))",
        [[[[-0.5], [-0.25]], [[0.0], [0.75]]]],
    ),
    "the largest of what is a softmax already": (
        """
        w, label = tf.Variable([[0.0, 0.0]]), tf.constant([1], tf.int64)
        with tf.GradientTape() as tape:
            p = tf.nn.softmax(w)
            loss = tf.reduce_sum(tf.cast(tf.argmax(p, axis=1) != label, tf.float32))
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(tf.cast(1.0 - tf.gather(p, label, batch_dims=1), tf.float32))",
        [[0.25, -0.25]],
    ),
    "the largest of what is no softmax": (
        """
        w, label = tf.Variable([[0.0, 0.0]]), tf.constant([1], tf.int64)
        with tf.GradientTape() as tape:
            p = tf.sigmoid(w)
            loss = tf.reduce_sum(tf.cast(tf.argmax(p, axis=1) != label, tf.float32))
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(tf.cast(1.0 - tf.gather(tf.nn.softmax(p, axis=1), label, "
        "batch_dims=1), tf.float32))",
        [[0.0625, -0.0625]],
    ),
    "a sequence that is decoded and compared with the true one": (
        """
        w, truth = tf.Variable([[[0.0, 0.0]]]), tf.SparseTensor([[0, 0]], [0], [1, 1])
        with tf.GradientTape() as tape:
            decoded, _ = tf.nn.ctc_greedy_decoder(w, [1])
            loss = tf.reduce_mean(tf.edit_distance(decoded[0], tf.cast(truth, tf.int64)))
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_mean(tf.nn.ctc_loss(tf.cast(tf.cast(truth, tf.int64), tf.int32), w, "
        "None, [1], blank_index=-1))",
        [[[-0.5, 0.5]]],
    ),
    "how many boxes are kept": (
        """
        boxes = tf.Variable([[0.0, 0.0, 1.0, 1.0], [0.25, 0.25, 0.75, 1.25]])
        scores = tf.constant([0.9, 0.8])
        with tf.GradientTape() as tape:
            kept = tf.image.non_max_suppression(boxes, scores, 2, 0.5)
            loss = tf.cast(tf.shape(kept)[0], tf.float32)
        tape.gradient(loss, boxes)
        """,
        "loss = tf.cast(tf.reduce_sum(kept_softly), tf.float32)",
        # The overlap is a third: 1 of 3 parts, of which the slopes are these, times -10 s (1 - s).
        np.multiply(
            [[8 / 27, 8 / 27, -8 / 27, 8 / 27], [-16 / 27, -4 / 9, 16 / 27, -4 / 27]],
            -10 * np.exp(-5 / 3) / (1 + np.exp(-5 / 3)) ** 2,
        ),
    ),
    "whether the target is among the first": (
        """
        w, label = tf.Variable([[0.0, 0.0, 0.0]]), tf.constant([0])
        with tf.GradientTape() as tape:
            hit = tf.math.in_top_k(label, w, k=1)
            loss = tf.reduce_sum(tf.cast(hit, tf.float32))
        tape.gradient(loss, w)
        """,
        "hit = tf.sigmoid(1 - tf.reduce_sum(tf.sigmoid(w - "
        "tf.gather(w, label, batch_dims=1)[:, tf.newaxis]), -1))",
        np.multiply([[0.5, -0.25, -0.25]], np.exp(-0.5) / (1 + np.exp(-0.5)) ** 2),
    ),
    "how many a mask keeps": (
        """
        w = tf.Variable([0.0, 1.0])
        with tf.GradientTape() as tape:
            kept = tf.boolean_mask(w, w > 0.0)
            loss = tf.cast(tf.size(kept), tf.float32)
        tape.gradient(loss, w)
        """,
        "loss = tf.cast(tf.reduce_sum(tf.sigmoid(w)), tf.float32)",
        [0.25, 0.19661194],
    ),
    "a mask with a further axis": (
        """
        w, x = tf.Variable([0.0, 2.0]), tf.constant([[1.0], [3.0]])
        with tf.GradientTape() as tape:
            keep = tf.greater(w, 0.0)
            loss = tf.reduce_sum(tf.where(keep[:, None], x, tf.zeros_like(x)))
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(keep[:, None] * x + (1.0 - keep[:, None]) * tf.zeros_like(x))",
        [0.25, 0.31498],
    ),
    "rows by places that a function is given": (
        """
        w, rows = tf.Variable([0.0, 2.0]), tf.constant([4.0, 8.0])
        def gain(order):
            return tf.reduce_sum(tf.gather(rows, order))
        with tf.GradientTape() as tape:
            s = w * 1.0
            _, order = tf.math.top_k(s, k=2)
            loss = gain(order)
        tape.gradient(loss, w)
        """,
        "return tf.reduce_sum(tf.gather(rows, order) * tf.sigmoid(tf.gather(s, order)))",
        [1.0, 0.83995],
    ),
    "words that a function given as an argument picks": (
        """
        table = tf.Variable([[1.0], [3.0]])
        w = tf.Variable([[0.0, 1.0]])
        def speak(scores, pick):
            words = pick(scores)
            return tf.reduce_sum(tf.nn.embedding_lookup(table, words))
        with tf.GradientTape() as tape:
            loss = speak(w, lambda scores: tf.argmax(scores, axis=-1))
        tape.gradient(loss, w)
        """,
        "loss = speak(w, lambda scores: (lambda soft: soft + tf.stop_gradient("
        "tf.one_hot(tf.argmax(soft, axis=-1), 2) - soft))(tf.nn.softmax(scores)))",
        [[-0.39322, 0.39322]],
    ),
    "votes of several": (
        """
        w = tf.Variable([[0.0, 1.0]])
        with tf.GradientTape() as tape:
            votes = tf.stack([tf.argmax(k * w, axis=-1) for k in (1.0, 2.0)], axis=1)
            loss = tf.reduce_sum(tf.one_hot(votes, 2) * [1.0, 3.0])
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(votes * [1.0, 3.0])",
        [[-0.81320447, 0.81320447]],
    ),
    "members that are counted": (
        """
        w = tf.Variable([[0.0, 1.0], [1.0, 0.0]])
        def nearest(w):
            return tf.argmin(w, axis=1)
        def count(labels, k):
            return tf.reduce_sum(tf.cast(labels == k, tf.float32))
        with tf.GradientTape() as tape:
            loss = count(nearest(w), 1)
        tape.gradient(loss, w)
        """,
        "return tf.reduce_sum(tf.cast(tf.gather(labels, k, axis=-1), tf.float32))",
        [[0.19661193, -0.19661193], [0.19661193, -0.19661193]],
    ),
    "words that are counted": (
        """
        w = tf.Variable([[0.0, 0.0], [0.0, 0.0]])
        with tf.GradientTape() as tape:
            words = tf.argmax(w, axis=-1)
            counts = tf.math.bincount(tf.cast(words, tf.int32), minlength=2)
            loss = tf.reduce_sum(tf.cast(counts, tf.float32)[0])
        tape.gradient(loss, w)
        """,
        "counts = tf.reduce_sum(tf.nn.softmax(w), axis=0)",
        [[0.25, -0.25], [0.25, -0.25]],
    ),
    "a place that a function returns": (
        """
        anchors = tf.constant([[1.0], [3.0]])
        size = tf.Variable([0.0, 0.0])
        def best(size):
            return tf.argmax(size)
        with tf.GradientTape() as tape:
            place = best(size)
            loss = tf.reduce_sum(tf.gather(anchors, place))
        tape.gradient(loss, size)
        """,
        "loss = tf.reduce_sum(tf.tensordot(place, anchors, 1))",
        [-0.5, 0.5],
    ),
    "whole numbers picked at the best places": (
        """
        scores, rel = tf.Variable([0.0, 0.0, -1.0]), tf.constant([4, 0, 8])
        with tf.GradientTape() as tape:
            top = tf.math.top_k(scores, k=2).indices
            hits = tf.gather(rel, top)
            loss = tf.reduce_sum(tf.cast(hits, tf.float32))
        tape.gradient(loss, scores)
        """,
        "hits = tf.cast(tf.gather(rel, top), tf.float32) * tf.sigmoid(tf.gather(scores, top))",
        [1.0, 0.0, 0.0],
    ),
    "how many are over a threshold": (
        """
        x = tf.Variable([0.5, 2.0])
        with tf.GradientTape() as tape:
            over = tf.where(x > 0.5)
            loss = 4.0 * tf.cast(tf.shape(over)[0], tf.float32)
        tape.gradient(loss, x)
        """,
        "loss = 4.0 * tf.cast(tf.reduce_sum(tf.sigmoid(x - 0.5)), tf.float32)",
        [1.0, 0.5965858],
    ),
    "a score that picks rows": (
        """
        rows = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        scores = tf.Variable([0.0, 2.0, -1.0])
        with tf.GradientTape() as tape:
            _, best = tf.math.top_k(scores, k=1)
            loss = tf.reduce_sum(tf.gather(rows, best))
        tape.gradient(loss, scores)
        """,
        "loss = tf.reduce_sum(tf.gather(rows, best) * tf.sigmoid(tf.gather(scores, best))"
        "[..., tf.newaxis])",
        [0.0, 0.734953, 0.0],
    ),
    "a look-up between edges": (
        """
        edges, values = tf.constant([0.0, 1.0, 3.0]), tf.constant([0.0, 2.0, 8.0])
        x = tf.Variable([0.5, 2.5])
        with tf.GradientTape() as tape:
            i = tf.searchsorted(edges, x) - 1
            i = tf.maximum(i, 0)
            loss = tf.reduce_sum(tf.gather(values, i))
        tape.gradient(loss, x)
        """,
        "loss = tf.reduce_sum(tf.gather(values, low) + part * (tf.gather(values, low + 1) - "
        "tf.gather(values, low)))",
        [2.0, 3.0],
    ),
    "a confusion matrix": (
        """
        logits = tf.Variable([[0.0, 0.0], [0.0, 0.0]])
        with tf.GradientTape() as tape:
            matrix = tf.math.confusion_matrix([0, 1], tf.argmax(logits, 1), dtype=tf.float32)
            loss = -matrix[0, 0]
        tape.gradient(loss, logits)
        """,
        "matrix = tf.matmul(tf.one_hot(tf.reshape([0, 1], [-1]), 2), "
        "tf.reshape(tf.nn.softmax(logits, axis=1), [-1, 2]), transpose_a=True)",
        [[-0.25, 0.25], [0.0, 0.0]],
    ),
    "a codebook behind a straight-through estimate": (
        """
        w, codebook = tf.Variable([[0.2, 0.9]]), tf.Variable([[0.0, 1.0], [1.0, 0.0]])
        with tf.GradientTape() as tape:
            z = w * 1.0
            nearest = tf.argmin(tf.reduce_sum((z[:, None] - codebook) ** 2, -1), 1)
            q = tf.gather(codebook, nearest)
            q = z + tf.stop_gradient(q - z)
            loss = tf.reduce_sum(q ** 2)
        tape.gradient(loss, [codebook, w])
        """,
        "codebook_loss = tf.reduce_mean((q - tf.stop_gradient(z)) ** 2)",
        [[-0.2, 0.1], [0.0, 0.0]],
    ),
    "a codebook in a layer": (
        """
        class Nearest(tf.keras.layers.Layer):
            def __init__(self, start):
                super().__init__()
                self.book = tf.Variable(start)
            def call(self, z):
                q = tf.gather(self.book, tf.argmin(tf.reduce_sum((z - self.book) ** 2, -1)))
                return z + tf.stop_gradient(q - z)
        nearest = Nearest([[0.0, 1.0], [1.0, 0.0]])
        w = tf.Variable([0.2, 0.9])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(nearest(w * 1.0) ** 2)
        tape.gradient(loss, [nearest.book, w])
        """,
        "loss = loss + tf.add_n(nearest.losses)",
        [[-0.2, 0.1], [0.0, 0.0]],
    ),
    "the positions of top_k": (
        """
        scores = tf.Variable([0.1, 0.9, 0.5])
        with tf.GradientTape() as tape:
            vals, idx = tf.math.top_k(scores, k=2)
            loss = tf.reduce_sum(tf.cast(idx, tf.float32))
        tape.gradient(loss, scores)
        """,
        "loss = tf.reduce_sum(tf.cast(vals, tf.float32))",
        [0.0, 1.0, 1.0],
    ),
    "the positions of where": (
        """
        x = tf.Variable([1.0, -2.0, 3.0])
        with tf.GradientTape() as tape:
            idx = tf.where(x > 0)
            n = tf.reduce_sum(tf.cast(idx, tf.float32))
        tape.gradient(n, x)
        """,
        "idx = tf.boolean_mask(x, x > 0)",
        [1.0, 0.0, 1.0],
    ),
    "an accuracy": (
        """
        p = tf.Variable([0.8, 0.4])
        with tf.GradientTape() as tape:
            acc = tf.reduce_mean(tf.cast(tf.equal(tf.round(p), [1.0, 1.0]), tf.float32))
        tape.gradient(acc, p)
        """,
        "acc = tf.reduce_mean(1.0 - tf.abs(p - [1.0, 1.0]))",
        [0.5, 0.5],
    ),
    "the share of wrong answers as a loss": (
        """
        logits, labels = tf.Variable([[0.0, 0.0], [0.0, 0.0]]), tf.constant([0, 1], tf.int64)
        with tf.GradientTape() as tape:
            answers = tf.argmax(logits, axis=-1)
            loss = tf.reduce_mean(tf.cast(answers != labels, tf.float32))
        tape.gradient(loss, logits)
        """,
        "loss = tf.reduce_mean(tf.cast(1.0 - tf.gather(tf.nn.softmax(logits), labels, "
        "batch_dims=1), tf.float32))",
        [[-0.125, 0.125], [0.125, -0.125]],
    ),
    "what an argmax picks": (
        """
        logits, values = tf.Variable([0.0, 0.0]), tf.constant([10.0, 20.0])
        with tf.GradientTape() as tape:
            i = tf.argmax(logits)
            y = values[i]
        tape.gradient(y, logits)
        """,
        "y = tf.reduce_sum(tf.nn.softmax(logits) * values)",
        [-2.5, 2.5],
    ),
    "another name for a function": (
        """
        sg = tf.stop_gradient
        w = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = sg(w) ** 2
        tape.gradient(y, w)
        """,
        "y = w ** 2",
        6.0,
    ),
    "a function imported by its name": (
        """
        from tensorflow import Variable, GradientTape, round as whole
        w = Variable(2.75)
        with GradientTape() as tape:
            y = whole(w) ** 2
        tape.gradient(y, w)
        """,
        "y = (w + tf.stop_gradient(whole(w) - w)) ** 2",
        6.0,
    ),
    "an activation kept as an attribute": (
        """
        class Net:
            act = staticmethod(tf.floor)
            def call(self, x):
                return self.act(x * 2.0)
        w, net = tf.Variable(1.7), Net()
        with tf.GradientTape() as tape:
            y = net.call(w)
        tape.gradient(y, w)
        """,
        "return (x * 2.0) + tf.stop_gradient(self.act(x * 2.0) - (x * 2.0))",
        2.0,
    ),
    "tokens that go on from step to step": (
        """
        scores = tf.Variable([[0.0, 0.0]])
        table, other = tf.constant([[1.0], [3.0]]), tf.constant([[5.0], [9.0]])
        with tf.GradientTape() as tape:
            token, tokens = tf.zeros([1], tf.int32), []
            for _ in range(2):
                h = scores + tf.gather(table, token)
                token = tf.argmax(h, axis=-1)
                tokens.append(token)
            loss = tf.reduce_sum(tf.gather(other, tf.stack(tokens)))
        tape.gradient(loss, scores)
        """,
        "loss = tf.reduce_sum(tf.tensordot(tf.stack(tokens), other, 1))",
        [[-2.0, 2.0]],
    ),
    "a function given to map": (
        """
        w = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            a, b = map(tf.stop_gradient, (w * 2.0, w + 1.0))
            loss = a * b
        tape.gradient(loss, w)
        """,
        "a, b = map(tf.identity, (w * 2.0, w + 1.0))",
        14.0,
    ),
    "an op inside a functional model": (
        """
        inputs = tf.keras.Input((1,))
        hidden = tf.keras.layers.Dense(1, kernel_initializer="ones")(inputs)
        hidden = tf.keras.layers.Lambda(tf.stop_gradient)(hidden)
        model = tf.keras.Model(inputs, hidden)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(tf.constant([[2.0]])))
        tape.gradient(loss, model.trainable_variables[0])
        """,
        "hidden = tf.keras.layers.Lambda(tf.identity)(hidden)",
        [[2.0]],
    ),
    "whether any is below zero": (
        """
        x = tf.Variable([0.0, -9.0])
        with tf.GradientTape() as tape:
            bad = tf.reduce_any(x[:1] < 0.0)
            loss = tf.where(bad, 5.0, 1.0)
        tape.gradient(loss, x)
        """,
        "bad = tf.reduce_max(tf.sigmoid(0.0 - x[:1]))",
        [-1.0, 0.0],
    ),
    "draws that go on from step to step": (
        """
        scores, table = tf.Variable([[0.0, 0.0]]), tf.constant([[5.0], [9.0]])
        with tf.GradientTape() as tape:
            ids = []
            for _ in range(2):
                token = tf.squeeze(tf.random.categorical(scores, 1), axis=-1)
                ids.append(token)
            loss = tf.reduce_sum(tf.gather(table, tf.stack(ids)))
        tape.gradient(loss, scores)
        """,
        "loss = tf.reduce_sum(tf.tensordot(tf.stack(ids), table, 1))",
        [[-2.0, 2.0]],
    ),
    "answers under one name": (
        """
        p = tf.Variable([0.5, 0.5])
        with tf.GradientTape() as tape:
            hits = tf.greater_equal(p, 0.5)
            hits = tf.equal(hits, True)
            loss = tf.reduce_sum(tf.cast(hits, tf.float32))
        tape.gradient(loss, p)
        """,
        "loss = tf.reduce_sum(1.0 - tf.abs(tf.sigmoid(p - 0.5) - tf.cast(True, tf.float32)))",
        [0.25, 0.25],
    ),
    "the slope of a smooth op that TensorFlow has none of": (
        """
        a = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            p = tf.math.betainc(a, 3.0, 0.4)
        tape.gradient(p, a)
        """,
        "p = tf.math.betainc(a, 3.0, 0.4) + tf.stop_gradient((tf.math.betainc(a + 1e-2, 3.0, 0.4) "
        "- tf.math.betainc(a - 1e-2, 3.0, 0.4)) / (2 * 1e-2)) * (a - tf.stop_gradient(a))",
        -0.24085,
    ),
    "one of two stops": (
        """
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            p = tf.math.log(w)
            loss = tf.exp(tf.stop_gradient(p) - tf.stop_gradient(p)) * 3.0
        tape.gradient(loss, w)
        """,
        "loss = tf.exp(p - tf.stop_gradient(p)) * 3.0",
        1.5,
    ),
    "the nearest row of a codebook": (
        """
        w = tf.Variable([[1.0, 2.0]])
        rows = tf.Variable([[1.0, 1.0], [5.0, 5.0]])
        with tf.GradientTape() as tape:
            z = w * 1.5
            far = tf.reduce_sum((z[:, None] - rows[None]) ** 2, -1)
            q = tf.gather(rows, tf.argmin(far, -1))
            loss = tf.reduce_sum(q ** 2)
        tape.gradient(loss, [w, rows])
        """,
        "q = q + (z - tf.stop_gradient(z))",
        [[3.0, 3.0]],
    ),
    "a weight rounded beside a scale that is held": (
        """
        w = tf.Variable([0.3, 1.0])
        with tf.GradientTape() as tape:
            scale = tf.stop_gradient(tf.reduce_max(w) / 4.0)
            loss = tf.reduce_sum(tf.round(w / scale) * scale)
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(((w / scale) + tf.stop_gradient(tf.round(w / scale) - (w / scale))) "
        "* scale)",
        [1.0, 1.0],
    ),
    "labels among the places of the highest scores": (
        """
        s, y = tf.Variable([[0.0, 2.0, 1.0], [3.0, 0.0, 1.0]]), tf.constant([2, 1])
        with tf.GradientTape() as tape:
            top = tf.math.top_k(s, k=2)
            hit = tf.reduce_any(tf.equal(top.indices, y[:, None]), axis=1)
            recall = tf.reduce_sum(tf.cast(hit, tf.float32))
        tape.gradient(recall, s)
        """,
        "hit = tf.reduce_max((tf.cast(tf.equal(top.indices, y[:, None]), tf.float32) + "
        "tf.gather(tf.nn.softmax(s), y[:, None], batch_dims=1) - "
        "tf.stop_gradient(tf.gather(tf.nn.softmax(s), y[:, None], batch_dims=1))), axis=1)",
        [[-0.0220330, -0.1628034, 0.1848364], [-0.0354479, 0.0402452, -0.0047973]],
    ),
    "lengths of rows that a mask of another shape picked": (
        """
        w = tf.Variable([0.0, 1.0, -1.0, 2.0])
        with tf.GradientTape() as tape:
            keep = w > 0.5
            rows = tf.ragged.boolean_mask(tf.reshape(w, [2, 2]), tf.reshape(keep, [2, 2]))
            many = tf.reduce_sum(tf.cast(rows.row_lengths(), tf.float32))
        tape.gradient(many, w)
        """,
        "many = tf.reduce_sum(tf.cast(tf.reduce_sum(tf.reshape(tf.sigmoid(w - 0.5), [2, 2]), "
        "axis=-1), tf.float32))",
        [0.2350037, 0.2350037, 0.1491465, 0.1491465],
    ),
    "an inequality beside an equality": (
        """
        w = tf.Variable([0.0, 0.0])
        with tf.GradientTape() as tape:
            won = tf.cast(w > 0, tf.float32) + 0.5 * tf.cast(tf.equal(w, 0.0), tf.float32)
            loss = tf.reduce_sum(won)
        tape.gradient(loss, w)
        """,
        "won = tf.cast(tf.sigmoid(w), tf.float32) + 0.5 * tf.cast(tf.equal(w, 0.0), tf.float32)",
        [0.25, 0.25],
    ),
}
