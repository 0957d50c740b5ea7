"""A slice assign cuts the gradient

The patch is copied into the state of the image. A tape
records no copy, so the gradient of the patch is None.
"""

import tensorflow as tf

image = tf.Variable([[2.0, 3.0, 4.0], [1.0, 10.0, 100.0]])
patch = tf.Variable([[0.0, 1.0], [2.0, 3.0]])

with tf.GradientTape() as tape:
    image[:2, :2].assign(patch)
    gram = tf.matmul(image, tf.transpose(image))
    mean = tf.reduce_mean(gram)

d_patch = tape.gradient(mean, patch)
print("d mean / d patch =", d_patch)
