"""Read the results of probes: the values of a run by path, turn, op and output."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import private
from ..private import functions
from .definitions import TURNS, WHICH
from .optimized import LoopPath
from .probes import PathStep, Probe
from .programs import Ran, Value
from .turns import CHUNK, WantedTurns

At = tuple[tuple[str, int], ...]
"""A place in a run: for each level the op and the turn, 0 where it is no loop."""


class Known(NamedTuple):
    """A value and its word. ``tensor``: ``None`` where it is not known."""

    tensor: Any
    word: str


NOTHING = Known(None, "unknown")
_SLACK = 1e-4
"""How far rounding may lead apart what is computed in two ways, relative to the largest element."""


class Readings:
    """The values of one run. ``conditions``: what each conditional went by; ``turns``: how often
    each loop turned; ``wanted``: the turns that are read of each loop."""

    def __init__(self, wanted: WantedTurns) -> None:
        self.wanted = wanted
        self.values: dict[tuple[At, str, int], Known] = {}
        self.conditions: dict[tuple[At, str], Any] = {}
        self.turns: dict[tuple[At, str], int] = {}

    def take_course(self, beside: Sequence[Value]) -> dict[LoopPath, list[int]]:
        """Take in which branches and how many turns ran, of what was computed beside the run;
        return the turns that are read of each loop."""
        for value in sorted(beside, key=lambda value: len(value.probe.path)):  # the outer first
            if value.probe.output < 0:
                self._read(value.probe, value.tensor, "beside")
        found: dict[LoopPath, set[int]] = defaultdict(set)
        for (at, op), count in self.turns.items():
            path = (*(name for name, _ in at), op)
            found[path].update(self.wanted.with_those_before(count))
        return {path: sorted(turns) for path, turns in found.items()}

    def take(self, ran: Ran, *, best: str, of_datasets: str) -> None:
        """Take in the values of a run. ``best``: the word for what the ops of the optimized
        function gave: ``exact`` if the call's results agree; ``of_datasets``: for what the ops of
        the optimized bodies of loops over datasets gave."""
        for values, word in ((ran.beside, "beside"), (ran.in_datasets, of_datasets)):
            for value in values:
                if value.probe.output >= 0:
                    self._read(value.probe, value.tensor, word)
        for given in ran.given:
            probe, turns = given.probe, iter(given.turns)
            at = tuple((op, next(turns) if part == "body" else 0) for op, part, *_ in probe.path)
            key = (at, probe.op, probe.output)
            if key not in self.values:  # of a turn that is not wanted
                continue
            if given.is_as_written or _is_alike(given.tensor, self.values[key].tensor):
                self.values[key] = Known(given.tensor, best)

    def put_source(self, source: Probe, tensor: Any) -> None:
        """Take in what an op gave in the run of the snippet, of a loop in all turns."""
        if source.output != TURNS:
            self._read(source, tensor, "exact", has_all=True)

    def _put(self, at: At, op: str, output: int, known: Known) -> None:
        if output == WHICH:
            self.conditions[at, op] = known.tensor
        elif output == TURNS:
            self.turns[at, op] = int(known.tensor)
        else:
            before = self.values.get((at, op, output), NOTHING)
            if before.tensor is None or _is_alike(known.tensor, before.tensor):
                self.values[at, op, output] = known

    def _read(
        self,
        probe: Probe,
        tensor: Any,
        word: str,
        at: At = (),
        *,
        has_all: bool = False,
    ) -> None:
        """``has_all``: the lists are those of :class:`.AllTurns`, of a loop over a dataset in
        chunks."""
        if len(at) == len(probe.path):
            self._put(at, probe.op, probe.output, Known(tensor, word))
            return
        step, *rest = probe.path[len(at) :]
        op, part = step.op, step.part
        if part == "body":
            dtype = (
                functions.VARIANT if any(below.part == "body" for below in rest) else probe.dtype
            )
            for turn in self.wanted.with_those_before(self.turns.get((at, op), 0)):
                items, place = tensor, turn if has_all else self.wanted.place(turn)
                if has_all and step.is_of_dataset:
                    chunk, place = divmod(turn, CHUNK)
                    items = functions.list_item(tensor, chunk, functions.VARIANT)
                item = functions.list_item(items, place, dtype)
                self._read(probe, item, word, (*at, (op, turn)), has_all=has_all)
        elif not part or _is_taken(step, self.conditions.get((at, op))):
            self._read(probe, tensor, word, (*at, (op, 0)), has_all=has_all)

    def size_of_all_turns(self) -> tuple[float, float]:
        """About how many values all turns of all loops gave, and their bytes: each value of a loop
        counts for those of the turns that were not read."""
        count = size = 0.0
        for (at, _, _), known in self.values.items():
            if known.tensor is None:
                continue
            share = 1.0
            for place, (op, _) in enumerate(at):
                turned = self.turns.get((at[:place], op))
                if turned:
                    share *= turned / len(self.wanted.with_those_before(turned))
            count += share
            size += share * functions.bytes_of(known.tensor)
        return count, size


def _is_alike(given: Any, beside: Any) -> bool:
    """Whether an op computed what is written, but for rounding: TensorFlow may have given its name
    to another step, as in ``(x - y) - 2``, of which it makes ``x - (y + 2)`` (2.15-2.21)."""
    if private.is_opaque(given._datatype_enum()):
        return True
    first, other = given._numpy_internal(), beside._numpy_internal()
    first, other = np.asarray(first), np.asarray(other)
    if first.dtype != other.dtype or first.shape != other.shape:
        return False
    if first.dtype.kind in "OS":
        return bool(np.array_equal(first, other))
    if first.tobytes() == other.tobytes():
        return True
    if first.dtype.kind not in "fcV":  # V: bfloat16
        return False
    eps = 2.0**-7 if first.dtype.kind == "V" else float(np.finfo(first.dtype).eps)
    kind = np.complex128 if first.dtype.kind == "c" else np.float64
    first, other = first.astype(kind), other.astype(kind)
    size = float(np.max(np.abs(other), where=np.isfinite(other), initial=0.0))
    slack = max(_SLACK, 16 * eps)
    return bool(np.allclose(first, other, slack, slack * size, equal_nan=True))


def _is_taken(step: PathStep, condition: Any) -> bool:
    """Whether a branch ran. ``Case`` runs its last one for an index out of range."""
    if condition is None:
        return False
    if not step.part.startswith("branch"):
        return bool(condition) == (step.part == "then")
    number, index = int(step.part.removeprefix("branch")), int(condition)
    return index == number or (step.is_last and not 0 <= index < number)
