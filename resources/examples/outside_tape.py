"""Computed before the tape began

The prediction is made one line too early. Inside the block only the loss is recorded, and nothing
there leads back to the weight.
"""

import tensorflow as tf

weight = tf.Variable(2.0)
prediction = weight * [1.0, 2.0, 3.0]

with tf.GradientTape() as tape:
    loss = tf.reduce_mean((prediction - [2.0, 3.0, 4.0]) ** 2)

d_weight = tape.gradient(loss, weight)
print("d loss / d weight =", d_weight)
