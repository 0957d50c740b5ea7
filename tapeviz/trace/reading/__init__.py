"""Parts of the reader: each follows one kind of thing through the events."""
