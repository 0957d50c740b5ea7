"""Say what happened to a gradient over its rounds: ``NaN from round 137 on (line 8, sqrt)``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..causes.values.nonfinite import Nonfinite
from ..findings import Cause, Finding, Status
from ..model import Diagnosis
from ..status import STATUS_WORDS, round_word
from .call_sites import CallSite, Numbers, SourceSeries

_FEW = 4
"""Rounds that are named one by one."""


def series_words(diagnosis: Diagnosis, site: CallSite, series: SourceSeries) -> str:
    """The outcomes of one source over all rounds: ``flows in all 200``, ``None in round 30 only
    (another shape)``, ``zero in rounds 1–3, NaN from round 137 on (line 8, sqrt)``."""
    total = len(site)
    found = _by_word(series)
    if len(found) == 1 and len(found[0][2]) == total:
        return f"{found[0][1]} in all {total:,}"
    parts = [
        f"{word} {rounds_words(numbers, total)}{_reason(diagnosis, site, series, status, numbers)}"
        for status, word, numbers in found
        if status != "flows"
    ]
    if not parts:
        parts = [f"flows {rounds_words(series.rounds_with('flows'), total)}"]
    return ", ".join(parts)


def _by_word(series: SourceSeries) -> list[tuple[Status, str, list[int]]]:
    """(status, word, numbers of its rounds), NaN and infinity apart."""
    found: dict[tuple[Status, str], list[int]] = {}
    for status in STATUS_WORDS:
        for number in series.rounds_with(status):
            found.setdefault((status, round_word(series, number)), []).append(number)
    return [(status, word, numbers) for (status, word), numbers in found.items()]


def rounds_words(numbers: Sequence[int], total: int) -> str:
    """The rounds in words: ``in all 200``, ``in round 30 only``, ``from round 137 on``,
    ``in rounds 3, 7 and 12``, ``in 14 of 200 rounds, first in round 3``."""
    if len(numbers) == total:
        return f"in all {total:,}"
    if len(numbers) == 1:
        return f"in round {numbers[0]:,} only"
    first, last = numbers[0], numbers[-1]
    if last - first + 1 == len(numbers):
        return f"from round {first:,} on" if last == total else f"in rounds {first:,}–{last:,}"
    if len(numbers) <= _FEW:
        return f"in rounds {', '.join(f'{number:,}' for number in numbers[:-1])} and {last:,}"
    return f"in {len(numbers):,} of {total:,} rounds, first in round {first:,}"


def _reason(
    diagnosis: Diagnosis,
    site: CallSite,
    series: SourceSeries,
    status: Status,
    numbers: Sequence[int],
) -> str:
    """The line that spoils a gradient which mostly flows, or the other shape of those rounds."""
    if set(numbers) <= set(site.odd_shapes):
        return " (another shape)"
    first, last = (
        diagnosis.round(site, n).findings[series.place] for n in (numbers[0], numbers[-1])
    )
    place = _place_words(first)
    if not place or (status == series.usual and status != "nonfinite"):
        return ""
    is_same = _place_words(last) == place or (
        last.cause is not None and _is_carried_over(last.cause)
    )
    return f" ({place})" if is_same else f" (first {place})"


def _place_words(finding: Finding) -> str:
    cause = finding.cause
    if cause is None:
        return ""
    words = [f"line {cause.line}"] if cause.line else []
    if finding.status == "nonfinite" and cause.op:
        value = cause.evidence.value if isinstance(cause.evidence, Nonfinite) else ""
        name = cause.op_words
        words.append(f"{name} of {number_text(float(value))}" if value else name)
    elif not words:
        words.append(cause.kind)
    return ", ".join(words)


def troubled_rounds(
    diagnosis: Diagnosis, site: CallSite, series: SourceSeries
) -> Iterator[tuple[int, Finding]]:
    """The first round of each status and cause of a gradient that does not flow, with its finding.

    Rounds after the first NaN are left out if an update only carried it into the variables.
    """
    known: set[object] = set()
    has_nan = False
    for number, status in enumerate(series.statuses, 1):
        if status not in ("flows", None):
            finding = diagnosis.round(site, number).findings[series.place]
            cause = finding.cause
            key = (status, cause.kind, cause.line) if cause is not None else (status,)
            if has_nan and cause is not None and _is_carried_over(cause):
                continue
            has_nan |= status == "nonfinite"
            if key not in known:
                known.add(key)
                yield number, finding


def _is_carried_over(cause: Cause) -> bool:
    return isinstance(cause.evidence, Nonfinite) and cause.evidence.is_from_variable


def numbers_words(series: SourceSeries) -> str:
    """First, last and range: ``norm 7.48 → 2.1e-05, at most 9.6 in round 3``."""
    if not series.shown[np.isfinite(series.shown)].any():
        return ""
    path = path_words(series.shown)
    return path if series.values.size or not path else f"norm {path}"


def path_words(numbers: Numbers) -> str:
    """``7.48 → 2.1e-05``, and the least and the most where they lie outside of these two."""
    known = np.flatnonzero(np.isfinite(numbers))
    if not known.size:
        return ""
    first, last = numbers[known[0]], numbers[known[-1]]
    if known.size == 1:
        return number_text(first)
    words = [f"{number_text(first)} → {number_text(last)}"]
    least, most = int(np.nanargmin(numbers)), int(np.nanargmax(numbers))
    if _is_beyond(first, last, numbers[least]):
        words.append(f"lowest {number_text(numbers[least])} in round {least + 1}")
    if _is_beyond(first, last, numbers[most]):
        words.append(f"highest {number_text(numbers[most])} in round {most + 1}")
    return ", ".join(words)


def _is_beyond(first: float, last: float, extreme: float) -> bool:
    """Whether a number lies clearly outside of the two: by a factor of two or, where signs differ,
    by half of their distance."""
    low, high = min(first, last), max(first, last)
    if low > 0 and extreme > 0:
        return bool(extreme < low / 2 or extreme > high * 2)
    slack = max(high - low, abs(low), abs(high)) / 2
    return bool(extreme < low - slack or extreme > high + slack)


def number_text(number: float) -> str:
    """Three digits: ``0.0413``, ``2.1e-05``, ``-3.2``."""
    return "0" if number == 0 else f"{number:.3g}"


def odd_rounds_words(site: CallSite) -> str:
    """``another shape in round 30 only``; empty where all rounds are alike."""
    odd = site.odd_shapes
    return f"another shape {rounds_words(odd, len(site))}" if odd else ""
