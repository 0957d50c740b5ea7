"""Name the line that a reader would move, given where a tape was opened and where an op ran."""

from __future__ import annotations

from collections.abc import Collection

from ...text.source import SourceText
from ...trace.model import Tape
from ...trace.sites import Site, StackFrame

Lines = tuple[int, ...]
"""Lines of calls within calls, the outermost first."""

# What makes an object runs once, wherever the object is used later: it has to change itself.
MAKERS = frozenset({"__init__", "__new__", "__post_init__", "build"})


def line_to_move(text: SourceText, site: Site, block: Site, asked: Site) -> int:
    """The line of an op that ran outside a tape's block, as seen from beside that block.

    An op inside a function that was called outside the block: the call. One that an object's
    construction ran, or a function that the block's own function never calls: the line there. One
    in the function that asks for the gradient (``asked``), and not for the block: the line there.
    """
    frames = tuple(reversed(site.frames))
    opened = tuple(reversed(block.frames))
    beside_call = _depth_beside(frames, tuple(reversed(asked.frames)))
    depth = max(_depth_beside(frames, opened), beside_call)
    if depth + 1 < min(len(frames), len(opened)):
        depth += 1
    for below in range(len(frames) - 1, depth, -1):
        if frames[below].function in MAKERS:
            return frames[below].line
    while depth + 1 < len(frames) and text.code(frames[depth].line).startswith("class "):
        depth += 1
    return frames[depth].line if frames else 0


def line_that_kept(site: Site, tape: Tape, ran: Collection[Lines]) -> int:
    """The line of an op that ran under an earlier tape, and not again under a later one.

    ``ran``: the lines that ran under the later one (:func:`lines_within`).
    """
    lines = lines_within(site, tape)
    depth = 1
    while depth < len(lines) and lines[:depth] in ran:
        depth += 1
    return lines[depth - 1] if lines else site.line


def lines_within(site: Site, tape: Tape) -> Lines:
    """The lines of a place, from the function that opened the tape inwards; none outside of it."""
    lines = tuple(frame.line for frame in reversed(site.frames))
    calls = tuple(frame.line for frame in reversed(tape.site.frames))[:-1]
    return lines[len(calls) :] if lines[: len(calls)] == calls else ()


def line_beside(site: Site, other: Site) -> int:
    """The line of ``site`` in the innermost call of a function that both places share."""
    frames = tuple(reversed(site.frames))
    depth = _depth_beside(frames, tuple(reversed(other.frames)))
    return frames[depth].line if frames else 0


def _depth_beside(frames: tuple[StackFrame, ...], opened: tuple[StackFrame, ...]) -> int:
    """How far in both places lie in the same call of the same function, outermost frame first."""
    depth = 0
    while depth + 1 < min(len(frames), len(opened)) and frames[depth].line == opened[depth].line:
        depth += 1
    return depth
