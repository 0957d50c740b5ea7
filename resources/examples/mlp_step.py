"""One training step of a small network

Two layers by hand, a softmax loss, one step down the gradient. All four parameters are reached, and
the loss is smaller afterwards.
"""

import tensorflow as tf

tf.random.set_seed(7)
inputs = tf.random.normal([6, 3])
labels = tf.constant([0, 1, 1, 0, 1, 0])

hidden_weight = tf.Variable(tf.random.normal([3, 4], stddev=0.5))
hidden_bias = tf.Variable(tf.zeros([4]))
output_weight = tf.Variable(tf.random.normal([4, 2], stddev=0.5))
output_bias = tf.Variable(tf.zeros([2]))
parameters = [hidden_weight, hidden_bias, output_weight, output_bias]


def network_loss():
    hidden = tf.nn.tanh(inputs @ hidden_weight + hidden_bias)
    logits = hidden @ output_weight + output_bias
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses)


with tf.GradientTape() as tape:
    loss = network_loss()

gradients = tape.gradient(loss, parameters)
for parameter, gradient in zip(parameters, gradients):
    parameter.assign_sub(0.5 * gradient)

loss_after = network_loss()
print("loss before:", loss)
print("loss after:", loss_after)
