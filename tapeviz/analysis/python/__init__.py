"""Links that Python and NumPy made between the ops: read from the text, guessed where unseen."""
