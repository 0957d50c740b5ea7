"""Calls of compiled functions in a document: their insides, and the one that is shown."""
