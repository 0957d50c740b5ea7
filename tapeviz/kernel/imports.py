"""The modules that a warm kernel has imported before a snippet asks for them."""

from __future__ import annotations

# No op may run while these are imported: the fork server forks afterwards.
REQUIRED = ("tensorflow", "numpy")
# tf.keras loads the second one when it is first touched.
IF_THERE = ("keras", "keras._tf_keras.keras")
