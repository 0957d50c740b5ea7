"""The processes that run snippets, and what keeps the window's own process sound."""
