"""Run the graph that TensorFlow made of a function by optimizing it, and read what its ops gave.

The copy is not optimized again: its ops are those of the run, whatever is read of them. What an op
in a loop or in a branch gives is staged by the copy, with the turns of the loops around it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count as counter
from typing import Any, NamedTuple

from ..private import functions
from .definitions import SAME, Edited, names_taken, op_name, ports
from .probes import Probe, ProbePath, inlined_name
from .turns import is_turn_kept

_PARTS = re.compile(r"/(then|else|body|cond|branch\d+)/_\d+(?=/)")
_SWITCHES = frozenset({"Switch", "_SwitchN"})
_STRUCTURE = _SWITCHES | {"Merge", "Enter", "Exit", "NextIteration", "LoopCond", "_Arg", "_Retval"}
_numbers = counter(1)

LoopPath = tuple[str, ...]
"""The name of a loop, after those of what it is in."""
_Frame = tuple[str, ...]
"""The loops that an op is in, the outermost first."""
_Guards = frozenset[tuple[str, int]]
"""The switches that an op is behind: the tensors they go by, and which of their outputs."""


class GivenValue(NamedTuple):
    """A value that an op of the optimized graph computed.

    ``turns``: those of the loops around it, the outermost first; ``is_as_written``: the op is known
    to compute what the traced op of its name does.
    """

    probe: Probe
    turns: tuple[int, ...]
    tensor: Any
    is_as_written: bool = False


class _Place(NamedTuple):
    frame: _Frame
    guards: _Guards


class _Left(NamedTuple):
    """An op that is left, and how the function refers to one of its outputs."""

    node: Any
    ref: str
    place: _Place


class _Staged(NamedTuple):
    """Values that are there together: the name by which they are staged, and what they are."""

    name: str
    depth: int
    probes: list[Probe]


class _Loop(NamedTuple):
    """``condition``: the op that says whether it goes on; ``enter``: one that leads into it."""

    condition: str
    enter: Any


class OptimizedGraph:
    """The graph that TensorFlow made of a function, as a ``FunctionDef`` with the arguments and
    outputs of that."""

    def __init__(self, definition: Any, graph: Any) -> None:
        self.nodes = {node.name: node for node in graph.node}
        self.places = dict(_places(self.nodes))
        self._ports = {
            name: [port.ref for port in ports(node)] for name, node in self.nodes.items()
        }
        self._arguments = {
            node.name: definition.signature.input_arg[node.attr["index"].i].name
            for node in graph.node
            if node.op == "_Arg"
        }
        self._left = {_PARTS.sub(r"/\1/@", name): name for name in self.nodes}
        for function in graph.library.function:
            if functions.definition(function.signature.name) is None:
                functions.register(function)
        self.proto = self._as_function(definition)

    def find(self, path: ProbePath, probe: Probe) -> _Left | None:
        """The output that gives a value. ``path``: the way to its op before functions were
        inlined. ``None`` if that op is not left."""
        name = self._left.get(inlined_name(path, probe.node)) if probe.op else None
        if name is None or probe.output < 0 or self.nodes[name].op in _STRUCTURE:
            return None
        refs = self._ports[name]
        if probe.output >= len(refs):
            return None
        return _Left(self.nodes[name], refs[probe.output], self.places[name])

    def _as_function(self, definition: Any) -> Any:
        proto = functions.FunctionDef()
        proto.signature.CopyFrom(definition.signature)
        for place, about in definition.arg_attr.items():
            proto.arg_attr[place].CopyFrom(about)
        for key, value in definition.attr.items():
            proto.attr[key].CopyFrom(value)
        del proto.signature.control_output[:]
        for name, node_name in definition.control_ret.items():
            if node_name in self.nodes:
                proto.signature.control_output.append(name)
                proto.control_ret[name] = node_name
        results = definition.signature.output_arg
        for node in self.nodes.values():
            if node.op == "_Retval":
                proto.ret[results[node.attr["index"].i].name] = self._ref(node.input[0])
            elif node.op != "_Arg":
                copy = proto.node_def.add()
                copy.CopyFrom(node)
                del copy.input[:]
                copy.input.extend(self._ref(ref) for ref in node.input)
        return proto

    def _ref(self, ref: str) -> str:
        """Translate an input of the graph, ``name:1``, ``^name``, to that of a ``FunctionDef``."""
        if ref.startswith("^"):
            return ref
        name, place = _parts(ref)
        return self._arguments.get(name) or self._ports[name][place]


class OptimizedCopy:
    """A copy of a function as it was optimized. ``graph``: the optimized graph; ``probes``: the
    values that are wanted, as far as ops that give them are left."""

    def __init__(self, definition: Any, graph: Any, probes: Iterable[Probe]) -> None:
        self._graph = OptimizedGraph(definition, graph)
        self._count = len(definition.signature.output_arg)
        self._function = Edited(self._graph.proto)
        left = {node.name: node for node in self._function.proto.node_def}
        self._as_written = _ops_as_written(definition, left)
        self._outside: list[Probe] = []
        self._staged: list[_Staged] = []
        self._loops: list[LoopPath] = []
        """The loops whose wanted turns are further arguments."""
        self._give(probes)
        self._function.register()

    def run(
        self, inputs: Sequence[Any], turns: Mapping[LoopPath, Sequence[int]]
    ) -> tuple[Sequence[Any], list[GivenValue]]:
        """Return the function's outputs, and what its ops gave, in these turns of each loop."""
        wanted = [functions.vector(turns.get(loop, ())) for loop in self._loops]
        try:
            count = self._count + len(self._outside)
            name = self._function.name
            given = functions.call(name, [*inputs, *wanted], count, is_optimized=False)
        except BaseException:
            for staged in self._staged:
                functions.clear_staged(staged.name, self._dtypes(staged))
            raise
        found = [
            GivenValue(probe, (), tensor, not probe.path and probe.op in self._as_written)
            for probe, tensor in zip(self._outside, given[self._count :], strict=True)
        ]
        for staged in self._staged:
            depth = staged.depth
            for values in functions.unstage(staged.name, self._dtypes(staged)):
                at = tuple(int(number) for number in values[:depth])
                found += map(GivenValue, staged.probes, [at] * len(staged.probes), values[depth:])
        return given[: self._count], found

    def _dtypes(self, staged: _Staged) -> list[int]:
        return [*[functions.INT32] * staged.depth, *(probe.dtype for probe in staged.probes)]

    def _give(self, probes: Iterable[Probe]) -> None:
        groups: dict[_Place, list[tuple[Probe, str]]] = defaultdict(list)
        for probe in probes:
            left = self._graph.find(probe.path, probe)
            depth = sum(step.part == "body" for step in probe.path)
            if left is not None and len(left.place.frame) == depth:
                groups[left.place].append((probe, left.ref))
        counters = _Counters(self._function, self._graph.nodes, self._graph.places)
        for place, group in groups.items():
            if not place.frame and not place.guards:
                for probe, ref in group:
                    self._function.add_output(ref, probe.dtype)
                    self._outside.append(probe)
            else:
                path = group[0][0].path
                ends = [end for end, step in enumerate(path, 1) if step.part == "body"]
                loops = [tuple(step.op for step in path[:end]) for end in ends]
                self._stage(counters.around(place.frame, loops), group)
        self._loops = counters.loops

    def _stage(self, turns: list[str], found: list[tuple[Probe, str]]) -> None:
        staged = _Staged(f"tapeviz {next(_numbers)}", len(turns), [probe for probe, _ in found])
        node = self._function.add_node("Stage", [*turns, *(ref for _, ref in found)])
        node.attr["dtypes"].list.type.extend(self._dtypes(staged))
        node.attr["capacity"].i = node.attr["memory_limit"].i = 0
        node.attr["container"].s = b""
        node.attr["shared_name"].s = staged.name.encode()
        self._staged.append(staged)


