"""The exception that ended a snippet, explained: one module for each kind of exception."""
