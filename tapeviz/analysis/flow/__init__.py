"""Follow values forward and gradients back: ops, state, Python, loops, compiled calls."""