def _ops_as_written(definition: Any, left: Mapping[str, Any]) -> frozenset[str]:
    """Find the function's own ops whose type and inputs no optimization has changed. ``left``: the
    nodes that are left of it."""
    written = {node.name: node for node in definition.node_def}
    taken = names_taken(definition)
    return frozenset(
        op_name(definition, node, taken)
        for name, node in left.items()
        if name in written and _computes_the_same(node, left, written[name], written)
    )


def holds_all(function: Any, of: Any) -> bool:
    """Whether all that ``of`` computes is computed by ``function``, too, by ops of the same names
    from the same inputs."""
    nodes, others = ({node.name: node for node in each.node_def} for each in (function, of))
    return all(
        name in nodes and _computes_the_same(nodes[name], nodes, node, others)
        for name, node in others.items()
        if node.op != "Const" and node.op not in SAME
    )


def _computes_the_same(
    node: Any, nodes: Mapping[str, Any], other: Any, others: Mapping[str, Any]
) -> bool:
    return node.op == other.op and _inputs_of(node, nodes) == _inputs_of(other, others)


def _inputs_of(node: Any, nodes: Mapping[str, Any]) -> list[str]:
    """Return the inputs of a ``FunctionDef``'s node, past ops that give what they get.

    Constants stand for their values; the inputs of an op that commutes are sorted.
    """
    found = []
    for ref in node.input:
        if ref.startswith("^"):
            continue
        source = nodes.get(ref.partition(":")[0])
        while source is not None and source.op in SAME and len(source.input) == 1:
            ref = source.input[0]
            source = nodes.get(ref.partition(":")[0])
        if source is not None and source.op == "Const":
            ref = repr(source.attr["value"].tensor.SerializeToString())
        found.append(ref)
    about = functions.op_def(node.op)
    return sorted(found) if about is not None and about.is_commutative else found


