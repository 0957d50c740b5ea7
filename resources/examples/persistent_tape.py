"""One tape, asked twice

persistent=True keeps the recording after the first gradient. It also keeps every tensor alive, so
the tape is deleted when it has served.
"""

import tensorflow as tf

player = tf.Variable(3.0)
rival = tf.Variable(2.0)

with tf.GradientTape(persistent=True) as tape:
    score = player * player + rival
    counter = rival + rival * rival + player

d_player = tape.gradient(score, player)
d_rival = tape.gradient(counter, rival)
del tape
print("d score / d player =", d_player)
print("d counter / d rival =", d_rival)
