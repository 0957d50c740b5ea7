"""Write a diagnosed trace as the JSON object of ``explain --json`` (its names are fixed)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import dedent
from types import MappingProxyType
from typing import Any

import numpy as np

from . import __version__
from .analysis.alike import SourceResult
from .analysis.flow.turn_values import TurnValues, turn_values
from .analysis.inside_words import words_about_values
from .analysis.model import EMPTY_DIAGNOSIS, CallDiagnosis, Cause, Diagnosis, Finding, Fix
from .analysis.rounds.round_words import numbers_words
from .shares import ShareTable
from .text.source import holds_code
from .trace.model import EMPTY_TRACE, Array, Call, CallId, Check, TensorId, Trace

_TRACED = "in user code:\n"
_TRACED_FRAME = re.compile(
    r'\s*File ".*", line (?P<line>\d+), in (?P<name>\S+)(?:  (?P<mark>\*+))?\s*$'
)
_FUNCTION_NODE = re.compile(r"\{\{function_node [^}]*\}\}\s*")
NO_CODE = "The text has no line of Python code, so nothing ran."
MAX_ELEMENTS = 10_000
_IN_A_LINE = 4
"""Elements of a value that stand in one line."""
Repairs = Iterable[tuple[int, str]]
SkippedParts = Sequence[tuple[int, int, str]]
"""First line, last line, and why they were left out."""


def report(
    trace: Trace,
    diagnosis: Diagnosis,
    repairs: Repairs = (),
    shares: Mapping[CallId, ShareTable] = MappingProxyType({}),
    skipped: SkippedParts = (),
    number: int | None = None,
    turn: int | None = None,
) -> dict[str, Any]:
    """Everything that happened to the gradients of one snippet, as JSON values.

    ``number``: of call sites with several rounds only this one (from 1) is listed. ``turn``: also
    what the names in compiled loops held in this turn (from 1).
    """
    found = turn_values(trace, turn) if turn is not None else ()
    turns = {} if turn is None else {"turns": [_turn(trace, loop) for loop in found]}
    return {
        "tapeviz": __version__,
        "tensorflow": trace.tensorflow,
        "python": trace.python,
        "ops": sum(op.call is None and not op.is_recorded_operation for op in trace.ops.values()),
        "repairs": [{"line": line, "what": what} for line, what in repairs],
        "skipped": [
            {"line": line, "last_line": last_line, "why": why} for line, last_line, why in skipped
        ],
        "error": _error(trace, diagnosis),
        **_later_errors(trace),
        "warnings": [
            {"kind": warning.kind, "line": warning.line, "message": warning.message}
            for warning in diagnosis.warnings
        ],
        "calls": [
            _call(trace, call) | _shares(shares.get(call.call.id)) | omitted
            for call, omitted in _listed(diagnosis, number)
        ],
        **turns,
    }


def _turn(trace: Trace, loop: TurnValues) -> dict[str, Any]:
    return {
        "line": loop.line,
        "function": loop.call.function,
        "call": loop.call.round,
        "turn": loop.turn,
        "of": loop.count,
        "values": [
            {"name": name, "line": line, **_value(trace, tensor)}
            for name, line, tensor in loop.values
        ],
    }


def skipped_words(skipped: SkippedParts, blocks: int) -> str:
    """``5 of 6 blocks of code run · line 102 left out: …``; empty when nothing was left out."""
    if not skipped:
        return ""
    parts = [f"{blocks - len(skipped)} of {blocks} blocks of code run"]
    for line, last_line, why in skipped:
        where = f"line {line}" if line == last_line else f"lines {line}–{last_line}"
        parts.append(f"{where} left out: {why}")
    return " · ".join(parts)


def _listed(
    diagnosis: Diagnosis, number: int | None
) -> Iterator[tuple[CallDiagnosis, dict[str, int]]]:
    """The calls that are listed; of a call site with very many rounds some are left out, and the
    call before such a gap says how many."""
    gaps: dict[int, int] = {}
    left_out: set[int] = set()
    for site in diagnosis.rounds.sites:
        if number is not None and len(site) > 1:
            left_out.update(site.places)
            left_out.difference_update(site.places[number - 1 : number])
            continue
        for before, count in site.gaps():
            gaps[site.places[before - 1]] = count
            left_out.update(site.places[before : before + count])
    for place, call in enumerate(diagnosis.calls):
        if place not in left_out:
            yield call, {"omitted": gaps[place]} if place in gaps else {}


def report_of_trouble(message: str) -> dict[str, Any]:
    """The same object for a file that could not be recorded at all."""
    error = {"type": "TapevizError", "message": message, "line": None, "explanation": ""}
    return report(EMPTY_TRACE, EMPTY_DIAGNOSIS) | {"error": error}


def ran_no_code(trace: Trace) -> bool:
    """Whether the text that ran had only comments, as a page without any code has."""
    return bool(trace.source) and not trace.ops and not holds_code(trace.source)


def ended_well(trace: Trace) -> bool:
    """Whether the snippet came to its end, or left by ``sys.exit`` with status 0."""
    ending = trace.ending
    if trace.failure is not None:
        return False
    return ending.how == "finished" or (ending.how == "exit" and ending.detail in ("", "0"))


def ending_words(trace: Trace) -> str:
    """How a run ended that did not come to its end: ``stopped at line 5, after 744 steps``.

    A step is a gradient call at the place that asked most often. Empty where the run finished.
    """
    how, detail = trace.ending.how, trace.ending.detail
    if how in ("finished", ""):
        return ""
    if how not in ("interrupted", "timeout"):
        return f"{how}: {detail}" if detail else how
    words = f"stopped at {detail}" if detail.startswith("line ") else detail or "stopped"
    counts: Counter[int] = Counter()
    for call in trace.calls:
        counts[call.site.line] += call.ran if call.traced else 1
    steps = max(counts.values(), default=0)
    return f"{words}, after {steps:,} steps" if steps > 1 else words


def _error(trace: Trace, diagnosis: Diagnosis) -> dict[str, Any] | None:
    error = diagnosis.error
    if error is not None:
        said: dict[str, Any] = {
            "type": error.type,
            "message": error.message,
            "line": error.line or None,
            "explanation": error.explanation,
        }
        return said | ({"fixes": [_fix(fix) for fix in error.fixes]} if error.fixes else {})
    ending = trace.ending
    if ended_well(trace):
        return None
    kind = "SystemExit" if ending.how == "exit" else ending.how
    return {"type": kind, "message": ending.detail, "line": None, "explanation": ""}


def _later_errors(trace: Trace) -> dict[str, Any]:
    """The errors of further blocks of a page, after the one that is the ``error``."""
    errors = [
        {"type": failure.type, "message": failure.message, "line": failure.line or None}
        for failure in trace.later_failures
    ]
    return {"later_errors": errors} if errors else {}


def _call(trace: Trace, diagnosed: CallDiagnosis) -> dict[str, Any]:
    call = diagnosed.call
    tape = trace.tapes.get(call.tape) if call.tape is not None else None
    return {
        "method": call.method,
        "line": call.line,
        "tape": tape.name if tape else None,
        "targets": [
            operand.text for operand in (call.sources if call.method == "jvp" else call.targets)
        ],
        **({"compiled": True, "ran": call.ran} if call.traced else {}),
        **_inside(trace, call),
        "results": [_result(trace, finding) for finding in diagnosed.findings],
    }


def _inside(trace: Trace, call: Call) -> dict[str, Any]:
    """For a gradient call in a compiled function: where its values are not exactly the run's."""
    words = words_about_values(trace, call)
    run = trace.ops.get(call.within) if call.within is not None else None
    if not words or run is None or run.inside is None:
        return {}
    return {"inside": {"state": run.inside.state, "message": words}}


