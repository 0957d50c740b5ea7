"""The simplest tape

The derivative of a square: 2 · 3 = 6. The source is a constant, so it has to be watched.
"""

import tensorflow as tf

side = tf.constant(3.0)

with tf.GradientTape() as tape:
    tape.watch(side)
    area = side * side

d_side = tape.gradient(area, side)
print("d area / d side =", d_side)
