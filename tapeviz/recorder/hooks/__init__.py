"""Patches of TensorFlow and of the snippet while it runs; each writes rows of the log."""
