"""An exception and the recording that it ended, with what those who explain it ask of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias, TypeVar

from ...text.messages import converted_lines, lines_in_stack, without_node_names
from ...text.names import calls_in, dotted, targets_of
from ...text.source import SourceText
from ...text.statements import head_of, read_text
from ...trace.calls import Call
from ...trace.events import HeldValue
from ...trace.model import Failure, Trace
from ...trace.ops import Op

_Node = TypeVar("_Node", bound=ast.AST)
Assigning: TypeAlias = "ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For"


@dataclass(frozen=True)
class Case:
    """An exception and the recording that it ended.

    ``failure``: without the words that AutoGraph puts around it, which ``outer`` has; ``match``: of
    the pattern.
    """

    trace: Trace
    failure: Failure
    outer: Failure
    text: SourceText
    match: re.Match[str]

    def nodes(self, kind: type[_Node]) -> Iterator[_Node]:
        """Each node of that kind in the syntax tree of the snippet; none if it cannot be parsed."""
        return (node for node in self.text.nodes if isinstance(node, kind))

    @property
    def code(self) -> str:
        return self.text.code(self.line)

    @cached_property
    def line(self) -> int:
        """The innermost line of the snippet; in a compiled function, or one that is traced, that
        which TensorFlow names."""
        return innermost_line(self.trace, self.outer)

    @property
    def traced_lines(self) -> Sequence[int]:
        """The lines of :func:`traced_lines` in its message."""
        return traced_lines(self.failure, self.trace.filename)

    @property
    def defining_lines(self) -> Sequence[int]:
        """The lines of :func:`defining_lines` in its message."""
        return defining_lines(self.failure, self.trace.filename)

    @cached_property
    def held(self) -> Mapping[str, HeldValue]:
        """The names and expressions in the code around :attr:`line`, with what they meant when it
        raised; empty where it ran in another frame than the recorder saw."""
        if self.line != (self.failure.span.line or self.failure.line):
            return {}
        return {each.name: each for each in self.failure.held}

    @cached_property
    def statement(self) -> ast.stmt | None:
        """The statement on :attr:`line`."""
        return self.text.statement(self.line)

    def nodes_here(self, kind: type[_Node]) -> Sequence[_Node]:
        """The nodes of that kind in the statement on :attr:`line`, in its body, too."""
        nodes = ast.walk(self.statement) if self.statement is not None else ()
        return [node for node in nodes if isinstance(node, kind)]

    @cached_property
    def calls(self) -> Sequence[ast.Call]:
        """The calls in the statement on :attr:`line`; of a compound one those in its head."""
        head = head_of(self.statement) if self.statement is not None else ()
        return [call for part in head for call in calls_in(part)]

    @cached_property
    def raised_at(self) -> ast.AST | None:
        """The expression that raised, or the assignment by ``+=`` or the like; where the recorder
        does not know its place the only call on the line."""
        statement, span = self.statement, self.failure.span
        if statement is None:
            return None
        if span.column < 0:
            return self.calls[0] if len(self.calls) == 1 else None
        return self.text.node_at(span, statement)

    @property
    def elements_taken(self) -> Sequence[ast.Subscript]:
        """The expression that raised, if it takes an element; else all on the line that do."""
        if isinstance(self.raised_at, ast.Subscript):
            return [self.raised_at]
        return [
            node
            for part in (head_of(self.statement) if self.statement is not None else ())
            for node in ast.walk(part)
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
        ]

    def sides(self, kind: type[ast.operator] = ast.operator) -> tuple[ast.expr, ast.expr] | None:
        """The operands of the operator that raised; where its place is not known those of the only
        one of this kind on the line."""
        nodes: Iterable[ast.AST | None] = [self.raised_at]
        if self.failure.span.column < 0:
            nodes = self.nodes_here(ast.AST)
        found: list[tuple[ast.expr, ast.expr]] = []
        for node in nodes:
            if isinstance(node, ast.BinOp) and isinstance(node.op, kind):
                found.append((node.left, node.right))
            elif isinstance(node, ast.AugAssign) and isinstance(node.op, kind):
                found.append((node.target, node.value))
        return found[0] if len(found) == 1 else None

    def type_of(self, node: ast.expr) -> str:
        """The name of the class of a value, as far as it was recorded."""
        held = self.held.get(ast.unparse(node))
        return held.type if held is not None else ""

    def last_binding(
        self, name: str, *, also_here: bool = False, line: int = 0
    ) -> Assigning | None:
        """The last statement above the failure, or a line, in the same scope, that gives a name its
        value; ``also_here``: or the one that raised."""
        owner, line = read_text(self.text).owner, line or self.line
        found = [
            node
            for node in self.nodes(ast.stmt)
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For))
            if node.lineno < line + also_here and name in map(dotted, targets_of(node))
            if owner(node.lineno, name) == owner(line, name)
        ]
        return max(found, key=lambda each: each.lineno, default=None)

    @property
    def call(self) -> Call | None:
        """The gradient call that raised it."""
        lines = self.failure.lines or (self.failure.line,)
        raised = [
            call
            for call in self.trace.calls
            if not call.ended
            if not call.error or is_from(self.failure, call) or is_from(self.outer, call)
        ]
        if raised and raised[-1] is self.trace.calls[-1]:
            return raised[-1]  # another one's error was caught
        # A page goes on after an error in one of its blocks.
        return next((call for call in reversed(raised) if call.line in lines), None)

    @property
    def op_differentiated(self) -> Op | None:
        """The op whose gradient function raised it; None if none did, or it is not the snippet's
        or TensorFlow's own."""
        call = self.call
        step = call.steps[-1] if call is not None and not call.ended and call.steps else None
        return None if step is None or any(step.downstream) else self.trace.op(step.op)

    def words_of(self, op: Op) -> str:
        """The snippet's words for an op, else its type."""
        words = self.text.words_at(op.site.frames[0].span) if op.site.frames else ""
        return words or op.type

    @property
    def tape(self) -> str:
        call = self.call
        tape = self.trace.tapes.get(call.tape) if call and call.tape is not None else None
        return tape.name if tape and tape.name else "the tape"

    def argument(self, position: int, *methods: str) -> str:
        """The text of an argument of the call of such a method on the line."""
        call = self.calling(*methods)
        if call is None or position >= len(call.args):
            return ""
        return self.text.segment(call.args[position])

    def calling(self, *methods: str, line: int = 0) -> ast.Call | None:
        """The call of such a method on a line, by default the one that raised."""
        statement = self.text.statement(line or self.line)
        for node in ast.walk(statement) if statement else ():
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in methods:
                return node
        return None

    @property
    def missing(self) -> tuple[Call, list[str]] | None:
        """The last call that gave None, and the sources that it gave none for."""
        nones = [call for call in self.trace.calls if call.ended and None in call.results]
        if not nones:
            return None
        call = nones[-1]
        pairs = zip(call.sources, call.results, strict=False)
        return call, [source.text for source, result in pairs if result is None]


