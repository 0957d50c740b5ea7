"""Make the :class:`~tapeviz.graph.model.Node` of an op, a version of a variable, or a constant."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from sys import intern

from ..text.op_words import friendly, function_words
from ..trace.calls import Call
from ..trace.compiled.raised import op_that_raised, raised_words
from ..trace.ids import OpId, SiteId, TensorId, VariableId
from ..trace.model import Trace
from ..trace.ops import Op
from ..trace.state import writes_state
from ..trace.unread import holding, state_id
from ..trace.variables import Version
from ..wording import listed
from .model import Node, NodeId, Part
from .scope import before_path
from .select import NodeSelection
from .trace_index import TraceIndex
from .words import (
    constant_words,
    is_assign,
    joined,
    line_words,
    op_words,
    updates_words,
    user_name,
    version_line,
    version_words,
    write_word,
)
from .writes import WriteWords

OP_PREFIX = "op:"


def op_id(op: OpId) -> NodeId:
    return f"{OP_PREFIX}{op}"


def version_id(version: Version) -> NodeId:
    return f"var:{version.variable}:{version.index}"


def op_of(node: NodeId, trace: Trace) -> Op | None:
    """The op that a node id stands for, None if it is no op's."""
    kind, _, number = node.partition(":")
    return trace.ops.get(OpId(int(number))) if kind == "op" else None


def version_of(node: NodeId, trace: Trace) -> Version | None:
    """The version that a node id stands for, None if it is no version's."""
    kind, _, number = node.partition(":")
    if kind != "var":
        return None
    variable, _, index = number.partition(":")
    return trace.variables[VariableId(int(variable))].versions[int(index)]


def constant_id(tensor: TensorId) -> NodeId:
    return f"const:{tensor}"


def is_recorded(op: Op) -> bool:
    """Whether a gradient can pass the op: a tape recorded it, or it is in a graph, where
    ``tf.gradients`` needs no tape. No tape keeps an op without outputs."""
    return bool(op.outputs) and bool(op.tapes or (op.graph and op.call is None))


def entry_path(entry: Op, entries: Mapping[OpId, Op]) -> str:
    """The path of a recorded operation's body, for a picture without groups."""
    outer = entries.get(entry.id)
    above = f"{entry_path(outer, entries)}/" if outer is not None else ""
    return f"{above}{entry_name(entry)}"


def entry_name(entry: Op) -> str:
    return (function_words(entry.function) or friendly(entry.type)).replace("/", "|")


def op_word(op: Op) -> str:
    """The word for what an op does, as its box has it: ``Mean``, ``assign`` for a write."""
    return write_word(op.type) if writes_state(op.type) else entry_name(op)


def _kind_of_entry(entry: Op) -> str:
    if entry.type.endswith("While"):
        return "tf.while_loop"
    is_function = entry.type.startswith("__") or entry.type.endswith("PartitionedCall")
    return "tf.function" if is_function else "custom_gradient"


