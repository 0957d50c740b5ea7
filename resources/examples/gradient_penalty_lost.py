"""A gradient penalty that trains nothing

The inner gradient is taken after the outer block has ended. The penalty is a fine number, but no
tape saw how it came about: every gradient is None.
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(1)
critic = tf.keras.Sequential(
    [
        tf.keras.Input(shape=(3,)),
        tf.keras.layers.Dense(4, activation="tanh"),
        tf.keras.layers.Dense(1, use_bias=False),
    ]
)
samples = tf.random.normal([5, 3])

with tf.GradientTape() as outer, tf.GradientTape() as inner:
    inner.watch(samples)
    score = critic(samples, training=True)

slope = inner.gradient(score, samples)
penalty = tf.reduce_mean((tf.norm(slope, axis=1) - 1.0) ** 2)
gradients = outer.gradient(penalty, critic.trainable_variables)
print("penalty =", penalty)
print("gradients =", gradients)
