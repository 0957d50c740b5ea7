"""Copy a function so that it gives values of its inside as further outputs.

Nested calls, branches and loops are edited by recursion: a branch gives zeros for what the other
one computes, and a loop counts its turns and collects values of them (:mod:`.turns`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from .. import limits, private
from ..private import functions
from .definitions import (
    CALLS,
    CASES,
    CONDITIONALS,
    LOOPS,
    RUN_FUNCTIONS,
    SIZE,
    WHICH,
    Edited,
    Port,
    add_data_inputs,
    branches_of,
    is_xla,
    names_taken,
    op_name,
    ports,
    which_dtype,
)
from .turns import AllTurns, AllTurnsOfDataset, TurnLists


class PathStep(NamedTuple):
    """One level down: the op and the part of it, empty for a call, ``then``, ``body`` …

    ``node``: its name in the ``FunctionDef``; ``is_of_dataset``: it is the body of a loop over a
    dataset; ``is_last``: of the branches of a conditional, it is the last.
    """

    op: str
    part: str
    node: str
    is_of_dataset: bool = False
    is_last: bool = False


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


class OtherBodies(Protocol):
    """Other bodies for the loops over datasets."""

    def body(
        self, name: str, within: ProbePath, known: Mapping[str, Any]
    ) -> tuple[Edited, _Found] | None:
        """A copy of the body of this name, and its probes. ``known``: handles of variables by the
        names of the arguments that are such. ``None`` if there is none."""

    def holds(self, body: Edited, known: Mapping[str, Any]) -> bool:
        """Whether this copy, as it was edited further, still computes what the body does."""


class Prober:
    """Edits one function. ``wanted(path, op, node)``: whether what it gives is wanted."""

    def __init__(
        self,
        wanted: Callable[[ProbePath, str, Any], bool],
        *,
        opens: Collection[str],
        in_place: bool = False,
        counts: Collection[tuple[ProbePath, str]] = (),
        bodies: OtherBodies | None = None,
        known: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """``opens``: types of ops that run functions whose inside is wanted, too. Where ``wanted``
        says so an op of these types gives its outputs as a whole instead. ``in_place``: the copy
        runs in the place of the function. It computes what that does (:meth:`.Edited.use_copies`;
        XLA has no such op), and gives what is wanted of all turns and no more, and how often the
        loops turn that it ``counts``; else a loop gives the inputs of its turns, too, and a
        conditional which branch it takes. ``bodies``: where loops over datasets get their bodies
        from; ``known``: tensors by the names of the arguments that they are for."""
        self._wanted = wanted
        self._opens = opens
        self._in_place = in_place
        self._counts = counts
        self._bodies = bodies
        self._gives_all = not in_place and bodies is None
        self._known: dict[ProbePath, Mapping[str, Any]] = {(): known}

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
        nodes = {node.name: node for node in function.proto.node_def}
        for node in list(function.proto.node_def):
            op = op_name(definition, node, taken)
            opens = node.op in self._opens
            loop = private.dataset_loop(node, nodes) if opens else None
            if loop is not None and not (self._in_place and self._wanted(path, op, node)):
                found += [] if in_xla else self._dataset_loop(function, op, node, loop, path)
            elif node.op in RUN_FUNCTIONS and self._wanted(path, op, node):
                found += _probes_of(path, op, node)
            elif opens and node.op in CALLS:
                found += self._call(op, node, path, in_xla=in_xla)
            elif opens and node.op in CONDITIONALS | CASES:
                found += [] if in_xla else self._conditional(op, node, path)
            elif opens and node.op in LOOPS:
                found += [] if in_xla else self._loop(function, op, node, path)
            elif node.op != "Const" and self._wanted(path, op, node):  # a Const is in the graph
                found += _probes_of(path, op, node)
        if self._in_place and not in_xla:
            own = (pair for pair in found if pair[0].path == path and pair[0].output >= 0)
            function.use_copies((nodes[probe.node], Port(ref, probe.dtype)) for probe, ref in own)
        return function, found

    def _inner(
        self,
        name: str,
        around: ProbePath,
        op: str,
        node: Any,
        part: str,
        *,
        in_xla: bool,
        is_of_dataset: bool = False,
        is_last: bool = False,
    ) -> tuple[Edited, _Found] | None:
        path = (*around, PathStep(op, part, node.name, is_of_dataset, is_last))
        definition = functions.definition(name) if len(path) < limits.DEEPEST_FUNCTION else None
        if definition is None:
            return None
        given = [ref for ref in node.input if not ref.startswith("^")]
        given = given[1:] if node.op in CONDITIONALS | CASES else given
        self._know(path, definition, given)
        return self._edit(definition, path, in_xla=in_xla or is_xla(definition))

    def _know(self, path: ProbePath, definition: Any, given: Sequence[str]) -> None:
        """Note which arguments of an inner function are known; ``given``: what it is called with,
        as the function around it refers to that."""
        known = self._known.get(path[:-1], {})
        pairs = zip(definition.signature.input_arg, given, strict=False)
        self._known[path] = {arg.name: known[ref] for arg, ref in pairs if ref in known}

    def _call(self, op: str, node: Any, path: ProbePath, *, in_xla: bool) -> _Found:
        called = node.attr["f"].func
        inner = self._inner(called.name, path, op, node, "", in_xla=in_xla)
        if inner is None or not inner[1]:
            return []
        function, found = inner
        called.name = self._finish(function, found, len(path) + 1)
        return _further_outputs(node, "Tout", found, len(path))

    def _conditional(self, op: str, node: Any, path: ProbePath) -> _Found:
        which = [_which(path, op, node)] if self._gives_all else []
        branches = list(branches_of(node))
        inners = [
            self._inner(f.name, path, op, node, part, in_xla=False, is_last=f is branches[-1][1])
            for part, f in branches
        ]
        edited = [inner for inner in inners if inner is not None]
        everything = [pair for _, found in edited for pair in found]
        if len(edited) < len(branches) or not everything:
            return which
        for (function, own), (_, branch) in zip(edited, branches, strict=True):
            refs = dict(own)
            given = [
                (probe, refs.get(probe) or _nothing(function, probe, len(path) + 1))
                for probe, _ in everything
            ]
            branch.name = self._finish(function, given, len(path) + 1)
        return [*which, *_further_outputs(node, "Tout", everything, len(path))]

    def _loop(self, function: Edited, op: str, node: Any, path: ProbePath) -> _Found:
        inner = self._inner(node.attr["body"].func.name, path, op, node, "body", in_xla=False)
        asks = functions.definition(node.attr["cond"].func.name)
        if inner is None or asks is None:
            return []
        (body, found), asking = inner, Edited(asks)
        if not self._gives_all and not found and (path, op) not in self._counts:
            return []
        depth, within = len(path), (*path, PathStep(op, "body", node.name))
        found += _given_to(body, within) if self._gives_all else []
        lists = AllTurns(body) if self._in_place else TurnLists(body)
        kept = [pair for pair in found if pair[0].output != SIZE]
        values = [(ref, dtype_at(probe, depth + 1)) for probe, ref in kept]
        counted = [body.add_input(dtype) for _, dtype in lists.counters]
        sizes = [ref for probe, ref in found if probe.output == SIZE]
        following = lists.count(counted, values, sizes)
        for ref, (_, dtype) in zip(following, lists.counters, strict=True):
            body.add_output(ref, dtype)
            asking.add_input(dtype)
        started = [function.add_constant(dtype, 0) for _, dtype in lists.counters]
        for ref, dtype in values:
            longer = lists.longer(body.add_input(functions.VARIANT), ref, dtype)
            body.add_output(longer, functions.VARIANT)
            asking.add_input(functions.VARIANT)
            started.append(lists.begun(function, dtype))
        node.attr["body"].func.name = self._finish(body, [], depth + 1)
        node.attr["cond"].func.name = self._finish(asking, [], depth + 1)
        add_data_inputs(node, started)
        counters = [(Probe(path, op, output, dtype), "") for output, dtype in lists.counters]
        return _further_outputs(node, "T", [*counters, *kept], depth)

    def _dataset_loop(
        self, function: Edited, op: str, node: Any, loop: Any, path: ProbePath
    ) -> _Found:
        """Collect values of turns in TensorLists, which are further parts of the state."""
        within = (*path, PathStep(op, "body", node.name, is_of_dataset=True))
        inner = self._dataset_body(op, node, loop, path)
        reduces = functions.definition(node.attr["f"].func.name)
        stops = [functions.definition(stop.attr["predicate"].func.name) for stop in loop.stops]
        if inner is None or reduces is None or None in stops:
            return []
        (body, found), depth, states = inner, len(path), loop.states
        given = _given_to(body, within) if self._bodies is None else []
        if self._in_place:  # the elements, if they are wanted
            is_wanted = self._wanted(within, "", loop.scan)
            given = [pair for pair in given if is_wanted and loop.is_element(pair[0].output)]
        found += given
        if not self._gives_all and not found and (path, op) not in self._counts:
            return []
        lists = AllTurnsOfDataset(body) if self._in_place else TurnLists(body)
        kept = [pair for pair in found if pair[0].output != SIZE]
        sizes = [ref for probe, ref in found if probe.output == SIZE]
        values = [(ref, dtype_at(probe, depth + 1)) for probe, ref in kept]
        counters = [dtype for _, dtype in lists.counters]
        further = [*counters, *[functions.VARIANT] * len(values)]
        taken = body.insert_inputs(states, further)
        handed = lists.count(taken[: len(counters)], values, sizes)
        for own, (ref, dtype) in zip(taken[len(counters) :], values, strict=True):
            handed.append(lists.longer(own, ref, dtype))
        body.insert_outputs(states, list(zip(handed, further, strict=True)))
        last = len(body.proto.signature.output_arg)
        body.insert_outputs(last, list(zip(handed, further, strict=True)))
        body.register()
        if self._bodies is not None and not self._bodies.holds(body, self._known[within]):
            return []
        loop.scan.attr["f"].func.name = body.name
        outputs = len(loop.scan.attr["output_types"].list.type)
        for stop, predicate in zip(loop.stops, map(Edited, stops), strict=True):
            predicate.insert_inputs(outputs, further)
            predicate.register()
            stop.attr["predicate"].func.name = predicate.name
        reducing = Edited(reduces)
        handed = reducing.insert_inputs(states + outputs, further)
        reducing.insert_inputs(states, further)
        reducing.insert_outputs(states, list(zip(handed, further, strict=True)))
        reducing.register()
        node.attr["f"].func.name = reducing.name
        started = [function.add_constant(dtype, 0) for dtype in counters]
        started += [lists.begun(function, dtype) for _, dtype in values]
        for each in (loop.scan, node):
            add_data_inputs(each, started, 1 + states)
            each.attr["Tstate"].list.type.extend(further)
        for each in (loop.scan, *loop.stops, node):
            each.attr["output_types"].list.type.extend(further)
            for _ in further:
                each.attr["output_shapes"].list.shape.add()
        probes = [Probe(path, op, output, dtype) for output, dtype in lists.counters]
        probes += [probe for probe, _ in kept]
        return [
            (probe, f"{node.name}:components:{place}") for place, probe in enumerate(probes, states)
        ]

    def _dataset_body(
        self, op: str, node: Any, loop: Any, path: ProbePath
    ) -> tuple[Edited, _Found] | None:
        if self._bodies is None:
            return self._inner(loop.body, path, op, node, "body", in_xla=False, is_of_dataset=True)
        within = (*path, PathStep(op, "body", node.name, is_of_dataset=True))
        captured = [ref for ref in loop.scan.input if not ref.startswith("^")][1 + loop.states :]
        given = [*[""] * (loop.states + loop.elements), *captured]
        self._know(within, functions.definition(loop.body), given)
        return self._bodies.body(loop.body, within, self._known[within])

    def _finish(self, function: Edited, found: _Found, depth: int) -> str:
        """Give the function its further outputs and let the runtime know it; its name."""
        for probe, ref in found:
            function.add_output(ref, dtype_at(probe, depth))
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


def _given_to(body: Edited, within: ProbePath) -> _Found:
    """Probes for what the body of a loop is given in each turn."""
    return [
        (Probe(within, "", place, argument.type), argument.name)
        for place, argument in enumerate(body.proto.signature.input_arg)
        if argument.type != functions.RESOURCE
    ]


def inlined_name(path: ProbePath, node: str) -> str:
    """The name of a node after TensorFlow inlined all functions, without their numbers."""
    parts = [f"{step.node}/{step.part}/@" if step.part else step.node for step in path]
    return "/".join([*parts, node])


def dtype_at(probe: Probe, depth: int) -> int:
    """The dtype of a probe's value so many levels below the outermost function."""
    is_list = any(step.part == "body" for step in probe.path[depth:])
    return functions.VARIANT if is_list else probe.dtype


def _nothing(function: Edited, probe: Probe, depth: int) -> str:
    """The placeholder for a value that another branch computes."""
    dtype = dtype_at(probe, depth)
    is_list = dtype == functions.VARIANT
    return function.add_list(probe.dtype) if is_list else function.add_constant(dtype)


def _further_outputs(node: Any, dtypes_of: str, found: Sequence[Any], depth: int) -> _Found:
    """Let a node have the further outputs that the functions it runs have."""
    dtypes, shapes = node.attr[dtypes_of].list.type, node.attr["output_shapes"].list.shape
    has_shapes, start = len(shapes) == len(dtypes) > 0, len(dtypes)
    for probe, _ in found:
        dtypes.append(dtype_at(probe, depth))
        if has_shapes:
            shapes.add(unknown_rank=True)
    if not has_shapes:
        del node.attr["output_shapes"]
    return [(probe, f"{node.name}:output:{start + i}") for i, (probe, _) in enumerate(found)]
