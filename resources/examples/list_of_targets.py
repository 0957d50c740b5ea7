"""Several targets are summed

gradient with a list of targets gives one tensor for each source: the sum of all targets'
derivatives, not a Jacobian.
"""

import tensorflow as tf

width = tf.Variable(3.0)
height = tf.Variable(5.0)

with tf.GradientTape(persistent=True) as tape:
    area = width * height
    edge = 2 * width + 2 * height

both = tape.gradient([area, edge], [width, height])
of_area = tape.gradient(area, [width, height])
of_edge = tape.gradient(edge, [width, height])
print("both at once:", both)
print("area:", of_area)
print("edge:", of_edge)
