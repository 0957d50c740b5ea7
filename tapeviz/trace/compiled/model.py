"""Nouns of compiled functions: their traces, and what is known of the inside of a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..ids import OpId, TensorId

Word = Literal["beside", "unknown"]
"""How a value inside of a compiled call is known, where it is not exactly what TensorFlow computed:
``beside``: TensorFlow merged this step with others, and it was computed separately; ``unknown``: it
cannot be computed again."""


Agreement = Literal["equal", "differs", "unchecked"]


@dataclass(frozen=True, slots=True)
class RerunOutcome:
    """How the rerun of an opened call of a compiled function ended.

    ``state``: ``equal``: its outputs came out bit for bit as in the run; ``differs``;
    ``unchecked``: there was nothing to compare with. ``why``: the reason for the last two.
    ``has_run``: it ran again; else the values inside are not known. ``is_turned``: it has loops,
    and a gradient can be led back through every turn of them, op by op. ``raised``: the op
    that did, as in the call, or the loop or call it is in: the values are those up to there.
    """

    state: Agreement
    why: str = ""
    has_run: bool = True
    is_turned: bool = False
    raised: str = ""


@dataclass(frozen=True, slots=True)
class TracedFunction:
    """A ``tf.function`` traced for one kind of arguments; other kinds have traces of their own.

    ``calls``: its eager calls in their order (ids in :attr:`Trace.ops`, of which only the opened
    ones have a ``body``). ``line``: where the function is defined; 0: outside of the snippet.
    ``size``: the number of ops in its graph and in those that it runs.
    """

    graph: int
    name: str
    line: int
    calls: tuple[OpId, ...] = ()
    size: int = 0


@dataclass(frozen=True, slots=True)
class Conditional:
    """A conditional (``If``, ``Case``) inside of an opened call, of which one branch ran.

    ``taken``: of ``If`` 0 for the branch where the predicate is true, 1 for the other. ``skipped``:
    tensors from outside, for variables their handles, that only the others take, each with the line
    of the op that does. A conditional in a loop that takes either branch in some turn is drawn with
    both, and ``skipped`` is empty.
    """

    op: OpId
    taken: int
    skipped: Mapping[TensorId, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loop:
    """A compiled loop (``While``, one over a dataset) inside of an opened call, drawn as one turn.

    ``body``: the ops of that turn. Its first inputs are the tensors that the loop was given, what
    it computes has the values of the last turn (in a branch that this did not take of the last that
    did), and what the last turn gave is the loop's output:
    ``carried`` pairs what a turn takes with what it hands on to the next, by the ids drawn.
    ``count``: how many turns ran, ``None`` if that is not known.
    ``turns``: the tensors of each turn, by those drawn. The key counts turns from 0: those of the
    loops around this one within the call, outermost first, then its own. A tensor whose value is
    not known in a turn is missing there.
    """

    op: OpId
    body: tuple[OpId, ...]
    carried: tuple[tuple[TensorId, TensorId], ...]
    count: int | None = None
    turns: Mapping[tuple[int, ...], Mapping[TensorId, TensorId]] = field(default_factory=dict)

    def earlier_turn(self, results: Iterable[TensorId | None]) -> tuple[int, ...]:
        """The key of the turn in which a gradient call with these results ran last, if it is in a
        branch that the last turn did not take; else empty."""
        known = {result for result in results if result is not None}
        ran = [key for key, turn in self.turns.items() if not known.isdisjoint(turn)]
        shown = max(ran, default=())
        return shown if shown and shown != max(self.turns) else ()
