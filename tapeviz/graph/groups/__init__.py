"""Groups of ops by function, loop, layer and repeat: found, chosen to be open, and folded."""
