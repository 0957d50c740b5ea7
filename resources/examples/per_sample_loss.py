"""A loss for each sample, against their mean

The gradient of a vector of losses is the sum over the samples. The gradient of their mean is that
sum divided by the number of samples: here by two.
"""

import tensorflow as tf

inputs = tf.constant([[1.0, 2.0], [3.0, -1.0]])
labels = tf.constant([1.0, 0.0])
slope = tf.Variable([[0.5], [-0.25]])
offset = tf.Variable(0.1)

with tf.GradientTape(persistent=True) as tape:
    logits = tf.squeeze(inputs @ slope, axis=1) + offset
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses)

summed = tape.gradient(losses, [slope, offset])
averaged = tape.gradient(loss, [slope, offset])
print("of the losses:", summed)
print("of their mean:", averaged)
