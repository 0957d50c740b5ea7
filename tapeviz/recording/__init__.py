"""A snippet or a ``.tape`` file → its recording: the trace, and answers to questions about it."""
