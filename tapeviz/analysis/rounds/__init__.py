"""Gradient calls that repeat: call sites, what differs from round to round, and over time."""
