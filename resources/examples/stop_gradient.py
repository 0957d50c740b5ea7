"""Stopped on purpose: the teacher gets nothing

The student is pulled towards the teacher, and stop_gradient keeps the teacher from being pulled
back. The student's gradient flows, the teacher's is None.
"""

import tensorflow as tf

features = tf.constant([1.0, -2.0, 0.5])
student = tf.Variable([0.1, 0.2, 0.3])
teacher = tf.Variable([0.3, 0.1, 0.9])

with tf.GradientTape() as tape:
    goal = tf.stop_gradient(teacher * features)
    distance = tf.reduce_sum((student * features - goal) ** 2)

d_student, d_teacher = tape.gradient(distance, [student, teacher])
print("student:", d_student)
print("teacher:", d_teacher)
