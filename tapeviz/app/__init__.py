"""The window, its actions and its settings. Nothing imports this room."""
