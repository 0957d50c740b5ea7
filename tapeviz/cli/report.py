"""Write a diagnosed trace as the JSON object of ``explain --json`` (its names are fixed)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from .. import __version__
from ..analysis.backward.turn_values import TurnValues, turn_values
from ..analysis.findings import Cause, Finding, Fix
from ..analysis.inside_words import times_ran, words_about_values
from ..analysis.model import EMPTY_DIAGNOSIS, CallDiagnosis, Diagnosis, ExplainedError
from ..analysis.run_words import SkippedParts, check_words, ended_well
from ..recording.shares import ShareTable
from ..trace.calls import Call
from ..trace.ids import CallId, TensorId
from ..trace.model import EMPTY_TRACE, Trace
from ..trace.stats import Array

MAX_ELEMENTS = 10_000
LineRepairs = Iterable[tuple[int, str]]


def report(
    trace: Trace,
    diagnosis: Diagnosis,
    repairs: LineRepairs = (),
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
        **_later_errors(diagnosis),
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


def _error(trace: Trace, diagnosis: Diagnosis) -> dict[str, Any] | None:
    error = diagnosis.error
    if error is not None:
        fixes = {"fixes": [_fix(fix) for fix in error.fixes]} if error.fixes else {}
        return _raised(error) | fixes
    ending = trace.ending
    if ended_well(trace):
        return None
    kind = "SystemExit" if ending.how == "exit" else ending.how
    return {"type": kind, "message": ending.detail, "line": None, "explanation": ""}


def _later_errors(diagnosis: Diagnosis) -> dict[str, Any]:
    """The errors of further blocks of a page, after the one that is the ``error``."""
    errors = [_raised(error) for error in diagnosis.errors[1:]]
    return {"later_errors": errors} if errors else {}


def _raised(error: ExplainedError) -> dict[str, Any]:
    return {
        "type": error.type,
        "message": error.message,
        "line": error.line or None,
        "explanation": error.explanation,
    }


def _call(trace: Trace, diagnosed: CallDiagnosis) -> dict[str, Any]:
    call = diagnosed.call
    tape = trace.tape(call.tape)
    return {
        "method": call.method,
        "line": call.line,
        "tape": tape.name if tape else None,
        "targets": [operand.text for operand in call.differentiated],
        **({"compiled": True, "ran": times_ran(trace, call)} if call.traced else {}),
        **_inside(trace, call),
        "results": [_result(trace, finding) for finding in diagnosed.findings],
    }


def _inside(trace: Trace, call: Call) -> dict[str, Any]:
    """For a gradient call in a compiled function: where its values are not exactly the run's."""
    words = words_about_values(trace, call)
    run = trace.op(call.within)
    if not words or run is None or run.inside is None:
        return {}
    return {"inside": {"state": run.inside.state, "message": words}}


def _shares(table: ShareTable | None) -> dict[str, Any]:
    """The share of each target, or of each element of a single one, in each gradient."""
    if table is None:
        return {}
    rows: list[dict[str, Any]] = []
    for row in table.rows:
        shown: dict[str, Any] = {
            "target": row.label,
            "values": list(map(elements_of_small, row.cells)),
        }
        if row.elements:
            columns = range(len(row.cells))
            shown["jacobian"] = [elements_of_small(row.jacobian(column)) for column in columns]
        rows.append(shown)
    return {"shares": rows}


def _result(trace: Trace, finding: Finding) -> dict[str, Any]:
    result: dict[str, Any] = {
        "source": trace.given_names.get(finding.source, finding.source),
        "status": finding.status,
        "dtype": finding.dtype,
        "shape": list(finding.shape) if finding.shape is not None else None,
        **_value(trace, finding.tensor),
        "cause": _cause(finding.cause),
        "message": finding.message,
        "bridged": elements_of_small(
            trace.value(finding.bridged) if finding.bridged_value is None else finding.bridged_value
        ),
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
    if finding.has_more:
        result["others_omitted"] = True
    return result


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


def elements_of_small(value: Array | None) -> Any:
    """:func:`elements`; None where there is no value, or it has more than 10,000."""
    return elements(value) if value is not None and value.size <= MAX_ELEMENTS else None


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
    return {"title": fix.title, "diff": fix.diff, "value": elements_of_small(fix.value)}
