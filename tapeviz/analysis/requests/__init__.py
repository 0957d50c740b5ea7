"""Requests to the process of a run that is over: replay, check, inside."""
