"""Fixes for values that lose their gradient: NumPy, integers, positions, zeros, infinities."""
