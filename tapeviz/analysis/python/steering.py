"""Find the statements of Python that go by a number: how often they repeat, which branch they
take, which element of a list."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ...text.names import called_name, names_in, targets_of
from ...text.source import SourceText
from ...text.trees import lines_of

_MOST_HANDOVERS = 3


class Steered(NamedTuple):
    """A statement or choice on ``line``. ``lines``: of all that runs by it; ``repeats``: how often,
    rather than whether; ``binds``: the names that get a value there; ``picks``: it chooses an
    element of a list."""

    line: int
    lines: range
    repeats: bool
    binds: frozenset[str]
    picks: bool = False


def steered_by(text: SourceText, line: int, ran: Collection[int]) -> Steered | None:
    """The loop or choice that goes on by the value of an expression on ``line``, itself or under a
    name, if it made one of the lines ``ran`` run, or bound what one of them reads."""
    names = carriers(text, line)
    reads = {name for other in ran for name in read_on(text, other)}
    for node in text.nodes:
        for head, steered in _heads(node):
            if line not in lines_of(head) and not names & names_in(head):
                continue
            if steered.binds & reads or any(other in steered.lines for other in ran):
                return steered
    return None


def carriers(text: SourceText, line: int) -> frozenset[str]:
    """The names that hold a number made on the line, or another one that was computed from it: also
    the parameters of a function that is called there."""
    statement = text.statement(line)
    tree = text.tree
    if statement is None or tree is None:
        return frozenset()
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    names = {target.id for target in targets_of(statement) if isinstance(target, ast.Name)}
    for call in ast.walk(statement):
        called = functions.get(called_name(call)) if isinstance(call, ast.Call) else None
        if called is not None and called.lineno != statement.lineno:
            names |= {parameter.arg for parameter in called.args.args}
    assigns = [node for node in ast.walk(tree) if isinstance(node, (ast.Assign, ast.AnnAssign))]
    for _ in range(_MOST_HANDOVERS):
        for assign in assigns:
            if assign.value is not None and names & names_in(assign.value):
                names |= {
                    target.id for target in targets_of(assign) if isinstance(target, ast.Name)
                }
    return frozenset(names)


def _heads(node: ast.AST) -> Iterator[tuple[ast.expr, Steered]]:
    """The expression that decides in a statement or expression, and what it decides about."""
    if isinstance(node, (ast.If, ast.While)):
        yield node.test, _steered(node, [*node.body, *node.orelse], isinstance(node, ast.While))
    elif isinstance(node, ast.For):
        if isinstance(node.iter, ast.Call) and called_name(node.iter) == "range":
            yield node.iter, _steered(node, node.body, repeats=True)
    elif isinstance(node, ast.IfExp):
        yield node.test, _steered(node, [node], repeats=False)
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)) and node.value:
        for part in ast.walk(node.value):  # [i for i in … if x[i] > 0]
            for test in getattr(part, "ifs", ()):
                yield test, _steered(node, [node], repeats=False)
            if isinstance(part, ast.Subscript):
                yield part.slice, _steered(node, [node], repeats=False)._replace(picks=True)
            elif isinstance(part, ast.Call) and part.args and _reads_array(part):
                yield part.args[0], _steered(node, [node], repeats=False)._replace(picks=True)


def _reads_array(call: ast.Call) -> bool:
    """Whether it may be the ``read`` of a ``tf.TensorArray``, which takes an index alone."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "read" and len(call.args) == 1


def _steered(
    node: ast.stmt | ast.expr, inside: Sequence[ast.stmt | ast.expr], repeats: bool
) -> Steered:
    statements = [part for each in inside for part in ast.walk(each) if isinstance(part, ast.stmt)]
    bound = (target for statement in statements for target in targets_of(statement))
    names = frozenset(target.id for target in bound if isinstance(target, ast.Name))
    last = max(each.end_lineno or each.lineno for each in inside)
    return Steered(node.lineno, range(inside[0].lineno, last + 1), repeats, names)


def read_on(text: SourceText, line: int) -> frozenset[str]:
    """The names that the simple statement on a line reads or binds."""
    statement = text.statement(line)
    is_simple = statement is not None and not hasattr(statement, "body")
    return names_in(statement) if statement is not None and is_simple else frozenset()
