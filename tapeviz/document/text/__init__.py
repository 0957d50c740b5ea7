"""The text of a document: its repair, and the parts of it that run alone."""
