"""Choose the branches worth a group: small ones dissolve, repeats and lines are gathered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...text.source import TextSpan
from ...trace.model import Op
from .branches import Branch, inner_first
from .shapes import Shapes
from .stretches import find_stretches

LEAST_OPS = 4
"""Ops that a group has at least; of a layer, ops and the values that only they take."""
_LEAST_TURNS = 6
_LEAST_LONG_TURNS = 4
"""Stretches that are alike, without a loop, are a repeat if there are at least ``_LEAST_TURNS``, or
``_LEAST_LONG_TURNS`` of more than two children each."""
_TOO_MANY = 30
_STRETCHES = 12
"""More than ``_TOO_MANY`` children become ``_STRETCHES`` groups."""


def prune(root: Branch, least_turns: int) -> None:
    """Dissolve branches with too few ops, loops with fewer turns than ``least_turns``, and branches
    around a single other one."""
    for branch in inner_first(root):
        branch.children = _pruned(branch, least_turns)


def _pruned(branch: Branch, least_turns: int) -> list[Branch | int]:
    kept: list[Branch | int] = []
    for child in branch.children:
        if isinstance(child, int):
            kept.append(child)
            continue
        turns = [
            turn for turn in child.children if isinstance(turn, Branch) and turn.kind == "turn"
        ]
        if child.kind == "loop" and (len(turns) < least_turns or child.ops < LEAST_OPS):
            for turn in turns:
                kept.extend(turn.children)
        elif child.kind in ("entry", "turn", "loop") or _is_large(child):
            if child.kind != "loop" and len(child.children) == 1:
                only = child.children[0]
                if isinstance(only, Branch) and only.kind in ("layer", "function", "line"):
                    child.children = only.children
                    if only.title.startswith(f"{child.title}_"):  # a block of a single layer
                        child.title = only.title
            kept.append(child)
        else:
            kept.extend(child.children)
    return kept


def _is_large(branch: Branch) -> bool:
    is_layer = branch.kind == "layer" and branch.ops > 1
    return branch.ops + (branch.values if is_layer else 0) >= LEAST_OPS


@dataclass(frozen=True, slots=True)
class Words:
    """``name``: gives the snippet's name of what an op made, by its number; ``function``: the name
    of the function of a module that the snippet calls in an expression; both empty for none."""

    name: Callable[[int], str]
    function: Callable[[TextSpan], str]


def gather_lines(root: Branch, ops: Sequence[Op], words: Words) -> None:
    """Group ops of one line, and those of one call on a line that has many others.

    The title is the name of what the last op made, else the function that ran most of them.
    """
    for branch in inner_first(root):
        _gather_calls_of(branch, ops, words)
        _gather_lines_of(branch, ops, words)


def _gather_calls_of(branch: Branch, ops: Sequence[Op], words: Words) -> None:
    """Group the ops of one call of a module's function, as the ten of ``tf.reduce_logsumexp``, if
    other ops of the line do not become one group with them."""
    lines = Counter(_line(child, ops) for child in branch.children)
    kept: list[Branch | int] = []
    for span, run in groupby(branch.children, lambda child: _span(child, ops)):
        inside = list(run)
        others = lines[_line(inside[0], ops)] - len(inside)
        is_apart = others >= LEAST_OPS or (others and len(lines) == 1)
        if span and is_apart and len(inside) >= LEAST_OPS and words.function(span):
            kept.append(_line_of(inside, ops, words))
        else:
            kept.extend(inside)
    branch.children = kept


def _gather_lines_of(branch: Branch, ops: Sequence[Op], words: Words) -> None:
    """Group runs of children of one line, if there are others. A function that the line calls is
    one of them."""
    if len(branch.children) < LEAST_OPS:
        return
    lines = [_line(child, ops) for child in branch.children]
    if len(set(lines)) < 2:  # the ops of a model all are of the line that calls it
        return
    kept: list[Branch | int] = []
    run: list[Branch | int] = []
    line = 0

    def close() -> None:
        if len(run) >= LEAST_OPS:
            kept.append(_line_of(list(run), ops, words))
        else:
            kept.extend(run)
        run.clear()

    for child, at in zip(branch.children, lines, strict=True):
        if isinstance(child, Branch) and child.kind not in ("function", "layer", "line"):
            at = 0
        if at != line or not at:
            close()
            line = at
        if at:
            run.append(child)
        else:
            kept.append(child)
    close()
    if len(kept) > 1:
        branch.children = kept


def _line_of(run: list[Branch | int], ops: Sequence[Op], words: Words) -> Branch:
    """A group of children of one line."""
    line, last = _line(run[0], ops), run[-1]
    name = words.name(last).partition("[")[0] if isinstance(last, int) else ""
    spans = Counter(span for span in (_span(child, ops) for child in run) if span is not None)
    for span, count in spans.most_common(1):
        if 2 * count > len(run) and not name:
            name = words.function(span)
    return Branch("line", name or f"line {line}", line, None, run, _size(run))


def _line(child: Branch | int, ops: Sequence[Op]) -> int:
    return child.line if isinstance(child, Branch) else ops[child].line


def _span(child: Branch | int, ops: Sequence[Op]) -> TextSpan | None:
    """The expression of the snippet that an op ran in."""
    if isinstance(child, Branch) or not ops[child].site.frames:
        return None
    return ops[child].site.frames[0].span


def bundle(root: Branch, ops: Sequence[Op], shapes: Shapes) -> None:
    """Make consecutive stretches of children that are alike the turns of a repeat."""
    for branch in inner_first(root):
        _bundle_in(branch, ops, shapes)


def _bundle_in(branch: Branch, ops: Sequence[Op], shapes: Shapes) -> None:
    children = branch.children
    if branch.kind == "loop" or len(children) < _LEAST_TURNS:
        return
    tokens = [shapes.token(child) for child in children]
    kept: list[Branch | int] = []
    at = 0
    for start, end, period in find_stretches(tokens, _LEAST_LONG_TURNS):
        count = (end - start) // period
        inside = children[start : start + count * period]
        least = _LEAST_LONG_TURNS if period > 2 else _LEAST_TURNS
        if _size(inside) < LEAST_OPS or count < least:
            continue
        kept.extend(children[at:start])
        line = _line(inside[0], ops)
        title = _title_of(inside[:period], line)
        repeat = Branch("loop", title, line, ops=_size(inside))
        for number in range(count):
            part = inside[number * period : (number + 1) * period]
            if period == 1 and isinstance(part[0], Branch):
                part = part[0].children
            turn = Branch("turn", f"turn {number + 1}", line, None, list(part), _size(part))
            repeat.children.append(turn)
        kept.append(repeat)
        at = start + count * period
    kept.extend(children[at:])
    branch.children = kept


def cut_into_stretches(root: Branch, ops: Sequence[Op]) -> None:
    """Group the children of branches that still have too many: layers by their names, other
    children by ranges of lines."""
    waiting = [root]
    while waiting:
        branch = waiting.pop()
        children = branch.children
        if branch.kind != "loop" and len(children) > _TOO_MANY:
            branch.children = [_stretch(run, ops) for run in _runs(children, ops)]
        waiting.extend(child for child in branch.children if isinstance(child, Branch))


def _runs(children: Sequence[Branch | int], ops: Sequence[Op]) -> Iterator[list[Branch | int]]:
    """At most ``_STRETCHES`` runs of children. If the first child has many others like it, each run
    begins with one of them, so that runs hold the same layers."""
    length = max(-(-len(children) // _STRETCHES), LEAST_OPS)
    likes = [_like(child, ops) for child in children]
    first, least = likes[0], -(-len(children) // _STRETCHES)
    has_rhythm = likes.count(first) * 2 * length >= len(children)
    run: list[Branch | int] = []
    for child, like in zip(children, likes, strict=True):
        is_next = like == first and len(run) >= least and _size(run) >= LEAST_OPS
        if is_next if has_rhythm and len(run) < 2 * length else len(run) >= length:
            yield run
            run = []
        run.append(child)
    if run:
        yield run


def _like(child: Branch | int, ops: Sequence[Op]) -> str:
    """A layer's name without its number, or the type of an op."""
    if isinstance(child, Branch):
        return child.title.rstrip("0123456789").rstrip("_")
    return ops[child].type


def _stretch(run: list[Branch | int], ops: Sequence[Op]) -> Branch | int:
    if len(run) == 1:
        return run[0]
    lines = [_line(child, ops) for child in run]
    known = [line for line in lines if line] or [0]
    first, last = min(known), max(known)
    title = _title_of(run, first)
    if first != last and title == f"line {first}":
        title = f"lines {first}–{last}"
    return Branch("line", title, first, None, list(run), _size(run))


def _title_of(run: Sequence[Branch | int], line: int) -> str:
    """Name a stretch by its layers, else by its line."""
    branches = [child for child in run if isinstance(child, Branch)]
    layers = [branch for branch in branches if branch.kind == "layer"]
    if len(run) == 1 and branches:
        return branches[0].title
    if len(layers) > 1:
        return f"{layers[0].title} … {layers[-1].title}"
    return f"line {line}"


def _size(run: Sequence[Branch | int]) -> int:
    return sum(child.ops if isinstance(child, Branch) else 1 for child in run)
