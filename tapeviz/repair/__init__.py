"""Repair pasted text, line for line, so that Python can read it, and list the repairs."""

from .blocks import block_starts
from .imports import missing_imports
from .page import Repair, Repaired, Skipped, SyntaxProblem
from .repairing import PASSES, repair

__all__ = [
    "PASSES",
    "Repair",
    "Repaired",
    "Skipped",
    "SyntaxProblem",
    "block_starts",
    "missing_imports",
    "repair",
]
