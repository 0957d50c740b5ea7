"""Through NumPy and back

.numpy() hands the values to NumPy, where no tape follows. The tensor made from NumPy's answer is a
new constant.
"""

import numpy as np
import tensorflow as tf

angle = tf.Variable([0.1, 0.7, 1.3])

with tf.GradientTape() as tape:
    sines = np.sin(angle.numpy())
    loss = tf.reduce_sum(tf.constant(sines) ** 2)

d_angle = tape.gradient(loss, angle)
print("d loss / d angle =", d_angle)
