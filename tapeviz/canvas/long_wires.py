"""Cut the pieces of a long wire that lie near a rectangle.

The cost of a stroke grows with its length, also out of sight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..layout.model import Point, Rect
from ..scene.model import Wire
from ..scene.primitives import Outline, Path, PrimitiveGroup

_DEEPEST = 24


def is_long(wire: Wire, around: Rect) -> bool:
    """Whether the wire is longer or higher than ``around``."""
    xs = [x for x, _ in wire.points]
    ys = [y for _, y in wire.points]
    return max(xs) - min(xs) > around.width or max(ys) - min(ys) > around.height


def cut_group(group: PrimitiveGroup, around: Rect) -> PrimitiveGroup:
    """The same group, each open outline cut to its pieces near ``around``."""
    primitives = tuple(
        replace(primitive, outline=cut_outline(primitive.outline, around))
        if isinstance(primitive, Path) and primitive.style.fill is None
        else primitive
        for primitive in group.primitives
    )
    return replace(group, primitives=primitives)


def cut_outline(outline: Outline, around: Rect) -> Outline:
    """The lines and curves of an open outline near ``around``, in place."""
    verbs, points = "", list[Point]()
    for piece in _pieces(outline):
        for part in _near(piece, around, 0):
            if not points or points[-1] != part[0]:
                verbs += "M"
                points.append(part[0])
            verbs += "L" if len(part) == 2 else "C"
            points.extend(part[1:])
    return Outline(verbs, tuple(points))


def _pieces(outline: Outline) -> Iterator[tuple[Point, ...]]:
    rest = iter(outline.points)
    at: Point = (0.0, 0.0)
    for verb in outline.verbs:
        if verb == "M":
            at = next(rest)
            continue
        piece = (at, next(rest)) if verb == "L" else (at, next(rest), next(rest), next(rest))
        at = piece[-1]
        yield piece


def _near(piece: tuple[Point, ...], around: Rect, depth: int) -> Iterator[tuple[Point, ...]]:
    """The parts of a piece that reach into ``around``: it is halved until a part is outside or
    shorter than a third of ``around``."""
    xs, ys = [x for x, _ in piece], [y for _, y in piece]
    if (
        max(xs) < around.left
        or min(xs) > around.right
        or max(ys) < around.top
        or min(ys) > around.bottom
    ):
        return
    is_short = max(xs) - min(xs) <= around.width / 3 and max(ys) - min(ys) <= around.height / 3
    if is_short or depth >= _DEEPEST:
        yield piece
        return
    for half in _halves(piece):
        yield from _near(half, around, depth + 1)


def _halves(piece: tuple[Point, ...]) -> tuple[tuple[Point, ...], tuple[Point, ...]]:
    """Both halves of a line, or of a cubic curve (de Casteljau)."""
    if len(piece) == 2:
        middle = _mean(*piece)
        return (piece[0], middle), (middle, piece[1])
    a, b, c, d = piece
    ab, bc, cd = _mean(a, b), _mean(b, c), _mean(c, d)
    abc, bcd = _mean(ab, bc), _mean(bc, cd)
    middle = _mean(abc, bcd)
    return (a, ab, abc, middle), (middle, bcd, cd, d)


def _mean(start: Point, other: Point) -> Point:
    return (start[0] + other[0]) / 2, (start[1] + other[1]) / 2
