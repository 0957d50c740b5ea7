"""Causes of None: a tape did not record, did not watch, or was asked for another source."""
