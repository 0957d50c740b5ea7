"""Calls of compiled functions: their traces, their inside, and what is known of its values."""
