"""What Python and NumPy did between the ops: read from the text, guessed where unseen."""
