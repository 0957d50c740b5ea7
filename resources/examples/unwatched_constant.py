"""A constant nobody watched

A tape watches trainable variables by itself and nothing else. A plain tensor has to be given to
watch before it is used.
"""

import tensorflow as tf

pixels = tf.constant([0.2, 0.5, 0.9])

with tf.GradientTape() as tape:
    brightness = tf.reduce_mean(pixels**2)

d_pixels = tape.gradient(brightness, pixels)
print("d brightness / d pixels =", d_pixels)
