"""Find terms of a target that add nothing to the gradient of a source, which flows on another path:
NumPy or Python computed a value on the path from the source to the term.

A plain number that weighs, shifts or is compared with something is often meant to stay out of the
gradient: an advantage, a maximum, a label. A term is lost where nothing in it has a gradient, or
where the number is given to weights as their input: a decoder, a second network.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import NamedTuple

import numpy as np

from ...text.names import called_name, calls_in, dotted
from ...trace.ids import TensorId
from ...trace.model import Leave
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ..call_facts import CallFacts
from ..flow.ancestry import Ancestry, DataEdge, Position
from ..model import Warned
from .outside import follow
from .terms import (
    has_no_slope,
    has_sources_behind,
    is_chosen,
    leaves_during,
    sources_among,
    sources_behind,
    terms_of,
)

_MOST_NUMBERS = 20
_MOST_TERMS = 20
_MOST_POSITIONS = 100_000
_ELEMENTWISE = frozenset({"Mul", "MulNoNan", "Square", "Pow"}) | ops_with("divides")
_CONTRACTING = ops_with("product") - ops_with("singular", "difference", "grows") - _ELEMENTWISE
_PLAIN_MODULES = frozenset({"tf", "np", "keras"})
_DISCRETE = frozenset(
    {
        *("argmax", "argmin", "argsort", "argwhere", "nonzero", "searchsorted", "digitize"),
        *("choice", "choices", "randint", "integers", "multinomial", "binomial", "poisson"),
        *("round", "rint", "floor", "ceil", "trunc", "sign", "int", "bool"),
    }
)
"""Functions of NumPy, Python or TensorFlow whose result jumps from value to value."""


class _Number(NamedTuple):
    """A plain number among the makings of the targets, how it left, and the flowing sources that it
    was made from by ops with a slope."""

    tensor: TensorId
    leave: Leave
    made_from: Sequence[TensorId]


class _Term(NamedTuple):
    """A term of the target: its position, what it was computed from by ops with a slope, and the
    flowing sources among them."""

    position: Position
    made_from: Ancestry
    live: Set[TensorId]


def detoured_term(facts: CallFacts) -> Iterator[Warned]:
    """A term that one of the sources reaches through Python alone."""
    during = leaves_during(facts)
    if not during or len(facts.paths.recent) > _MOST_POSITIONS:
        return
    numbers = list(_numbers(facts, during))
    terms = list(_terms(facts)) if numbers else []
    for number in numbers:
        taking = [term for term in terms if number.tensor in term.made_from.into]
        is_counted = any(term.live for term in taking)
        for term in taking:
            lost = [source for source in number.made_from if source not in term.live]
            if not lost or term.position == number.tensor:
                continue
            weighed = _given_to_weights(facts, term, number.tensor)
            is_dead = not term.live and not is_counted
            if is_dead or (weighed is not None and not _is_opaque(facts, number)):
                yield _warned(facts, number, lost, term, None if is_dead else weighed)
                return


def _warned(
    facts: CallFacts, number: _Number, lost: Sequence[TensorId], term: _Term, weighed: Op | None
) -> Warned:
    """``lost``: the sources that have no gradient of the term."""
    target = facts.call.targets[0].text or "the target"
    line = number.leave.site.line
    source = next(each.text for each in facts.call.sources if each.tensor == lost[0])
    name = _name_of(facts, term)
    part = f"{name}, a term of {target}," if name and name != target else f"a term of {target}"
    if weighed is None:
        return Warned(
            "lost-term",
            line,
            f"The gradient of {target} counts only a part: on line {line} a value made from "
            f"{source} leaves TensorFlow, and {part} is computed from the plain number. That term "
            f"changes {target}, but no gradient. Stay with tf operations for that term.",
        )
    more = len(lost) - 1
    sources = source + (f" and {more} more source{'s' if more > 1 else ''}" if more else "")
    where = facts.line_of(weighed)
    words = facts.words_of(weighed)
    into = f"{words} on line {where}" if words else f"line {where}"
    return Warned(
        "lost-term",
        line,
        f"The gradient of {target} for {sources} counts only a part: on line {line} a value made "
        f"from {source} leaves TensorFlow, and {into} is given plain numbers in its place. So "
        f"{part} gives {source} no gradient. Stay with tf operations from line {line} to line "
        f"{where}.",
    )


def _name_of(facts: CallFacts, term: _Term) -> str:
    position = term.position
    names = facts.trace.names.get(position, ()) if isinstance(position, int) else ()
    return names[0] if names else ""


def _numbers(facts: CallFacts, during: Set[int]) -> Iterator[_Number]:
    """The numbers that left while the tape recorded, the last first."""
    edges = [
        edge
        for end, into in facts.paths.recent.into.items()
        if isinstance(end, int) and "float" in facts.dtype(end)
        for edge in into
        if edge.leave is not None and edge.leave.when in during
    ]
    edges.sort(key=lambda edge: -edge.leave.when if edge.leave else 0)
    seen: set[TensorId] = set()
    chosen: set[tuple[TensorId, int]] = set()
    for edge in edges:
        number, leave = edge.end, edge.leave
        assert isinstance(number, int)
        assert leave is not None
        if number in seen or (number, leave.site.line) in chosen:
            continue
        if not has_sources_behind(facts, leave):
            continue
        if is_chosen(facts, leave, number):
            chosen.add((number, leave.site.line))
            continue
        seen.add(number)
        yield _Number(number, leave, sources_behind(facts, leave))
        if len(seen) == _MOST_NUMBERS:
            return


def _terms(facts: CallFacts) -> Iterator[_Term]:
    """The terms that are no sum of others."""
    for position in terms_of(facts).last[:_MOST_TERMS]:
        made_from = facts.flow.ancestry([position], partial(has_no_slope, facts))
        yield _Term(position, made_from, set(sources_among(facts, made_from.into)))


def _given_to_weights(facts: CallFacts, term: _Term, number: TensorId) -> Op | None:
    """The first op on a path from the number to the term that multiplies what it made by the
    matrix, or filters, of a variable."""
    into = term.made_from.edges_from([number])
    ops = {edge.op for edges in into.values() for edge in edges}
    found = [op for each in ops if (op := facts.trace.op(each)) and op.type in _CONTRACTING]
    for op in sorted(found, key=lambda op: op.when):
        if any(tensor not in into and _is_weight(facts, tensor) for tensor in op.inputs):
            return op
    return None


def _is_weight(facts: CallFacts, tensor: TensorId) -> bool:
    """A variable, or what was read from it, perhaps cast or turned over."""
    ancestry = facts.flow.ancestry(
        [tensor], lambda edge: edge.kind not in ("op", "read") or not _is_view(facts, edge), 5
    )
    return any(position in facts.trace.reads for position in ancestry.into)


def _is_view(facts: CallFacts, edge: DataEdge) -> bool:
    op = facts.trace.op(edge.op)
    return edge.kind == "read" or (op is not None and op.type in ops_with("view", "copy", "moves"))


def _is_opaque(facts: CallFacts, number: _Number) -> bool:
    """Whether Python gave the value that left to a call without a derivative, such as the step of
    an environment, or compared it: in TensorFlow, too, such a result has no derivative."""
    leave = number.leave
    inside = leave.site.frames[:1]
    words = facts.text.expression_at(inside[0].span) if inside else ""
    here = facts.text.statement(leave.site.line)

    def is_exit(node: ast.AST) -> bool:
        if words:
            return facts.text.segment(node) == words
        # Python 3.10 tells no columns: any call of that name on the line.
        return isinstance(node, ast.Call) and called_name(node) == leave.how

    for call in calls_in(_simple(here)):
        is_around = any(is_exit(each) for given in _given(call) for each in ast.walk(given))
        if is_around and not _is_arithmetic(facts, call):
            return True
    lines = follow(facts.trace).between.get(number.tensor, frozenset())
    seen = facts.flow.first_seen.get(number.tensor)
    came_back = {seen[0].line} if seen is not None else set()
    if any(_compares(facts.text.statement(line)) for line in lines | came_back):
        return True
    others = (facts.text.statement(line) for line in lines - {number.leave.site.line})
    left = {leave.site.line for leave in facts.trace.leaves}
    return any(
        not _is_arithmetic(facts, call)
        for statement in others
        if statement is not None and statement.lineno not in left
        for call in calls_in(_simple(statement))
        if call.args
    )


def _simple(statement: ast.stmt | None) -> ast.stmt | None:
    """The statement; None if it holds others, as ``if``, ``for`` and ``def`` do."""
    return None if hasattr(statement, "body") else statement


def _compares(statement: ast.stmt | None) -> bool:
    """Whether a simple statement compares values: ``np.where(p < q, 1.0, 0.0)``."""
    simple = _simple(statement)
    nodes = ast.walk(simple) if simple is not None else ()
    return any(isinstance(node, ast.Compare) for node in nodes)


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _is_arithmetic(facts: CallFacts, call: ast.Call) -> bool:
    """Whether it is a function of an imported module, of Python or of the snippet, or a method of
    the same object, of arrays or of random generators, and its result is not discrete."""
    path = dotted(call.func)
    root, _, attribute = path.rpartition(".")
    if called_name(call) in _DISCRETE:
        return False
    modules, functions = facts.once(_defined)
    if root == "self" and attribute in functions:
        return True
    if path and path.partition(".")[0] in modules | (functions if not root else frozenset()):
        return True
    if isinstance(call.func, ast.Attribute):
        name = call.func.attr
        return name == "numpy" or hasattr(np.ndarray, name) or hasattr(np.random.Generator, name)
    return hasattr(builtins, attribute)


def _defined(facts: CallFacts) -> tuple[frozenset[str], frozenset[str]]:
    """The names of modules and of what is imported, and those of the snippet's functions."""
    modules, functions = set(_PLAIN_MODULES), set()
    for node in facts.text.nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            modules |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef):
            functions.add(node.name)
    return frozenset(modules), frozenset(functions)
