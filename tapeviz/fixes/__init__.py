"""Find edits of the source that mend a gradient, each of them tried by a run."""

from __future__ import annotations

from .crossing import cross_cuts
from .judging import Outcome
from .table import FIXES
from .trying import try_fixes

__all__ = ["FIXES", "Outcome", "cross_cuts", "try_fixes"]
