"""Where each node goes: an op graph and box sizes in, positions and edge routes out."""
