"""Where values went and gradients come back: ops, state, Python, loops, compiled calls."""
