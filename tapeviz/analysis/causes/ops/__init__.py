"""Causes of None: an op that passes no gradient on."""
