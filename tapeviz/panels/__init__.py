"""The docks, a file or folder each: widgets over the document."""
