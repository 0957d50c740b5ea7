"""A run that others should understand in, a page and an answer that hold all of it out."""
