"""The docks, a file or folder each: the document in, widgets out."""
