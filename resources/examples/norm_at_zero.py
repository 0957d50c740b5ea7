"""The length of nothing

A norm at zero has a corner: its backward step divides zero by zero. The loss is a good number, its
gradient is NaN.
"""

import tensorflow as tf

residual = tf.Variable([0.0, 0.0])

with tf.GradientTape() as tape:
    loss = tf.norm(residual) + 1.0

d_residual = tape.gradient(loss, residual)
print("loss =", loss)
print("d loss / d residual =", d_residual)
