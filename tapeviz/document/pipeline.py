"""The rooms behind the document: a recorder of runs, and the stages after it.

The window is tried without a kernel by giving it other implementations of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..analysis.model import CallDiagnosis, Diagnosis
from ..drawing import Arranged
from ..drawing.arranging import FirstOpening
from ..errors import TapevizError
from ..layout.model import Layout
from ..recording.shares import ShareTable
from ..scene.model import Overlay, Scene
from ..trace.calls import Call
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


class ArrangedGraph(Protocol):
    """A graph (``networkx.MultiDiGraph`` of :mod:`tapeviz.graph.model`) and where it stands."""

    @property
    def graph(self) -> Any: ...

    @property
    def layout(self) -> Layout: ...

    @property
    def successors(self) -> Mapping[str, str]:
        """Node of the arrangement before → its counterpart; empty: another picture."""
        ...

    @property
    def first_opening(self) -> FirstOpening:
        """The groups that were opened without being asked for."""
        ...


NOTHING_ARRANGED: ArrangedGraph = Arranged()
"""In place of ``None``: nothing stands anywhere yet."""


@dataclass(frozen=True, slots=True)
class Repairs:
    """A text after its repairs, each with its line and words; ``error``: it is beyond repair.

    ``skipped``: first line, last line and reason of each part of a page that was left out;
    ``blocks``: how many blocks of code the page has, those left out too. ``prose``: the lines that
    are no code and run as comments.
    """

    text: str
    repairs: tuple[tuple[int, str], ...] = ()
    error: str = ""
    skipped: tuple[tuple[int, int, str], ...] = ()
    blocks: int = 0
    prose: tuple[int, ...] = ()


def have_no_shares(trace: Trace, call: Call) -> bool:
    return False


def share_nothing(recording: Any, call: Call) -> ShareTable:
    raise TapevizError("there are no shares here")


def leave_text_alone(text: str) -> Repairs:
    return Repairs(text)


@dataclass(frozen=True, slots=True)
class Stages:
    """The functions from a trace to a scene, and from a pasted text to a sound one."""

    diagnose: Callable[[Trace], Diagnosis]
    arrange: Callable[[Trace, View, int | None, Any], ArrangedGraph]
    """Trace, view, call, and the arrangement before of the same trace (or None)."""
    compose: Callable[[ArrangedGraph, Trace, CallDiagnosis | None, Overlay], Scene]
    repair: Callable[[str], Repairs] = leave_text_alone
    has_shares: Callable[[Trace, Call], bool] = have_no_shares
    share: Callable[[Any, Call], ShareTable] = share_nothing
    layouts: Sequence[str] = ("layered",)
    groupings: Sequence[str] = ()
