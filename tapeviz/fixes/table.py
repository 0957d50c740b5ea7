"""Which edits are tried for which cause: the table of fixes, joined from those in ``tables/``."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

from ..analysis.findings import Evidence
from .model import Edit, FixCase, FixFunction
from .tables.none import FIXES_FOR_NONE
from .tables.zeros import FIXES_FOR_ZEROS

_log = logging.getLogger(__name__)

FIXES: Mapping[type[Evidence], tuple[FixFunction, ...]] = {**FIXES_FOR_NONE, **FIXES_FOR_ZEROS}


def edits_for(case: FixCase) -> Iterator[Edit]:
    """The edits that may mend a finding; nothing about them is sure before they were tried."""
    for fix in FIXES.get(type(case.cause.evidence), ()):
        try:
            yield from fix(case)
        except Exception:  # an odd text must cost a fix, not the diagnosis
            _log.exception("the fix %r failed", fix)