def ran_words(trace: Trace, call: Call) -> str:
    """How often a call made inside of a compiled function ran, and which time is shown."""
    if not call.traced:
        return ""
    shown = trace.ops.get(call.within) if call.within is not None else None
    if shown is None or call.ran < 2:
        return "compiled, ran once" if call.ran else "traced, never run"
    function = trace.functions.get(shown.runs)
    is_last = function is None or shown.round == len(function.calls)
    which = "the last call" if is_last else f"call {shown.round}"
    return f"compiled, ran {call.ran:,} times; values of {which}"


def _shares(table: ShareTable | None) -> dict[str, Any]:
    """The share of each target, or of each element of a single one, in each gradient."""
    if table is None:
        return {}
    rows: list[dict[str, Any]] = []
    for row in table.rows:
        shown: dict[str, Any] = {"target": row.label, "values": list(map(_cell, row.cells))}
        if row.elements:
            columns = range(len(row.cells))
            shown["jacobian"] = [_cell(row.jacobian(column)) for column in columns]
        rows.append(shown)
    return {"shares": rows}


def _cell(value: Array | None) -> Any:
    return elements(value) if value is not None and value.size <= MAX_ELEMENTS else None


def _result(trace: Trace, finding: Finding) -> dict[str, Any]:
    result: dict[str, Any] = {
        "source": finding.source,
        "status": finding.status,
        "dtype": finding.dtype,
        "shape": list(finding.shape) if finding.shape is not None else None,
        **_value(trace, finding.tensor),
        "cause": _cause(finding.cause),
        "message": finding.message,
        "bridged": _bridged(trace, finding),
        "fixes": [_fix(fix) for fix in finding.fixes],
    }
    if finding.bridged is not None and finding.is_estimated:
        result["bridged_estimate"] = True
    if finding.check is not None:
        result["bridged_check"] = {
            "error": finding.check.error,
            "agrees": finding.check.agrees,
            "words": check_words(finding.check),
        }
    if finding.held:
        result["bridged_holds"] = finding.held
    if finding.no_bridge:
        result["no_bridge"] = finding.no_bridge
    if finding.not_tried:
        result["fixes_not_tried"] = finding.not_tried
    if finding.others:
        result["others"] = [_cause(other) for other in finding.others]
    return result


