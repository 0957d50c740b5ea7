"""Find a name on the way to a target that means something else there than it does for the call."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from ...text.names import called_name
from ...text.source import SourceText
from ...text.statements import MODULE, read_text
from ...text.trees import lines_of


class Shadowed(NamedTuple):
    """The ``name`` that ``line`` reads is of the function that begins on ``scope`` (0: of the top
    of the text), and the gradient call means another one. ``is_parameter``: it is given there."""

    name: str
    line: int
    scope: int
    is_parameter: bool

    def sentence(self, target: str, source: str) -> str:
        whose = f"a name that the function on line {self.scope} binds for itself"
        if self.is_parameter:
            whose = f"the parameter of the function on line {self.scope}"
        elif self.scope == MODULE:
            whose = "the one at the top of the text, not one of a function"
        return (
            f"{target} was not computed from {source}: the {self.name} that line {self.line} reads "
            f"is {whose}, and it has another value. Compute {target} with {source} itself, or ask "
            f"for the gradient of what stands under {self.name} there."
        )


def shadowed(source: SourceText, name: str, asked: int, ran: Iterable[int]) -> Shadowed | None:
    """The first of the lines ``ran`` that reads a plain name which line ``asked`` gives another
    meaning. A line that calls the function whose parameter the name is gives it its meaning."""
    if not name.isidentifier():
        return None
    text = read_text(source)
    own = text.owner(asked, name)
    callers = _lines_of_calls(source, own) if text.is_parameter(own, name) else frozenset()
    for line in sorted(ran):
        statement = text.statement(line)
        if statement is None or name not in statement.reads or line in callers:
            continue
        scope = text.owner(line, name)
        if scope != own:
            return Shadowed(name, line, scope, text.is_parameter(scope, name))
    return None


def _lines_of_calls(source: SourceText, scope: int) -> frozenset[int]:
    """The lines of the calls of the function that begins on this one."""
    functions = (node for node in source.nodes if isinstance(node, ast.FunctionDef))
    names = {each.name for each in functions if each.lineno == scope}
    calls = (node for node in source.nodes if isinstance(node, ast.Call))
    return frozenset(
        line for call in calls if called_name(call) in names for line in lines_of(call)
    )
