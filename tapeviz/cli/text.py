"""A trace and its diagnosis in, the lines a person reads in a terminal out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import fill
from types import MappingProxyType

import numpy as np

from ..analysis.inside_words import words_about_values
from ..analysis.model import CallDiagnosis, Diagnosis, Finding, Fix
from ..analysis.rounds.call_sites import CallSite
from ..analysis.rounds.round_words import (
    numbers_words,
    odd_rounds_words,
    path_words,
    series_words,
    troubled_rounds,
)
from ..report import bridge_heading, check_words, ended_well, ran_words
from ..shares import ShareTable
from ..trace.model import Array, CallId, TensorId, Trace
from .share_text import share_lines

_WORDS = {"flows": "flows", "none": "None", "zero": "zero", "nonfinite": "NaN or infinite"}


def as_text(
    trace: Trace,
    diagnosis: Diagnosis,
    repairs: Iterable[tuple[int, str]] = (),
    shares: Mapping[CallId, ShareTable] = MappingProxyType({}),
    number: int | None = None,
) -> str:
    """Repairs, a paragraph for each gradient, and the error that ended the snippet.

    Of a call site with several rounds: a line for each source, and what went wrong where it first
    did; ``number``: also all of that round (from 1).
    """
    blocks = ["\n".join(_repairs(repairs))]
    blocks += [
        fill(f"warning, line {warning.line}: {warning.message}", 88, subsequent_indent="  ")
        for warning in diagnosis.warnings
    ]
    for site in diagnosis.rounds.sites:
        if len(site) > 1:
            blocks.append("\n".join(site_lines(trace, diagnosis, site)))
        shown = number if len(site) > 1 else 1
        if shown is not None and shown <= len(site):
            call = diagnosis.calls[site.places[shown - 1]]
            heading = f"Round {shown} of {len(site)}, line {site.line}" if len(site) > 1 else ""
            blocks += [heading, "\n".join(_call(trace, call))]
            if call.call.id in shares:
                blocks.append("\n".join(share_lines(shares[call.call.id])))
    if number is None and any(len(site) > 1 for site in diagnosis.rounds.sites):
        blocks.append("(--round N shows one round in full)")
    error = diagnosis.error
    if error is not None:
        where = f"line {error.line}: " if error.line else ""
        blocks.append(f"{where}{error.type}: {error.message}")
        blocks.append(_wrapped(error.explanation))
        blocks += ["\n".join(_fix(fix)) for fix in error.fixes]
    elif not ended_well(trace):
        blocks.append(_unfinished(trace))
    elif not diagnosis.calls:
        blocks.append("No gradient was asked for.")
    return "\n\n".join(block for block in blocks if block)


def _repairs(repairs: Iterable[tuple[int, str]]) -> Iterator[str]:
    """A line for each kind of repair, in the order of its first: ``lines 2, 5–9: …``."""
    places: dict[str, list[int]] = {}
    for line, what in repairs:
        places.setdefault(what, []).append(line)
    for what, lines in places.items():
        ranges = _ranges(sorted(set(lines)))
        word = "line" if len(lines) == 1 else "lines"
        yield fill(f"{word} {', '.join(ranges)}: {what}", 88, subsequent_indent="  ")


def _ranges(lines: Sequence[int]) -> list[str]:
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    return [str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs]


def _unfinished(trace: Trace) -> str:
    ending = trace.ending
    if ending.how == "exit":
        return f"the snippet left early: sys.exit({ending.detail})"
    if ending.how == "interrupted" and ending.detail.startswith("line "):
        return f"the snippet was interrupted at {ending.detail}"
    return f"the snippet did not finish: {ending.detail or ending.how}"


def _call(trace: Trace, diagnosed: CallDiagnosis) -> Iterator[str]:
    for finding in diagnosed.findings:
        where = _place(trace, diagnosed)
        yield f"∂{finding.target} / ∂{finding.source}: {_WORDS[finding.status]}{where}"
        if finding.tensor is not None:
            yield _indented(_number(trace, finding.tensor))
        if finding.status != "flows":
            yield from _trouble(trace, finding)
    words = words_about_values(trace, diagnosed.call)
    if words:
        yield _wrapped(words)


def site_lines(trace: Trace, diagnosis: Diagnosis, site: CallSite) -> Iterator[str]:
    """A line for each source of a call site, and below it what went wrong, told of the first round
    in which it did."""
    heads = [f"∂{source.target} / ∂{source.source}: " for source in site.sources]
    stories = [series_words(diagnosis, site, series) for series in site.sources]
    width = min(max(len(head + words) for head, words in zip(heads, stories, strict=True)), 60)
    loss = path_words(site.losses)
    about = [f"line {site.line}", f"{len(site)} rounds", f"loss {loss}" if loss else ""]
    yield ", ".join(part for part in (*about, odd_rounds_words(site)) if part)
    for series, head, words in zip(site.sources, heads, stories, strict=True):
        yield f"{(head + words).ljust(width)}   {numbers_words(series)}".rstrip()
        for number, finding in troubled_rounds(diagnosis, site, series):
            if len(series.rounds_with(finding.status)) < len(site):
                yield f"  In round {number}:"
            yield from _trouble(trace, finding)


def _place(trace: Trace, diagnosed: CallDiagnosis) -> str:
    call = diagnosed.call
    parts = [f"line {call.line}" if call.line else "", ran_words(trace, call)]
    return f"   ({'; '.join(filter(None, parts))})" if any(parts) else ""


def _trouble(trace: Trace, finding: Finding) -> Iterator[str]:
    yield _wrapped(finding.message)
    cause = finding.cause
    if cause is not None and cause.code:
        yield f"    line {cause.line}: {cause.code}"
    yield from _bridge(trace, finding)
    for fix in finding.fixes:
        yield from _fix(fix)
    if finding.not_tried:
        yield _wrapped(f"Fixes were {finding.not_tried}.")


def _bridge(trace: Trace, finding: Finding) -> Iterator[str]:
    """The gradient across the cut, and how far it can be trusted; else why there is none."""
    value = finding.bridged_value
    if value is None and finding.bridged is None:
        if finding.no_bridge:
            yield _wrapped(f"No gradient across the cut: {finding.no_bridge}.")
        return
    yield f"  {bridge_heading(finding)}"
    yield _indented(_printed(value) if value is not None else _number(trace, finding.bridged))  # type: ignore[arg-type]
    if finding.check is not None:
        yield _wrapped(f"({check_words(finding.check)})")


def _fix(fix: Fix) -> Iterator[str]:
    yield f"  Tried, and it works: {fix.title}"
    yield _indented(fix.diff)
    if fix.value is not None:
        yield "  It gives"
        yield _indented(_printed(fix.value))


def _number(trace: Trace, tensor: TensorId) -> str:
    tensor = trace.fetched.get(tensor, tensor)
    value = trace.value(tensor)
    if value is not None:
        return _printed(value)
    known, stats = trace.tensors.get(tensor), trace.stats(tensor)
    if known is None or stats is None:
        return "(a tensor of a graph: no value of it is known)"
    low, high = stats.min, stats.max
    return f"{known.dtype} {list(known.shape or ())}, min {low:g}, max {high:g}"


def _printed(value: Array) -> str:
    return np.array2string(value, threshold=50, edgeitems=3)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _wrapped(text: str) -> str:
    return fill(text, 88, initial_indent="  ", subsequent_indent="  ") if text else ""
