"""Copy a function without what must not happen twice.

Prints, Python functions, iterators, files, queues, random numbers from a state of their own: an op
of such a kind is left out. What it gave is known from the run, where the function gave it as a
further output (:mod:`.sources`), and is an argument of the copy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from .. import private
from ..private import functions
from .definitions import (
    CALLS,
    CASES,
    CONDITIONALS,
    RUN_FUNCTIONS,
    WHICH,
    Edited,
    Port,
    add_data_inputs,
    functions_of,
    is_xla,
    op_name,
    ports,
    which_dtype,
)

READS = frozenset(
    {"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape", "VarIsInitializedOp"}
)
_HARMLESS = READS | {"Assert"} | RUN_FUNCTIONS
_OPAQUE = (functions.VARIANT, functions.RESOURCE)


class CutOutput(NamedTuple):
    """An output of an op that was left out, or what a conditional among those went by.

    ``path``: the calls that lead to the op; all by the names of the graphs that were traced.
    """

    path: tuple[str, ...]
    op: str
    output: int
    dtype: int


class Cut(NamedTuple):
    """A function without the ops that must not run twice.

    ``sources``: what its further arguments are, in their order; ``spoiled``: positions of the
    resources that an op which was left out may have written to.
    """

    definition: Any
    sources: list[CutOutput]
    is_changed: bool
    spoiled: list[int]


_Called = tuple[str, bool, tuple[int, ...]]
"""A function by its name; whether XLA compiles what calls it; its spoiled resources."""


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
    in_xla: bool = False,
    spoiled: Collection[int] = (),
    known: dict[_Called, Cut] | None = None,
) -> Cut:
    """The copy has the arguments and outputs of the function, and the sources as arguments.

    ``repeats_datasets``: the datasets that it is given give the same elements once more, so that
    loops over them may run again; ``in_xla``: a function that XLA compiles runs it; ``spoiled``:
    positions of resources that what was left out before may have written to; ``known``: the copies
    of functions that were made already, with the same ``repeats_datasets``.
    """
    known = {} if known is None else known
    walk = _Cut(definition, repeats_datasets, in_xla or is_xla(definition), spoiled, known)
    while walk.remove_some():
        pass
    return walk.result()


class _Cut:
    def __init__(
        self,
        definition: Any,
        repeats_datasets: bool,
        in_xla: bool,
        spoiled: Collection[int],
        known: dict[_Called, Cut],
    ) -> None:
        self._definition = definition
        self._repeats_datasets = repeats_datasets
        self._in_xla = in_xla
        self._known = known
        self._nodes = {node.name: node for node in definition.node_def}
        self._removed: dict[str, Any] = {}
        """Nodes that are left out, by name."""
        self._opaque: set[str] = set()
        """Values that cannot be fed: datasets, iterators, tables made by a removed node."""
        arguments = definition.signature.input_arg
        self._spoiled = {arguments[place].name: "" for place in spoiled}
        """Resources that something left out may have written to, and the first such node."""
        self._inner: dict[str, list[Cut]] = {}
        self._spoiled_within: dict[str, list[int]] = {}
        """Positions of the resources that were spoiled before a call of a function."""
        self._written: dict[str, frozenset[int]] = {}
        """Positions of the resources that functions may change, by name."""

    def remove_some(self) -> bool:
        before = len(self._removed), len(self._spoiled)
        for node in self._definition.node_def:
            if node.name not in self._removed and self._is_to_go(node):
                self._remove(node)
        return (len(self._removed), len(self._spoiled)) != before

    def _is_to_go(self, node: Any) -> bool:
        data = _data_inputs(node)
        is_call = node.op in CALLS
        spoiled = [
            place
            for place, ref in enumerate(data)
            if self._spoiled.get(ref, node.name) != node.name
        ]
        if (spoiled and not is_call) or not self._opaque.isdisjoint(data):
            return True
        is_of_dataset = self._repeats_datasets and self._is_of_dataset(node)
        if node.op not in RUN_FUNCTIONS and not is_of_dataset:
            return not is_repeatable(node)
        if node.name not in self._inner or self._spoiled_within[node.name] != spoiled:
            definitions = [functions.definition(function.name) for function in _called(node)]
            if any(definition is None for definition in definitions):
                return True
            self._inner[node.name] = [self._cut(function, spoiled) for function in definitions]
            self._spoiled_within[node.name] = spoiled
        inner = self._inner[node.name]
        if not is_call or is_xla(inner[0].definition):
            return any(own.spoiled or own.sources for own in inner)
        for place in inner[0].spoiled:
            self._spoiled.setdefault(data[place], node.name)
        return False

    def _cut(self, definition: Any, spoiled: Collection[int]) -> Cut:
        called = definition.signature.name, self._in_xla, tuple(spoiled)
        if called not in self._known:
            self._known[called] = cut(
                definition,
                repeats_datasets=self._repeats_datasets,
                in_xla=self._in_xla,
                spoiled=spoiled,
                known=self._known,
            )
        return self._known[called]

    def _is_of_dataset(self, node: Any) -> bool:
        """Whether a node makes a dataset of tensors or of another one, or ends a loop over one."""
        if node.op in private.DATASET_LOOPS:
            return private.dataset_loop(node, self._nodes) is not None
        if node.op in private.DATASETS_OF_TENSORS:
            return True
        return "Dataset" in node.op and bool(_called(node)) and is_repeatable(node)

    def _remove(self, node: Any) -> None:
        self._removed[node.name] = node
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

    def result(self) -> Cut:
        inner = {
            name: own
            for name, own in self._inner.items()
            if name not in self._removed and any(inner_cut.is_changed for inner_cut in own)
        }
        if not self._removed and not inner:
            return Cut(self._definition, [], is_changed=False, spoiled=[])
        function = Edited(self._definition)
        sources, refs = self._leave_out(function, list(inner))
        for node in function.proto.node_def:
            if node.name in inner:
                name = op_name(self._definition, node)
                further = _run_what_is_left(function, node, inner[node.name])
                sources += [
                    further_cut._replace(path=(name, *further_cut.path)) for further_cut in further
                ]
            left = [refs.get(ref, ref) for ref in node.input if ref[1:] not in self._removed]
            del node.input[:]
            node.input.extend(left)
        for name, ref in list(function.proto.ret.items()):
            function.proto.ret[name] = refs.get(ref, ref)
        if not self._in_xla:
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
        return Cut(function.proto, sources, is_changed=True, spoiled=spoiled)

    def _leave_out(
        self, function: Edited, inner: list[str]
    ) -> tuple[list[CutOutput], dict[str, str]]:
        """Drop the nodes; return what replaces their outputs."""
        proto, removed = function.proto, self._removed
        needed = {ref for node in proto.node_def for ref in node.input if node.name not in removed}
        needed |= set(proto.ret.values())
        sources, refs = [], {}
        for node in removed.values():
            for place, port in enumerate(ports(node)):
                if port.ref in needed or port.dtype not in _OPAQUE:
                    refs[port.ref] = function.add_input(port.dtype)
                    name = op_name(self._definition, node)
                    sources.append(CutOutput((), name, place, port.dtype))
            if node.op in CONDITIONALS | CASES:
                dtype = which_dtype(node)
                function.add_input(dtype)
                sources.append(CutOutput((), op_name(self._definition, node), WHICH, dtype))
        function.leave_out(removed)
        return sources, refs


def _run_what_is_left(function: Edited, node: Any, inner: list[Cut]) -> list[CutOutput]:
    """Let a node run the copies of its functions; what they take besides is taken from outside."""
    found: list[CutOutput] = []
    for runs, own in zip(_called(node), inner, strict=True):
        if own.is_changed:
            functions.register(own.definition)
            runs.name = own.definition.signature.name
        dtypes = [source.dtype for source in own.sources]
        add_data_inputs(node, [function.add_input(dtype) for dtype in dtypes])
        node.attr["Tin"].list.type.extend(dtypes)
        found += own.sources
    return found


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
    if node.op not in RUN_FUNCTIONS:
        return node.op not in READS
    place -= 1 if node.op in CONDITIONALS | CASES else 0
    for function in functions_of(node):
        if function.name not in known:
            definition = functions.definition(function.name)
            if definition is None:
                return True
            known[function.name] = _written(definition, known)
        if place in known[function.name]:
            return True
    return False
