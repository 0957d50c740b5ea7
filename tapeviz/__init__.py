"""tapeviz shows what a ``tf.GradientTape`` saw."""

__version__ = "0.1.0"
