"""A variable the loss never uses

The network has two heads and the loss looks at one. The other head's gradient is None because
nothing connects them, while the shared trunk gets its own.
"""

import tensorflow as tf

signal = tf.constant([[1.0, 2.0]])
trunk = tf.Variable([[0.5, -1.0], [0.25, 0.75]])
price_head = tf.Variable([[1.0], [2.0]])
volume_head = tf.Variable([[3.0], [4.0]])

with tf.GradientTape() as tape:
    features = tf.nn.relu(signal @ trunk)
    price = features @ price_head
    volume = features @ volume_head
    loss = tf.reduce_sum((price - 1.0) ** 2)

gradients = tape.gradient(loss, [trunk, price_head, volume_head])
print("trunk:", gradients[0])
print("price head:", gradients[1])
print("volume head:", gradients[2])
