"""Primitives of a scene in, strokes of a QPainter out: the same for the window and for files."""
