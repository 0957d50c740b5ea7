"""Fixes for sources, tapes and functions: what is watched, used and asked for, and where."""
