"""Paint primitives of a scene by a QPainter: the same for the window and for files."""
