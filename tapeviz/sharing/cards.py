"""List the words, numbers and diffs of a diagnosis's cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np

from ..analysis.alike import (
    SourceResult,
    alike_errors,
    alike_results,
    reported_in_order,
    same_error_words,
    same_words,
    shared_title,
)
from ..analysis.findings import Finding, Fix
from ..analysis.model import CallDiagnosis, Diagnosis, Warned
from ..analysis.rounds.call_sites import CallSite
from ..analysis.rounds.over_time import trend_sentences
from ..analysis.rounds.round_words import numbers_words, series_words
from ..analysis.run_words import (
    bridge_heading,
    fix_words,
    plain_message,
    result_in_a_line,
    trust_words,
)
from ..analysis.status import word_of
from ..analysis.warned_words import warned_about
from ..export.shared_page import PageCard, PageFix, PageTable
from ..graph.words import shape_words
from ..scene.parts.numbers import rounded_text, scalar_text, type_text
from ..text.diffs import diff_lines
from ..trace.ids import TensorId
from ..trace.model import Trace
from ..trace.stats import Array

MOST_CARDS = 40
MOST_ROWS, MOST_COLUMNS = 8, 6
_NORM = "norm "
_LONG_NUMBER = 7
"""Characters above which a number in a table is rounded to four digits."""
_MOST_ACROSS, _BETWEEN = 36, 2
"""Characters of a row of numbers, at most, and those that stand for the space between two."""


def cards(trace: Trace, diagnosis: Diagnosis) -> tuple[PageCard, ...]:
    """A card for errors that are alike, for each gradient that was asked for (of a call site for
    the most telling round), and for each warning, trouble first; the first :data:`MOST_CARDS`."""
    made: list[PageCard] = []
    for errors in alike_errors(diagnosis):
        error = errors[0]
        raised = f"{error.type}: {plain_message(error.message)[:600]}"
        words = (error.explanation, raised, same_error_words(errors))
        fixes = tuple(_fix(fix) for each in errors for fix in each.fixes)
        title = error.type
        made.append(
            PageCard(title, "error", "error", tuple(filter(None, words)), error.line, (), fixes)
        )
    for reported in reported_in_order(diagnosis):
        if isinstance(reported, Warned):
            parts = tuple(filter(None, (warned_about(diagnosis, reported), reported.message)))
            made.append(PageCard("", "warning", "", parts, reported.line))
        else:
            made += group_cards(trace, diagnosis, reported)
    return tuple(made[:MOST_CARDS])


def group_cards(
    trace: Trace, diagnosis: Diagnosis, group: CallSite | CallDiagnosis
) -> Iterator[PageCard]:
    """A card for each gradient of a call or call site, trouble first; sources that fared alike
    share one."""
    for alike in alike_results(diagnosis, group):
        card = _result_card(trace, diagnosis, alike[0])
        yield card if len(alike) == 1 else _shared_card(trace, card, alike)


def _shared_card(trace: Trace, card: PageCard, alike: Sequence[SourceResult]) -> PageCard:
    """The card of the first of several sources that fared alike, worded for all of them."""
    first = alike[0].finding
    numbers = [result_in_a_line(trace, each) for each in alike[:MOST_ROWS]]
    heading = "Gradients" if any(numbers) else "Sources"
    if all(words.startswith(_NORM) for words in numbers):
        numbers = [words.removeprefix(_NORM) for words in numbers]
        heading = "Norms of the gradients"
    if first.across is not None:
        series = alike[0].series
        heading = bridge_heading(first, series.telling if series is not None else 0)
    more = len(alike) - MOST_ROWS
    note = f"and {more} more" if more > 0 else ""
    names = [each.finding.source for each in alike]
    rows = [tuple(filter(None, row)) for row in zip(names, numbers, strict=False)]
    same = () if first.status == "flows" else (same_words(names),)
    return replace(
        card,
        title=shared_title(first.target, names),
        words=(*card.words, *same),
        tables=(PageTable(heading, tuple(rows), note, has_names=True),),
        fixes=tuple(replace(fix, value="") for fix in card.fixes),
    )


def _result_card(trace: Trace, diagnosis: Diagnosis, result: SourceResult) -> PageCard:
    """The card of one gradient; for a call site it begins with what happened over all rounds."""
    finding, call = result.finding, result.call.call
    words, number = [*filter(None, (finding.message, finding.further))], 0
    site = diagnosis.rounds.site_of(call.id)
    if result.series is not None and site is not None:
        outcomes = series_words(diagnosis, site, result.series)
        numbers = numbers_words(result.series)
        trends = trend_sentences(trace, diagnosis, site, [result.series])
        told = words if finding.status != "flows" else []
        words = [f"{outcomes[0].upper()}{outcomes[1:]}.", numbers, *trends, *told]
        number = site.round_of(call.id)
    if finding.not_tried:
        words.append(f"Fixes were {finding.not_tried}.")
    return PageCard(
        f"∂{finding.target} / ∂{finding.source}",
        finding.status,
        word_of(finding),
        tuple(filter(None, words)),
        finding.cause.line if finding.cause is not None else call.line,
        tuple(_tables(trace, finding, number)),
        tuple(_fix(fix, number) for fix in finding.fixes),
    )


def _tables(trace: Trace, finding: Finding, number: int) -> Iterator[PageTable]:
    """``number``: the round that the values are of, 0 for a call without rounds."""
    if finding.tensor is not None and trace.words.get(finding.tensor) != "unknown":
        kind = type_text(finding.dtype, finding.shape)
        of_round = f" · round {number:,}" if number else ""
        yield _table(f"Gradient · {kind}{of_round}", trace, finding.tensor)
    heading = bridge_heading(finding, number)
    if finding.bridged_value is not None:
        yield _number_table(heading, finding.bridged_value, trust_words(finding))
    elif finding.bridged is not None:
        yield _table(heading, trace, finding.bridged, trust_words(finding))


def _table(heading: str, trace: Trace, tensor: TensorId, note: str = "") -> PageTable:
    value = trace.value(tensor)
    if value is not None and value.size:
        return _number_table(heading, value, note)
    stats = trace.stats(tensor)
    numbers = ""
    if stats is not None and stats.norm is not None:
        known = ("min", stats.min), ("max", stats.max)
        range_words = [f"{name} {value:.4g}" for name, value in known if value is not None]
        numbers = " · ".join([stats.norm_words, *range_words])
    return PageTable(heading, (), " · ".join(filter(None, (numbers, note))))


def _number_table(heading: str, value: Array, note: str) -> PageTable:
    """The first rows and columns of an array, as many as a card has room for."""
    rows = _rows(value)
    rest = f"the first of {shape_words(value.shape)}" if value.size > sum(map(len, rows)) else ""
    return PageTable(heading, rows, " · ".join(filter(None, (rest, note))))


def _rows(value: Array) -> tuple[tuple[str, ...], ...]:
    table = value.reshape(-1, value.shape[-1]) if value.ndim > 1 else value.reshape(1, -1)
    texts = [[_cell(cell) for cell in row[:MOST_COLUMNS]] for row in table[:MOST_ROWS]]
    widths = [_BETWEEN + max(map(len, column)) for column in zip(*texts, strict=True)]
    count = sum(across <= _MOST_ACROSS for across in accumulate(widths))
    return tuple(tuple(row[: max(count, 1)]) for row in texts)


def _cell(value: Any) -> str:
    text = scalar_text(value)
    is_long = len(text) > _LONG_NUMBER and isinstance(value, np.floating)
    return f"{value:.4g}" if is_long else text


def _fix(fix: Fix, number: int = 0) -> PageFix:
    """``number``: the round that the result is of, 0 for a call without rounds."""
    value = fix.value
    text = ""
    if value is not None:
        text = rounded_text(value, 60) or type_text(str(value.dtype), value.shape)
        when = fix_words(fix, number)
        text += f" ({when})" if when else ""
    is_said = not fix.is_estimate or fix.title.startswith("Estimate")
    title = fix.title if is_said else f"{fix.title} (an estimate)"
    return PageFix(title, tuple(diff_lines(fix.diff)), text)
