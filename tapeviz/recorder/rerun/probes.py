"""Copy a function so that it gives values of its inside as further outputs.

Nested calls, branches and loops are edited by recursion: a branch gives zeros for what the other
one computes, and a loop collects the values of all its turns in TensorLists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import limits
from ..private import functions
from .definitions import (
    CALLS,
    CASES,
    CONDITIONALS,
    LOOPS,
    RUN_FUNCTIONS,
    WHICH,
    Edited,
    add_data_inputs,
    branches_of,
    is_xla,
    names_taken,
    op_name,
    ports,
    which_dtype,
)


class PathStep(NamedTuple):
    """One level down: the op and the part of it, empty for a call, ``then``, ``body`` …

    ``node``: its name in the ``FunctionDef``.
    """

    op: str
    part: str
    node: str


ProbePath = tuple[PathStep, ...]


class Probe(NamedTuple):
    """A tensor inside of a function. ``op``: empty for the function's own input ``output``."""

    path: ProbePath
    op: str
    output: int
    dtype: int
    node: str = ""


class Probed(NamedTuple):
    """An edited function: its name, and what each of its further outputs is."""

    name: str
    probes: list[Probe]


_Found = list[tuple[Probe, str]]
"""Probes, and how the function at hand refers to their values."""


class Prober:
    """Edits one function. ``wanted(path, op, node)``: whether what it gives is wanted."""

    def __init__(self, wanted: Callable[[ProbePath, str, Any], bool]) -> None:
        """The inputs of each turn of a loop are wanted as well; the outputs of a call, a
        conditional or a loop as a whole if ``wanted`` says so."""
        self._wanted = wanted

    def probe(self, definition: Any) -> Probed:
        """The edited copy, which the runtime knows."""
        function, found = self._edit(definition, (), in_xla=is_xla(definition))
        self._finish(function, found, 0)
        return Probed(function.name, [probe for probe, _ in found])

    def _edit(self, definition: Any, path: ProbePath, *, in_xla: bool) -> tuple[Edited, _Found]:
        """A copy whose functions give their values, and those of its own. It has no outputs yet."""
        function = Edited(definition)
        found: _Found = []
        taken = names_taken(definition)
        for node in list(function.proto.node_def):
            op = op_name(definition, node, taken)
            if node.op in RUN_FUNCTIONS and self._wanted(path, op, node):
                found += _probes_of(path, op, node)
            elif node.op in CALLS:
                found += self._call(op, node, path, in_xla=in_xla)
            elif node.op in CONDITIONALS | CASES:
                found += [] if in_xla else self._conditional(op, node, path)
            elif node.op in LOOPS:
                found += [] if in_xla else self._loop(function, op, node, path)
            elif node.op != "Const" and self._wanted(path, op, node):  # a Const is in the graph
                found += _probes_of(path, op, node)
        return function, found

    def _inner(
        self, name: str, around: ProbePath, op: str, node: Any, part: str, *, in_xla: bool
    ) -> tuple[Edited, _Found] | None:
        path = (*around, PathStep(op, part, node.name))
        definition = functions.definition(name) if len(path) < limits.DEEPEST_FUNCTION else None
        if definition is None:
            return None
        return self._edit(definition, path, in_xla=in_xla or is_xla(definition))

    def _call(self, op: str, node: Any, path: ProbePath, *, in_xla: bool) -> _Found:
        called = node.attr["f"].func
        inner = self._inner(called.name, path, op, node, "", in_xla=in_xla)
        if inner is None or not inner[1]:
            return []
        function, found = inner
        called.name = self._finish(function, found, len(path) + 1)
        return _further_outputs(node, "Tout", found, len(path))

    def _conditional(self, op: str, node: Any, path: ProbePath) -> _Found:
        which = _which(path, op, node)
        branches = list(branches_of(node))
        inners = [self._inner(f.name, path, op, node, part, in_xla=False) for part, f in branches]
        edited = [inner for inner in inners if inner is not None]
        if len(edited) < len(branches):
            return [which]
        everything = [pair for _, found in edited for pair in found]
        for (function, own), (_, branch) in zip(edited, branches, strict=True):
            refs = dict(own)
            given = [
                (probe, refs.get(probe) or _nothing(function, probe, len(path) + 1))
                for probe, _ in everything
            ]
            branch.name = self._finish(function, given, len(path) + 1)
        return [which, *_further_outputs(node, "Tout", everything, len(path))]

    def _loop(self, function: Edited, op: str, node: Any, path: ProbePath) -> _Found:
        inner = self._inner(node.attr["body"].func.name, path, op, node, "body", in_xla=False)
        asks = functions.definition(node.attr["cond"].func.name)
        if inner is None or asks is None:
            return []
        (body, found), asking = inner, Edited(asks)
        depth, within = len(path), (*path, PathStep(op, "body", node.name))
        found += [
            (Probe(within, "", index, argument.type), argument.name)
            for index, argument in enumerate(body.proto.signature.input_arg)
            if argument.type != functions.RESOURCE
        ]
        lists = []
        for probe, ref in found:
            dtype = _dtype_at(probe, depth + 1)
            taken = body.add_input(functions.VARIANT)
            asking.add_input(functions.VARIANT)
            pushed = body.add_node("TensorListPushBack", [taken, ref], element_dtype=dtype)
            body.add_output(f"{pushed.name}:output_handle:0", functions.VARIANT)
            lists.append(function.add_list(dtype))
        node.attr["body"].func.name = self._finish(body, [], depth + 1)
        node.attr["cond"].func.name = self._finish(asking, [], depth + 1)
        add_data_inputs(node, lists)
        return _further_outputs(node, "T", found, depth)

    def _finish(self, function: Edited, found: _Found, depth: int) -> str:
        """Give the function its further outputs and let the runtime know it; its name."""
        for probe, ref in found:
            function.add_output(ref, _dtype_at(probe, depth))
        function.register()
        return function.name


