"""The nouns of a backward pass: its rows, the edges that gradients passed, the turns of loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from ...trace.ids import OpId, TensorId
from ...trace.stats import Array
from ..findings import Cause, Link


class WalkStep(msgspec.Struct, frozen=True, gc=False):
    """A row of the backward pass, as the Backprop panel shows it and the graph lights it.

    ``kind``: ``op`` (TensorFlow ran a gradient function), ``sum`` (shares added at a fan-out),
    ``stop`` (the pass ends here: a cut), ``replayed`` (computed by TensorFlow after the run),
    ``inner`` (inside of a compiled function, loop or branch: computed again after the run).
    ``upstream``/``downstream``: gradients in and out, None where there is none.
    ``inputs``: the tensors that ``downstream`` has the gradients of; of a sum or a stop none.
    ``formula``: of the op, in terms of ``ḡ`` (upstream), inputs a, b, … and output y.
    """

    index: int
    kind: Literal["op", "sum", "stop", "replayed", "inner"]
    op: OpId | None
    title: str
    line: int
    formula: str
    upstream: tuple[TensorId | None, ...]
    downstream: tuple[TensorId | None, ...]
    inputs: tuple[TensorId, ...] = ()
    at: TensorId | None = None
    """For a ``sum``: the tensor whose gradient is complete now."""
    turns: tuple[int, ...] = ()
    """The turns of the compiled loops around the op, outermost loop first, from 0."""
    taken: tuple[TensorId, ...] = ()
    made: tuple[TensorId, ...] = ()
    """``inputs`` (of a sum ``at``) and the outputs that ``upstream`` is of, where these are not
    those of the op drawn: in another turn of a loop, of a conditional with several outputs."""
    passed: tuple[WalkStep, ...] = ()
    """Rows of ops before this one (of the last row also after it) that only hand a gradient on."""

    @property
    def summed(self) -> TensorId | None:
        """The tensor whose gradient a sum completes (``at``), as it was in the sum's turn."""
        return self.taken[0] if self.kind == "sum" and self.taken else self.at

    @property
    def walked(self) -> list[tuple[Link, TensorId]]:
        """The edges that this step walks, from the op to its inputs, with the gradient on each."""
        op = self.op
        if op is None:
            return []
        pairs = zip(self.inputs, self.downstream, strict=False)
        return [((tensor, op), given) for tensor, given in pairs if given is not None]

    @property
    def rows(self) -> tuple[WalkStep, ...]:
        """The step and those that it passed."""
        return (*self.passed, self)


@dataclass(frozen=True, slots=True)
class Flow:
    """The edges that the gradient of one call passed, and those at which it stopped.

    ``walked``: edges that a gradient passed, with its norm (None unknown); ``cuts``: edges where it
    stops, each with its cause; ``bridges``: edges that only the bridged gradient passes.
    ``gradients``: for each tensor the gradient that reached it (the last running sum).
    """

    walked: Mapping[Link, float | None] = field(default_factory=dict)
    cuts: Mapping[Link, Cause] = field(default_factory=dict)
    bridges: Mapping[Link, float | None] = field(default_factory=dict)
    gradients: Mapping[TensorId, TensorId] = field(default_factory=dict)
    targets: frozenset[TensorId] = frozenset()
    sources: frozenset[TensorId] = frozenset()


EMPTY_FLOW = Flow()


class BackwardPass(NamedTuple):
    """The backward pass of one call: the rows of the Backprop panel, and where the gradient went.

    ``turns``: stretches of rows that go back through a loop; ``parts``: if there are any, what
    each row gives to gradients that are sums.
    """

    steps: tuple[WalkStep, ...] = ()
    flow: Flow = EMPTY_FLOW
    turns: tuple[TurnRows, ...] = ()
    parts: Parts | None = None


@dataclass(frozen=True, slots=True)
class TurnRows:
    """The rows (0-based) that go back through a loop: those of each turn begin at one of
    ``starts``; they end before row ``end``. ``numbers``: for each start the turn, from 1 in the
    order in which the loop ran; most often the last turn comes first. ``total``: the number of
    turns that ran, of which some may have no rows. ``differing``: places in ``starts`` of the few
    turns that are unlike the others: with other rows, or the first with NaN or infinity."""

    starts: tuple[int, ...]
    end: int
    line: int
    numbers: tuple[int, ...]
    total: int
    differing: tuple[int, ...] = ()

    @property
    def start(self) -> int:
        return self.starts[0]

    @property
    def count(self) -> int:
        return len(self.starts)

    def rows_at(self, place: int) -> range:
        """The rows of the turn that begins at ``starts[place]``."""
        after = place + 1
        return range(self.starts[place], self.starts[after] if after < self.count else self.end)


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Parts of gradients that rows of the Backprop panel give, three arrays of one length: row
    ``rows[i]`` (0-based, ascending) gives ``part[i]`` (0 to 1, of the norms of all that is given)
    of the gradient of the source ``names[place[i]]``."""

    names: Sequence[str]
    rows: Array
    place: Array
    part: Array

    def of(self, rows: range, most: int) -> list[tuple[str, float]]:
        """The first sources, at most ``most``, to whose gradients these rows give, and the parts of
        these."""
        first, after = np.searchsorted(self.rows, (rows.start, rows.stop))
        places = self.place[first:after]
        given = np.bincount(places, self.part[first:after])
        return [(self.names[place], float(given[place])) for place in np.unique(places)[:most]]
