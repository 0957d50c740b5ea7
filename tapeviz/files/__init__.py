"""Files that tapeviz reads and writes: the user's texts, and the data that comes with tapeviz."""