def _bridged(trace: Trace, finding: Finding) -> Any:
    if finding.bridged_value is not None:
        return _cell(finding.bridged_value)
    value = trace.value(finding.bridged) if finding.bridged is not None else None
    return elements(value) if value is not None and value.size <= MAX_ELEMENTS else None


def bridge_heading(finding: Finding) -> str:
    """The heading above the gradient across the cut."""
    if finding.is_estimated:
        return "Across the cut, estimated (straight-through), it would be:"
    return "Across the cut it would be:"


def check_words(check: Check) -> str:
    """How a gradient across a cut compares with finite differences of what was recorded."""
    if check.error is None:
        return f"not checked: {check.words}"
    if check.agrees:
        return f"agrees with finite differences to {max(check.error, 1e-12):.0e}"
    return f"finite differences give another number: {check.error:.0%} off"


def trust_words(finding: Finding) -> str:
    """How far to trust the gradient across a cut: how it compares, and what it holds fixed."""
    check = check_words(finding.check) if finding.check is not None else ""
    return "; ".join(filter(None, (check, finding.held)))


def plain_message(message: str) -> str:
    """Take from an exception's message what TensorFlow puts around it.

    The runtime begins with ``{{function_node …}}``. AutoGraph begins with "in user code:" and the
    frames of the traced functions (``autograph/impl/api.py``, the same from 2.15 to 2.21), those of
    the snippet marked ``*``; of these the innermost follows what was said.
    """
    message = without_node_names(message)
    if not message.startswith(_TRACED):
        return message.strip()
    lines = message.removeprefix(_TRACED).strip("\n").splitlines()
    where, place = "", 0
    while place + 1 < len(lines) and (frame := _TRACED_FRAME.match(lines[place])):
        if frame["mark"] == "*":
            where = f"(line {frame['line']}, in {frame['name']}: {lines[place + 1].strip()})"
        place += 2
    said = dedent("\n".join(lines[place:])).strip()
    said = re.sub(r"^[\w.]+: ", "", said)
    return "\n".join(filter(None, (said, where))) or message.strip()


