"""The same custom gradient in graph mode

With eager execution switched off there is no tape: tf.gradients adds the backward operations to the
graph, and numbers appear only when a session runs it.
"""

import tensorflow as tf

tf.compat.v1.disable_eager_execution()


@tf.custom_gradient
def largest_eigenvalue(matrix):
    values, vectors = tf.linalg.eigh(matrix)
    top = vectors[:, -1]

    def backward(upstream):
        return upstream * tf.tensordot(top, top, axes=0)

    return values[-1], backward


matrix = tf.constant([[2.0, 1.0], [1.0, 2.0]])
loss = largest_eigenvalue(matrix) ** 2
(d_matrix,) = tf.gradients(loss, matrix)

with tf.compat.v1.Session() as session:
    loss_value, d_matrix_value = session.run([loss, d_matrix])

print("loss =", loss_value)
print("d loss / d matrix =", d_matrix_value)
