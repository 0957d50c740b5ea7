"""Make all that is shown of a trace at once, so that the eye sees a single change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..analysis.model import Diagnosis
from ..drawing import Arranged
from ..trace.ids import CallId
from ..trace.model import Trace
from ..view import View
from .diagnosing import diagnosed
from .pipeline import Stages


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A trace, its diagnosis, and the arrangement of its graph.

    ``form``, ``call``: the view and the gradient call that it was arranged for; ``call`` None: the
    call that the diagnosis shows first.
    """

    trace: Trace
    diagnosis: Diagnosis
    arranged: Arranged
    form: View
    call: int | None


def take_snapshot(
    give: Callable[[], Trace],
    stages: Stages,
    form: View,
    call: int | None,
    before: Arranged | None,
) -> Snapshot:
    """Diagnose and arrange the trace that ``give`` returns. Slow: runs in the background.

    ``before``: the arrangement that is shown, if it is of the same run and places are to be kept.
    """
    trace = give()
    diagnosis = diagnosed(stages, trace, call)
    shown = diagnosis.call(None if call is None else CallId(call))
    drawn = call if shown is None else int(shown.call.id)
    return Snapshot(trace, diagnosis, stages.arrange(trace, form, drawn, before), form, call)
