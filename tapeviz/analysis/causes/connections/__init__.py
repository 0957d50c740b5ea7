"""Causes of None: no recorded op leads from the source to the target."""
