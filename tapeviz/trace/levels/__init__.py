"""Functions, loop turns and layers that each op ran in."""
