"""Find the statements that run after another one under the same tape."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from .blocks import Block
from .source import CstStatement, ParsedSource


@dataclass(frozen=True, slots=True)
class Region:
    """The statements that may see the effect of a statement.

    ``statements``: those that follow it, up to the end of the tape's block or of the function.
    ``loop``: the outermost loop around the statement, if there is one; then all of the loop belongs
    to them, because it runs again in the next round. ``block``: the tape's block, if the statement
    stands in it.
    """

    statements: tuple[cst.CSTNode, ...]
    loop: CstStatement | None
    block: Block | None

    @property
    def start(self) -> CstStatement | None:
        return self.loop


def region_after(source: ParsedSource, statement: CstStatement, block: Block | None) -> Region:
    """The region of a statement in a tape's block, or in a function that runs there."""
    around = list(source.ancestors(statement))
    function = source.function_of(statement)
    inside = block is not None and any(node is block.node for node in around)
    edge: cst.CSTNode = block.node if inside and block is not None else function
    loop: CstStatement | None = None
    following: list[cst.CSTNode] = list(source.after(statement))
    for outer in around:
        if outer is edge:
            break
        if isinstance(outer, (cst.For, cst.While)):
            loop = outer
            following = [outer, *source.after(outer)]
        elif isinstance(outer, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            following.extend(source.after(outer))
    return Region(tuple(following), loop, block if inside else None)


@dataclass(frozen=True, slots=True)
class LoopRounds:
    """The loop in whose rounds a statement runs again and again under a tape.

    ``loop``: the innermost loop around it; ``statements``: that loop and what follows it, up to the
    end of the round of the next loop around; ``end``: the statement after which all rounds are
    over.
    """

    loop: CstStatement
    statements: tuple[cst.CSTNode, ...]
    end: CstStatement


def rounds_around(
    source: ParsedSource, statement: CstStatement, block: Block | None
) -> LoopRounds | None:
    """The rounds of a statement in a tape's block, or in a function that runs there; None if there
    is no loop around it."""
    outermost = region_after(source, statement, block)
    if outermost.loop is None:
        return None
    loops = (cst.For, cst.While)
    loop = next(each for each in source.ancestors(statement) if isinstance(each, loops))
    following: list[cst.CSTNode] = [loop, *source.after(loop)]
    for outer in source.ancestors(loop):
        if outer is source.function_of(loop) or outer is getattr(outermost.block, "node", None):
            break
        if isinstance(outer, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            following.extend(source.after(outer))
    is_only = loop is outermost.loop and outermost.block is not None
    end = outermost.block.node if is_only and outermost.block is not None else loop
    return LoopRounds(loop, tuple(following), end)
