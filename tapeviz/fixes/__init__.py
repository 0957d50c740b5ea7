"""A diagnosis in, edits of the source that were run and mend it out."""

from __future__ import annotations

from .table import FIXES
from .trying import try_fixes

__all__ = ["FIXES", "try_fixes"]
