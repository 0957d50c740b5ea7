"""Fixes for values that became whole numbers: positions, draws, tokens, rows of a codebook."""
