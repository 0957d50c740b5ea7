"""Judge a gradient: find its causes, and of the cuts on the paths to it the one to name first."""
