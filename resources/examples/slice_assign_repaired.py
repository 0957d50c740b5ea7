"""A patch that keeps its gradient

Padded to the image's shape and added to an image whose corner is empty, the patch arrives by
operations that have a derivative: nothing goes through a variable's state.
"""

import tensorflow as tf

image = tf.Variable([[0.0, 0.0, 4.0], [0.0, 0.0, 100.0]])
patch = tf.Variable([[0.0, 1.0], [2.0, 3.0]])

with tf.GradientTape() as tape:
    patched = image + tf.pad(patch, [[0, 0], [0, 1]])
    gram = tf.matmul(patched, tf.transpose(patched))
    mean = tf.reduce_mean(gram)

d_patch = tape.gradient(mean, patch)
print("d mean / d patch =", d_patch)
