"""Say in TensorFlow what a text computes with NumPy and Python."""
