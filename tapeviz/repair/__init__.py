"""Repair pasted text, line for line, so that Python can read it, and list the repairs."""

from tapeviz.repair.blocks import block_starts
from tapeviz.repair.imports import missing_imports
from tapeviz.repair.page import Repair, Repaired, Skipped, SyntaxProblem
from tapeviz.repair.repairing import PASSES, repair

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
