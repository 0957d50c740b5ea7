"""Another function's gradient: the product form

Forward this is the sign, backward a scaled tanh: the quotient of the two is hidden from the tape
and multiplied back on. It needs a backward function that is never zero.
"""

import tensorflow as tf

x = tf.Variable([0.5, 1.5, -1.0])

with tf.GradientTape() as tape:
    smooth = tf.tanh(x)
    sign = tf.stop_gradient(tf.sign(x) / smooth) * smooth
    loss = tf.reduce_sum(sign * [1.0, 2.0, 3.0])

d_x = tape.gradient(loss, x)
print("forward:", sign)
print("backward:", d_x)
