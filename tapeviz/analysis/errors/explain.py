"""Explain the exception that ended a snippet, in at most three plain sentences."""

from __future__ import annotations

import re

from ...text.source import SourceText
from ...trace.model import Trace
from .case import Case
from .raised_inside import reached_words
from .table import EXPLANATIONS


def explain_error(trace: Trace) -> str:
    """Say what happened, why, and what to do; empty if the exception's own words must do."""
    failure = trace.failure
    if failure is None:
        return ""
    said = f"{failure.type}: {failure.message}"
    text = SourceText(trace.source)
    for pattern, explain in EXPLANATIONS:
        match = re.search(pattern, said, re.IGNORECASE | re.DOTALL)
        if match is None:
            continue
        case = Case(trace, failure, text, match)
        if isinstance(explain, str):
            words = explain.format(*(group or "" for group in match.groups()), line=case.line)
        else:
            words = explain(case)
        if words:
            return " ".join(filter(None, (words, reached_words(trace))))
    return reached_words(trace)
