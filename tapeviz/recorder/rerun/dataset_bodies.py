"""Copy the bodies of loops over datasets as TensorFlow optimizes them.

It does so when it begins to run the dataset, and hands out no graph of what it made. The same
optimizations are asked for here, of a function that does not run. A copy of their result is
optimized once more when it runs: it is only taken if that leaves all that it computes. Bodies that
run functions are left, as TensorFlow optimizes those in another order (2.21), and bodies without
some op of the run's, of which it makes something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from .. import private
from ..private import functions
from .definitions import RUN_FUNCTIONS, Edited, Port, without_our_names
from .optimized import OptimizedGraph, holds_all
from .probes import Probe, ProbePath


class DatasetBodies:
    """The copies for one function; ``probes``: the values that are wanted."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        self._probes = probes
        self._computed: dict[str, Any] = {}
        """The ``FunctionDef`` that each copy has to compute, by the name of the copy."""

    def body(
        self, name: str, within: ProbePath, known: Mapping[str, Any]
    ) -> tuple[Edited, list[tuple[Probe, str]]] | None:
        """A copy of a body, the function ``name``, with the wanted values in it and how the copy
        refers to each; ``None`` where it is not known what TensorFlow makes of the body.

        ``within``: the loop; ``known``: the handles of variables by the names of its arguments.
        """
        definition = Edited(functions.definition(name))
        is_cut = name != without_our_names(name)
        if is_cut or any(_runs_functions(node) for node in definition.proto.node_def):
            return None
        definition.register()  # TensorFlow hands out a graph at the first call of a name
        optimized = _optimized(definition.proto, known)
        if optimized is None:
            return None
        body = Edited(optimized.proto)
        self._computed[body.name] = optimized.proto
        arguments = definition.proto.signature.input_arg
        found, copied = list[tuple[Probe, str]](), list[tuple[Any, Port]]()
        for probe in self._probes:
            if probe.path != within:
                continue
            if not probe.op:
                found.append((probe, arguments[probe.output].name))
            elif (left := optimized.find((), probe)) is not None:
                found.append((probe, left.ref))
                copied.append((left.node, Port(left.ref, probe.dtype)))
        body.use_copies(copied)
        return body, found

    def holds(self, body: Edited, known: Mapping[str, Any]) -> bool:
        """Whether a copy with its further outputs still computes all that it has to once
        TensorFlow has optimized it."""
        optimized = _optimized(body.proto, known)
        return optimized is not None and holds_all(optimized.proto, self._computed[body.name])


def _runs_functions(node: Any) -> bool:
    return node.op in RUN_FUNCTIONS or functions.op_def(node.op) is None  # a ``Defun``


def _optimized(definition: Any, known: Mapping[str, Any]) -> OptimizedGraph | None:
    """The function as TensorFlow optimizes it where a dataset runs it; ``None`` where that is not
    known. ``known``: the handles among its arguments."""
    signature = definition.signature
    arguments = [(argument.name, argument.type) for argument in signature.input_arg]
    if any(dtype == functions.RESOURCE and name not in known for name, dtype in arguments):
        return None
    with suppress(private.Refused, KeyError, IndexError):
        inputs = [
            known[name] if dtype == functions.RESOURCE else functions.nothing(dtype)
            for name, dtype in arguments
        ]
        graph = functions.optimized_of_dataset(signature.name, inputs, len(signature.output_arg))
        return OptimizedGraph(definition, graph) if graph is not None else None
    return None
