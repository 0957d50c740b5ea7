"""Where a tape was opened and where an op ran in, the line that a reader would move out."""

from __future__ import annotations

import ast

from ..trace.expressions import SourceText
from ..trace.model import Frame, Site, Tape

# What makes an object runs once, wherever the object is used later: it has to change itself.
_MAKERS = frozenset({"__init__", "__new__", "__post_init__", "build"})


def line_to_move(text: SourceText, site: Site, tape: Tape) -> int:
    """The line of an op that ran outside a tape's block, as seen from beside that block.

    An op inside a function that was called outside the block: the call. One that an object's
    construction ran, or a function called in the block at another time: the op's own line there.
    """
    frames = tuple(reversed(site.frames))
    depth = _depth_beside(frames, tuple(reversed(tape.site.frames)))
    block = lines_of_block(text, tape)
    while depth + 1 < len(frames) and frames[depth].line in block:
        depth += 1
    for below in range(len(frames) - 1, depth, -1):
        if frames[below].function in _MAKERS:
            return frames[below].line
    return frames[depth].line if frames else 0


def line_beside(site: Site, other: Site) -> int:
    """The line of ``site`` in the innermost call of a function that both places share."""
    frames = tuple(reversed(site.frames))
    depth = _depth_beside(frames, tuple(reversed(other.frames)))
    return frames[depth].line if frames else 0


def _depth_beside(frames: tuple[Frame, ...], opened: tuple[Frame, ...]) -> int:
    """How far in both places lie in the same call of the same function, outermost frame first."""
    depth = 0
    while depth + 1 < min(len(frames), len(opened)) and frames[depth].line == opened[depth].line:
        depth += 1
    return depth


def lines_of_block(text: SourceText, tape: Tape) -> range:
    """The lines of the ``with`` statement that opened the tape; empty if there is none."""
    line = tape.site.line
    for node in ast.walk(text.tree) if text.tree else ():
        if isinstance(node, (ast.With, ast.AsyncWith)) and _opens_on(node, line):
            return range(node.body[0].lineno, (node.end_lineno or line) + 1)
    return range(0)


def _opens_on(node: ast.With | ast.AsyncWith, line: int) -> bool:
    return node.lineno <= line < node.body[0].lineno or node.lineno == line
