"""The chain for vectors: jacobian

gradient of a vector sums over its elements, so the inner derivative of a vector must be asked for
with jacobian, one number for each element, before it is multiplied by the outer gradient.
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
SHAPES = [[2], [1], []]


def random_variables():
    return [tf.Variable(tf.random.normal(shape)) for shape in SHAPES]


start = random_variables()
end = random_variables()
weights = random_variables()
mix = tf.Variable(tf.random.normal([]))


def length(tensors):
    return tf.norm([tf.norm(tensor) for tensor in tensors])


with tf.GradientTape(persistent=True) as tape:
    mixed = tf.nest.map_structure(lambda a, b: (1 - mix) * a + mix * b, start, end)
    tf.nest.map_structure(lambda weight, value: weight.assign(value), weights, mixed)
    loss_of_weights = length(weights)
    loss_of_mixed = length(mixed)

shares = [
    tf.reduce_sum(tape.jacobian(value, mix) * tape.gradient(loss_of_weights, weight))
    for weight, value in zip(weights, mixed)
]
by_hand = tf.reduce_sum(shares)
without_assign = tape.gradient(loss_of_mixed, mix)
print("by hand, across the assign:", by_hand)
print("without the assign:", without_assign)
