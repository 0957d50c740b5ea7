"""Make the diagnosis of a document: of its trace, with the fixes that were tried later.

Work is done in the background. A long backward pass comes after the picture, which cards do not
need; panels ask for that of the call shown, so it is worked out with the diagnosis if it is short.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..analysis.model import EMPTY_DIAGNOSIS, CallDiagnosis, Diagnosis
from ..analysis.status import lacks_bridge
from ..trace.ids import CallId
from ..trace.model import Trace
from .fix_trials import with_fixes_of
from .pipeline import Stages

if TYPE_CHECKING:
    from .document import Document

MANY_ASKED = 1_000
"""More gradients than these take longer to diagnose than to draw: the picture comes first."""
_LONG_PASS = 50_000
"""Steps of a backward pass that is worked out after the picture: it takes a quarter of a second and
more."""


class Diagnosing:
    """The one diagnosis of a document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.diagnosis: Diagnosis = EMPTY_DIAGNOSIS

    def clear(self) -> None:
        """Have no diagnosis: that of another run is not shown any longer."""
        self.give_up()
        self.diagnosis = EMPTY_DIAGNOSIS

    def give_up(self) -> None:
        """Cancel the work under way."""
        self._document.background.drop("diagnose", "walk")

    def diagnose(self, trace: Trace) -> None:
        """Diagnose a trace."""
        document = self._document
        document.background.drop("walk")
        work = partial(diagnosed, document.stages, trace, document.view.overlay.call)
        document.background.submit("diagnose", work, self.take)

    def take(self, diagnosis: Diagnosis) -> None:
        """Show a diagnosis, and try fixes for what is wrong. While a long backward pass is worked
        out, it is shown without that pass."""
        call = self._document.view.overlay.call
        shown = diagnosis.call(None if call is None else CallId(call))
        if shown is None or not _is_long(shown):
            self._take_walked(diagnosis)
            return
        self.keep(diagnosis.without_pass(shown))

        def walk() -> Diagnosis:
            shown.work_out()
            return diagnosis

        self._document.background.submit("walk", walk, self._take_walked)

    def _take_walked(self, diagnosis: Diagnosis) -> None:
        self.keep(diagnosis)
        document = self._document
        if not document.is_running and not document.is_loaded:
            document.fix_trials.begin(document.trace, diagnosis)

    def take_fixes(self, before: Diagnosis, fixed: Diagnosis) -> None:
        """Show the fixes that were tried for a diagnosis, or for one of the same run that another
        has replaced since."""
        if fixed is not before:
            is_same = before is self.diagnosis
            self.keep(fixed if is_same else with_fixes_of(fixed, self.diagnosis))

    def take_more(self, diagnosis: Diagnosis) -> None:
        """Take the diagnosis of the same run with more of it known; its fixes stay. The caller
        tells the panels."""
        self.give_up()
        self.diagnosis = with_fixes_of(self.diagnosis, diagnosis)

    def keep(self, diagnosis: Diagnosis) -> None:
        """Show a diagnosis as it is."""
        self.diagnosis = diagnosis
        self._document.showing.show_diagnosis()

    @property
    def lacks_bridge(self) -> str:
        """The reason why no gradient across a cut can be shown; empty if one can be."""
        current = self._document.current_call
        if current is None:
            return "Nothing is cut yet: run a snippet that asks for a gradient"
        return lacks_bridge(current)


def diagnosed(stages: Stages, trace: Trace, call: int | None) -> Diagnosis:
    """The diagnosis of a trace, with what panels ask for worked out: which findings are alike, and
    the backward pass of the call shown (None: the one that it shows first), unless it is long."""
    diagnosis = stages.diagnose(trace)
    shown = diagnosis.call(None if call is None else CallId(call))
    if shown is not None and not _is_long(shown):
        shown.work_out()
    diagnosis.compare_findings()
    return diagnosis


def _is_long(call: CallDiagnosis) -> bool:
    """Whether a call has a long backward pass, of the run or computed after it."""
    replay = call.call.replay
    steps = len(call.call.steps) or (len(replay.steps) if replay is not None else 0)
    return steps > _LONG_PASS
