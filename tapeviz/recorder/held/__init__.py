"""The frame that raised an exception, and the values of the names and expressions in it."""
