"""Copy a function without what must not happen twice.

Prints, Python functions, iterators, files, queues, random numbers from a state of their own: an op
of such a kind is left out. What it gave is known from the run, where the function gave it as a
further output (:mod:`.sources`), and is an argument of the copy; of an op in a loop that is a list,
from which each turn takes its element.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, repeat
from typing import Any, NamedTuple

from .. import private
from ..private import functions
from .definitions import (
    CALLS,
    CASES,
    CONDITIONALS,
    LOOPS,
    RUN_FUNCTIONS,
    TURNS,
    WHICH,
    Edited,
    Port,
    add_data_inputs,
    branches_of,
    functions_of,
    is_xla,
    op_name,
    ports,
    shape_of_argument,
    which_dtype,
)
from .probes import PathStep, Probe, dtype_at
from .turns import add_elements

READS = frozenset(
    {"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape", "VarIsInitializedOp"}
)
_HARMLESS = READS | {"Assert"} | RUN_FUNCTIONS
_DATASETS_WITH_A_FUNCTION = frozenset(
    {"FilterDataset", "FlatMapDataset", "MapDataset", "ScanDataset", "TakeWhileDataset"}
)
"""Their last inputs are what their function captured."""
_OPAQUE = (functions.VARIANT, functions.RESOURCE)


class Traced(NamedTuple):
    """The graph that a function was traced as. ``run_by(graph, op)``: the graphs that an op runs,
    of a loop the body first."""

    graph: Any
    run_by: Callable[[Any, str], Sequence[Any] | None]

    def shape(self, op: str, output: int) -> Any:
        """The shape that an output of an op has in the graph, a proto."""
        with suppress(KeyError):  # a loop, which gradients have put another one for
            found = self.graph.get_operation_by_name(op)
            asked = found.inputs[0] if output == WHICH else found.outputs[output]
            return asked.shape.as_proto()
        return None

    def runs(self, op: str) -> list[Traced | None]:
        graphs = self.run_by(self.graph, op) or ()
        return [None if graph is None else Traced(graph, self.run_by) for graph in graphs]


class Cut(NamedTuple):
    """A function without the ops that must not run twice.

    ``sources``: what its further arguments are, in their order: outputs of ops that were left out,
    what a conditional among those went by, or how often a loop turns; ``spoiled``: positions of the
    resources that an op which was left out may have written to; ``opaque``: of outputs that nothing
    can be given for.
    """

    definition: Any
    sources: list[Probe]
    is_changed: bool
    spoiled: list[int]
    opaque: list[int]


_Called = tuple[str, bool, tuple[int, ...], tuple[int, ...]]
"""A function by its name; whether XLA compiles what calls it; its spoiled and opaque arguments."""


def is_repeatable(node: Any) -> bool:
    """Whether an op may run once more, on variables of our own."""
    about = functions.op_def(node.op)
    if about is None:  # a ``Defun``, as of tf.nn.ctc_loss, is called by an op of its own name
        definition = functions.definition(node.op)
        return definition is not None and not cut(definition).is_changed
    if not about.is_stateful or node.op in _HARMLESS or private.writes_variable(node.op):
        return True
    return private.draws_from_variable(node.op)


def cut(
    definition: Any,
    *,
    repeats_datasets: bool = False,
    traced: Traced | None = None,
) -> Cut:
    """The copy has the arguments and outputs of the function, and the sources as arguments.

    ``repeats_datasets``: the datasets that it is given give the same elements once more, so that
    loops over them may run again; ``traced``: tells the shapes of sources.
    """
    options = _Options(repeats_datasets, is_xla(definition), {})
    return _Cut(definition, options, traced).result(hands_out_all=True)


class _Options(NamedTuple):
    """``in_xla``: a function that XLA compiles runs the one at hand; ``known``: the copies of
    functions that were made already."""

    repeats_datasets: bool
    in_xla: bool
    known: dict[_Called, Cut]


class _Cut:
    """``spoiled``: positions of resources that what was left out before may have written to;
    ``opaque``: of arguments that nothing can be given for."""

    def __init__(
        self,
        definition: Any,
        options: _Options,
        traced: Traced | None,
        spoiled: Collection[int] = (),
        opaque: Collection[int] = (),
    ) -> None:
        self._definition = definition
        self._options = options
        self._traced = traced
        self._nodes = {node.name: node for node in definition.node_def}
        self._running = _running(definition, self._nodes)
        loops = [(node, private.dataset_loop(node, self._nodes)) for node in definition.node_def]
        self._loops = {loop.scan.name: (node, loop) for node, loop in loops if loop is not None}
        """Loops over datasets by the nodes that run their bodies, with the nodes that end them."""
        self._parts_of_loops = {
            part.name for node, loop in self._loops.values() for part in (node, *loop.stops)
        }
        self._removed: dict[str, Any] = {}
        """Nodes that are left out, by name."""
        arguments = definition.signature.input_arg
        self._opaque = {arguments[place].name for place in opaque}
        """Values that cannot be fed: datasets, iterators, tables made by a removed node; what one
        would give that does not run."""
        self._spoiled = {arguments[place].name: "" for place in spoiled}
        """Resources that something left out may have written to, and the first such node."""
        self._inner: dict[str, list[Cut]] = {}
        self._given_within: dict[str, tuple[list[int], list[int]]] = {}
        """Positions of the spoiled resources that a function is called with, and of opaque
        values."""
        self._written: dict[str, frozenset[int]] = {}
        """Positions of the resources that functions may change, by name."""

    def _remove_some(self) -> bool:
        before = len(self._removed), len(self._spoiled), len(self._opaque)
        for node in self._definition.node_def:
            if node.name not in self._removed and self._is_to_go(node):
                self._remove(node)
        return (len(self._removed), len(self._spoiled), len(self._opaque)) != before

    def _is_to_go(self, node: Any) -> bool:
        data = _data_inputs(node)
        runs, given = node.op in RUN_FUNCTIONS, ports(node)
        opaque = [place for place, ref in enumerate(data) if ref in self._opaque]
        if node.op in LOOPS:  # what a turn hands on, the next one takes
            opaque = [
                place
                for place in range(len(data))
                if place in opaque or given[place].ref in self._opaque
            ]
        spoiled = [place for place, ref in enumerate(data) if self._is_spoiled(ref, node)]
        if node.name in self._loops:  # its elements can come from lists
            opaque = [place for place in opaque if place]
        if not (runs and node.name in self._running) and (spoiled or opaque):
            return True
        if not runs and not self._can_run_dataset(node):
            return not is_repeatable(node)
        first = 1 if node.op in CONDITIONALS | CASES else 0
        within = [place - first for place in spoiled], [place - first for place in opaque]
        if self._given_within.get(node.name) != within:
            definitions = [functions.definition(function.name) for function in _called(node)]
            if any(definition is None for definition in definitions):
                return True
            self._inner[node.name] = [
                self._cut(function, graph, *within)
                for function, graph in zip(definitions, self._graphs_run_by(node), strict=False)
            ]
            self._given_within[node.name] = within
        inner = self._inner[node.name]
        if node.name in self._loops and self._is_from_lists(node):
            return self._options.in_xla or any(own.spoiled or own.opaque for own in inner)
        if node.name not in self._running or not self._can_open(node, inner):
            return any(own.spoiled or own.sources for own in inner)
        for place in sorted({place for own in inner for place in own.spoiled}):
            self._spoiled.setdefault(data[place + first], node.name)
        self._opaque |= {given[place].ref for own in inner for place in own.opaque}
        return False

    def _graphs_run_by(self, node: Any) -> Iterator[Traced | None]:
        """Yield the graphs that the functions were traced as which a node runs, ``None`` where
        they are not known. The body of a loop over a dataset belongs to the op that ends it."""
        if self._traced is not None and node.op not in private.DATASET_LOOPS:
            end, _ = self._loops.get(node.name, (node, None))
            yield from self._traced.runs(op_name(self._definition, end))
        yield from repeat(None)

    def _is_spoiled(self, ref: str, node: Any) -> bool:
        """Whether the resource that a node uses may have been written to before: by another node
        that was left out, or by this one, a loop, in an earlier turn."""
        by = self._spoiled.get(ref, node.name)
        return by != node.name or (node.op in LOOPS and ref in self._spoiled)

    def _can_open(self, node: Any, inner: Sequence[Cut]) -> bool:
        """Whether a node can run what is left of its functions."""
        if node.op in CALLS:
            return not is_xla(inner[0].definition)
        return node.op in RUN_FUNCTIONS and not self._options.in_xla

    def _cut(
        self,
        definition: Any,
        traced: Traced | None,
        spoiled: Collection[int],
        opaque: Collection[int],
    ) -> Cut:
        options, name = self._options, definition.signature.name
        options = options._replace(in_xla=options.in_xla or is_xla(definition))
        called = name, options.in_xla, tuple(spoiled), tuple(opaque)
        if called not in options.known:
            own = _Cut(definition, options, traced, spoiled, opaque)
            options.known[called] = own.result()
        return options.known[called]

    def _is_from_lists(self, scan: Any) -> bool:
        """Whether the run has to hand out what a loop over a dataset takes, and the re-run reads it
        from lists: the dataset may give other elements, or the body takes something besides."""
        is_known = self._options.repeats_datasets and scan.input[0] not in self._opaque
        return not is_known or any(own.sources for own in self._inner[scan.name])

    def _takes_lists(self, name: str) -> bool:
        """Whether a node runs the body of a loop over a dataset, on elements from lists."""
        is_known = name in self._inner and name in self._loops
        return is_known and self._is_from_lists(self._nodes[name])

    def _can_run_dataset(self, node: Any) -> bool:
        """Whether a node belongs to a loop over a dataset, or makes a dataset of tensors or of
        another one that can run again."""
        if node.name in self._loops or node.name in self._parts_of_loops:
            return True
        if not self._options.repeats_datasets:
            return False
        if node.op in private.DATASETS_OF_TENSORS:
            return True
        return "Dataset" in node.op and bool(_called(node)) and is_repeatable(node)

    def _remove(self, node: Any) -> None:
        self._removed[node.name] = node
        if node.name not in self._running:
            self._opaque |= {port.ref for port in ports(node)}
            return
        self._opaque |= {port.ref for port in ports(node) if port.dtype in _OPAQUE}
        arguments = self._definition.signature.input_arg
        resources = {argument.name for argument in arguments if argument.type == functions.RESOURCE}
        for ref in resources.intersection(self._changed_by(node)):
            self._spoiled.setdefault(ref, node.name)

    def _changed_by(self, node: Any) -> Iterator[str]:
        """Yield the inputs of a node that it may change, and those of the datasets that run when
        it does."""
        for place, ref in enumerate(_data_inputs(node)):
            if _changes(node, place, self._written):
                yield ref
            source = self._nodes.get(ref.partition(":")[0])
            if source is not None and "Dataset" in source.op:
                yield from self._changed_by(source)

    def result(self, *, hands_out_all: bool = False) -> Cut:
        """``hands_out_all``: an output that nothing can be given for is handed out of the run."""
        while self._remove_some():
            pass
        outputs = self._definition.signature.output_arg
        opaque = [
            place
            for place, output in enumerate(outputs)
            if self._definition.ret[output.name] in self._opaque
        ]
        inner = {
            name: own
            for name, own in self._inner.items()
            if name not in self._removed
            and (any(each.is_changed for each in own) or self._takes_lists(name))
        }
        if not self._removed and not inner:
            return Cut(self._definition, [], is_changed=False, spoiled=[], opaque=opaque)
        function = Edited(self._definition)
        sources, refs = self._leave_out(function, hands_out_all=hands_out_all)
        for node in list(function.proto.node_def):
            if node.name in inner:
                name = op_name(self._definition, node)
                if self._takes_lists(node.name):
                    end, loop = self._loops[node.name]
                    name = op_name(self._definition, end)
                    sources += _scan_lists(function, name, node, end, loop, inner[node.name][0])
                else:
                    sources += _run_what_is_left(function, name, node, inner[node.name])
            left = [refs.get(ref, ref) for ref in node.input if ref[1:] not in self._removed]
            del node.input[:]
            node.input.extend(left)
        for name, ref in list(function.proto.ret.items()):
            function.proto.ret[name] = refs.get(ref, ref)
        if not self._options.in_xla:
            function.use_copies(
                (node, Port(refs[port.ref], port.dtype))
                for node in self._removed.values()
                for port in ports(node)
                if port.ref in refs
            )
        arguments = self._definition.signature.input_arg
        spoiled = [
            place for place, argument in enumerate(arguments) if argument.name in self._spoiled
        ]
        return Cut(function.proto, sources, is_changed=True, spoiled=spoiled, opaque=opaque)

    def _leave_out(
        self, function: Edited, *, hands_out_all: bool
    ) -> tuple[list[Probe], dict[str, str]]:
        """Drop the nodes; return what replaces their outputs."""
        proto, removed = function.proto, self._removed
        nodes = [node for node in proto.node_def if node.name not in removed]
        passed = {*proto.ret.values(), *(ref for node in nodes for ref in node.input)}
        sources, refs = [], {}
        for node in removed.values():
            if node.name not in self._running:
                continue
            name = op_name(self._definition, node)
            for place, port in enumerate(ports(node)):
                is_output = port.ref in proto.ret.values()
                if port.dtype not in _OPAQUE or (hands_out_all and is_output):
                    shape = self._traced.shape(name, place) if self._traced is not None else None
                    refs[port.ref] = function.add_input(port.dtype, shape)
                    sources.append(Probe((), name, place, port.dtype))
            if node.op in CONDITIONALS | CASES:
                dtype = which_dtype(node)
                function.add_input(dtype, self._traced and self._traced.shape(name, WHICH))
                sources.append(Probe((), name, WHICH, dtype))
        function.leave_out(removed)
        for node in removed.values():
            for port in ports(node):
                if port.ref in passed and port.ref not in refs:  # to functions that use it no more
                    refs[port.ref] = function.add_nothing(port.dtype)
        return sources, refs


def _running(definition: Any, nodes: Mapping[str, Any]) -> frozenset[str]:
    """The nodes that run: those that an output needs, or that the function waits for. An op that
    prints or writes is one of the latter, if its graph was made with control dependencies, as those
    of gradients are not (``PruneFunctionGraph`` of tensorflow/core/common_runtime, 2.15-2.21)."""
    found: set[str] = set()
    waiting = [_node_of(ref) for ref in definition.ret.values()]
    waiting += definition.control_ret.values()
    while waiting:
        name = waiting.pop()
        if name in nodes and name not in found:
            found.add(name)
            waiting += map(_node_of, nodes[name].input)
    return frozenset(found)


def _node_of(ref: str) -> str:
    return ref.removeprefix("^").partition(":")[0]


def _run_what_is_left(function: Edited, name: str, node: Any, inner: Sequence[Cut]) -> list[Probe]:
    """Let a node, an op of this name, run the copies of its functions; return what they take
    besides, from outside."""
    if node.op in LOOPS:
        return _turn_what_is_left(function, name, node, *inner)
    parts = list(branches_of(node)) if node.op in CONDITIONALS | CASES else []
    parts = parts or [("", runs) for runs in _called(node)]
    dtypes = [[dtype_at(source, 0) for source in own.sources] for own in inner]
    found: list[Probe] = []
    for place, ((part, runs), own) in enumerate(zip(parts, inner, strict=True)):
        copy = Edited(own.definition)
        before, after = chain(*dtypes[:place]), chain(*dtypes[place + 1 :])
        copy.insert_inputs(len(copy.proto.signature.input_arg) - len(own.sources), [*before])
        for dtype in after:
            copy.add_input(dtype)
        if own.is_changed or any(dtypes):
            copy.register()
            runs.name = copy.name
        further = [function.add_input(*about) for about in _taken_besides(own)]
        add_data_inputs(node, further)
        node.attr["Tin"].list.type.extend(dtypes[place])
        step = PathStep(name, part, node.name, is_last=place == len(parts) - 1 and bool(part))
        found += [source._replace(path=(step, *source.path)) for source in own.sources]
    return found


def _turn_what_is_left(
    function: Edited, name: str, node: Any, inner: Cut, asks: Cut
) -> list[Probe]:
    """The same of a loop, with lists of what each turn takes. It turns as often as it did, where
    what it asks cannot be asked again."""
    number, count = functions.INT32, len(inner.sources)
    body = Edited(inner.definition)
    asked = functions.definition(node.attr["cond"].func.name) if asks.sources else asks.definition
    asking, further, dtypes = Edited(asked), [], []
    if inner.sources or asks.sources:
        turn = body.add_input(number)
        step = body.add_constant(number, 1)
        first = len(inner.definition.signature.input_arg) - count
        body.take_from_lists(first, _taken_besides(inner), turn)
        for argument in body.proto.signature.input_arg[first : first + count]:
            body.add_output(argument.name, functions.VARIANT)
            asking.add_input(functions.VARIANT)
            further.append(function.add_input(functions.VARIANT))
            dtypes.append(functions.VARIANT)
        body.add_output(body.call("AddV2", [turn, step], T=number), number)
        turn = asking.add_input(number)
        further.append(function.add_constant(number, 0))
        dtypes.append(number)
    if asks.sources:
        body.add_output(body.add_input(number), number)
        turns = asking.add_input(number)
        asking.leave_out({each.name for each in asking.proto.node_def})
        (asks_output,) = asking.proto.ret
        asking.proto.ret[asks_output] = asking.call("Less", [turn, turns], T=number)
        further.append(function.add_input(number))
        dtypes.append(number)
    for edited, part in ((body, "body"), (asking, "cond")):
        edited.register()
        node.attr[part].func.name = edited.name
    add_data_inputs(node, further)
    node.attr["T"].list.type.extend(dtypes)
    if node.attr["output_shapes"].list.shape:
        for _ in dtypes:
            node.attr["output_shapes"].list.shape.add(unknown_rank=True)
    within = PathStep(name, "body", node.name)
    found = [source._replace(path=(within, *source.path)) for source in inner.sources]
    return [*found, Probe((), name, TURNS, number)] if asks.sources else found


def _scan_lists(
    function: Edited, name: str, scan: Any, end: Any, loop: Any, inner: Cut
) -> list[Probe]:
    """The same of a loop over a dataset, an op of this name. A dataset of lists gives it its
    elements, and with them what its body takes besides."""
    items = [
        (argument.type, shape_of_argument(inner.definition, place))
        for place, argument in enumerate(inner.definition.signature.input_arg)
        if loop.is_element(place)
    ]
    within = PathStep(name, "body", end.name, is_of_dataset=True)
    found = [
        Probe((within,), "", place, dtype) for place, (dtype, _) in enumerate(items, loop.states)
    ]
    if inner.is_changed:
        body = Edited(inner.definition)
        first = len(body.proto.signature.input_arg) - len(inner.sources)
        body.move_inputs(first, loop.states + loop.elements)
        body.register()
        scan.attr["f"].func.name = body.name
        items += _taken_besides(inner)
        found += [source._replace(path=(within, *source.path)) for source in inner.sources]
    lists = [function.add_input(functions.VARIANT) for _ in items]
    count = function.add_input(functions.INT32)
    scan.input[0] = add_elements(function, count, lists, items)
    return [*found, Probe((), name, TURNS, functions.INT32)]


def _taken_besides(own: Cut) -> list[tuple[int, Any]]:
    """The dtypes and shapes of the arguments that stand for the sources of a function."""
    first = len(own.definition.signature.input_arg) - len(own.sources)
    return [
        (dtype_at(source, 0), shape_of_argument(own.definition, place))
        for place, source in enumerate(own.sources, first)
    ]


def _called(node: Any) -> list[Any]:
    """The functions that a node runs, or that the dataset runs that it makes."""
    if node.op in RUN_FUNCTIONS:
        return functions_of(node)
    attributes = (node.attr[key] for key in sorted(node.attr))
    return [each.func for each in attributes if each.HasField("func")]


def _data_inputs(node: Any) -> list[str]:
    return [ref for ref in node.input if not ref.startswith("^")]


def written_arguments(definition: Any) -> frozenset[int]:
    """The positions of the resources that a function may change."""
    return _written(definition, {})


def _written(definition: Any, known: dict[str, frozenset[int]]) -> frozenset[int]:
    """The same; ``known``: the answers for functions that it runs, so that each is read once."""
    arguments = definition.signature.input_arg
    resources = {
        argument.name: place
        for place, argument in enumerate(arguments)
        if argument.type == functions.RESOURCE
    }
    return frozenset(
        resources[ref]
        for node in definition.node_def
        for place, ref in enumerate(_data_inputs(node))
        if ref in resources and _changes(node, place, known)
    )


def _changes(node: Any, place: int, known: dict[str, frozenset[int]]) -> bool:
    """Whether a node may change the resource that is its input at this position."""
    if node.op not in RUN_FUNCTIONS and node.op not in _DATASETS_WITH_A_FUNCTION:
        return node.op not in READS
    for function in _called(node):
        definition = functions.definition(function.name)
        if definition is None:
            return True
        if function.name not in known:
            known[function.name] = _written(definition, known)
        own = place - (1 if node.op in CONDITIONALS | CASES else 0)
        if node.op in _DATASETS_WITH_A_FUNCTION:  # what it captured are its last arguments
            own += len(definition.signature.input_arg) - len(_data_inputs(node))
        if own in known[function.name]:
            return True
    return False
