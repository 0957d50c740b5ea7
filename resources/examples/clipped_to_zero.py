"""Clipped, and so zero

Every activation lies outside the range that clip_by_value lets through. There the output does not
change with the input: the gradient is not missing, it is zero.
"""

import tensorflow as tf

activation = tf.Variable([-3.0, 2.5, 7.0])

with tf.GradientTape() as tape:
    clipped = tf.clip_by_value(activation, -1.0, 1.0)
    loss = tf.reduce_sum(clipped * [1.0, 2.0, 3.0])

d_activation = tape.gradient(loss, activation)
print("d loss / d activation =", d_activation)
