"""Edit copies of a ``FunctionDef``: nodes as text refers to them, further outputs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import count as counter
from typing import Any, NamedTuple

from ..private import functions

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
CONDITIONALS = frozenset({"If", "StatelessIf"})
CASES = frozenset({"Case", "StatelessCase"})
LOOPS = frozenset({"While", "StatelessWhile"})
RUN_FUNCTIONS = CALLS | CONDITIONALS | CASES | LOOPS
SAME = frozenset(
    {"Identity", "IdentityN", "StopGradient", "PreventGradient", "Snapshot", "DeepCopy"}
)
"""Ops that give what they get: they need no probe."""
WHICH = -1
"""The output of a conditional that stands for the branch that it takes."""
TURNS = -2
"""The output of a loop that stands for how often it turns."""
SIZE = -3
"""The output of a loop that stands for the bytes of all that is kept of its turns."""
_PY_FUNCTION = "EagerPyFunc"
_UNSEEN = ("__backward_", "__inference__jvp_")
_XLA = "_XlaMustCompile"
_OURS = re.compile(r"__tapeviz_\d+_")
_numbers = counter(1)


def without_our_names(text: str) -> str:
    """A message with the functions' own names in place of those of our copies."""
    return _OURS.sub("", text)


class Port(NamedTuple):
    """An output as inputs of a ``FunctionDef`` refer to it: ``MatMul:product:0``."""

    ref: str
    dtype: int


def ports(node: Any) -> list[Port]:
    """The outputs of a node, in order; none for a type that TensorFlow does not know."""
    about = functions.op_def(node.op)
    found = []
    for output in about.output_arg if about is not None else ():
        if output.type_list_attr:
            dtypes = list(node.attr[output.type_list_attr].list.type)
        else:
            dtype = output.type or node.attr[output.type_attr].type
            count = node.attr[output.number_attr].i if output.number_attr else 1
            dtypes = [dtype] * count
        found += [Port(f"{node.name}:{output.name}:{i}", dtype) for i, dtype in enumerate(dtypes)]
    return found


def names_taken(definition: Any) -> frozenset[str]:
    """The names of a function's arguments and outputs."""
    signature = definition.signature
    return frozenset(arg.name for arg in (*signature.input_arg, *signature.output_arg))


def op_name(definition: Any, node: Any, taken: frozenset[str] | None = None) -> str:
    """The name that a node had in the graph that was traced. ``taken``: :func:`names_taken`, by
    those who ask about many nodes.

    Where an argument or an output has an op's name, ``TF_GraphToFunction`` appends to it the first
    number from 0 that is free (``NodeNameMapping::Uniquify`` in tensorflow/c/c_api_function.cc,
    2.15-2.21). An op that was named ``mul_1`` keeps its name beside a ``mul`` that became
    ``mul_0``.
    """
    stem, _, number = node.name.rpartition("_")
    if not stem or not number.isdigit():
        return str(node.name)
    taken = names_taken(definition) if taken is None else taken
    if stem not in taken:
        return str(node.name)
    first = next(place for place in counter() if f"{stem}_{place}" not in taken)
    return stem if int(number) == first else str(node.name)


