"""Questions about a finished run: gradients across its cuts, checks of them, and second runs."""
