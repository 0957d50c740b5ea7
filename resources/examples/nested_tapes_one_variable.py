"""A tape inside a tape: the second derivative

The inner tape gives the slope of the square, the outer tape the slope of the slope: 6, then 2.
"""

import tensorflow as tf

side = tf.Variable(3.0)

with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        area = side * side
    slope = inner.gradient(area, side)

curvature = outer.gradient(slope, side)
print("slope =", slope)
print("curvature =", curvature)
