"""The far side of a slice assign

The same cut, seen from behind: everything after the assign is computed from the image, so the
gradient reaches the image, at the values the patch left in it.
"""

import tensorflow as tf

image = tf.Variable([[2.0, 3.0, 4.0], [1.0, 10.0, 100.0]])
patch = tf.Variable([[0.0, 1.0], [2.0, 3.0]])

with tf.GradientTape() as tape:
    image[:2, :2].assign(patch)
    gram = tf.matmul(image, tf.transpose(image))
    mean = tf.reduce_mean(gram)

d_image = tape.gradient(mean, image)
print("d mean / d image =", d_image)
