"""Another function's gradient: the sum form

Forward this is a rounding, backward a plain line: stop_gradient hides the difference between the
two from the tape. Without the trick, rounding would give None.
"""

import tensorflow as tf

x = tf.Variable([0.2, 1.7, -2.4])

with tf.GradientTape() as tape:
    smooth = 1.0 * x
    rounded = smooth + tf.stop_gradient(tf.round(x) - smooth)
    loss = tf.reduce_sum(rounded**2)

d_x = tape.gradient(loss, x)
print("forward:", rounded)
print("backward:", d_x)
