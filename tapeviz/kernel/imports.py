"""The modules that a warm kernel has imported before a snippet asks for them."""

from __future__ import annotations

# Their import must run no op: the fork server forks afterwards.
# In the order in which TensorFlow's import executes them: it begins with NumPy.
REQUIRED = ("numpy", "tensorflow")
# tf.keras imports the second one when it is first used.
IF_THERE = ("keras", "keras._tf_keras.keras")
