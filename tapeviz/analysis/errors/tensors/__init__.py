"""Exceptions about the shape, dtype, axis or value of what an operation or layer was given."""
