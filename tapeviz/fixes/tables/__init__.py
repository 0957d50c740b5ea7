"""The tables of fixes: by what came back for a source, and for errors."""
