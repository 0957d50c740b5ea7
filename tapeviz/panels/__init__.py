"""The docks, one file each: the document in, what a user reads and clicks out."""
