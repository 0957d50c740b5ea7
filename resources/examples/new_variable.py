"""A variable made from a tensor

tf.Variable(tensor) copies the value into new state. What led to the tensor ends there, even when
the variable is made inside the tape's block.
"""

import tensorflow as tf

seed = tf.Variable([1.0, 2.0])

with tf.GradientTape() as tape:
    state = tf.Variable(3.0 * seed)
    loss = tf.reduce_sum(state**2)

d_seed, d_state = tape.gradient(loss, [seed, state])
print("d loss / d seed =", d_seed)
print("d loss / d state =", d_state)
