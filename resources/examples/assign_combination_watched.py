"""Watching by hand does not heal an assign

With watch_accessed_variables=False the tape watches only what it is told to. The loss now has a
gradient to the blend, but the assign still stands between the blend and its ingredients.
"""

import tensorflow as tf

near = tf.Variable(1.0)
far = tf.Variable(2.0)
blend = tf.Variable(3.0)

with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch([far, blend])
    blend.assign(near + far)
    loss = tf.reduce_mean(blend**2)

d_far, d_blend = tape.gradient(loss, [far, blend])
print("d loss / d far =", d_far)
print("d loss / d blend =", d_blend)