class Nodes:
    """Makes the nodes of one picture."""

    def __init__(self, index: TraceIndex, selection: NodeSelection) -> None:
        self._index = index
        self._trace = index.trace
        self._selection = selection
        self._variables = index.trace.variable_names
        self._writes = WriteWords(index.trace, self._variables)
        self._data_ends = frozenset(selection.data.values())
        parts = ((end, index.trace.ops[part].type) for part, end in selection.merged.items())
        self._types = {end: kind for end, kind in parts if kind != "Identity"}
        self._first: dict[VariableId, int] = {}
        """The first version shown of each variable; primes are counted from it."""
        self._raised = op_that_raised(index.trace)
        self._lines: dict[SiteId, tuple[int, ...]] = {}
        self._words: dict[Hashable, tuple[str, str]] = {}
        for variable, version in selection.scope.versions:
            self._first[variable] = min(version, self._first.get(variable, version))

    def of(self, name: NodeId, part: Part) -> Node:
        """The node of a part; ``name``: its id (an unnamed number has a node for each reader)."""
        if isinstance(part, Op):
            return self.of_op(part)
        return self.of_version(part) if isinstance(part, Version) else self.of_constant(part, name)

    def is_value(self, op: Op) -> bool:
        """Whether an op is drawn as its value: a constant, or the end of a line that makes data."""
        return op.type == "Const" or op.id in self._data_ends

    def tensor_of(self, op: Op) -> TensorId | None:
        """The output whose value an op's node shows: the first that has a name, else the first."""
        for output in op.outputs:
            if self._trace.names.get(output):
                return output
        return op.outputs[0] if op.outputs else None

    def is_recorded(self, part: Part) -> bool:
        """Whether a tape recorded an op; True for versions and for values made in the picture."""
        if isinstance(part, Op):
            return self.is_value(part) or is_recorded(part)
        return isinstance(part, Version) or part not in self._selection.scope.outside

    def is_backward(self, part: Part) -> bool:
        """Whether the part is an op of a gradient call."""
        return isinstance(part, Op) and part.call is not None

    def line_of(self, part: Part) -> int:
        """The line that ran an op, wrote a version, or named a tensor; 0 if unknown."""
        if isinstance(part, Op):
            return part.line
        if isinstance(part, Version):
            return version_line(self._trace, part)
        line = self._index.bound_lines.get(part, 0)
        if not line and (call := self._index.results.get(part)) is not None:
            line = call.line
        elif not line and (maker := self._trace.maker(part)) is not None:
            line = maker.line
        return line

    def lines_of(self, part: Part) -> tuple[int, ...]:
        """All lines of the snippet that a part belongs to, its own first."""
        if not isinstance(part, Op):
            lines = [self.line_of(part)]
            if isinstance(part, Version):
                lines.append(self._trace.variables[part.variable].site.line)
            return tuple(dict.fromkeys(line for line in lines if line))
        site = part.site
        if site.id not in self._lines:
            self._lines[site.id] = tuple(dict.fromkeys(frame.line for frame in site.frames))
        return self._lines[site.id]

    def is_outside(self, part: Part) -> bool:
        """Whether the part is a value that was computed outside the picture."""
        return not isinstance(part, (Op, Version)) and part in self._selection.scope.outside

    def maker_of(self, part: Part) -> OpId | None:
        """The op that made the part, None if it is no op's value or not known."""
        if isinstance(part, Op):
            return part.id
        if isinstance(part, Version) or not self.is_outside(part):
            return None
        return self._trace.producers.get(part)

    def opens(self, part: Part) -> str:
        """The path that opens the ops of a value computed outside the picture; else empty."""
        if isinstance(part, (Op, Version)) or not self.is_outside(part):
            return ""
        return before_path(self._trace, part)

    def assigns(self, part: Part) -> bool:
        """Whether the part is an op that writes a variable."""
        if not isinstance(part, Op) or part.id not in self._trace.writes:
            return False
        return is_assign(self._trace, part)

    def _op_words(self, op: Op) -> tuple[str, str]:
        """Title and subtitle, kept: in a loop most ops have those of an op before."""
        names, tensors = self._trace.names, self._trace.tensors
        first = tensors.get(op.outputs[0]) if op.outputs else None
        key = (
            self._type_of(op),
            op.function,
            op.site.id,
            first.shape if first is not None else None,
            *[names.get(output) for output in op.outputs],
        )
        words = self._words.get(key)
        if words is None:
            title, subtitle = op_words(self._trace, op, self._type_of(op))
            words = self._words[key] = intern(title), intern(subtitle)
        return words

    def _type_of(self, op: Op) -> str:
        """The op's type; of the ``Identity`` after a conditional that of the conditional."""
        return self._types.get(op.id, op.type)

    def of_op(self, op: Op) -> Node:
        assigns = self.assigns(op)
        title, subtitle = self._writes.of(op) if assigns else self._op_words(op)
        if op.type == "Const" and op.outputs:
            title, subtitle = constant_words(self._trace, op.outputs[0])
        if self._raised is not None and op.id == self._raised.id:
            subtitle = joined((subtitle, raised_words(self._trace, op)))
        entry = self._selection.entries.get(op.id)
        tensor = self.tensor_of(op)
        is_named = tensor is not None and bool(self._trace.names.get(tensor))
        return Node(
            id=op_id(op.id),
            role="constant" if self.is_value(op) else "op",
            title=intern(title),
            subtitle=intern(subtitle),
            type=self._type_of(op),
            line=op.line,
            tensor=tensor,
            op=op.id,
            is_recorded=self.is_recorded(op),
            assigns=assigns,
            is_backward=self.is_backward(op),
            name=title if op.type != "Const" or is_named else "",
            site=int(op.site.id),
            lines=self.lines_of(op),
            group=entry_path(entry, self._selection.entries) if entry is not None else "",
            entry=entry.id if entry is not None else None,
        )

    def of_entry(self, entry: Op) -> Node:
        """The node of a folded recorded operation, without its members."""
        node = self.of_op(entry)
        kind = _kind_of_entry(entry)
        name = entry_name(entry)
        is_named = node.title != name
        subtitle = joined((name, kind) if is_named else (kind, line_words(entry.line)))
        return replace(node, role="group", type=entry.type, subtitle=subtitle, entry=entry.id)

    def of_version(self, version: Version) -> Node:
        name = self._variables[version.variable]
        first = self._first[version.variable]
        is_written = version.op is not None and version.op in self._selection.shown
        if is_written and version.index == first:
            first = 0  # the write is in the picture, the state before is not: count from the start
        title, subtitle = version_words(self._trace, version, name, first, is_written)
        return Node(
            id=version_id(version),
            role="variable",
            title=title,
            subtitle=subtitle,
            type="Variable",
            line=self.line_of(version),
            tensor=value_of(self._trace, version),
            variable=version.variable,
            version=version.index,
            name=name,
            lines=self.lines_of(version),
            last_subtitle="" if is_written else self._last_subtitle(version),
        )

    def _last_subtitle(self, version: Version) -> str:
        """The words of the box in the last round, where the variable has had most updates."""
        variable = self._trace.variables[version.variable]
        last = variable.version_at(self._index.last_round)
        return updates_words(variable, last.index) if last is not None and last.index else ""

    def of_constant(self, tensor: TensorId, node: NodeId) -> Node:
        """The node, with id ``node``, of a value that no op made or that was computed outside the
        picture (before it, or by a gradient call)."""
        trace = self._trace
        call = self._index.results.get(tensor)
        name = user_name(trace, tensor)
        op = trace.maker(tensor)
        kind = "Constant"
        if call is not None:
            words, kind = result_words(call, tensor), "Gradient"
        elif op is not None:
            words, kind = op_words(trace, op), op.type
        else:
            words = constant_words(trace, tensor)
        return Node(
            id=node,
            role="constant",
            title=name or words[0],
            subtitle=words[1],
            type=kind,
            line=self.line_of(tensor),
            tensor=tensor,
            op=self.maker_of(tensor),
            is_recorded=self.is_recorded(tensor),
            name=name or ("" if kind == "Constant" else words[0]),
            lines=self.lines_of(tensor),
            opens=self.opens(tensor),
        )


def result_words(call: Call, result: TensorId) -> tuple[str, str]:
    """Title and subtitle of a gradient whose ops are not shown: ``∂loss/∂w``."""
    source = call.sources[call.results.index(result)].text
    target = listed([operand.text for operand in call.targets])
    if call.is_forward:
        target, source = source, target
    return f"∂{target}/∂{source}", joined(("gradient", line_words(call.line)))


def value_of(trace: Trace, version: Version) -> TensorId | None:
    """A tensor that holds the variable's value in this version, None if there is none recorded; at
    best one whose elements are in the recording."""
    held = holding(trace, version)
    known = next((each for each in held if each in trace.places or each in trace.samples), None)
    state = state_id(version.op) if version.op is not None else None
    if known is None and state is not None and state in trace.unread:
        is_there = trace.value(state) is not None or trace.sample(state) is not None
        known = state if is_there else None
    return known if known is not None else next(iter(held), None)
