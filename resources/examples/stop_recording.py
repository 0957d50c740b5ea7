"""Lines the tape was told to skip

Inside stop_recording the tape sees nothing. The scale computed there is a plain number for it, so
its temperature gets None.
"""

import tensorflow as tf

temperature = tf.Variable(2.0)
logits = tf.Variable([1.0, 3.0])

with tf.GradientTape() as tape:
    with tape.stop_recording():
        scale = 1.0 / temperature
    loss = tf.reduce_logsumexp(logits * scale)

d_logits, d_temperature = tape.gradient(loss, [logits, temperature])
print("logits:", d_logits)
print("temperature:", d_temperature)
