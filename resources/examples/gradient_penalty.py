"""A gradient penalty: the critic inside two tapes

The inner tape differentiates the critic by its input, the outer tape differentiates the penalty on
that gradient by the critic's weights. All of it happens inside the outer block.
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(1)
generator = tf.keras.Sequential(
    [tf.keras.Input(shape=(2,)), tf.keras.layers.Dense(3, activation="tanh")]
)
critic = tf.keras.Sequential(
    [
        tf.keras.Input(shape=(3,)),
        tf.keras.layers.Dense(4, activation="tanh"),
        tf.keras.layers.Dense(1, use_bias=False),
    ]
)
noise = tf.random.normal([5, 2])
real = tf.random.normal([5, 3])


def gradient_penalty(critic, real, fake):
    mix = tf.random.uniform([5, 1])
    between = mix * real + (1 - mix) * fake
    with tf.GradientTape() as inner:
        inner.watch(between)
        score = critic(between, training=True)
    slope = inner.gradient(score, between)
    return tf.reduce_mean((tf.norm(slope, axis=1) - 1.0) ** 2)


with tf.GradientTape() as outer:
    fake = generator(noise, training=True)
    penalty = gradient_penalty(critic, real, fake)

gradients = outer.gradient(penalty, critic.trainable_variables)
for variable, gradient in zip(critic.trainable_variables, gradients):
    print(variable.name, gradient)
