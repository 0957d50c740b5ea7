"""Choose the branches worth a group: small ones dissolve, repeats and lines are gathered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ...stretches import find_stretches
from ...text.called_names import kind_of
from ...text.source import TextSpan
from ...trace.ops import Op
from .branches import Branch, first_op, inner_first, last_op, ops_in
from .reads import Reads
from .sections import gather_sections
from .shapes import Shapes

LEAST_OPS = 4
"""Ops that a group has at least; of a layer, ops and the values that only they take."""
_MADE_UP = ("sequential", "functional")
"""Keras's names of models that the snippet calls by none, as in ``fit``."""
_MORE = "…"
"""After the header of a loop: the section holds more than this loop."""
_MOST_NAMES = 2
"""Names of values in the title of a section."""
_LEAST_TURNS = 6
_LEAST_LONG_TURNS = 4
"""Stretches that are alike, without a loop, are a repeat if there are at least ``_LEAST_TURNS``, or
``_LEAST_LONG_TURNS`` of more than two children each, or of blocks of layers that have most of the
ops: of a model whose blocks are not all alike each is drawn."""


def prune(root: Branch, least_turns: int, lines: list[int], lasting: Collection[int] = ()) -> None:
    """Dissolve branches with too few ops, loops with fewer turns than ``least_turns``, and branches
    around a single other one. ``lines``: of each op its line, which becomes that of the call of a
    function that dissolves. ``lasting``: lines of loops that stay, whatever their length."""
    for branch in inner_first(root):
        branch.children = _pruned(branch, least_turns, lines, lasting)


def _pruned(
    branch: Branch, least_turns: int, lines: list[int], lasting: Collection[int]
) -> list[Branch | int]:
    kept: list[Branch | int] = []
    dissolves = _dissolves(branch, least_turns, lasting)
    for child in branch.children:
        if isinstance(child, int):
            kept.append(child)
            continue
        if child.kind == "loop" and _dissolves(child, least_turns, lasting):
            for turn in _turns_of(child):
                kept.extend(turn.children)
        elif child.kind in ("entry", "turn", "loop") or _is_large(child):
            has_room = child.kind != "loop" and not dissolves
            if has_room and len(child.children) == 1:
                only = child.children[0]
                if isinstance(only, Branch) and only.kind in ("layer", "function", "line"):
                    child.children = only.children
                    is_block = only.title.startswith(f"{child.title}_")
                    if is_block or (only.kind == "layer" and kind_of(child.title) in _MADE_UP):
                        child.title = only.title  # it says more of a single layer
            kept.append(child)
        else:
            for inner in child.children if child.kind == "function" else ():
                if isinstance(inner, int):
                    lines[inner] = child.line
            kept.extend(child.children)
    return kept


def _turns_of(loop: Branch) -> list[Branch]:
    return [turn for turn in loop.children if isinstance(turn, Branch) and turn.kind == "turn"]


def _dissolves(branch: Branch, least_turns: int, lasting: Collection[int]) -> bool:
    """Whether a branch is a loop with too few turns or ops for a repeat. What its turns call stays
    apart then."""
    if branch.kind != "loop" or branch.line in lasting:
        return False
    return len(_turns_of(branch)) < least_turns or branch.ops < LEAST_OPS


def _is_large(branch: Branch) -> bool:
    is_layer = branch.kind == "layer" and branch.ops > 1
    return branch.ops + (branch.values if is_layer else 0) >= LEAST_OPS


@dataclass(frozen=True, slots=True)
class Words:
    """The words and lines that titles of groups are made from. ``name``: gives the snippet's name
    of what an op made, by its number; ``function``: the name of the function of a module that the
    snippet calls in an expression; both empty for none. ``kind``: gives the word for what an op
    does. ``lines``: of each op its line; ``loops``: for a line with a comprehension its header;
    ``readers``: of each op the number of the last op that reads a value of it, -1 for none; empty
    if that is not known."""

    name: Callable[[int], str]
    function: Callable[[TextSpan], str]
    kind: Callable[[int], str]
    lines: Sequence[int]
    loops: Mapping[int, str] = field(default_factory=dict)
    readers: Sequence[int] = ()


