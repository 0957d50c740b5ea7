"""The modules that a warm kernel has imported before a snippet asks for them."""

from __future__ import annotations

# Their import must run no op: the fork server forks afterwards.
REQUIRED = ("tensorflow", "numpy")
# tf.keras imports the second one when it is first used.
IF_THERE = ("keras", "keras._tf_keras.keras")
