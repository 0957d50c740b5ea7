"""Write a diagnosed trace as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import fill
from types import MappingProxyType

import numpy as np

from ..analysis.alike import (
    MOST_NAMED,
    alike_errors,
    alike_series,
    same_error_words,
    same_words,
    shared_title,
)
from ..analysis.backward.turn_values import turn_values
from ..analysis.findings import Finding, Fix
from ..analysis.inside_words import call_words, runs_words, site_words, words_about_values
from ..analysis.model import CallDiagnosis, Diagnosis, Warned
from ..analysis.rounds.call_sites import CallSite
from ..analysis.rounds.over_time import trend_sentences
from ..analysis.rounds.round_words import (
    numbers_words,
    odd_rounds_words,
    path_words,
    series_words,
    troubled_rounds,
)
from ..analysis.run_words import (
    NO_CODE,
    bridge_heading,
    ended_well,
    fix_words,
    number_in_a_line,
    plain_message,
    ran_no_code,
    repair_words,
    trust_words,
)
from ..analysis.status import BOTH, word_of
from ..analysis.unasked import unasked_words
from ..analysis.warned_words import warned_about
from ..recording.shares import ShareTable
from ..trace.ids import CallId, TensorId
from ..trace.model import Trace
from ..trace.stats import Array
from .share_text import share_lines

_LONG = {"Inf": "infinite", BOTH: "NaN or infinite"}
MOST_LISTED = 6
"""Numbers across a cut, or of a fix, that are listed for sources with one story."""
_MOST_LINES = 10


def long_word(finding: Finding) -> str:
    """``flows``, ``None``, ``zero``, ``NaN``, ``infinite`` or ``NaN or infinite``."""
    word = word_of(finding)
    return _LONG.get(word, word)


def _place(diagnosis: Diagnosis, warning: Warned) -> str:
    """``, line 9 (∂loss / ∂w · line 8, in round 3 only)``."""
    about = warned_about(diagnosis, warning)
    return (f", line {warning.line}" if warning.line else "") + (f" ({about})" if about else "")


def as_text(
    trace: Trace,
    diagnosis: Diagnosis,
    repairs: Iterable[tuple[int, str]] = (),
    shares: Mapping[CallId, ShareTable] = MappingProxyType({}),
    number: int | None = None,
) -> str:
    """Repairs, a paragraph for each gradient, and the error that ended the snippet.

    A call site with several rounds has a line for each source, and the round in which something
    went wrong first; ``number``: also all of that round (from 1).
    """
    mended = repair_words(repairs)
    blocks = ["\n".join(fill(words, 88, subsequent_indent="  ") for words in mended)]
    blocks += [
        fill(f"warning{_place(diagnosis, warning)}: {warning.message}", 88, subsequent_indent="  ")
        for warning in diagnosis.warnings
    ]
    for site in diagnosis.rounds.sites:
        if len(site) > 1:
            blocks.append("\n".join(site_lines(trace, diagnosis, site)))
        shown = number if len(site) > 1 else 1
        if shown is not None and shown <= len(site):
            call = diagnosis.calls[site.places[shown - 1]]
            heading = f"Round {shown:,} of {len(site):,}, line {site.line}" if len(site) > 1 else ""
            blocks += [heading, "\n".join(_call(trace, call))]
            if call.call.id in shares:
                blocks.append("\n".join(share_lines(shares[call.call.id])))
    if number is None and any(len(site) > 1 for site in diagnosis.rounds.sites):
        blocks.append("(--round N shows one round in full)")
    for errors in alike_errors(diagnosis):
        error = errors[0]
        where = f"line {error.line}: " if error.line else ""
        blocks.append(f"{where}{error.type}: {plain_message(error.message)}")
        blocks.append(_wrapped(error.explanation))
        blocks.append(_wrapped(same_error_words(errors)))
        blocks.append(error.command and f"  $ {error.command}")
        blocks += ["\n".join(_fix(trace, fix)) for each in errors for fix in each.fixes]
    if not diagnosis.errors and not ended_well(trace):
        blocks.append(_unfinished(trace))
    elif ran_no_code(trace):
        blocks.append(NO_CODE)
    elif not trace.calls and not diagnosis.errors:
        blocks.append(_wrapped(unasked_words(trace.source)))
    return "\n\n".join(block for block in blocks if block)


def _unfinished(trace: Trace) -> str:
    ending = trace.ending
    if ending.how == "exit":
        return f"the snippet left early: sys.exit({ending.detail})"
    if ending.how == "interrupted" and ending.detail.startswith("line "):
        return f"the snippet was interrupted at {ending.detail}"
    return f"the snippet did not finish: {ending.detail or ending.how}"


def _call(trace: Trace, diagnosed: CallDiagnosis) -> Iterator[str]:
    call = diagnosed.call
    parts = [*([f"line {call.line}"] if call.line else []), *runs_words(trace, call)]
    where = f"   ({', '.join(parts)})" if parts else ""
    for places in diagnosed.alike:
        group = [diagnosed.findings[place] for place in places]
        finding = group[0]
        title = shared_title(finding.target, [each.source for each in group])
        yield f"{title}: {long_word(finding)}{where}"
        tensors = [each.tensor for each in group]
        if len(group) > MOST_NAMED or any(tensor is not None for tensor in tensors):
            yield from _numbers(trace, group, tensors)
        if finding.status != "flows":
            yield from _trouble(trace, group)
    words = words_about_values(trace, diagnosed.call)
    if words:
        yield _wrapped(words)


def turn_lines(trace: Trace, turn: int) -> Iterator[str]:
    """Lines about the values that names in compiled loops held in a turn (from 1)."""
    found = [loop for loop in turn_values(trace, turn) if loop.values]
    if not found:
        yield f"No compiled loop has values of a turn {turn}."
    for loop in found:
        where = f"turn {turn:,} of {loop.count:,} of the loop on line {loop.line}"
        yield f"{where}, {call_words(trace, loop.call)}:"
        for name, line, tensor in loop.values:
            where = "as the turn begins" if tensor in loop.begun else f"line {line}"
            yield f"    {name} = {number_in_a_line(trace, tensor)}   ({where})"


def site_lines(trace: Trace, diagnosis: Diagnosis, site: CallSite) -> Iterator[str]:
    """A line for each source of a call site, and below it what went wrong, as in the first round
    in which it did."""
    heads = [f"∂{source.target} / ∂{source.source}: " for source in site.sources]
    stories = [series_words(diagnosis, site, series) for series in site.sources]
    width = min(max(len(head + words) for head, words in zip(heads, stories, strict=True)), 60)
    values = path_words(site.target_values)
    about = [
        f"line {site.line}",
        f"{len(site)} rounds",
        *site_words(trace, diagnosis, site),
        f"{site.target} {values}" if values else "",
    ]
    yield ", ".join(part for part in (*about, odd_rounds_words(site)) if part)
    words = dict(zip(site.sources, zip(heads, stories, strict=True), strict=True))
    for group in alike_series(diagnosis, site):
        for series in group:
            yield f"{''.join(words[series]).ljust(width)}   {numbers_words(series)}".rstrip()
        troubled = list(troubled_rounds(diagnosis, site, group[0]))
        for number, finding in troubled:
            if len(troubled) > 1 or len(group[0].rounds_with(finding.status)) < len(site):
                yield f"  In round {number:,}:"
            findings = diagnosis.round(site, number).findings
            yield from _trouble(trace, [findings[series.place] for series in group])
    yield from map(_wrapped, trend_sentences(trace, diagnosis, site, site.sources))


def _trouble(trace: Trace, group: Sequence[Finding]) -> Iterator[str]:
    """The words that the findings of a group share, then the numbers of each."""
    finding = group[0]
    yield _wrapped(" ".join(filter(None, (finding.message, finding.further))))
    cause = finding.cause
    if cause is not None and cause.code:
        yield f"    line {cause.line}: {cause.code}"
    if len(group) > 1:
        yield _wrapped(same_words([each.source for each in group]))
    yield from _bridge(trace, group)
    for place, fix in enumerate(finding.fixes):
        yield from _fix(trace, fix, group, [each.fixes[place].value for each in group])
    if finding.not_tried:
        yield _wrapped(f"Fixes were {finding.not_tried}.")


def _bridge(trace: Trace, group: Sequence[Finding]) -> Iterator[str]:
    """The gradient across the cut and how far to trust it, or else why there is none."""
    finding = group[0]
    if finding.across is None:
        if finding.no_bridge:
            yield _wrapped(f"No gradient across the cut: {finding.no_bridge}.")
        return
    yield f"  {bridge_heading(finding)}"
    yield from _numbers(trace, group, [each.across for each in group], MOST_LISTED)
    worst = max(group, key=lambda each: (each.check.error or 0.0) if each.check else -1.0)
    if words := trust_words(worst):
        yield _wrapped(f"({words})")


def _fix(
    trace: Trace, fix: Fix, group: Sequence[Finding] = (), values: Sequence[Array | None] = ()
) -> Iterator[str]:
    yield f"  Tried, and it works: {fix.title}"
    yield _indented(fix.diff)
    if any(value is not None for value in values):
        yield f"  It gives {fix_words(fix)}".rstrip()
        yield from _numbers(trace, group, values, MOST_LISTED)


def _numbers(
    trace: Trace,
    group: Sequence[Finding],
    values: Sequence[TensorId | Array | None],
    most: int | None = None,
) -> Iterator[str]:
    """The number of a single finding, or a line for each of several, at most ``most``."""
    if len(group) == 1:
        value = values[0]
        if value is not None:
            yield _indented(_number(trace, value))
        return
    if all(value is None for value in values):
        yield fill(
            ", ".join(finding.source for finding in group),
            88,
            initial_indent="    ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
        return
    shown = list(zip(group, values, strict=True))[:most]
    width = max(len(finding.source) for finding, _ in shown)
    for finding, value in shown:
        number = "" if value is None else number_in_a_line(trace, value)
        yield f"    {finding.source.ljust(width)}  {number}".rstrip()
    if len(shown) < len(group):
        yield f"    … and {len(group) - len(shown)} more"


def _number(trace: Trace, number: TensorId | Array) -> str:
    if isinstance(number, np.ndarray):
        return _printed(trace, number)
    tensor = trace.fetched.get(number, number)
    value = trace.value(tensor)
    if value is not None:
        return _printed(trace, value)
    known, stats = trace.tensors.get(tensor), trace.stats(tensor)
    if known is None or stats is None:
        return "(a tensor of a graph: no value of it is known)"
    found = {"min": stats.min, "max": stats.max}
    numbers = [f"{name} {value:g}" for name, value in found.items() if value is not None]
    if not stats.has_range:
        numbers = [stats.norm_words]
    return ", ".join([f"{known.dtype} {list(known.shape or ())}", *numbers])


def _printed(trace: Trace, value: Array) -> str:
    """All elements if they are at most 50 in 10 lines, else the first and last of each dimension,
    or of an array for which that takes more lines the shape, the norm and the range."""
    for threshold in (50, 0):
        text = np.array2string(value, threshold=threshold, edgeitems=3)
        if text.count("\n") < _MOST_LINES:
            return text
    finite = value[np.isfinite(value)] if value.dtype.kind == "f" else value[:0]
    ends = f", between {finite.min():.4g} and {finite.max():.4g}" if finite.size else ""
    return f"{number_in_a_line(trace, value)}{ends}"


def _indented(text: str) -> str:
    lines = text.split("\n")  # a form feed stays in its line of the snippet
    return "\n".join(f"    {line}" for line in lines)


def _wrapped(text: str) -> str:
    return fill(text, 88, initial_indent="  ", subsequent_indent="  ") if text else ""
