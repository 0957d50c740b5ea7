"""The backward pass of a gradient call: its steps as rows, their formulas, the edges they took."""