def without_node_names(text: str) -> str:
    """A message or a traceback without the ``{{function_node …}}`` of TensorFlow's runtime."""
    return _FUNCTION_NODE.sub("", text)


def gradient_in_a_line(trace: Trace, finding: Finding) -> str:
    """The gradient that came out, else the one across the cut; empty if there is neither."""
    if finding.bridged_value is not None:
        return number_in_a_line(trace, finding.bridged_value)
    tensor = finding.bridged if finding.tensor is None else finding.tensor
    return "" if tensor is None else number_in_a_line(trace, tensor)


def result_in_a_line(trace: Trace, result: SourceResult) -> str:
    """The gradient of a source; over several rounds its first and last number."""
    if result.series is not None:
        return numbers_words(result.series)
    return gradient_in_a_line(trace, result.finding)


def number_in_a_line(trace: Trace, number: TensorId | Array) -> str:
    """A few elements as they are; more as shape and Euclidean norm: ``[8, 8], norm 0.0123``."""
    if not isinstance(number, np.ndarray):
        tensor = trace.fetched.get(number, number)
        value, stats, known = trace.value(tensor), trace.stats(tensor), trace.tensors.get(tensor)
        if value is None:
            shape = list(known.shape or ()) if known is not None else []
            norm = stats.norm if stats is not None else None
            return f"{shape}" if norm is None else f"{shape}, norm {norm:.4g}"
        number = value
    if number.size <= _IN_A_LINE or number.dtype.kind not in "fc":
        return " ".join(np.array2string(number, threshold=_IN_A_LINE, edgeitems=1).split())
    length = float(np.linalg.norm(number.reshape(-1).astype(np.complex128)))
    return f"{list(number.shape)}, norm {length:.4g}"


def _value(trace: Trace, tensor: TensorId | None) -> Mapping[str, Any]:
    if tensor is None:
        return {"value": None}
    tensor = trace.fetched.get(tensor, tensor)
    known = trace.tensors.get(tensor)
    if known is not None and known.size is not None and known.size <= MAX_ELEMENTS:
        value = trace.value(tensor)
        if value is not None:
            return {"value": elements(value)}
    stats = trace.stats(tensor)
    if stats is None:
        return {"value": None}
    return {
        "value": None,
        "summary": {
            "min": stats.min,
            "max": stats.max,
            "mean": stats.mean,
            "norm": stats.norm,
            "nonfinite": stats.nonfinite,
        },
    }


def elements(value: Array) -> Any:
    """Nested lists as NumPy gives them; NaN, infinities and complex numbers as strings."""
    if value.dtype.kind == "c" or value.dtype == object:
        return _texts(value.tolist())
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        return _texts(value.tolist())
    return value.tolist()


def _texts(value: Any) -> Any:
    if isinstance(value, list):
        return [_texts(item) for item in value]
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")
    return value if isinstance(value, (int, bool)) else str(value)


def _cause(cause: Cause | None) -> dict[str, Any] | None:
    if cause is None:
        return None
    return {"kind": cause.kind, "line": cause.line, "code": cause.code, "op": cause.op or None}


def _fix(fix: Fix) -> dict[str, Any]:
    value = fix.value
    shown = elements(value) if value is not None and value.size <= MAX_ELEMENTS else None
    return {"title": fix.title, "diff": fix.diff, "value": shown}