def gather_lines(root: Branch, ops: Sequence[Op], words: Words) -> None:
    """Group ops of one line, and those of one call on a line that has many others.

    The title is the name of what the last op made, else the function that ran most of them, else
    the first and the last op.
    """
    for branch in inner_first(root, LEAST_OPS):
        _gather_calls_of(branch, ops, words)
        _gather_lines_of(branch, ops, words)


def _gather_calls_of(branch: Branch, ops: Sequence[Op], words: Words) -> None:
    """Group the ops of one call of a module's function, as the ten of ``tf.reduce_logsumexp``, if
    other ops of the line do not become one group with them."""
    if len(branch.children) < LEAST_OPS:
        return
    lines = Counter(_line(child, words.lines) for child in branch.children)
    kept: list[Branch | int] = []
    for span, run in groupby(branch.children, lambda child: _span(child, ops)):
        inside = list(run)
        others = lines[_line(inside[0], words.lines)] - len(inside)
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
    lines = [_line(child, words.lines) for child in branch.children]
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
        if isinstance(child, Branch):
            is_of_line = child.kind in ("function", "layer", "line") and child.last <= child.line
            at = at if is_of_line else 0
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
    line = _line(run[0], words.lines)
    name = words.name(last_op(run[-1])).partition("[")[0]
    spans = Counter(span for span in (_span(child, ops) for child in run) if span is not None)
    for span, count in spans.most_common(1):
        if 2 * count > len(run) and not name:
            name = words.function(span)
    return Branch("line", name or _ends_of(run, words), line, None, run, ops_in(run))


def _line(child: Branch | int, lines: Sequence[int]) -> int:
    return child.line if isinstance(child, Branch) else lines[child]


def _span(child: Branch | int, ops: Sequence[Op]) -> TextSpan | None:
    """The expression of the snippet that an op ran in."""
    if isinstance(child, Branch) or not ops[child].site.frames:
        return None
    return ops[child].site.frames[0].span


def bundle(
    root: Branch, words: Words, shapes: Shapes, varying: Collection[int] = frozenset()
) -> None:
    """Make consecutive stretches of children that are alike the turns of a repeat; on lines of
    comprehensions whose length ``varying`` rounds differ in, however few they are."""
    for branch in inner_first(root, 2 if varying else _LEAST_LONG_TURNS):
        _bundle_in(branch, words, shapes, root.ops, varying)


def _bundle_in(
    branch: Branch, words: Words, shapes: Shapes, every: int, varying: Collection[int]
) -> None:
    children = branch.children
    varies = bool(varying) and any(_line(child, words.lines) in varying for child in children)
    if branch.kind == "loop" or len(children) < (2 if varies else _LEAST_LONG_TURNS):
        return
    tokens = [shapes.token(child) for child in children]
    kept: list[Branch | int] = []
    at = 0
    for start, end, period in find_stretches(tokens, 2 if varies else _LEAST_LONG_TURNS):
        count = (end - start) // period
        inside = children[start : start + count * period]
        is_long = period > 2 or (2 * ops_in(inside) > every and _is_block(inside[0]))
        line = _line(inside[0], words.lines)
        least = _LEAST_LONG_TURNS if is_long else _LEAST_TURNS
        size = LEAST_OPS
        if line in varying:
            least = size = 2
        if ops_in(inside) < size or count < least:
            continue
        kept.extend(children[at:start])
        title = words.loops.get(line, "") or _layers_of(inside[:period], is_any_turn=True)
        if not title and branch.kind == "layer" and 2 * ops_in(inside) > branch.ops:
            title = branch.title
        title = title or kind_of(_ends_of(inside[:period], words))
        repeat = Branch("loop", title, line, ops=ops_in(inside))
        for number in range(count):
            part = inside[number * period : (number + 1) * period]
            if period == 1 and isinstance(part[0], Branch):
                part = part[0].children
            turn = Branch("turn", f"turn {number + 1}", line, None, list(part), ops_in(part))
            repeat.children.append(turn)
        kept.append(repeat)
        at = start + count * period
    kept.extend(children[at:])
    branch.children = kept


def _is_block(child: Branch | int) -> bool:
    """Whether it is a layer of several layers."""
    return isinstance(child, Branch) and any(isinstance(c, Branch) for c in child.children)


def gather_into_sections(
    root: Branch, reads: Reads, words: Words, pinned: Collection[int] = frozenset()
) -> None:
    """Group neighbouring children of branches that have many, see :mod:`.sections`."""
    make = section_maker(words)
    gather_sections(root, reads, lambda child: _line(child, words.lines), make, LEAST_OPS, pinned)


