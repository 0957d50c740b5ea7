"""A combination of variables, assigned to a third

The blend is stored by assign, and the loss reads it back from the variable. The variable knows its
value, not where it came from: both gradients are None.
"""

import tensorflow as tf

near = tf.Variable(1.0)
far = tf.Variable(2.0)
blend = tf.Variable(3.0)

with tf.GradientTape() as tape:
    blend.assign(near + far)
    loss = tf.reduce_mean(blend**2)

d_near, d_far = tape.gradient(loss, [near, far])
print("d loss / d near =", d_near)
print("d loss / d far =", d_far)
