"""A tape inside a tape: two variables

The inner tape differentiates by one variable, the outer tape differentiates that result by the
other. The inner gradient has to be taken inside the outer tape's block.
"""

import tensorflow as tf

length = tf.Variable(3.0)
speed = tf.Variable(2.0)

with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        energy = length * speed * speed
    d_length = inner.gradient(energy, length)

d_length_speed = outer.gradient(d_length, speed)
print("d energy / d length =", d_length)
print("d² energy / d length d speed =", d_length_speed)
