"""Hold what a reader has read: of a whole recording, or of the inside of a function's call."""

from __future__ import annotations

from collections.abc import Sequence

from ..compiled.bodies import Bodies, ClosedCall
from ..compiled.functions import Functions, copying
from ..ids import OpId, TapeId, TensorId
from ..model import CaughtError, Leave
from ..number_maps import GrowingMap
from ..ops import Op, Shape, Tensor
from ..sites import NOWHERE, Site
from ..state import VersionTracker
from ..stats import Stats
from ..tapes import TapeTracker
from .bindings import BoundNames
from .calls import CallTracker
from .layers import Overlaid
from .nouns import IdTuples, OpMaker, SharedNumbers


class Tables:
    """The tables and trackers that events are read into."""

    def __init__(self) -> None:
        self.began = 0
        """Position in the order of events of the one before all that is read here."""
        self.sites: dict[int, Site] = {0: NOWHERE}
        self.tensors: dict[TensorId, Tensor] = {}
        self.alike: dict[tuple[str, Shape, bool, bool], Tensor] = {}
        self.handles: set[TensorId] = set()
        self.places = GrowingMap()
        self.texts: dict[TensorId, tuple[str, ...]] = {}
        self.stats: dict[TensorId, Stats] = {}
        self.samples: dict[TensorId, tuple[int, int, int]] = {}
        self.ops: dict[OpId, Op] = {}
        self.numbers = SharedNumbers()
        self.op_maker = OpMaker(self.numbers)
        self.ids = IdTuples(self.numbers)
        self.producers: dict[TensorId, OpId] = {}
        self.states = VersionTracker()
        self.tapes = TapeTracker()
        self.leaves: list[Leave] = []
        self.caught: list[CaughtError] = []
        self.names = BoundNames(self.ids)
        self.fetched: dict[TensorId, TensorId] = {}
        copy = copying(self.tensors, self.places, self.texts)
        self.bodies = Bodies(self.sites, copy)
        self.functions = Functions(self.ops, self.producers, self.states, self.handles, self.bodies)
        self.calls = CallTracker(self.ids, self.tensors, self.ops, self.functions)
        self.copied: dict[TensorId, TensorId] = {}
        """The tensors of a call's inside, each with the graph's tensor that it is known by."""

    def inside(self, call: ClosedCall, stands: OpId) -> Tables:
        """Tables for the inside of a call. ``stands``: the op that stands for it here."""
        made = frozenset(out for out in call.op.outputs if self.producers.get(out) == stands)
        return self._over(call.began, call.recording, stands, made)

    def after_all(self, when: int) -> Tables:
        """Tables for what is read after the last event, which came at this moment."""
        return self._over(when, (), OpId(0), frozenset())

    def _over(
        self, began: int, recording: Sequence[TapeId], call: OpId, made: frozenset[TensorId]
    ) -> Tables:
        """Tables over these, which stay as they are; their events come after the moment ``began``.

        ``recording``: the tapes that do; ``made``: tensors whose makers are read again.
        """
        inner = Tables.__new__(Tables)
        inner.__dict__.update(self.__dict__)
        inner.began = began
        inner.ops, inner.tensors = Overlaid(self.ops), Overlaid(self.tensors)
        inner.producers = Overlaid(self.producers, made)
        inner.states = self.states.inside(call, began)
        inner.tapes = self.tapes.inside(recording, began, self.maker)
        inner.leaves, inner.caught, inner.names = [], [], BoundNames(self.ids)
        inner.functions = Functions(
            inner.ops, inner.producers, inner.states, self.handles, self.bodies
        )
        inner.functions.derivatives = self.functions.derivatives
        inner.calls = CallTracker(self.ids, inner.tensors, inner.ops, inner.functions)
        inner.copied = {}
        return inner

    def maker(self, tensor: TensorId) -> Op | None:
        """The op that made a tensor."""
        producer = self.producers.get(tensor)
        return self.ops.get(producer) if producer is not None else None

    def copy_tensor(self, tensor: int, other: int) -> None:
        """Let a graph's tensor go by another id in the call that is read."""
        known, own = TensorId(tensor), TensorId(other)
        self.copied[own] = known
        if own not in self.tensors and known in self.tensors:
            self.tensors[own] = self.tensors[known]
