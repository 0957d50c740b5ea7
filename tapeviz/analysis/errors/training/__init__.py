"""Exceptions of Keras models, optimizers, datasets and files."""