def is_from(failure: Failure, call: Call) -> bool:
    """Whether an exception may be the one that a gradient call raised.

    From a function that AutoGraph converted, or a layer of Keras, it comes with words about these
    around its own, and may be of another type (``to_exception`` in autograph/pyct/error_utils.py,
    ``inject_argument_info_in_traceback`` in keras/src/utils/traceback_utils.py, 2.15-2.21).
    """
    if call.error == f"{failure.type}: {failure.message}":
        return True
    first = call.error.partition(": ")[2].partition("\n")[0]
    return bool(_RAISED_AGAIN.search(failure.message)) and first in failure.message


_RAISED_AGAIN = re.compile(r"in user code:|Exception encountered when calling")


def innermost_line(trace: Trace, failure: Failure) -> int:
    """The line of :attr:`Case.line`: the traceback of what TensorFlow raises while it traces a
    function, or runs one that is compiled, ends at the call of that function; that of Python code
    which an op calls ends at the op."""
    called = raised_by_called(failure, trace.filename)
    if called is not None:
        return called.line
    inner = traced_lines(failure, trace.filename)
    inner = inner or converted_lines(failure.message, trace.filename)
    if not inner and re.search(OUT_OF_A_LOOP, failure.message):
        inner = defining_lines(failure, trace.filename)
    return inner[-1] if inner else _line_of_node(trace, failure) or failure.line


