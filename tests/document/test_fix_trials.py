"""What was found out about a diagnosis is kept, when the same run is diagnosed again."""

from __future__ import annotations

from dataclasses import replace

from tapeviz.analysis.findings import Fix
from tapeviz.analysis.model import EMPTY_DIAGNOSIS, ExplainedError
from tapeviz.document.fix_trials import with_fixes_of


def test_fixes_of_errors_stay_with_their_errors_and_no_error_is_lost() -> None:
    fix = Fix("Cast it", "", "y", None)
    first = ExplainedError("ValueError", "a", 3, "", (fix,))
    second = ExplainedError("TypeError", "b", 9, "")
    again = replace(EMPTY_DIAGNOSIS, errors=(replace(first, fixes=()), second))
    kept = with_fixes_of(replace(EMPTY_DIAGNOSIS, errors=(first,)), again)
    assert kept.errors == (first, second)
