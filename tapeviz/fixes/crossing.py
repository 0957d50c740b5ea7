"""Add to a diagnosis the gradients across cuts that its own recording cannot cross.

The snippet runs once more, in a process of its own: there each NumPy value remembers the tensor
that it came from, TensorFlow computes the same beside NumPy
(:mod:`tapeviz.recorder.after.followed`).
"""

from __future__ import annotations

from dataclasses import replace

from ..analysis.causes.connections.left_tensorflow import LeftTensorFlow
from ..analysis.diagnose import diagnose
from ..analysis.findings import Finding
from ..analysis.model import CallDiagnosis, Diagnosis
from ..errors import TapevizError
from ..recording.live import LiveRecording, Recorder, Snippet
from ..trace.ids import TensorId
from ..trace.stats import Array
from .judging import FindingKey, Outcome, has_same_targets, is_zero_at_values

_NOTE = "not followed: "
_LOST = "the value could not be followed through that code"
_FEWEST_SECONDS = 10.0


def cross_cuts(before: Outcome, recorder: Recorder, like: Snippet) -> Diagnosis:
    """The diagnosis, whose findings have a ``bridged_value`` if the second run gave one, else the
    reason as ``no_bridge``. Blocks for one run of the snippet."""
    keys = [
        (number, index)
        for number, call in enumerate(before.diagnosis.calls)
        for index, finding in enumerate(call.findings)
        if _is_open(before, finding)
    ]
    if not keys or before.trace.ending.how not in ("finished", "raised", "exit"):
        return before.diagnosis
    seconds = max(_FEWEST_SECONDS, 4 * before.trace.ending.seconds)
    asked = replace(like, text=before.trace.source, timeout=seconds, in_copy=True)
    options = {**like.options, "follow_numpy": True}
    options["seed"] = before.trace.seed
    live = recorder.record(replace(asked, options=options))
    try:
        trace = live.wait(seconds + _FEWEST_SECONDS)
        after = _aligned(before, Outcome(trace, diagnose(trace)))
        crossed = {key: _crossed(live, before, after, key) for key in keys}
    except TimeoutError:
        crossed = _all_without(before, keys, "running the snippet once more took too long")
    except TapevizError as error:
        crossed = _all_without(before, keys, str(error))
    finally:
        live.release()
    return _with(before.diagnosis, crossed)


def _aligned(before: Outcome, after: Outcome) -> Outcome:
    """The second run, with its gradient calls in the order of those of the first run.

    A compiled function asks for its gradients once, when it is traced; run op by op, as in the
    second run, it asks each time.
    """
    lines: dict[tuple[int, str], list[CallDiagnosis]] = {}
    for call in reversed(after.diagnosis.calls):
        lines.setdefault((call.call.line, call.call.method), []).append(call)
    calls = []
    for call in before.diagnosis.calls:
        same = lines.get((call.call.line, call.call.method))
        calls.append(same.pop() if same else replace(call, findings=()))
    return Outcome(after.trace, replace(after.diagnosis, calls=tuple(calls)))


def _is_open(before: Outcome, finding: Finding) -> bool:
    """Whether another run may give the gradient, or more of it: NumPy is on a way."""
    if finding.status not in ("none", "zero"):
        return False
    causes = [cause for cause in (finding.cause, *finding.others) if cause is not None]
    return any(cause.kind == "left-tensorflow" for cause in causes)


def _crossed(live: LiveRecording, before: Outcome, after: Outcome, key: FindingKey) -> Finding:
    """The finding with what the other run gave for it; a gradient that this run has across another
    cut stays where the other gave none."""
    old, new = before.finding(key), after.finding(key)
    assert old is not None
    value = _across(live, after, key) if new is not None else None
    if reason := _reason(after, old, is_of_part=True):
        return replace(old, bridged=None, no_bridge=reason)
    if value is None and old.bridged is not None and not old.is_estimated:
        return old
    if new is None:
        return replace(old, no_bridge=_reason(after, old) or _LOST)
    if not has_same_targets(before, after, key):
        return replace(old, no_bridge="run once more, the snippet computed something else")
    causes = (new.cause, *new.others)
    left = [c.evidence.how for c in causes if c and isinstance(c.evidence, LeftTensorFlow)]
    if "numpy_function" in left:  # in a compiled function: what is known is of the other ways
        value, old = None, replace(old, bridged=None)
    if value is None:
        return replace(old, no_bridge=_reason(after, old) or _LOST)
    return replace(
        old,
        bridged=None,
        bridged_value=value,
        is_estimated=new.is_estimated,
        check=new.check,
        held=new.held,
    )


def _across(live: LiveRecording, after: Outcome, key: FindingKey) -> Array | None:
    """The gradient in the other run, with the parts that go through writes to variables."""
    finding, call = after.finding(key), after.diagnosis.calls[key[0]].call
    assert finding is not None
    source = str(call.sources[key[1]].tensor)
    whole = call.replay.results.get(source) if call.replay is not None else None
    is_there = finding.status in ("flows", "nonfinite") or is_zero_at_values(finding)
    return fetched(live, after, (whole or finding.tensor) if is_there else finding.bridged)


def fetched(live: LiveRecording, after: Outcome, tensor: TensorId | None) -> Array | None:
    if tensor is None:
        return None
    return live.fetch_tensor(after.trace.fetched.get(tensor, tensor))


def _reason(after: Outcome, finding: Finding, *, is_of_part: bool = False) -> str:
    """The first value that could not be followed, preferably on a line where one left.

    ``is_of_part``: only one that left on the way to the target and had a slope, without which a
    gradient by the other ways would be a part of it.
    """
    notes = [note.removeprefix(_NOTE) for note in after.trace.notes if note.startswith(_NOTE)]
    lost = [(int(line), what) for line, _, what in (note.partition(" ") for note in notes)]
    if not lost:
        return ""
    lines = [cause.line for cause in (finding.cause, *finding.others) if cause is not None]
    line, what = min(lost, key=lambda pair: pair[0] not in lines)
    is_whole = what.startswith(("int(", "astype("))
    if is_of_part and (is_whole or line not in lines):
        return ""
    if is_whole:
        return f"{what} on line {line} cuts the fraction off, and leaves no slope"
    return f"the value could not be followed through {what} on line {line}"


def _all_without(before: Outcome, keys: list[FindingKey], words: str) -> dict[FindingKey, Finding]:
    found = ((key, before.finding(key)) for key in keys)
    return {key: replace(finding, no_bridge=words) for key, finding in found if finding is not None}


def _with(diagnosis: Diagnosis, crossed: dict[FindingKey, Finding]) -> Diagnosis:
    calls = tuple(
        replace(
            call,
            findings=tuple(
                crossed.get((number, index), finding) for index, finding in enumerate(call.findings)
            ),
        )
        for number, call in enumerate(diagnosis.calls)
    )
    return replace(diagnosis, calls=calls)
