"""A function compiled by tf.function

Inside a tf.function TensorFlow runs a graph; the tape sees one operation with a backward function
of its own. The gradients are those of the same lines run one by one.
"""

import tensorflow as tf

weights = tf.Variable([[1.0, -2.0], [0.5, 1.5]])
bias = tf.Variable([0.1, -0.1])


@tf.function
def energy(state):
    moved = tf.linalg.matvec(weights, state) + bias
    return tf.reduce_sum(tf.nn.softplus(moved))


with tf.GradientTape() as tape:
    loss = energy(tf.constant([1.0, 2.0]))

d_weights, d_bias = tape.gradient(loss, [weights, bias])
print("weights:", d_weights)
print("bias:", d_bias)
