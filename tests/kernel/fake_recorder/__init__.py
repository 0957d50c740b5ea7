"""A recorder that only runs a snippet and reports what it is told to."""

from .running import answer, deliver, hiding_above, run

__all__ = ["answer", "deliver", "hiding_above", "run"]
