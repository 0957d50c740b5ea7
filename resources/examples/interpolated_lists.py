"""Lists of variables, interpolated and assigned

Two sets of weights are mixed by one number and stored with nest.map_structure. The loss reads the
stored weights, so the mixing number gets None; computed from the mixed tensors, it gets 5.09.
"""

import tensorflow as tf

start = [tf.Variable(1.0), tf.Variable(4.0)]
end = [tf.Variable(2.0), tf.Variable(9.0)]
weights = [tf.Variable(3.0), tf.Variable(0.0)]
mix = tf.Variable(0.01)


def interpolate(first, last):
    return (1 - mix) * first + mix * last


with tf.GradientTape(persistent=True) as tape:
    mixed = tf.nest.map_structure(interpolate, start, end)
    tf.nest.map_structure(lambda weight, value: weight.assign(value), weights, mixed)
    loss_of_weights = tf.norm(weights)
    loss_of_mixed = tf.norm(mixed)

through_assign = tape.gradient(loss_of_weights, mix)
without_assign = tape.gradient(loss_of_mixed, mix)
print("through the assigned weights:", through_assign)
print("through the mixed tensors:", without_assign)
