"""Meta-learning with an update in place

The inner step is written into the weight by assign_sub, so the outer loss does not know that the
learning rate had a part in it. The weight's own gradient is that of the new value.
"""

import tensorflow as tf

weight = tf.Variable(1.0)
rate = tf.Variable(0.1)

with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        task_loss = (weight - 3.0) ** 2
    step = rate * inner.gradient(task_loss, weight)
    weight.assign_sub(step)
    meta_loss = (weight - 2.0) ** 2

d_rate, d_weight = outer.gradient(meta_loss, [rate, weight])
print("d meta loss / d rate =", d_rate)
print("d meta loss / d weight =", d_weight)
