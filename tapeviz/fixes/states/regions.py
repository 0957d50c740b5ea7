"""Find the statements that run after another one under the same tape."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ..source import ParsedSource, Statement
from ..tapes.blocks import Block


@dataclass(frozen=True, slots=True)
class Region:
    """The statements that may see the effect of a statement.

    ``statements``: those that follow it, up to the end of the tape's block or of the function;
    with a ``loop`` around it that whole loop, for its next round, and what follows.
    ``block``: the tape's block, if the statement stands in it.
    """

    statements: tuple[cst.CSTNode, ...]
    loop: Statement | None
    block: Block | None

    @property
    def start(self) -> Statement | None:
        return self.loop


def region_after(source: ParsedSource, statement: Statement, block: Block | None) -> Region:
    """The region of a statement in a tape's block, or in a function that runs there."""
    around = list(source.ancestors(statement))
    function = source.function_of(statement)
    inside = block is not None and any(node is block.node for node in around)
    edge: cst.CSTNode = block.node if inside and block is not None else function
    loop: Statement | None = None
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
