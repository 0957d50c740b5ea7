"""Exceptions that plain Python raises too: names, calls, modules, asserts."""