def section_maker(words: Words) -> Callable[[Branch, list[Branch | int]], Branch]:
    """The function that makes a section of neighbouring children of a branch."""
    return lambda around, run: _section_of(around, run, words)


def _section_of(around: Branch, run: list[Branch | int], words: Words) -> Branch:
    """A group of neighbours. Its title is the header of the loop that has most of its ops, with
    ``…``; else the name of its layers, of the values that it makes, of its lines, of the layer
    ``around`` it that it is most of, or of the ops of a single line."""
    lines = [(_line(child, words.lines), _last_line(child, words.lines)) for child in run]
    first = min((line for line, _ in lines if line), default=0)
    last = max(line for _, line in lines)
    size = ops_in(run)
    is_layer = around.kind == "layer" and 2 * size > around.ops
    is_inside = is_layer and first == last  # of what Keras ran by itself the layer's name says more
    loop = "" if is_inside else _loop_of(run, size)
    title = f"{loop} {_MORE}" if loop else _layers_of(run)
    title = title or _values_of(run, words)
    own = around.title if is_layer else _ends_of(run, words)
    title = title or (f"lines {first}–{last}" if first < last else own)
    return Branch("line", title, first, None, run, size, last=last, is_library=around.is_library)


def _values_of(run: Sequence[Branch | int], words: Words) -> str:
    """The names of the values that ops after a section read and of the one that it makes last:
    ``a``, ``a, b``, or ``a, … c``. If that one has no name, those that its lines make, and ``…``;
    empty without names."""
    first, last = first_op(run[0]), last_op(run[-1])
    own = words.name(last).partition("[")[0]
    if own:
        read = [n for n, reader in enumerate(words.readers[first:last], first) if reader > last]
    else:
        read = [last_op(child) for child in run]
    found = list(filter(None, [words.name(number).partition("[")[0] for number in read]))
    names = list(dict.fromkeys([*(name for name in found if name != own), own]))
    if len(names) <= _MOST_NAMES:
        return ", ".join(names if own or not found else [*names[:-1], "…"])
    return f"{names[0]}, … {own}".rstrip()


def _loop_of(run: Sequence[Branch | int], size: int) -> str:
    """The title of the loop that is most of a section of ``size`` ops, itself or in a section of
    it; empty for none."""
    for child in run:
        if isinstance(child, Branch) and 2 * child.ops > size:
            if child.kind == "loop":
                return child.title
            return _loop_of(child.children, size) if child.last else ""
    return ""


def _last_line(child: Branch | int, lines: Sequence[int]) -> int:
    return child.last or child.line if isinstance(child, Branch) else lines[child]


def _layers_of(run: Sequence[Branch | int], *, is_any_turn: bool = False) -> str:
    """The first and the last of several layers, or how often it is the same; empty for other
    stretches. ``is_any_turn``: without the numbers that Keras adds, which differ from turn to
    turn."""
    titles = [child.title for child in run if isinstance(child, Branch) and child.kind == "layer"]
    titles = list(map(kind_of, titles)) if is_any_turn else titles
    return _from_to(titles) if len(titles) > 1 else ""


def _from_to(titles: Sequence[str]) -> str:
    first, last = titles[0].partition(" … ")[0], titles[-1].rpartition(" … ")[2]
    count = titles.count(first)
    return f"{first} × {count}" if first == last and count > 1 else f"{first} … {last}"


def _ends_of(run: Sequence[Branch | int], words: Words) -> str:
    """The titles of the first and the last of a stretch, or that of all, or of the layer or the
    function that has most of the ops; ``critic × 2`` for calls of one with something between."""
    titles = [child.title if isinstance(child, Branch) else words.kind(child) for child in run]
    first, last = titles[0].partition(" … ")[0], titles[-1].rpartition(" … ")[2]
    if len(set(titles)) == 1:
        return titles[0]
    size, calls = ops_in(run), [child for child in run if isinstance(child, Branch)]
    for child in calls:
        if child.kind in ("layer", "function") and 2 * child.ops > size:
            return child.title
    are_called = isinstance(run[0], Branch) and isinstance(run[-1], Branch)
    return _from_to(titles) if are_called else f"{first} … {last}"
