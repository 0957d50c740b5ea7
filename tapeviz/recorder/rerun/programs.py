"""Make the copies of a traced function that give the values of its inside.

TensorFlow optimizes a function before it runs it: some ops are fused, and their steps never exist
as tensors. A copy of what it made of the function computes what the function itself computes, bit
for bit, and gives the values of the ops that are left; what else is wanted comes from a second copy
in which each op is computed as it is written, beside the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from .. import private
from ..private import functions
from .cuts import Traced, cut, written_arguments
from .dataset_bodies import DatasetBodies
from .definitions import RUN_FUNCTIONS, SAME, Edited, functions_of, is_unseen_call, is_xla
from .optimized import GivenValue, LoopPath, OptimizedCopy
from .probes import Probe, Probed, ProbePath, Prober

_PASSES_ON = SAME | RUN_FUNCTIONS


class Value(NamedTuple):
    """The result of a probe: a tensor, or a TensorList of tensors if it is in a loop."""

    probe: Probe
    tensor: Any


class Ran(NamedTuple):
    """The outputs of a function, and the values of its inside.

    ``beside``: values of ops that were computed as they are written; ``given``: values of the ops
    that TensorFlow left of the function when it optimized it, which may have the name of an op
    that computes something else; ``in_datasets``: the same of the bodies of loops over datasets;
    ``outputs_in_datasets``: the outputs of the function when it gave these.
    """

    outputs: list[Any]
    beside: list[Value]
    given: list[GivenValue]
    in_datasets: list[Value]
    outputs_in_datasets: list[Any]


class Program:
    """The copies of one function. They take its arguments and then the sources of its cut."""

    def __init__(self, definition: Any, traced: Traced, *, repeats_datasets: bool = False) -> None:
        """``repeats_datasets``: loops over datasets run again."""
        self._count = len(definition.signature.output_arg)
        self.cut = cut(definition, repeats_datasets=repeats_datasets, traced=traced)
        self.has_xla = _has_xla(definition)
        """Whether XLA compiles a part of it: that takes long, and no name says what it fuses."""
        self.written = written_arguments(definition)
        """Positions of the resources that the function may change."""
        self._plain = ""
        self._graph: Any = None
        """The optimized graph, until it is copied; None if TensorFlow handed out none."""
        self._optimized: OptimizedCopy | None = None
        self._beside: Probed | None = None
        self._in_datasets: Probed | None = None

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """Run the function as it is, but for what was cut; its outputs."""
        if self.has_xla:
            return self._run_beside(inputs).outputs
        if self._plain:
            return list(self._call(self._plain, inputs, 0))
        copy = Edited(self.cut.definition)
        copy.register()
        self._plain = copy.name
        given, graphs = functions.optimized_graphs(lambda: self._call(copy.name, inputs, 0))
        self._graph = graphs[0] if graphs else None
        return list(given)

    def look_inside(
        self,
        inputs: Sequence[Any],
        prepare: Callable[[], None],
        kept_turns: Callable[[Sequence[Value]], Mapping[LoopPath, Sequence[int]]],
    ) -> Ran:
        """Run the copies that give the values of the inside.

        ``prepare`` is called before each run, and sets the variables; ``kept_turns`` with what was
        computed beside the run, for the turns of each loop whose values are wanted. The outputs are
        those of the function as it was optimized.
        """
        if self.has_xla:
            prepare()
            ran = self._run_beside(inputs)
            kept_turns(ran.beside)
            return ran
        if not self._plain:
            prepare()
            self.run(inputs)
        prepare()
        ran = self._run_beside(inputs)
        turns = kept_turns(ran.beside)
        prepare()
        probes = [value.probe for value in ran.beside]
        outputs, given = self._run_optimized(inputs, prepare, probes, turns)
        ran = ran._replace(outputs=list(outputs), given=given)
        if not any(step.is_of_dataset for probe in probes for step in probe.path):
            return ran
        prepare()
        outputs, in_datasets = self._run_in_datasets(inputs, probes)
        return ran._replace(in_datasets=in_datasets, outputs_in_datasets=list(outputs))

    def _run_optimized(
        self,
        inputs: Sequence[Any],
        prepare: Callable[[], None],
        probes: Sequence[Probe],
        turns: Mapping[LoopPath, Sequence[int]],
    ) -> tuple[Sequence[Any], list[GivenValue]]:
        """Return the outputs, and what the ops gave; nothing of a graph that cannot be copied."""
        with suppress(KeyError, IndexError):
            if self._optimized is None and self._graph is not None:
                self._optimized = OptimizedCopy(self.cut.definition, self._graph, probes)
                self._graph = None
        with suppress(private.Refused):
            if self._optimized is not None:
                return self._optimized.run(inputs, turns)
        prepare()
        return self.run(inputs), []

    def _run_beside(self, inputs: Sequence[Any]) -> Ran:
        if self._beside is None:
            prober = Prober(_is_wanted, opens=RUN_FUNCTIONS | private.DATASET_LOOPS)
            self._beside = prober.probe(self.cut.definition)
        outputs, tensors = self._run_probed(self._beside, inputs)
        pairs = zip(self._beside.probes, tensors, strict=True)
        beside = [Value(probe, tensor) for probe, tensor in pairs]
        return Ran(list(outputs), beside, [], [], [])

    def _run_in_datasets(
        self, inputs: Sequence[Any], probes: Sequence[Probe]
    ) -> tuple[Sequence[Any], list[Value]]:
        """Run the function as TensorFlow optimizes it; the bodies of its loops over datasets give
        what their ops give in it."""
        if self._in_datasets is None:
            arguments = self.cut.definition.signature.input_arg
            known = {
                argument.name: tensor for argument, tensor in zip(arguments, inputs, strict=True)
            }
            prober = Prober(
                lambda path, op, node: False,
                opens=RUN_FUNCTIONS | private.DATASET_LOOPS,
                bodies=DatasetBodies(probes),
                known=known,
            )
            self._in_datasets = prober.probe(self.cut.definition)
        outputs, tensors = self._run_probed(self._in_datasets, inputs)
        pairs = zip(self._in_datasets.probes, tensors, strict=True)
        return outputs, [Value(probe, tensor) for probe, tensor in pairs]

    def _run_probed(self, copy: Probed, inputs: Sequence[Any]) -> tuple[Any, Any]:
        given = self._call(copy.name, inputs, len(copy.probes))
        return given[: self._count], given[self._count :]

    def _call(self, name: str, inputs: Sequence[Any], further: int) -> Sequence[Any]:
        # What is computed beside the run is computed op by op; of XLA's functions it is the run.
        is_beside = self._beside is not None and name == self._beside.name
        is_optimized = self.has_xla or not is_beside
        return functions.call(name, inputs, self._count + further, is_optimized=is_optimized)


def _is_wanted(path: ProbePath, op: str, node: Any) -> bool:
    return is_unseen_call(node) or node.op not in _PASSES_ON


def _has_xla(definition: Any) -> bool:
    inner = (
        functions.definition(function.name)
        for node in definition.node_def
        if node.op in RUN_FUNCTIONS
        for function in functions_of(node)
    )
    return is_xla(definition) or any(found is not None and _has_xla(found) for found in inner)
