"""Which edits are tried for which cause: the table of fixes, joined from those in ``tables/``."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

import libcst as cst

from ..analysis.findings import Evidence
from .model import Edit, FixCase, FixFunction
from .nodes import all_of
from .plan import Plan
from .tables.none import FIXES_FOR_NONE
from .tables.zeros import FIXES_FOR_ZEROS

_log = logging.getLogger(__name__)

FIXES: Mapping[type[Evidence], tuple[FixFunction, ...]] = {**FIXES_FOR_NONE, **FIXES_FOR_ZEROS}


def edits_for(case: FixCase) -> Iterator[Edit]:
    """The edits that may mend a finding; nothing about them is sure before they were tried."""
    for fix in (*FIXES.get(type(case.cause.evidence), ()), one_statement_a_line):
        try:
            yield from fix(case)
        except Exception:  # an odd text must cost a fix, not the diagnosis
            _log.exception("the fix %r failed", fix)


def one_statement_a_line(case: FixCase) -> Iterator[Edit]:
    """``if c: a; b`` → lines of their own, where the gradient is cut on such a line: in that text
    other edits find room beside each statement."""
    source, plan = case.source, Plan(case.source)
    suites = all_of(source.module, cst.SimpleStatementSuite)
    lines = [x for x in all_of(source.module, cst.SimpleStatementLine) if len(x.body) > 1]
    for shared in (*suites, *lines):
        if source.covers(shared, case.cause.line):
            plan.split(shared)
    yield from plan.edits("One statement a line", is_last=True)
