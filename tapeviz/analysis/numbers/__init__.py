"""Zeros, NaN and infinity: the value that made them, and where they began."""
