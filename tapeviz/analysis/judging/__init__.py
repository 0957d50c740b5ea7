"""Judge a gradient: find its causes, and of the cuts on the ways to it the one to name first."""
