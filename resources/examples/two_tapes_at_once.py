"""Two tapes over the same lines

Each tape may be asked once. With two of them over one block, each objective is differentiated by
the quantity that belongs to it.
"""

import tensorflow as tf

player = tf.Variable(3.0)
rival = tf.Variable(2.0)

with tf.GradientTape() as first, tf.GradientTape() as second:
    score = player * player + rival
    counter = rival + rival * rival + player

d_player = first.gradient(score, player)
d_rival = second.gradient(counter, rival)
print("d score / d player =", d_player)
print("d counter / d rival =", d_rival)
