"""A gradient of your own: tf.custom_gradient

The derivative of the largest eigenvalue is known in closed form, the outer product of its
eigenvector with itself. The decorated function returns its value and what to do on the way back.
"""

import tensorflow as tf


@tf.custom_gradient
def largest_eigenvalue(matrix):
    values, vectors = tf.linalg.eigh(matrix)
    top = vectors[:, -1]

    def backward(upstream):
        return upstream * tf.tensordot(top, top, axes=0)

    return values[-1], backward


matrix = tf.constant([[2.0, 1.0], [1.0, 2.0]])

with tf.GradientTape() as tape:
    tape.watch(matrix)
    loss = largest_eigenvalue(matrix) ** 2

d_matrix = tape.gradient(loss, matrix)
print("loss =", loss)
print("d loss / d matrix =", d_matrix)