def _line_of_node(trace: Trace, failure: Failure) -> int:
    """The line of the op of a compiled function that the message names, where it tells no lines
    (``<stack traces unavailable>``: a function that Keras jit-compiles or runs in ``fit``); else
    0."""
    if "[Op:__" not in failure.message:
        return 0
    names = {name.rpartition(_CALL)[2] for name in _NODE.findall(failure.message)}
    lines = (op.line for op in trace.ops.values() if op.name and op.name in names)
    return next((line for line in lines if line), 0)


_NODE = re.compile(r"\{\{node ([^}]+)\}\}")
_CALL = "PartitionedCall/"


OUT_OF_A_LOOP = r"it was defined in FuncGraph\(name=(?:while|cond)_"
"""A tensor of a loop or branch of a compiled function, used outside of it; the function that uses
it is named before (``_validate_in_graph`` and others in func_graph.py, 2.15-2.21)."""


def defining_lines(failure: Failure, filename: str) -> Sequence[int]:
    """The lines that made a tensor which is used out of its scope, outermost first (``was defined
    here``, TensorFlow 2.15-2.21)."""
    return lines_in_stack(failure.message.partition("was defined here:")[2], filename)


def traced_lines(failure: Failure, filename: str) -> Sequence[int]:
    """The lines that an op which raised in a compiled function was traced from, outermost first
    (``Detected at node … defined at``, TensorFlow 2.15–2.21)."""
    _, _, stack = failure.message.partition("Detected at node")
    if "[Op:__" not in stack:  # of a session, which ran the whole graph
        return ()
    return lines_in_stack(stack, filename)


Explain = Callable[[Case], str]


_CALLED = re.compile(r'File "[^"]*script_ops\.py", line \d+, in __call__')
"""``FuncRegistry.__call__`` and ``EagerFunc.__call__`` in script_ops.py, 2.15-2.21: the op raises
an error of TensorFlow's, whose message has the exception, and its traceback from there on."""
_TRACEBACK = "Traceback (most recent call last):"
_EXCEPTION = re.compile(
    r"^ *(?:(?:Unknown|InvalidArgument|OutOfRange|ResourceExhausted|Unimplemented)Error: )?"
    rf"([A-Za-z_][\w.]*)(?:: (.*?))?\n *{re.escape(_TRACEBACK)}",
    re.DOTALL | re.MULTILINE,
)
"""In a function that AutoGraph converted the message is indented, after ``in user code``."""


def raised_by_called(failure: Failure, filename: str) -> Failure | None:
    """The exception of Python code that an op called: of ``tf.py_function``, ``tf.numpy_function``
    or the generator of a dataset, with its type, message and line; None if an op called none, or
    the exception did not come from lines of the snippet."""
    message = without_node_names(failure.message)
    end = message.rfind(_TRACEBACK)
    if end < 0 or not _CALLED.search(message):
        return None
    inner = _EXCEPTION.search(message, 0, end + len(_TRACEBACK))
    lines = lines_in_stack(message[inner.end() :], filename) if inner is not None else ()
    if inner is None or not lines:
        return None
    return replace(
        failure,
        type=inner[1].rpartition(".")[2],
        message=inner[2] or "",
        line=lines[-1],
        lines=tuple(lines),
    )
