"""Find functions made in a loop that read its variable when they are called: all of them then read
what the loop gave last."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...text.names import names_in
from ...text.trees import lines_of
from ...trace.ops import Op
from ..call_facts import CallFacts

_Loop = ast.For | ast.AsyncFor | ast.comprehension


class LateName(NamedTuple):
    """A function that reads ``name``, a variable of the loop around it.

    ``line``: where the function is made; ``function``: its name, as frames have it; ``lines`` and
    ``loop``: those of both; ``takes``: the names that the loop and the function read.
    """

    name: str
    line: int
    function: str
    lines: range
    loop: range
    takes: frozenset[str]

    def sentence(self, target: str, source: str) -> str:
        function = "The lambda" if self.function == "<lambda>" else f"The function {self.function}"
        return (
            f"{function} on line {self.line} reads {self.name} when it is called, not when the "
            f"loop makes it: {self.name} then is what the loop gave last, in each of these "
            f"functions. So {target} was not computed from {source}. Give each function the value "
            f"of its turn as a default: {self.name}={self.name} among its parameters."
        )


def late_names_called(facts: CallFacts, ops: Iterable[Op]) -> Iterator[LateName]:
    """Find the functions made in a loop that ran one of the ops, called from outside that loop."""
    made = facts.once(_late_names)
    sites = {op.site.id: op.site for op in ops} if made else {}  # each op of a site ran alike
    for site in sites.values():
        frames = site.frames
        for late in made:
            for depth, frame in enumerate(frames):
                if frame.function == late.function and frame.line in late.lines:
                    if not any(caller.line in late.loop for caller in frames[depth + 1 :]):
                        yield late
                    break


def _late_names(facts: CallFacts) -> Sequence[LateName]:
    return [
        late
        for node in facts.text.nodes
        for loop, body in _loops(node)
        for part in body
        for function in ast.walk(part)
        for late in _reads_of(function, loop, node)
    ]


def _loops(node: ast.AST) -> Iterator[tuple[_Loop, Sequence[ast.AST]]]:
    """The loops of a statement or a comprehension, each with what runs in its turns."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        yield node, node.body
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        yield from ((loop, [node.elt]) for loop in node.generators)
    elif isinstance(node, ast.DictComp):
        yield from ((loop, [node.key, node.value]) for loop in node.generators)


def _reads_of(function: ast.AST, loop: _Loop, node: ast.AST) -> Iterator[LateName]:
    if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
        return
    given = function.args
    own = {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    parts = function.body if isinstance(function, ast.FunctionDef) else [function.body]
    nodes = [each for part in parts for each in ast.walk(part)]
    names = [each for each in nodes if isinstance(each, ast.Name)]
    own |= {each.id for each in names if not isinstance(each.ctx, ast.Load)}
    reads = {each.id for each in names} - own
    called = function.name if isinstance(function, ast.FunctionDef) else "<lambda>"
    takes = frozenset(reads | names_in(loop.iter))
    for name in sorted(reads & names_in(loop.target)):
        yield LateName(name, function.lineno, called, lines_of(function), lines_of(node), takes)
