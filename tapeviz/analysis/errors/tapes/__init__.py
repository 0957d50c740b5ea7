"""Exceptions of tapes, accumulators and custom gradients."""
