"""Make a page and an answer that hold all of a run that others should understand."""
