"""A training loop with an optimizer

A Keras layer is fitted to a line in a few steps: tape, gradient, apply_gradients. Each pass through
the loop is a group of its own in the graph.
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(3)
layer = tf.keras.layers.Dense(1)
layer.build((None, 1))
optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)

x = tf.constant([[-1.0], [0.0], [1.0], [2.0]])
y = 3.0 * x - 1.0
losses = []

for step in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(x) - y) ** 2)
    gradients = tape.gradient(loss, layer.trainable_variables)
    optimizer.apply_gradients(zip(gradients, layer.trainable_variables))
    losses.append(float(loss))

print("losses:", losses)
