"""Make the copies of a traced function that give the values of its inside.

TensorFlow optimizes a function before it runs it: some ops are fused, and their steps never exist
as tensors. A copy that gives only those tensors which survive computes what the function itself
computes, bit for bit; what else is wanted comes from a second copy, computed beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..private import functions
from .cuts import CutOutput, cut, written_arguments
from .definitions import RUN_FUNCTIONS, Edited, functions_of, is_backward_call, is_xla
from .probes import Probe, Probed, ProbePath, Prober, inlined_name

SAME = frozenset({"Identity", "IdentityN", "StopGradient", "PreventGradient", "Snapshot"})
"""Ops that give what they get: they need no probe."""
_PASSES_ON = SAME | RUN_FUNCTIONS
_NUMBER = re.compile(r"/_\d+")
_PARTS = re.compile(r"/(then|else|body|cond|branch\d+)/_\d+(?=/)")


class Value(NamedTuple):
    """The result of a probe: a tensor, or a TensorList of tensors if it is in a loop."""

    probe: Probe
    tensor: Any
    word: str


class _Optimized(NamedTuple):
    """An op of an optimized graph. ``inputs``: names, without the numbers of inlining."""

    type: str
    inputs: tuple[str, ...]


class Ran(NamedTuple):
    """One run: what the function gave, and the values of its inside."""

    outputs: list[Any]
    values: list[Value]


class Program:
    """The copies of one function. They take its arguments and then the sources of its cut."""

    def __init__(self, definition: Any, shape_of: Callable[[CutOutput], Any]) -> None:
        """``shape_of``: the shape that a source has in the graph, a proto."""
        self._count = len(definition.signature.output_arg)
        self.cut = cut(definition)
        arguments = len(definition.signature.input_arg)
        for place, source in enumerate(self.cut.sources):
            # Without it TensorFlow optimizes otherwise.
            shapes = self.cut.definition.arg_attr[arguments + place].attr["_output_shapes"]
            shapes.list.shape.append(shape_of(source))
        self.has_xla = _has_xla(definition)
        """Whether XLA compiles a part of it: that takes long, and no name says what it fuses."""
        self.written = frozenset(written_arguments(definition))
        """Positions of the resources that the function may change."""
        self._plain = ""
        self._survivors: dict[str, _Optimized] = {}
        self._exact: Probed | None = None
        self._beside: Probed | None = None

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
        self._survivors = _optimized_ops(graphs)
        return list(given)

    def look_inside(self, inputs: Sequence[Any], prepare: Callable[[], None]) -> Ran:
        """Run the copies that give the values of the inside.

        ``prepare`` is called before each run, and sets the variables. The outputs are those of the
        run that gives what survives.
        """
        if self.has_xla:
            prepare()
            return self._run_beside(inputs)
        if not self._plain:
            prepare()
            self.run(inputs)
        prepare()
        outputs, values = self._run_exact(inputs, prepare)
        prepare()
        return Ran(outputs, [*values, *self._run_beside(inputs).values])

    def _run_exact(self, inputs: Sequence[Any], prepare: Callable[[], None]) -> Ran:
        """The copy that gives what survives, and is optimized as the function itself is.

        Some ops TensorFlow computes in another way while nobody looks at them: of ``(x - y) - 2``
        it makes ``x - (y + 2)``, where the inner op's name is that of the sum (2.15-2.21). These do
        not survive, and others may be computed as in the run once these are not looked at.
        """
        while self._exact is None:
            exact = Prober(self._survives).probe(self.cut.definition)
            given, graphs = functions.optimized_graphs(partial(self._run_probed, exact, inputs))
            rewritten = self._rewritten_in(exact, _optimized_ops(graphs))
            if not rewritten:
                self._exact = exact
                return _exact_values(exact, *given)
            for name in rewritten:
                del self._survivors[name]
            prepare()
        return _exact_values(self._exact, *self._run_probed(self._exact, inputs))

    def _rewritten_in(self, copy: Probed, ops: Mapping[str, _Optimized]) -> set[str]:
        """The survivors that this copy computes otherwise than the function. ``ops``: its own."""
        names = {inlined_name(probe.path, probe.node) for probe in copy.probes}
        return {
            name
            for name in names & self._survivors.keys()
            if ops.get(name) != self._survivors[name]
        }

    def _run_beside(self, inputs: Sequence[Any]) -> Ran:
        if self._beside is None:
            prober = Prober(self._is_merged, takes_inputs=self.has_xla)
            self._beside = prober.probe(self.cut.definition)
        outputs, tensors = self._run_probed(self._beside, inputs)
        pairs = zip(self._beside.probes, tensors, strict=True)
        return Ran(list(outputs), [Value(probe, tensor, "beside") for probe, tensor in pairs])

    def _survives(self, path: ProbePath, op: str, node: Any) -> bool:
        return node.op not in _PASSES_ON and inlined_name(path, node.name) in self._survivors

    def _is_merged(self, path: ProbePath, op: str, node: Any) -> bool:
        if is_backward_call(node):
            return True
        return node.op not in _PASSES_ON and not self._survives(path, op, node)

    def _run_probed(self, copy: Probed, inputs: Sequence[Any]) -> tuple[Any, Any]:
        given = self._call(copy.name, inputs, len(copy.probes))
        return given[: self._count], given[self._count :]

    def _call(self, name: str, inputs: Sequence[Any], further: int) -> Sequence[Any]:
        return functions.call(name, inputs, self._count + further)


def _exact_values(copy: Probed, outputs: Any, tensors: Any) -> Ran:
    pairs = zip(copy.probes, tensors, strict=True)
    return Ran(list(outputs), [Value(probe, tensor, "exact") for probe, tensor in pairs])


def _has_xla(definition: Any) -> bool:
    inner = (
        functions.definition(function.name)
        for node in definition.node_def
        if node.op in RUN_FUNCTIONS
        for function in functions_of(node)
    )
    return is_xla(definition) or any(found is not None and _has_xla(found) for found in inner)


def _optimized_ops(graphs: Sequence[Any]) -> dict[str, _Optimized]:
    """All ops in optimized graphs, by their names without the numbers of inlining."""
    return {
        _PARTS.sub(r"/\1/@", node.name): _Optimized(
            node.op,
            tuple(_NUMBER.sub("/@", name) for name in node.input if not name.startswith("^")),
        )
        for graph in graphs
        for node in graph.node
    }
