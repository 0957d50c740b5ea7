"""``not-watched``: every edge would pass a gradient, but the tape was not told to watch the
source."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from ....text.statements import read_text
from ....text.trees import lines_of
from ....trace.calls import Operand
from ....trace.ids import TensorId
from ...call_facts import CallFacts
from ...findings import Cause, Evidence
from ..questions import Unwatched


@dataclass(frozen=True, slots=True)
class NotWatched(Evidence):
    """The tape did not watch the source. ``how``: watched too ``late``, a variable that is
    ``non-trainable``, one of a ``tape`` that was made to watch none by itself (``made``: the line
    of the variable), one ``unread`` while the tape recorded, or a plain ``tensor``."""

    kind: ClassVar[str] = "not-watched"
    how: Literal["late", "non-trainable", "tape", "unread", "tensor"]
    made: int = 0

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.how == "late":
            return (
                f"Line {cause.line} watches {source} only after it had been used. "
                f"A tape records what uses a tensor only from the moment it is watched. "
                f"Call watch before the first operation that uses {source}."
            )
        if self.how == "non-trainable":
            return (
                f"{source} (line {cause.line}) is a variable with trainable=False. "
                f"A tape watches only trainable variables automatically. "
                f"Call watch on it inside the tape's block, or make it trainable."
            )
        if self.how == "tape":
            return (
                f"Line {cause.line} makes the tape with watch_accessed_variables=False, so it "
                f"watches no variable automatically, and nothing asked it to watch {source} "
                f"(line {self.made}). Call watch on {source} inside the tape's block, or "
                f"leave the argument out."
            )
        if self.how == "unread":
            return (
                f"{source} (line {cause.line}) was read while the tape did not record, so the tape "
                f"did not notice it. Call watch on it inside the tape's block."
            )
        return (
            f"{source} (line {cause.line}) is a plain tensor, and nothing asked the tape to watch "
            f"it. Tapes watch trainable variables automatically, other tensors only on request. "
            f"Call watch({source}) at the start of the tape's block, or make it a tf.Variable."
        )


def watched_late(asked: Unwatched) -> Cause | None:
    """The snippet called ``watch`` after the source had been used.

    A compiled function has a placeholder for each argument: watching the tensor itself, by its name
    outside of the function, watches no argument (``FuncGraph.capture``, 2.15-2.21).
    """
    facts, tape = asked.facts, asked.facts.tape
    if tape is None or facts.call.is_forward:  # its primals are watched as it is made
        return None
    root = re.split(r"[.\[]", asked.source.text)[0]
    for watch in tape.watches:
        if watch.tensor == asked.tensor and not watch.automatic and watch.site.line:
            statement = read_text(facts.text).statement(watch.site.line)
            if not facts.call.traced or (statement is not None and root in statement.reads):
                return facts.cause(NotWatched("late"), watch.site.line)
    return None


def not_watched(asked: Unwatched) -> Cause:
    """Nobody watched the source."""
    facts, variable, tape = asked.facts, asked.variable, asked.facts.tape
    made = _line_where_made(facts, asked.tensor, asked.source)
    if variable is None:
        return facts.cause(NotWatched("tensor"), made)
    if variable.trainable and tape and not tape.watches_variables:
        return facts.cause(NotWatched("tape", made), tape.site.line)
    return facts.cause(NotWatched("unread" if variable.trainable else "non-trainable"), made)


def _line_where_made(facts: CallFacts, tensor: TensorId, source: Operand) -> int:
    """Where the source was made, or got its name if that is not known: a constant in an object. So
    for what a library takes from a dataset and hands to the snippet's function, as ``fit`` does."""
    line, maker = facts.line_where_made(tensor), facts.trace.maker(tensor)
    is_handed = maker is not None and maker.type == "IteratorGetNext" and _is_unnamed(facts, line)
    if line and not is_handed:
        return line
    return _line_of_name(facts, source) or line or _line_of_parameter(facts, source)


def _is_unnamed(facts: CallFacts, line: int) -> bool:
    statement = read_text(facts.text).statement(line)
    return statement is not None and not (statement.is_for or statement.binds)


def _line_of_name(facts: CallFacts, source: Operand) -> int:
    """The last statement before the tape that binds the name which the source begins with."""
    name, _, _ = source.text.partition("[")[0].partition(".")
    line = facts.tape.site.line if facts.tape is not None else facts.call.line
    text = read_text(facts.text)
    writers = text.writers(text.owner(line, name), name)
    bound = [each.first for each in writers if name in each.binds and each.first <= line]
    return max(bound, default=0)


def _line_of_parameter(facts: CallFacts, source: Operand) -> int:
    """The ``def`` of the function around the tape whose parameter the source is, else the call."""
    line = facts.tape.site.line if facts.tape is not None else facts.call.line
    tree = facts.text.tree
    functions = [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and line in lines_of(node)
        and any(
            source.text == argument.arg
            for argument in ast.walk(node.args)
            if isinstance(argument, ast.arg)
        )
    ]
    return max((node.lineno for node in functions), default=facts.call.line)
