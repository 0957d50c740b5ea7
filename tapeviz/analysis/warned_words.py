"""Say of which gradients a warning speaks."""

from __future__ import annotations

from .alike import shared_title
from .model import Diagnosis, Warned
from .rounds.round_words import rounds_words


def warned_title(diagnosis: Diagnosis, warned: Warned) -> str:
    """The gradients of the first call that a warning is about: ``∂loss / ∂w, ∂b``. Without sources
    the call: ``gradient() on line 8``; empty for a warning about the whole recording."""
    call = diagnosis.call(warned.calls[0]) if warned.calls else None
    if call is None:
        return ""
    sources = list(dict.fromkeys(finding.source for finding in call.findings))
    if not sources:
        return f"{call.call.method}() on line {call.call.line}"
    return shared_title(call.findings[0].target, sources)


def warned_where(diagnosis: Diagnosis, warned: Warned) -> str:
    """The line, the rounds and the number of other calls that a warning is about: ``line 8, in
    round 3 only``, ``line 8 · and in 2 other calls``; empty where there is no other call."""
    call = diagnosis.call(warned.calls[0]) if warned.calls else None
    if call is None or len(diagnosis.calls) == 1:
        return ""
    site = diagnosis.site_of(call)
    numbers = [number for each in warned.calls if site and (number := site.round_of(each))]
    when = rounds_words(sorted(numbers), len(site)) if site is not None else ""
    when += " rounds" if site is not None and len(numbers) == len(site) else ""
    others = len(warned.calls) - max(len(numbers), 1)
    parts = [
        ", ".join(filter(None, (f"line {call.call.line}" if call.call.line else "", when))),
        f"and in {others} other call{'s' if others > 1 else ''}" if others else "",
    ]
    return " · ".join(filter(None, parts))


def warned_about(diagnosis: Diagnosis, warned: Warned) -> str:
    """Both in a line: ``∂loss / ∂w · line 8, in round 3 only``; empty where there is one call."""
    where = warned_where(diagnosis, warned)
    return " · ".join(filter(None, (warned_title(diagnosis, warned), where))) if where else ""
