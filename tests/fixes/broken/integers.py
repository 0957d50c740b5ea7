"""Values that became whole numbers on the way."""

from __future__ import annotations

import numpy as np

from . import Row

ROWS: dict[str, Row] = {
    "positions that an object of the text's class returns when it is called": (
        """
        class Classifier(tf.Module):
            def __init__(self):
                self.w = tf.Variable([[1.0, 2.0], [0.5, -1.0]])

            def __call__(self, x):
                return tf.argmax(tf.nn.softmax(x @ self.w), axis=1)

        model = Classifier()
        x = tf.constant([[1.0, 0.5]])
        with tf.GradientTape() as tape:
            chosen = model(x)
            loss = tf.reduce_sum(tf.one_hot(chosen, 2) * [1.0, 3.0])
        tape.gradient(loss, model.w)
        """,
        "loss = tf.reduce_sum(chosen * [1.0, 3.0])",
        [[-0.4922681, 0.4922681], [-0.246134, 0.246134]],
    ),
    "a term with the factor 0, beside a position": (
        """
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            hard = tf.cast(tf.argmax(w), tf.float32)
            loss = (hard - 3.0) ** 2 + 0.0 * tf.reduce_sum(w)
        tape.gradient(loss, w)
        """,
        "hard = tf.cast(tf.reduce_sum(tf.nn.softmax(w) * tf.range(2.0)), tf.float32)",
        [0.8922019, -0.892202],
    ),
    "a mask of what is not 0, by a cast": (
        """
        x = tf.Variable([0.0, 1.5])
        with tf.GradientTape() as tape:
            y = tf.where(tf.cast(x, tf.bool), [3.0, 5.0], 0.0)
        tape.gradient(y, x)
        """,
        "y = tf.tanh(tf.abs(x)) * [3.0, 5.0] + (1.0 - tf.tanh(tf.abs(x))) * 0.0",
        [0.0, 0.9035323],
    ),
    "the lengths that rows were made of": (
        """
        lengths = tf.Variable([2.0, 1.0])
        with tf.GradientTape() as tape:
            rows = tf.RaggedTensor.from_row_lengths([1.0, 2.0, 3.0], tf.cast(lengths, tf.int64))
            y = tf.reduce_sum(tf.cast(rows.row_lengths(), tf.float32) ** 2)
        tape.gradient(y, lengths)
        """,
        "y = tf.reduce_sum(tf.cast(lengths, tf.float32) ** 2)",
        [4.0, 2.0],
    ),
    "counts of what was cast twice": (
        """
        x = tf.Variable([0.25, 1.5])
        with tf.GradientTape() as tape:
            q = tf.cast(x * 2.0, tf.uint8)
            h = tf.math.bincount(tf.cast(tf.reshape(q, [-1]), tf.int32), minlength=4)
            loss = tf.reduce_sum(tf.cast(h, tf.float32) * [1.0, 2.0, 5.0, 9.0])
        tape.gradient(loss, x)
        """,
        "h = tf.reduce_sum(tf.nn.relu(1.0 - tf.abs(tf.reshape(tf.reshape((x * 2.0), [-1]), "
        "[-1, 1]) - tf.range(4, dtype=tf.float32))), axis=0)",
        [2.0, 0.0],
    ),
    "noise that was compressed as a picture": (
        """
        tf.random.set_seed(0)
        image = tf.Variable(tf.random.uniform([8, 8, 3]))
        with tf.GradientTape() as tape:
            whole = tf.image.convert_image_dtype(image, tf.uint8)
            back = tf.io.decode_jpeg(tf.io.encode_jpeg(whole, quality=80))
            out = tf.image.convert_image_dtype(back, tf.float32)
            loss = tf.reduce_sum(out)
        tape.gradient(loss, image)
        """,
        "out = image + tf.stop_gradient(out - image)",
        np.ones((8, 8, 3)),
    ),
    "a tensor that is written as text and read back": (
        """
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            text = tf.io.serialize_tensor(w * 2.0)
            y = tf.reduce_sum(tf.io.parse_tensor(text, tf.float32) ** 2)
        tape.gradient(y, w)
        """,
        "text = (w * 2.0)",
        [8.0, 16.0],
    ),
    "rows at a column of rounded numbers": (
        """
        p = tf.Variable([0.25, 2.25])
        with tf.GradientTape() as tape:
            at = tf.cast(tf.round(p), tf.int32)[:, None]
            loss = tf.reduce_sum(tf.scatter_nd(at, [1.0, 2.0], [4]) * [0.0, 1.0, 4.0, 9.0])
        tape.gradient(loss, p)
        """,
        "at = tf.cast(tf.round(p), tf.int32)[:, None]",
        [1.0, 10.0],
    ),
    "rows that are partitioned by rounded numbers": (
        """
        x, w = tf.constant([[1.0], [2.0], [3.0]]), tf.Variable([0.25, 1.25, 0.75])
        with tf.GradientTape() as tape:
            parts = tf.dynamic_partition(x, tf.cast(w, tf.int32), 2)
            loss = tf.reduce_sum(parts[1])
        tape.gradient(loss, w)
        """,
        "parts = [tf.einsum('n...,n->n...', x, tf.nn.relu(1.0 - tf.abs((w) - "
        "tf.cast(part, tf.float32)))) for part in range(2)]",
        [1.0, -2.0, 3.0],
    ),
    "a whole number at a minimum": (
        """
        n, target = tf.Variable(3), tf.constant(3)
        with tf.GradientTape() as tape:
            loss = tf.cast((n - target) ** 2, tf.float32)
        tape.gradient(loss, n)
        """,
        "n, target = tf.Variable(3.0), tf.constant(3.0)",
        0.0,
    ),
    "an image that a function compresses": (
        """
        w = tf.Variable(tf.fill((8, 8, 3), 0.5))
        def squeezed(image):
            coded = tf.io.encode_jpeg(tf.image.convert_image_dtype(image, tf.uint8))
            return tf.image.convert_image_dtype(tf.io.decode_jpeg(coded), tf.float32)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(squeezed(w))
        tape.gradient(loss, w)
        """,
        "return image + tf.stop_gradient(tf.image.convert_image_dtype("
        "tf.io.decode_jpeg(coded), tf.float32) - image)",
        [[[1.0] * 3] * 8] * 8,
    ),
    "bins of a name that is reshaped": (
        """
        w = tf.Variable([[0.25, 1.25]])
        with tf.GradientTape() as tape:
            bins = tf.cast(w, tf.int32)
            counts = tf.cast(tf.math.bincount(tf.reshape(bins, [-1]), minlength=3), tf.float32)
            loss = tf.reduce_sum(counts * [1.0, 2.0, 4.0])
        tape.gradient(loss, w)
        """,
        "counts = tf.cast(tf.reduce_sum(tf.nn.relu(1.0 - tf.abs(tf.reshape(tf.reshape(w, [-1]), "
        "[-1, 1]) - tf.range(3, dtype=tf.float32))), axis=0), tf.float32)",
        [[1.0, 2.0]],
    ),
    "a whole number that meets whole numbers": (
        """
        x = tf.Variable(3)
        with tf.GradientTape() as tape:
            size = tf.size(["a", "b"])
            loss = tf.cast((size - x) ** 2, tf.float32)
        tape.gradient(loss, x)
        """,
        "loss = tf.cast((tf.cast(size, tf.float32) - x) ** 2, tf.float32)",
        2.0,
    ),
    "an image that is compressed on the way": (
        """
        image = tf.Variable(tf.fill([8, 8, 3], 0.5))
        with tf.GradientTape() as tape:
            coded = tf.io.encode_png(tf.cast(image * 255.0, tf.uint8))
            noisy = tf.cast(tf.io.decode_png(coded), tf.float32) / 255.0
            loss = tf.reduce_mean(noisy)
        tape.gradient(loss, image)
        """,
        "noisy = image + tf.stop_gradient(noisy - image)",
        np.full([8, 8, 3], 1 / 192),
    ),
    "points drawn into an image": (
        """
        place, ink = tf.Variable([[1.25, 2.5]]), tf.constant([1.0])
        ramp = tf.reshape(tf.range(16.0), [4, 4])
        with tf.GradientTape() as tape:
            cell = tf.cast(place, tf.int32)
            image = tf.scatter_nd(cell, ink, [4, 4])
            loss = tf.reduce_sum(image * ramp)
        tape.gradient(loss, place)
        """,
        "image = tf.add_n([tf.scatter_nd(tf.clip_by_value(tf.cast(tf.floor(place), tf.int32) + "
        "side, 0, tf.constant([4, 4])[:2] - 1), ink * tf.reduce_prod(1.0 - tf.abs(place - "
        "tf.floor(place) - tf.cast(side, tf.float32)), -1), [4, 4]) for side in ([0, 0], [0, 1], "
        "[1, 0], [1, 1])])",
        [[4.0, 1.0]],
    ),
    "rows of an embedding layer by a rounded number": (
        """
        level = tf.Variable([1.25])
        rows = tf.keras.layers.Embedding(3, 2)
        rows.build(None)
        rows.embeddings.assign([[0.0, 0.0], [1.0, 2.0], [3.0, 5.0]])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(rows(tf.cast(level, tf.int32)))
        tape.gradient(loss, level)
        """,
        "loss = tf.reduce_sum(rows(tf.cast(level, tf.int32)) + (level - "
        "tf.cast(tf.cast(level, tf.int32), tf.float32))[..., tf.newaxis] * (tf.gather("
        "rows.embeddings, tf.minimum(tf.cast(level, tf.int32) + 1, tf.shape(rows.embeddings)[0] - "
        "1)) - rows(tf.cast(level, tf.int32))))",
        [5.0],
    ),
    "positions as a source": (
        """
        table, ids = tf.constant([[1.0], [2.0], [3.0]]), tf.constant([2, 0])
        with tf.GradientTape() as tape:
            tape.watch(ids)
            loss = tf.reduce_sum(tf.gather(table, ids) ** 2)
        tape.gradient(loss, [ids])
        """,
        "tape.watch(rows)",
        [[6.0], [2.0]],
    ),
    "a window at a whole number": (
        """
        image = tf.reshape(tf.range(36.0), [1, 6, 6, 1])
        place = tf.Variable([1.5, 2.25])
        with tf.GradientTape() as tape:
            top, left = tf.unstack(tf.cast(place, tf.int32))
            crop = tf.image.crop_to_bounding_box(image, top, left, 2, 2)
            loss = tf.reduce_mean(crop)
        tape.gradient(loss, place)
        """,
        "value = tf.image.crop_to_bounding_box(image, top, left, 2, 2)",
        [6.0, 1.0],
    ),
    "rows between whole numbers": (
        """
        place = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            low = tf.cast(place, tf.int32)
            mask = tf.cast((tf.range(5) >= low) & (tf.range(5) < 99), tf.float32)
            loss = tf.reduce_sum(mask * [0.0, 0.0, 1.0, 0.0, 0.0])
        tape.gradient(loss, place)
        """,
        "low = tf.cast(place, tf.int32)",
        -0.25,
    ),
    "a cast under the name of what it takes": (
        """
        x = tf.Variable([0.25, 2.75])
        with tf.GradientTape() as tape:
            q = x * 4.0
            q = tf.cast(tf.math.rint(q), tf.uint8)
            loss = tf.reduce_sum(tf.cast(q, tf.float32) / 2.0)
        tape.gradient(loss, x)
        """,
        "loss = tf.reduce_sum(tf.cast(q, tf.float32) / 2.0)",
        [2.0, 2.0],
    ),
    "a mask as long as a number, which is whole": (
        """
        n, p = tf.Variable(3.0), tf.constant([1.0, 2.0, 4.0, 8.0, 16.0])
        with tf.GradientTape() as tape:
            m = tf.sequence_mask(tf.cast(n, tf.int32), 5, dtype=tf.float32)
            y = tf.reduce_sum(p * m)
        tape.gradient(y, n)
        """,
        "m = tf.maximum(tf.minimum(1.0, tf.expand_dims(n, -1) - tf.cast(tf.range(5), tf.float32)), "
        "0.0)",
        8.0,
    ),
    "rows of a layer at numbers that it casts itself": (
        """
        rows = tf.keras.initializers.Identity()
        emb = tf.keras.layers.Embedding(3, 3, embeddings_initializer=rows)
        n = tf.Variable([0.5, 1.25])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(emb(n) * [1.0, 3.0, 7.0])
        tape.gradient(y, n)
        """,
        "y = tf.reduce_sum((emb(n) + (n - tf.cast(tf.cast(n, tf.int32), tf.float32))"
        "[..., tf.newaxis] * (tf.gather(emb.embeddings, tf.minimum(tf.cast(n, tf.int32) + 1, "
        "tf.shape(emb.embeddings)[0] - 1)) - emb(n))) * [1.0, 3.0, 7.0])",
        [2.0, 4.0],
    ),
    "an index that was bounded after its cast": (
        """
        x, table = tf.Variable(1.25), tf.constant([1.0, 4.0, 9.0, 16.0])
        with tf.GradientTape() as tape:
            i = tf.cast(x, tf.int32)
            i = tf.clip_by_value(i, 0, 3)
            y = 2.0 * tf.gather(table, i)
        tape.gradient(y, x)
        """,
        "y = 2.0 * (tf.gather(table, i) + (tf.clip_by_value(x, 0, 3) - tf.cast(i, tf.float32)) * "
        "(tf.gather(table, tf.minimum(i + 1, tf.shape(table)[0] - 1)) - tf.gather(table, i)))",
        10.0,
    ),
    "how many whole numbers there are": (
        """
        x = tf.Variable([1.25, 3.0, 1.0])
        with tf.GradientTape() as tape:
            kinds, _ = tf.unique(tf.cast(tf.round(x), tf.int32))
            many = tf.cast(tf.size(kinds), tf.float32)
        tape.gradient(many, x)
        """,
        "many = tf.cast(tf.reduce_sum(1.0 / tf.reduce_sum(tf.nn.relu(1.0 - "
        "tf.abs(tf.reshape(x, [-1, 1]) - tf.transpose(tf.reshape(x, [-1, 1])))), -1)), tf.float32)",
        [0.6530612, 0.0, -0.6530612],
    ),
    "numbers written as a line of a table": (
        """
        x = tf.Variable([1.25, 2.5])
        with tf.GradientTape() as tape:
            line = tf.strings.reduce_join(tf.strings.as_string(x), separator=",")
            a, b = tf.io.decode_csv(line, [[0.0], [0.0]])
            loss = a * b
        tape.gradient(loss, x)
        """,
        "a, b = tf.unstack(line)",
        [2.5, 1.25],
    ),
    "tokens that a TensorArray holds": (
        """
        table = tf.Variable([[1.0, 0.0], [0.0, 2.0]])
        out = tf.Variable([[0.0, 1.0], [1.0, 0.0]])

        @tf.function
        def decode(n):
            token = tf.zeros([1], tf.int32)
            tokens = tf.TensorArray(tf.int32, size=n)
            for i in tf.range(n):
                scores = tf.nn.embedding_lookup(table, token) @ out
                token = tf.argmax(scores, -1, output_type=tf.int32)
                tokens = tokens.write(i, token)
            return tf.transpose(tokens.stack())

        with tf.GradientTape() as tape:
            tokens = decode(2)
            wrong = tf.reduce_sum(tf.cast(tf.not_equal(tokens, [[1, 1]]), tf.float32))
            loss = tf.reduce_sum(tf.gather(table, tokens) ** 2) + wrong
        tape.gradient(loss, out)
        """,
        "return tf.transpose(tokens.stack(), [1, 0, 2])",
        [[-1.5620704, 1.5620707], [0.62996155, -0.62996143]],
    ),
    "copies of each element": (
        """
        x = tf.Variable([1.4, 2.7, 1.2])
        with tf.GradientTape() as tape:
            v = tf.repeat([1.0, 2.0, 3.0], tf.cast(x, tf.int32))
            loss = tf.reduce_sum(v**2)
        tape.gradient(loss, x)
        """,
        "v = tf.repeat([1.0, 2.0, 3.0], whole)",
        [1.0, 4.0, 9.0],
    ),
    "a shift by a rounded number": (
        """
        delay = tf.Variable(2.6)
        x = tf.constant([1.0, 2.0, 4.0, 8.0])
        @tf.function
        def echo():
            n = tf.cast(tf.round(delay), tf.int32)
            return x * tf.roll(x, shift=n, axis=0)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(echo())
        tape.gradient(loss, delay)
        """,
        "return low + part * (outcome(n + 1) - low)",
        35.0,
    ),
}
