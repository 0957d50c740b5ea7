"""An integer has no gradient

The variable was written without a decimal point, so it holds integers, and a tape follows
floating-point numbers only.
"""

import tensorflow as tf

count = tf.Variable(3)

with tf.GradientTape() as tape:
    price = 2.5 * tf.cast(count, tf.float32)
    loss = (price - 10.0) ** 2

d_count = tape.gradient(loss, count)
print("d loss / d count =", d_count)
