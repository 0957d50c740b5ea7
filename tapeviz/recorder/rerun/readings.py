"""Read the results of probes: the values of a run by path, turn, op and output."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from .. import limits
from ..private import functions
from .definitions import WHICH
from .probes import PathStep, Probe
from .programs import Value

At = tuple[tuple[str, int], ...]
"""A place in a run: for each level the op and the turn, 0 where it is no loop."""


class Known(NamedTuple):
    """A value and its word. ``tensor``: ``None`` where it is not known."""

    tensor: Any
    word: str


NOTHING = Known(None, "unknown")


class Readings:
    """The values of one run. ``conditions``: what each conditional went by; ``turns``: how often
    each loop turned.

    ``asked``: turns that are read of each loop besides the first and the last ones;
    ``has_all_turns``: every turn is read.
    """

    def __init__(self, asked: Collection[int] = (), *, has_all_turns: bool = False) -> None:
        self._asked = asked
        self._has_all_turns = has_all_turns
        self.values: dict[tuple[At, str, int], Known] = {}
        self.conditions: dict[tuple[At, str], Any] = {}
        self.turns: dict[tuple[At, str], int] = {}

    def take(self, values: Sequence[Value], best: str) -> None:
        """Take in values. ``best``: the word for values that are exact if the call's results
        agree."""
        for value in sorted(values, key=_order):
            word = best if value.word == "exact" else value.word
            self._read(value.probe, value.probe.path, value.tensor, (), word)

    def put(self, at: At, op: str, output: int, known: Known) -> None:
        if output == WHICH:
            self.conditions[at, op] = known.tensor
        else:
            self.values[at, op, output] = known

    def _read(self, probe: Probe, path: Sequence[PathStep], tensor: Any, at: At, word: str) -> None:
        if not path:
            self.put(at, probe.op, probe.output, Known(tensor, word))
            return
        (op, part, _), *rest = path
        if part == "body":
            count = self.turns[at, op] = functions.list_size(tensor)
            dtype = functions.VARIANT if any(step.part == "body" for step in rest) else probe.dtype
            for turn in self.wanted(count):
                item = functions.list_item(tensor, turn, dtype)
                self._read(probe, rest, item, (*at, (op, turn)), word)
        elif not part or _is_taken(part, self.conditions.get((at, op))):
            self._read(probe, rest, tensor, (*at, (op, 0)), word)

    def wanted(self, count: int) -> list[int]:
        """The turns that are read of a loop that turned so often."""
        if self._has_all_turns:
            return list(range(count))
        end = limits.TURNS_AT_EITHER_END
        ends = {*range(count)[:end], *range(count)[-end:]}
        return sorted(ends | {turn for turn in self._asked if 0 <= turn < count})


def _order(value: Value) -> tuple[bool, int]:
    """Conditions first, the outer before the inner ones: on them depends what else ran."""
    return value.probe.output != WHICH, len(value.probe.path)


def _is_taken(part: str, condition: Any) -> bool:
    if condition is None or part.startswith("branch"):
        return condition is not None and part == f"branch{int(condition)}"
    return bool(condition) == (part == "then")
