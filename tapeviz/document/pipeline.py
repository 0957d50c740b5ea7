"""The rooms behind the document: a recorder of runs, and the stages after it.

The window is tried without a kernel by giving it other implementations of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..analysis import diagnose as diagnose_trace
from ..analysis.model import CallDiagnosis, Diagnosis
from ..drawing import Arranged, arranging
from ..repair import Repaired, repairing
from ..scene.model import Overlay, Scene
from ..trace.ids import CallId, OpId, TensorId
from ..trace.model import Trace
from ..trace.stats import Array
from ..trace.values import TensorPart
from ..view import View

if TYPE_CHECKING:
    from ..recording.live import Listener


class Opener(Protocol):
    """A source that can be asked for the inside of a call of a compiled function.

    ``can_enter``: it computes the steps inside of one step of a backward pass.
    """

    can_enter: bool

    def look_into(self, op: OpId, turns: Sequence[int] = ()) -> Trace:
        """The trace with this call (:attr:`Op.ran_as`) opened. Blocks; where its values cannot be
        had, :attr:`Op.inside` says why. ``turns``: of loops (from 0), besides the ends."""
        ...

    def enter(self, call: CallId, index: int) -> Trace:
        """The trace with the steps inside of one step of a backward pass. Blocks; raises
        :class:`TapevizError` where they cannot be had."""
        ...


LookInto = Callable[[Opener, Trace], Trace]
"""Opens calls of compiled functions: the source of a trace, and the trace → the trace with these
opened."""


class RunHandle(Opener, Protocol):
    """A run that was begun, and what its process still holds."""

    def stop(self) -> None: ...

    def fetch_tensor(self, tensor: TensorId) -> Array | None: ...

    def fetch_part(
        self, tensor: TensorId, shape: tuple[int, ...], index: tuple[int, ...]
    ) -> TensorPart: ...


class Pipeline(Protocol):
    """Begins runs. ``record`` may wait for a process; it raises ``TapevizError``."""

    def record(self, source: str, filename: str, listener: Listener) -> RunHandle: ...

    def try_fixes(
        self,
        trace: Trace,
        diagnosis: Diagnosis,
        on_progress: Callable[[int, int], None],
        should_stop: Callable[[], bool],
    ) -> Diagnosis:
        """The diagnosis with the fixes that were run and found good; runs the snippet again."""
        ...

    def record_apart(
        self, source: str, filename: str, should_stop: Callable[[], bool], look: LookInto
    ) -> Trace:
        """The trace of another text, beside the run under way, as ``look`` opens it. Blocks;
        ``TapevizError`` when it was asked to stop."""
        ...

    def close(self) -> None: ...


NOTHING_ARRANGED = Arranged()
"""In place of ``None``: nothing stands anywhere yet."""


@dataclass(frozen=True, slots=True)
class Stages:
    """The functions from a trace to a scene, and from a pasted text to a sound one."""

    diagnose: Callable[[Trace], Diagnosis] = diagnose_trace
    arrange: Callable[[Trace, View, int | None, Arranged | None], Arranged] = arranging.arrange
    """Trace, view, call, and the arrangement before of the same trace (or None)."""
    compose: Callable[[Arranged, Trace, CallDiagnosis | None, Overlay], Scene] = (
        arranging.compose_over
    )
    repair: Callable[[str], Repaired] = repairing.repair
