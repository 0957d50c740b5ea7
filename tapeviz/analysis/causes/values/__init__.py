"""Causes of zeros, NaN and infinity: the values at an op of the backward pass."""