def _probes_of(path: ProbePath, op: str, node: Any) -> _Found:
    found = [
        (Probe(path, op, index, port.dtype, node.name), port.ref)
        for index, port in enumerate(ports(node))
        if port.dtype != functions.RESOURCE
    ]
    return [*found, _which(path, op, node)] if node.op in CONDITIONALS | CASES else found


def _which(path: ProbePath, op: str, node: Any) -> tuple[Probe, str]:
    """The probe of a conditional for the branch that it takes."""
    return Probe(path, op, WHICH, which_dtype(node)), node.input[0]


def inlined_name(path: ProbePath, node: str) -> str:
    """The name of a node after TensorFlow inlined all functions, without their numbers."""
    parts = [f"{step.node}/{step.part}/@" if step.part else step.node for step in path]
    return "/".join([*parts, node])


def _dtype_at(probe: Probe, depth: int) -> int:
    """The dtype of a probe's value so many levels below the outermost function."""
    is_list = any(step.part == "body" for step in probe.path[depth:])
    return functions.VARIANT if is_list else probe.dtype


def _nothing(function: Edited, probe: Probe, depth: int) -> str:
    """The placeholder for a value that another branch computes."""
    dtype = _dtype_at(probe, depth)
    is_list = dtype == functions.VARIANT
    return function.add_list(probe.dtype) if is_list else function.add_constant(dtype)


def _further_outputs(node: Any, dtypes_of: str, found: Sequence[Any], depth: int) -> _Found:
    """Let a node have the further outputs that the functions it runs have."""
    dtypes, shapes = node.attr[dtypes_of].list.type, node.attr["output_shapes"].list.shape
    has_shapes, start = len(shapes) == len(dtypes) > 0, len(dtypes)
    for probe, _ in found:
        dtypes.append(_dtype_at(probe, depth))
        if has_shapes:
            shapes.add(unknown_rank=True)
    if not has_shapes:
        del node.attr["output_shapes"]
    return [(probe, f"{node.name}:output:{start + i}") for i, (probe, _) in enumerate(found)]
