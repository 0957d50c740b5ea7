"""A recorder of two functions: it runs a snippet and reports what it is told to."""

from .running import answer, deliver, run

__all__ = ["answer", "deliver", "run"]
