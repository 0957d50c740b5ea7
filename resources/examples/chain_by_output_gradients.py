"""Across an assign by hand: output_gradients

A persistent tape gives the two halves of the chain rule: from the loss to the variable, and from
the assigned tensor to its ingredient. output_gradients multiplies one by the other: 2 · 5 · 2 = 20.
"""

import tensorflow as tf

near = tf.Variable(1.0)
far = tf.Variable(2.0)
blend = tf.Variable(3.0)

with tf.GradientTape(persistent=True) as tape:
    blended = near + 2 * far
    blend.assign(blended)
    loss = tf.reduce_mean(blend**2)

inner = tape.gradient(blended, far)
d_far = tape.gradient(loss, blend, output_gradients=inner)
print("d blended / d far =", inner)
print("d loss / d far =", d_far)
