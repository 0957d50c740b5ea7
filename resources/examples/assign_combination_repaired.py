"""Compute with the tensor, store it afterwards

The loss is computed from the tensor that is about to be stored, so the gradient flows. The variable
is brought up to date when the tape is done.
"""

import tensorflow as tf

near = tf.Variable(1.0)
far = tf.Variable(2.0)
blend = tf.Variable(3.0)

with tf.GradientTape() as tape:
    blended = near + far
    loss = tf.reduce_mean(blended**2)

d_near, d_far = tape.gradient(loss, [near, far])
blend.assign(blended)
print("d loss / d near =", d_near)
print("d loss / d far =", d_far)
