"""The snippet's text: its statements, what they bind, read and call, and the words for an op."""
