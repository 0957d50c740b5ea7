"""Pasted text in, the same lines as Python can read them out, with a list of the repairs."""

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
