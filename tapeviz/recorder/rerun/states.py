"""Find the state of variables before a kept call, by running the calls before it again.

All runs use variables of our own: nothing that the snippet made is written to.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any

import numpy as np
import tensorflow as tf

from .. import limits, private
from ..hooks.kept_calls import Handle, KeptCall
from ..private import functions
from ..recording import RecordingContext
from .cuts import Traced
from .programs import Program


class Unknown(Exception):
    """Why the state before a call is not known, in words."""


class RerunVariables:
    """Variables of our own, which are brought to the state before a call."""

    def __init__(self, recording: RecordingContext) -> None:
        self._recording = recording
        self._kept = recording.kept_calls
        self._programs: dict[tuple[bytes, bool], Program] = {}
        self._repeating: dict[int, bool] = {}
        """Whether datasets give the same elements again, by the ids of their tensors."""
        self._loops_over_datasets: dict[Any, bool] = {}
        """Whether a graph has any."""
        self._own: dict[int, Any] = {}
        self._dtypes: dict[int, int] = {}

    def program(self, call: KeptCall) -> Program:
        """The copies of the function that a call ran. Raises :class:`Unknown`."""
        return self._program(call, repeats_datasets=self._repeats_datasets(call))

    def _program(self, call: KeptCall, *, repeats_datasets: bool) -> Program:
        if call.graph is None:
            raise Unknown("the snippet has dropped the function")
        name = call.function.name
        key = name, repeats_datasets
        if key not in self._programs:
            definition = functions.definition(name)
            if definition is None:
                raise Unknown("TensorFlow has dropped the function")
            traced = Traced(call.graph, self._recording.run_by)
            program = Program(definition, traced, repeats_datasets=repeats_datasets)
            self._programs[key] = program
        return self._programs[key]

    def program_of(self, definition: Any, call: KeptCall) -> Program:
        """The copies of a part of the function of a call."""
        traced = Traced(call.graph, self._recording.run_by)
        return Program(definition, traced, repeats_datasets=self._repeats_datasets(call))

    def _repeats_datasets(self, call: KeptCall) -> bool:
        """Whether a call has loops over datasets, and they can run again."""
        if call.graph not in self._loops_over_datasets:
            found = private.has_dataset_loop(call.graph, self._bodies)
            self._loops_over_datasets[call.graph] = found
        pairs = zip(call.taken, call.inputs, strict=False)
        return self._loops_over_datasets[call.graph] and all(
            self._repeats(identity, held) for identity, held in pairs if _is_opaque(held)
        )

    def _repeats(self, identity: int, dataset: Any) -> bool:
        if identity not in self._repeating:
            self._repeating[identity] = private.repeats(dataset)
        return self._repeating[identity]

    def _bodies(self, op: Any) -> Sequence[Any]:
        """The graphs that an op in a graph runs, as far as they are known."""
        runs = self._recording.run_by(op.graph, op.name) or ()
        return [graph for graph in runs if graph is not None]

    def sources(self, call: KeptCall) -> list[Any]:
        """The kept values of the sources of the call's program, in their order."""
        wanted = self.program(call).cut.sources
        known = wanted
        if self._repeats_datasets(call) and call.sources:
            known = self._program(call, repeats_datasets=False).cut.sources
        if len(call.sources) < len(known) or not set(known).issuperset(wanted):
            raise Unknown("what it took from elsewhere was not kept")
        return [call.sources[known.index(source)] for source in wanted]

    def before(self, call: KeptCall) -> dict[int, Any]:
        """The value of each variable among the call's inputs before it ran, by its handle's id.

        Raises :class:`Unknown` if a call that led there was forgotten, or a write was not seen.
        """
        starts = self._starts(call)
        between = self._between(call, starts)
        until = monotonic() + limits.SECONDS_TO_STATE
        since: dict[int, int] = {}
        spoiled: dict[int, int] = {}
        for earlier in between:
            if monotonic() > until:
                raise Unknown("running the calls before it again takes too long")
            self._set(earlier, since, spoiled)
            program = self.program(earlier)
            program.run(self.inputs(earlier))
            since.update(dict.fromkeys(self._written(earlier), earlier.sequence))
            left = [earlier.inputs[place] for place in program.cut.spoiled]
            spoiled |= {held.id: earlier.sequence for held in left if _is_variable(held)}
        self._set(call, since, spoiled)
        states = {variable.id: self.read(variable.id) for variable in _variables(call)}
        if between:
            for identity, value in states.items():
                known = self._kept.states[identity]
                known.append((call.sequence, value._numpy_internal()))
                known.sort(key=lambda entry: entry[0])
        return states

    def inputs(self, call: KeptCall) -> list[Any]:
        """The arguments of a call as tensors, with handles of our own; and its sources."""
        return [self.tensor(held) for held in (*call.inputs, *self.sources(call))]

    def restore(self, states: dict[int, Any]) -> None:
        """Write to our own variables."""
        for identity, value in states.items():
            functions.set_variable(self._own[identity], value)

    def read(self, identity: int) -> Any:
        """The value of our own variable for a handle."""
        return functions.read_variable(self._own[identity], self._dtypes[identity])

    def tensor(self, held: Any) -> Any:
        """A kept state as a tensor."""
        if isinstance(held, Handle):
            return self._variable(held)
        return held if private.is_tensor_like(held) else tf.constant(held)

    def _variable(self, handle: Handle) -> Any:
        if handle.id not in self._own:
            dtype = handle.dtype or int(tf.float32.as_datatype_enum)
            name = f"of {handle.id}"
            self._own[handle.id] = functions.new_variable(dtype, handle.shape, name)
            self._dtypes[handle.id] = dtype
        return self._own[handle.id]

    def _starts(self, call: KeptCall) -> dict[int, int]:
        """The sequence number of the state to start from, for each handle that matters."""
        starts: dict[int, int] = {}
        waiting = [(variable.id, call.sequence) for variable in _variables(call)]
        while waiting:
            identity, before = waiting.pop()
            sequence, _ = self._latest(identity, before)
            if identity in starts and starts[identity] <= sequence:
                continue
            starts[identity] = sequence
            for earlier in self._calls(sequence, call.sequence):
                if identity in self._written(earlier):
                    waiting += [(variable.id, earlier.sequence) for variable in _variables(earlier)]
        return starts

    def _between(self, call: KeptCall, starts: dict[int, int]) -> list[KeptCall]:
        first = min(starts.values(), default=call.sequence)
        found = []
        for earlier in self._calls(first, call.sequence):
            written = self._written(earlier)
            if any(starts.get(handle, call.sequence) <= earlier.sequence for handle in written):
                found.append(earlier)
        for graph in self._kept.graphs():
            known = self._kept.call(graph, 1)
            if known is None or not self._kept.forgotten(graph, first, call.sequence):
                continue
            if not self._written(known).isdisjoint(starts):
                raise Unknown("calls before it were forgotten: there were too many to keep them")
        return found

    def _calls(self, since: int, until: int) -> list[KeptCall]:
        timeline = self._kept.timeline
        return [timeline[moment] for moment in range(since, until) if moment in timeline]

    def _written(self, call: KeptCall) -> set[int]:
        """Ids of the handles of the variables that a call may have changed."""
        places = self.program(call).written
        return {call.inputs[place].id for place in places if _is_variable(call.inputs[place])}

    def _latest(self, identity: int, sequence: int) -> tuple[int, Any]:
        """The last known state at or before a call, and before which call that was."""
        known = [state for state in self._kept.states.get(identity, ()) if state[0] <= sequence]
        if not known or known[-1][1] is None:
            raise Unknown("what a variable held before is not known")
        return known[-1]

    def _set(self, call: KeptCall, since: dict[int, int], spoiled: dict[int, int]) -> None:
        """Bring the call's variables to their states, where running again did not.

        ``spoiled``: after which call the state of a variable can only be one that was read, since
        what the call wrote is not computed again.
        """
        for handle in _variables(call):
            sequence, value = self._latest(handle.id, call.sequence)
            if sequence <= spoiled.get(handle.id, -1):
                raise Unknown(
                    "a call before it changed a variable by what cannot be computed again, as "
                    "random numbers, elements of a dataset, or results of Python code"
                )
            if sequence > since.get(handle.id, -1):
                # A copy: what is assigned may be changed in place, and the state is kept.
                functions.set_variable(self._variable(handle), tf.constant(np.array(value)))
                since[handle.id] = sequence


def _variables(call: KeptCall) -> Sequence[Handle]:
    return [tensor for tensor in call.inputs if _is_variable(tensor)]


def _is_opaque(held: Any) -> bool:
    """Whether NumPy cannot show what is held: a dataset, a list of tensors."""
    return bool(private.is_tensor_like(held))


def _is_variable(held: Any) -> bool:
    return isinstance(held, Handle) and held.dtype != 0
