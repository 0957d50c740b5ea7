"""The best choice has no slope

argmax answers with a position. Moving the scores a little does not move the position, so there is
no derivative to pass on.
"""

import tensorflow as tf

scores = tf.Variable([0.1, 0.8, 0.3])
rewards = tf.constant([1.0, 5.0, 2.0])

with tf.GradientTape() as tape:
    choice = tf.argmax(scores)
    reward = tf.gather(rewards, choice)

d_scores = tape.gradient(reward, scores)
print("reward =", reward)
print("d reward / d scores =", d_scores)
