"""Write a comparison as lines for a terminal or as a JSON object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .. import __version__
from ..analysis.comparing import Asked, Comparison, GradientPair
from ..analysis.run_words import ended_well, plain_message
from ..text.source import SourceText
from ..trace.ids import OpId
from ..trace.model import Trace
from .inputs import Explained
from .report import elements_of_small
from .text import long_word

Named = tuple[str, Explained]
_OUTCOMES = {
    "same": "the same",
    "rounding": "the same, but for rounding",
    "differs": "differs",
    "removed": "asked for in the first only",
    "added": "asked for in the second only",
}
_MOST_OPS = 40


def as_text(before: Named, after: Named, comparison: Comparison) -> str:
    """Each gradient of both runs, then the ops that only one of them ran."""
    blocks = [f"--- {before[0]}\n+++ {after[0]}"]
    for _, explained in (before, after):
        blocks += _ending(explained)
    blocks += ["\n".join(_gradient(pair)) for pair in comparison.gradients]
    if not comparison.gradients:
        blocks.append("No gradient was asked for.")
    first, second = before[1].trace, after[1].trace
    blocks.append("\n".join(_ops("-", first, comparison.removed)))
    blocks.append("\n".join(_ops("+", second, comparison.added)))
    blocks.append("\n".join(_turned(first, second, comparison)))
    if not (comparison.removed or comparison.added or comparison.turned):
        blocks.append("The same ops ran.")
    return "\n\n".join(block for block in blocks if block)


def _ending(explained: Explained) -> Iterator[str]:
    trace = explained.trace
    if not ended_well(trace):
        failure = trace.failure
        what = f"{failure.type}: {plain_message(failure.message)}" if failure else trace.ending.how
        where = f", line {failure.line}" if failure and failure.line else ""
        yield f"{trace.filename}{where}: {what}"


def _gradient(pair: GradientPair) -> Iterator[str]:
    known = pair.after or pair.before
    if known is None:
        return
    finding = known.finding
    yield f"∂{finding.target} / ∂{finding.source}: {_OUTCOMES[pair.outcome]}"
    if pair.outcome == "same":
        yield f"    {_line(known)}"
        return
    for sign, asked in (("-", pair.before), ("+", pair.after)):
        if asked is not None:
            yield f"  {sign} {_line(asked)}"


def _line(asked: Asked) -> str:
    where = f"line {asked.line}: " if asked.line else ""
    finding = asked.finding
    words = [] if finding.status == "flows" and asked.value is not None else [long_word(finding)]
    if asked.value is not None:
        words.append(" ".join(np.array2string(asked.value, threshold=24, edgeitems=2).split()))
    if finding.cause is not None and finding.cause.line:
        words.append(f"cut at line {finding.cause.line} ({finding.cause.kind})")
    return where + ", ".join(words)


def _ops(sign: str, trace: Trace, ops: Iterable[OpId]) -> Iterator[str]:
    listed = list(ops)
    if listed:
        yield "Ops only before" if sign == "-" else "Ops only after"
    for op in listed[:_MOST_OPS]:
        yield f"  {sign} {_op(trace, op)}"
    if len(listed) > _MOST_OPS:
        yield f"  {sign} … and {len(listed) - _MOST_OPS:,} more"


def _op(trace: Trace, op: OpId) -> str:
    line = trace.ops[op].line
    where = f"line {line}: " if line else ""
    return f"{where}{trace.ops[op].type}   {SourceText(trace.source).code(line)}".rstrip()


def _turned(first: Trace, second: Trace, comparison: Comparison) -> Iterator[str]:
    for words, is_now in (("Recorded by a tape only after", True), ("… only before", False)):
        listed = [pair for pair in comparison.turned if bool(second.ops[pair[1]].tapes) == is_now]
        if listed:
            yield words if is_now else "Recorded by a tape only before"
        for op, other in listed[:_MOST_OPS]:
            yield f"  {_op(second, other) if is_now else _op(first, op)}"


def as_json(before: Named, after: Named, comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON values; ``before`` and ``after`` are null where there is none."""
    first, second = before[1].trace, after[1].trace
    return {
        "tapeviz": __version__,
        "before": _about(before),
        "after": _about(after),
        "same": comparison.has_same_gradients,
        "gradients": [
            {"outcome": pair.outcome, "before": _asked(pair.before), "after": _asked(pair.after)}
            for pair in comparison.gradients
        ],
        "ops": {
            "same": len(comparison.pairs),
            "removed": [_op_record(first, op) for op in comparison.removed],
            "added": [_op_record(second, op) for op in comparison.added],
            "turned": [
                {"before": _op_record(first, op), "after": _op_record(second, other)}
                for op, other in comparison.turned
            ],
        },
    }


def _about(named: Named) -> dict[str, Any]:
    name, explained = named
    failure = explained.trace.failure
    error = None
    if failure is not None:
        error = {"type": failure.type, "message": failure.message, "line": failure.line or None}
    elif not ended_well(explained.trace):
        ending = explained.trace.ending
        error = {"type": ending.how, "message": ending.detail, "line": None}
    return {"file": name, "error": error}


def _asked(asked: Asked | None) -> dict[str, Any] | None:
    if asked is None:
        return None
    finding = asked.finding
    return {
        "method": asked.call.call.method,
        "line": asked.line,
        "target": finding.target,
        "source": finding.source,
        "status": finding.status,
        "dtype": finding.dtype,
        "shape": list(finding.shape) if finding.shape is not None else None,
        "value": elements_of_small(asked.value),
    }


def _op_record(trace: Trace, op: OpId) -> dict[str, Any]:
    known = trace.ops[op]
    return {
        "type": known.type,
        "line": known.line,
        "code": SourceText(trace.source).code(known.line),
        "recorded": bool(known.tapes),
    }
