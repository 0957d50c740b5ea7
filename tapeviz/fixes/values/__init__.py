"""Fixes for values that lose their gradient: NumPy, datasets, zeros, infinities, estimates."""