class _Inside(NamedTuple):
    """References for ops in a loop: to the turns of the loops around them, to the numbers 0 and 1,
    and to whether values of all these turns are wanted."""

    turns: list[str]
    start: str
    step: str
    is_wanted: str


class _Counters:
    """Counts the turns of loops, from 0, as further loop variables."""

    def __init__(
        self, function: Edited, nodes: Mapping[str, Any], places: Mapping[str, _Place]
    ) -> None:
        self._function = function
        conditions = {
            places[name].frame: name for name, node in nodes.items() if node.op == "LoopCond"
        }
        enters = {
            places[name].frame: node
            for name, node in nodes.items()
            if node.op == "Enter" and not node.attr["is_constant"].b
        }
        self._enters = {
            frame: _Loop(condition, enters[frame])
            for frame, condition in conditions.items()
            if frame in enters
        }
        self._known: dict[_Frame, _Inside] = {}
        self.loops: list[LoopPath] = []
        """The loops whose wanted turns are arguments of the function, in their order."""

    def around(self, frame: _Frame, loops: Sequence[LoopPath]) -> list[str]:
        """Return the turn of each loop around an op, the outermost first, which are there in wanted
        turns only. ``loops``: what these loops are called."""
        inside = self._in(frame, loops)
        if not frame:
            return []
        outermost, *others = inside.turns
        switch = self._function.add_node("Switch", [outermost, inside.is_wanted], T=functions.INT32)
        return [f"{switch.name}:output_true:0", *others]

    def _in(self, frame: _Frame, loops: Sequence[LoopPath]) -> _Inside:
        if frame not in self._known:
            self._known[frame] = self._made(frame, loops)
        return self._known[frame]

    def _made(self, frame: _Frame, loops: Sequence[LoopPath]) -> _Inside:
        function, number = self._function, functions.INT32
        if not frame:
            start, step = (function.add_constant(number, value) for value in (0, 1))
            return _Inside([], start, step, "")
        outer = self._in(frame[:-1], loops[:-1])
        loop = self._enters[frame]
        waits = self._what_enters(loop)
        turns = [self._enter(ref, loop, waits) for ref in outer.turns]
        start, step = (self._enter(ref, loop, waits) for ref in (outer.start, outer.step))
        entered = self._enter(outer.start, loop, waits, is_constant=False)
        merge = function.add_node("Merge", [entered], T=number)
        merge.attr["N"].i = 2
        switch = function.add_node(
            "Switch", [f"{merge.name}:output:0", f"{loop.condition}:output:0"], T=number
        )
        turn = f"{switch.name}:output_true:0"
        add = function.add_node("AddV2", [turn, step], T=number)
        following = function.add_node("NextIteration", [f"{add.name}:z:0"], T=number)
        merge.input.append(f"{following.name}:output:0")
        wanted = function.add_input(number)
        self.loops.append(loops[-1])
        for depth in range(len(frame)):
            around = self._enters[frame[: depth + 1]]
            wanted = self._enter(wanted, around, self._what_enters(around))
        is_wanted = is_turn_kept(function, wanted, start, turn)
        if outer.is_wanted:
            is_outer = self._enter(outer.is_wanted, loop, waits, dtype=functions.BOOL)
            is_wanted = function.call("LogicalAnd", [is_wanted, is_outer])
        return _Inside([*turns, turn], start, step, is_wanted)

    def _what_enters(self, loop: _Loop) -> str:
        """Add an op that runs where the loop does: not in a branch that is not taken. Its name."""
        name = loop.enter.name
        (ref,) = (node.input[0] for node in self._function.proto.node_def if node.name == name)
        dtype = loop.enter.attr["T"].type
        return str(self._function.add_node("Identity", [ref], T=dtype).name)

    def _enter(
        self,
        ref: str,
        loop: _Loop,
        waits: str,
        *,
        is_constant: bool = True,
        dtype: int = functions.INT32,
    ) -> str:
        """Hand a value into a loop, when the op ``waits`` has run."""
        node = self._function.add_node("Enter", [ref, f"^{waits}"], T=dtype)
        for key in ("frame_name", "parallel_iterations"):
            node.attr[key].CopyFrom(loop.enter.attr[key])
        node.attr["is_constant"].b = is_constant
        return f"{node.name}:output:0"


