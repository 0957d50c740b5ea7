"""Run a kept call of a traced function again, to know the values of its inside.

TensorFlow keeps no value of what a compiled function computes on the way. The function runs again
as TensorFlow runs it, compiled, on variables of our own that hold what the snippet's held then; its
results are compared with those of the call, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

from .. import limits, private
from ..hooks.kept_calls import KeptCall
from ..private import functions
from ..recording import RecordingContext
from .definitions import op_name, without_our_names
from .programs import Program, Ran
from .raised import node_that_raised, run_up_to
from .readings import Readings
from .report import InsideReport
from .states import RerunVariables, Unknown
from .turns import WantedTurns
from .walk import Attributes, Walk


class Rerun:
    """Looks into calls of one finished run."""

    def __init__(self, recording: RecordingContext) -> None:
        self._recording = recording
        self._states = RerunVariables(recording)
        self._attributes = Attributes()

    def is_slow(self, call: KeptCall) -> bool:
        """Whether XLA has to compile the function anew before it can be looked into."""
        with suppress(Unknown):
            return self._states.program(call).has_xla
        return False

    def look(
        self, call: KeptCall, *, turns: Sequence[int] = (), has_all_turns: bool = False
    ) -> InsideReport:
        """The report about the inside of a call.

        ``turns``: of loops, those that are wanted besides the first and the last;
        ``has_all_turns``: all are, if they give no more than can be held.
        """
        with private.quiet_eager_mode(), np.errstate(all="ignore"):
            readings = Readings(WantedTurns(turns))
            about = self._compute(call, readings)
            if has_all_turns and _can_hold_all_turns(readings):
                readings = Readings(WantedTurns(range(max(readings.turns.values(), default=0))))
                about = self._compute(call, readings)
            arguments = [self._states.tensor(held) for held in call.inputs]
            walk = Walk(self._recording, call, readings, self._attributes)
            inside = walk.report(arguments)
        kept = self._recording.kept_calls
        inside.event |= {
            "graph": self._recording.symbols.graph(call.graph),
            "op": call.op,
            "call": call.number,
            "of": kept.count(call.graph),
            **about,
        }
        return inside

    def _compute(self, call: KeptCall, readings: Readings) -> dict[str, Any]:
        """Fill in the values; how the results compare with those of the call."""
        readings.wanted.prepare()
        try:
            program = self._states.program(call)
            states = self._states.before(call)
            inputs = self._states.inputs(call)
            restore = partial(self._states.restore, states)
        except Unknown as reason:
            return {"state": "unchecked", "why": str(reason)}
        except private.Refused as error:
            why = without_our_names(f"a call before it raised: {error}")
            return {"state": "unchecked", "why": why}
        try:
            ran = program.look_inside(inputs, restore, readings.take_course)
        except private.Refused as error:
            raised = self._compute_up_to(
                call,
                str(error),
                lambda own: own.look_inside(inputs, restore, readings.take_course),
                readings,
            )
            why = without_our_names(f"it raised when it ran again: {error}")
            return {"state": "unchecked", "why": why, "ran": bool(raised), "raised": raised}
        is_same = _gave_the_same(call, ran.outputs)
        is_same_in_datasets = is_same and _gave_the_same(call, ran.outputs_in_datasets)
        readings.take(
            ran,
            best="exact" if is_same else "beside",
            of_datasets="exact" if is_same_in_datasets else "beside",
        )
        for source, held in zip(program.cut.sources, self._states.sources(call), strict=True):
            readings.put_source(source, self._states.tensor(held))
        if call.outputs is None:
            return {"state": "unchecked", "why": "it did not come to its end", "ran": True}
        if not is_same:
            why = _difference(_compared(call, ran.outputs))
            return {"state": "differs", "why": why, "ran": True}
        return {"state": "equal", "why": "", "ran": True}

    def _compute_up_to(
        self, call: KeptCall, message: str, look: Callable[[Program], Ran], readings: Readings
    ) -> str:
        """Fill in the values of a call that raised, up to the op that did: its name, or that of
        the loop or call of the function it is in; empty if they are not known."""
        definition = functions.definition(call.function.name)
        node = node_that_raised(definition, message) if definition is not None else None
        if call.outputs is not None or node is None or self._states.program(call).cut.sources:
            return ""

        def attempt(part: Any) -> Ran | None:
            try:
                return look(self._states.program_of(part, call))
            except private.Refused:
                return None

        ran = run_up_to(definition, node, attempt)
        if ran is None:
            return ""
        readings.take(ran, best="exact", of_datasets="exact")
        return op_name(definition, node)


def _can_hold_all_turns(readings: Readings) -> bool:
    count, size = readings.size_of_all_turns()
    return count <= limits.VALUES_OF_CALL and size <= limits.BYTES_OF_TURNS


def _gave_the_same(call: KeptCall, outputs: Sequence[Any]) -> bool:
    return all(_is_same(held, tensor) for held, tensor in _compared(call, outputs))


def _compared(call: KeptCall, outputs: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Pair the kept results with new ones, in place of an optional (of Keras) what it holds."""
    found: list[tuple[Any, Any]] = []
    held = call.outputs or ()
    specs = private.specs_of_optionals(call.graph)
    specs += [None] * (len(held) - len(specs))
    for first, other, spec in zip(held, outputs, specs, strict=False):
        if spec is None:
            found.append((first, other))
        else:
            parts = [private.optional_parts(optional, spec) for optional in (first, other)]
            found += zip_longest(*parts)
    return found


def _is_same(held: Any, tensor: Any) -> bool:
    """Whether a kept result and a new one have the same bits; what has none is not compared."""
    if held is None or tensor is None:
        return False
    if private.is_opaque(tensor._datatype_enum()):
        return True
    first, other = np.asarray(held), np.asarray(tensor._numpy_internal())
    if first.dtype.kind in "OS":
        return bool(np.array_equal(first, other))
    return first.shape == other.shape and first.tobytes() == other.tobytes()


def _difference(pairs: Sequence[tuple[Any, Any]]) -> str:
    """How the results of a call and of its second run differ, and what can cause that, in words."""
    differing = [pair for pair in pairs if not _is_same(*pair)]
    count = f"{len(differing)} of its {len(pairs)} results" if len(pairs) > 1 else "its result"
    verb = "differs" if len(differing) == 1 else "differ"
    if all(_is_near(held, tensor) for held, tensor in differing):
        return (
            f"{count} {verb} in the last digits, as it happens when several threads add up numbers "
            "in another order"
        )
    return (
        f"{count} {verb}; something that the function reads besides its arguments and variables "
        "may have changed since, or it draws other random numbers"
    )


def _is_near(held: Any, tensor: Any) -> bool:
    """Whether two floating-point results agree but for rounding."""
    if held is None or tensor is None:
        return False
    first, other = np.asarray(held), np.asarray(tensor._numpy_internal())
    if first.dtype.kind not in "fc" or first.shape != other.shape:
        return False
    slack = 64 * float(np.finfo(first.dtype).eps)
    size = float(np.max(np.abs(first), initial=0.0))
    return bool(np.allclose(first, other, slack, slack * size, equal_nan=True))
