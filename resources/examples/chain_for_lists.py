"""The chain for lists: one variable at a time

gradient(mixed, mix) of a whole list would sum over the list. So each stored weight is paired with
the derivative of its own mixed tensor, and the products are added.
"""

import tensorflow as tf

start = [tf.Variable(1.0), tf.Variable(4.0)]
end = [tf.Variable(2.0), tf.Variable(9.0)]
weights = [tf.Variable(3.0), tf.Variable(0.0)]
mix = tf.Variable(0.0)

with tf.GradientTape(persistent=True) as tape:
    mixed = tf.nest.map_structure(lambda a, b: (1 - mix) * a + mix * b, start, end)
    tf.nest.map_structure(lambda weight, value: weight.assign(value), weights, mixed)
    loss = tf.norm(weights)

shares = [
    tape.gradient(loss, weight, output_gradients=tape.gradient(value, mix))
    for weight, value in zip(weights, mixed)
]
d_mix = shares[0] + shares[1]
print("shares:", shares)
print("d loss / d mix =", d_mix)