class Edited:
    """A copy of a function under a new name, which gets further inputs, nodes and outputs."""

    def __init__(self, definition: Any) -> None:
        self._definition = definition
        self.proto = functions.FunctionDef()
        self.proto.CopyFrom(definition)
        name = without_our_names(definition.signature.name)
        self.proto.signature.name = f"__tapeviz_{next(_numbers)}_{name}"

    @property
    def name(self) -> str:
        return str(self.proto.signature.name)

    def register(self) -> None:
        functions.register(self.proto)

    def leave_out(self, names: Collection[str]) -> None:
        """Drop nodes of the original, before any is added; the function no longer waits for them.

        Outputs and inputs that refer to them are left as they are.
        """
        proto = self.proto
        kept = [node for node in self._definition.node_def if node.name not in names]
        del proto.node_def[:]
        proto.node_def.extend(kept)
        gone = [name for name, node in proto.control_ret.items() if node in names]
        for name in gone:
            del proto.control_ret[name]
        left = [output for output in proto.signature.control_output if output not in gone]
        del proto.signature.control_output[:]
        proto.signature.control_output.extend(left)

    def drop_outputs(self) -> None:
        """Give nothing any more; nodes that could not have the name of an output get it back."""
        proto = self.proto
        arguments = {argument.name for argument in proto.signature.input_arg}
        taken = names_taken(self._definition)
        names = {node.name: op_name(self._definition, node, taken) for node in proto.node_def}
        own = {name: traced for name, traced in names.items() if traced not in arguments}
        for node in proto.node_def:
            node.name = own.get(node.name, node.name)
            refs = [_renamed(ref, own) for ref in node.input]
            del node.input[:]
            node.input.extend(refs)
        for key, node_name in list(proto.control_ret.items()):
            proto.control_ret[key] = own.get(node_name, node_name)
        del proto.signature.output_arg[:]
        proto.ret.clear()

    def add_output(self, ref: str, dtype: int) -> None:
        name = self._fresh_name()
        self.proto.signature.output_arg.add(name=name, type=dtype)
        self.proto.ret[name] = ref

    def use_copies(self, values: Iterable[tuple[Any, Port]]) -> None:
        """Let what uses these values use copies of them, in memory of their own. Each comes with
        the node of the function that was traced whose output it is.

        AddN begins its sum with the first input whose memory nobody else needs (``AddNOp`` of
        tensorflow/core/kernels/aggregate_ops.h, 2.15-2.21). A value that is an output more, or an
        argument, keeps its memory, and the last bit of a sum could change. Grappler, which makes an
        AddN of several sums, sorts its inputs by their names: a copy's begins with its node's.
        """
        uses = [*self.proto.node_def]
        copies = dict[str, str]()
        for node, value in values:
            if functions.is_inexact(value.dtype) and not _is_kept(node):
                copy = self.add_node("DeepCopy", [value.ref], T=value.dtype)
                copy.name = f"{node.name}/{copy.name}"
                copies[value.ref] = f"{copy.name}:y:0"
        for node in uses:
            if not copies.keys().isdisjoint(node.input):
                refs = [copies.get(ref, ref) for ref in node.input]
                del node.input[:]
                node.input.extend(refs)
        for name, ref in list(self.proto.ret.items()):
            self.proto.ret[name] = copies.get(ref, ref)

    def add_input(self, dtype: int, shape: Any = None) -> str:
        """A further argument; what nodes refer to it by. ``shape``: the one that it has in each
        call, a proto: without it TensorFlow optimizes otherwise."""
        name = self._fresh_name()
        arguments = self.proto.signature.input_arg
        if shape is not None:
            about = self.proto.arg_attr[len(arguments)].attr["_output_shapes"]
            about.list.shape.append(shape)
        arguments.add(name=name, type=dtype)
        return name

    def insert_inputs(self, place: int, dtypes: Sequence[int]) -> list[str]:
        """Further arguments before the one at ``place``; what nodes refer to them by."""
        first = len(self.proto.signature.input_arg)
        names = [self.add_input(dtype) for dtype in dtypes]
        self.move_inputs(first, place)
        return names

    def move_inputs(self, first: int, place: int) -> None:
        """Put the last arguments, from the one at ``first`` on, before the one at ``place``."""
        proto = self.proto
        given = list(proto.signature.input_arg)
        order = [*range(place), *range(first, len(given)), *range(place, first)]
        del proto.signature.input_arg[:]
        proto.signature.input_arg.extend(given[was] for was in order)
        for about in (proto.arg_attr, proto.resource_arg_unique_id):
            moved = {now: about[was] for now, was in enumerate(order) if was in about}
            _replace_all(about, moved)

    def insert_outputs(self, place: int, refs: Sequence[tuple[str, int]]) -> None:
        """Further outputs, each with its dtype, before the one at ``place``."""
        proto, count = self.proto, len(refs)
        for ref, dtype in refs:
            self.add_output(ref, dtype)
        given = list(proto.signature.output_arg)
        del proto.signature.output_arg[:]
        proto.signature.output_arg.extend([*given[:place], *given[-count:], *given[place:-count]])

    def add_node(self, op: str, inputs: Sequence[str], **attributes: Any) -> Any:
        """``attributes``: numbers are dtypes, ``True`` and ``False`` stay what they are."""
        node = self.proto.node_def.add(name=self._fresh_name(), op=op, input=inputs)
        for key, value in attributes.items():
            if isinstance(value, bool):
                node.attr[key].b = value
            elif isinstance(value, int):
                node.attr[key].type = value
            else:
                node.attr[key].CopyFrom(value)
        return node

    def call(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add a node with one output; what nodes refer to that by."""
        (port,) = ports(self.add_node(op, inputs, **attributes))
        return port.ref

    def add_variable(self, dtype: int, name: str) -> str:
        """The handle of a variable that is a vector, of :func:`~private.functions.new_variable`."""
        node = self.add_node("VarHandleOp", [], dtype=dtype)
        node.attr["shape"].shape.dim.add(size=-1)
        node.attr["container"].s = functions.CONTAINER.encode()
        node.attr["shared_name"].s = name.encode()
        return f"{node.name}:resource:0"

    def add_constant(self, dtype: int, value: int | None = None) -> str:
        """A scalar: zero, nothing, false; or a whole number."""
        node = self.proto.node_def.add(name=self._fresh_name(), op="Const")
        node.attr["dtype"].type = dtype
        node.attr["value"].tensor.dtype = dtype
        node.attr["value"].tensor.tensor_shape.SetInParent()
        if value is not None:
            tensor = node.attr["value"].tensor
            (tensor.int64_val if dtype == functions.INT64 else tensor.int_val).append(value)
        return f"{node.name}:output:0"

    def add_shape(self, shape: Any) -> str:
        """A shape, a proto, in the form that ops on lists take; None for any."""
        if shape is None or shape.unknown_rank:
            return self.add_constant(functions.INT32, -1)
        ref = self.add_constant(functions.INT32)
        tensor = self.proto.node_def[-1].attr["value"].tensor
        tensor.tensor_shape.dim.add(size=len(shape.dim))
        tensor.int_val.extend(dim.size for dim in shape.dim)
        return ref

    def add_list(self, dtype: int) -> str:
        """An empty TensorList."""
        any_size = self.add_constant(functions.INT32, -1)
        node = self.add_node(
            "EmptyTensorList", [any_size, any_size], element_dtype=dtype, shape_type=functions.INT32
        )
        return f"{node.name}:handle:0"

    def add_nothing(self, dtype: int) -> str:
        """A list, or the handle of a variable, that nobody uses."""
        is_list = dtype == functions.VARIANT
        return self.add_list(functions.INT32) if is_list else self.add_variable(functions.INT32, "")

    def list_item(self, items: str, index: str, dtype: int, shape: Any = None) -> str:
        inputs = [items, index, self.add_shape(shape)]
        return self.call("TensorListGetItem", inputs, element_dtype=dtype)

    def set_list_item(self, items: str, index: str, item: str, dtype: int) -> str:
        """The list with another item, and longer if it has to be."""
        return self.call(
            "TensorListSetItem",
            [items, index, item],
            element_dtype=dtype,
            resize_if_index_out_of_bounds=True,
        )

    def take_from_lists(self, first: int, about: Sequence[tuple[int, Any]], index: str) -> None:
        """Let arguments, from the one at ``first`` on, be lists, of which what used them uses an
        element. ``about``: the dtypes and shapes of the elements."""
        uses, items = list(self.proto.node_def), dict[str, str]()
        for place, (dtype, shape) in enumerate(about, first):
            argument = self.proto.signature.input_arg[place]
            self.proto.arg_attr.pop(place, None)
            argument.type = functions.VARIANT
            items[argument.name] = self.list_item(argument.name, index, dtype, shape)
        for node in uses:
            if not items.keys().isdisjoint(node.input):
                refs = [items.get(ref, ref) for ref in node.input]
                del node.input[:]
                node.input.extend(refs)
        for name, ref in list(self.proto.ret.items()):
            self.proto.ret[name] = items.get(ref, ref)

    def _fresh_name(self) -> str:
        return f"tapeviz_{next(_numbers)}"


def _is_kept(node: Any) -> bool:
    """Whether the results of a node keep their memory in a plain run, too: a read shares that of
    the variable."""
    if node.op == "ReadVariableOp":
        return True
    return node.op == _PY_FUNCTION and functions.keeps_result(node.attr["token"].s)


def _replace_all(about: Any, entries: Mapping[int, Any]) -> None:
    """Let a map of a proto, of messages or of numbers, have these entries."""
    copies = {key: deepcopy(value) for key, value in entries.items()}
    about.clear()
    for key, value in copies.items():
        if isinstance(value, int):
            about[key] = value
        else:
            about[key].CopyFrom(value)


def _renamed(ref: str, names: Mapping[str, str]) -> str:
    """``loop_2:output:0`` or ``^loop_2`` of a node that has another name now."""
    mark = "^" if ref.startswith("^") else ""
    name, colon, place = ref.removeprefix("^").partition(":")
    return f"{mark}{names.get(name, name)}{colon}{place}"


def shape_of_argument(definition: Any, place: int) -> Any:
    """The shape that an argument has in each call, a proto; None if it is not known."""
    attributes = definition.arg_attr[place].attr if place in definition.arg_attr else {}
    known = "_output_shapes" in attributes and attributes["_output_shapes"].list.shape
    return known[0] if known else None


def add_data_inputs(node: Any, refs: Sequence[str], place: int | None = None) -> None:
    """Further inputs of a node, before the one at ``place``, or else before those that only say
    what runs first (``^name``)."""
    given = list(node.input)
    data = [ref for ref in given if not ref.startswith("^")]
    place = len(data) if place is None else place
    del node.input[:]
    node.input.extend([*given[:place], *refs, *given[place:]])


def branches_of(node: Any) -> Iterator[tuple[str, Any]]:
    """The branches of a conditional: the word in TensorFlow's names for its nodes, its function."""
    if node.op in CONDITIONALS:
        yield "then", node.attr["then_branch"].func
        yield "else", node.attr["else_branch"].func
    else:
        for place, function in enumerate(node.attr["branches"].list.func):
            yield f"branch{place}", function


def functions_of(node: Any) -> list[Any]:
    """The functions that a call, a conditional or a loop runs; of a loop the body first."""
    if node.op in CALLS:
        return [node.attr["f"].func]
    if node.op in LOOPS:
        return [node.attr["body"].func, node.attr["cond"].func]
    return [function for _, function in branches_of(node)]


def is_unseen_call(node: Any) -> bool:
    """Whether a node calls a function whose graph TensorFlow makes where no hook sees it: the
    backward function of a compiled one (``_BACKWARD_PREFIX`` of polymorphic_function), or what a
    ``ForwardAccumulator`` computes a tangent with (``_jvp_exact_shapes`` of forwardprop). Seen in
    2.15-2.21."""
    name = node.attr["f"].func.name if node.op in CALLS else ""
    return any(unseen in name for unseen in _UNSEEN)


def is_xla(definition: Any) -> bool:
    """Whether a function is compiled by XLA (``jit_compile``)."""
    return _XLA in definition.attr and bool(definition.attr[_XLA].b)


def which_dtype(node: Any) -> int:
    """The dtype of what a conditional goes by."""
    return int(node.attr["Tcond"].type) if node.op in CONDITIONALS else functions.INT32
