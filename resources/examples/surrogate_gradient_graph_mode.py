"""Another function's gradient in graph mode

Both forms of the stop_gradient trick, the sum and the product, with tf.gradients and a session in
place of a tape.
"""

import tensorflow as tf

tf.compat.v1.disable_eager_execution()

x = tf.constant([0.5, 1.5, -1.0])
line = 1.0 * x
curve = tf.tanh(x)

rounded = line + tf.stop_gradient(tf.round(x) - line)
sign = tf.stop_gradient(tf.sign(x) / curve) * curve

(d_rounded,) = tf.gradients(tf.reduce_sum(rounded**2), x)
(d_sign,) = tf.gradients(tf.reduce_sum(sign), x)

with tf.compat.v1.Session() as session:
    rounded_value, d_rounded_value = session.run([rounded, d_rounded])
    sign_value, d_sign_value = session.run([sign, d_sign])

print("sum form:", rounded_value, "backward", d_rounded_value)
print("product form:", sign_value, "backward", d_sign_value)
