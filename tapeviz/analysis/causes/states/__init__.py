"""Causes of None: the value went into state, of a variable or of an object."""