def _places(nodes: Mapping[str, Any]) -> Iterator[tuple[str, _Place]]:
    """Find the loops around each op, and the branches that it is in."""
    known: dict[str, _Place] = {}
    for name in nodes:
        waiting = [name]
        while waiting:
            at = waiting[-1]
            missing = [ref for ref, _ in _sources(nodes[at], nodes) if ref not in known]
            if at not in known and missing:
                waiting += missing
                continue
            waiting.pop()
            if at not in known:
                known[at] = _place(nodes[at], nodes, known)
                yield at, known[at]


def _sources(node: Any, nodes: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return the ops before an op, and by which output; not those of the turn before."""
    found = [_parts(ref) for ref in node.input]
    return [(name, place) for name, place in found if nodes[name].op != "NextIteration"]


def _place(node: Any, nodes: Mapping[str, Any], known: Mapping[str, _Place]) -> _Place:
    frame: _Frame = ()
    guards = []
    for name, place in _sources(node, nodes):
        source = nodes[name]
        around = known[name].frame[:-1] if source.op == "Exit" else known[name].frame
        frame = max(frame, around, key=len)
        own = known[name].guards
        if source.op in _SWITCHES and place >= 0:
            by, _ = _parts(source.input[1])
            if nodes[by].op != "LoopCond":
                own |= {(source.input[1], place)}
        guards.append(own)
    if node.op == "Enter":
        frame = (*frame, node.attr["frame_name"].s.decode())
    if node.op == "Merge":
        return _Place(frame, frozenset.intersection(*guards) if guards else frozenset())
    return _Place(frame, frozenset().union(*guards))


def _parts(ref: str) -> tuple[str, int]:
    """Split ``name:1`` into name and output; for ``^name`` the output is -1."""
    if ref.startswith("^"):
        return ref[1:], -1
    name, _, place = ref.partition(":")
    return name, int(place or 0)
