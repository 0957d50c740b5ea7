"""Ops gathered into groups: by function, loop, layer and repeat; which stand open, and folding."""
