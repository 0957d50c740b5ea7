"""Count the ops of each branch, and tell its shape."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from ...trace.ids import OpId
from ...trace.model import Trace
from ...trace.ops import Op
from .branches import Branch, inner_first


class Shapes:
    """Counts the ops of every branch, and gives branches that are alike the same shape.

    Branches are alike if they have the same op types from the same lines, with the same inputs
    relative to the branch.
    """

    def __init__(self, ops: Sequence[Op], trace: Trace) -> None:
        """``ops``: in the order in which they ran; branches know them by their numbers there."""
        self._codes: dict[Hashable, int] = {}
        self._known: dict[Hashable, int] = {}
        self._ends: dict[int, tuple[int, int]] = {}
        """The numbers of the first and the last op of each branch, by the id of the Python object.
        """
        self._kinds: list[int] = []
        self._inputs: list[tuple[int, ...]] = []
        # An op counts in the shape of each group around it. Most ops take values that were made
        # near them, inside of all these groups: then one code for op and inputs serves them all.
        self._whole: list[int] = []
        self._first: list[int] = []
        self._last: list[int] = []
        """For each op: its code, and the numbers of the first and the last op that made one of its
        inputs (its own number if no op did)."""
        number_of = {op.id: number for number, op in enumerate(ops)}
        producers = trace.producers
        none = OpId(-1)
        kinds: dict[tuple[str, int], int] = {}
        codes = self._codes
        for number, op in enumerate(ops):
            inputs = tuple([number_of.get(producers.get(tensor, none), -1) for tensor in op.inputs])
            key = op.type, id(op.description)
            kind = kinds.get(key)
            if kind is None:
                kind = kinds[key] = self._code((op.type, op.site.id))
            self._inputs.append(inputs)
            self._kinds.append(kind)
            near: tuple[int, ...]
            if len(inputs) == 1:
                (taken,) = inputs
                first = last = taken if taken >= 0 else number
                near = (number - first,)
            else:
                made = [taken for taken in inputs if taken >= 0] or [number]
                first, last = min(made), max(made)
                near = tuple([number - taken if taken >= 0 else 0 for taken in inputs])
            self._first.append(first)
            self._last.append(last)
            self._whole.append(codes.setdefault((kind, near), len(codes)))

    def count(self, root: Branch) -> None:
        """Set ``ops`` and ``shape`` of the branches that have no shape yet."""
        for branch in inner_first(root):
            if branch.shape:
                continue
            children = branch.children
            branch.ops = sum([1 if isinstance(child, int) else child.ops for child in children])
            if branch.ops:
                first, last = self._end(children, 0), self._end(reversed(children), 1)
                self._ends[id(branch)] = first, last
                is_whole = last - first + 1 == branch.ops
                inside = range(first, last + 1) if is_whole else list(_ops_in(branch))
                branch.shape = self._shape_within(branch.kind, inside)

    def _end(self, children: Iterable[Branch | int], side: Literal[0, 1]) -> int:
        """The number of the op that comes first (``side`` 0) or last (1) in ``children``, which are
        in this order (or in reverse)."""
        for child in children:
            if isinstance(child, int):
                return child
            if child.ops:
                return self._ends[id(child)][side]
        raise ValueError("no ops")

    def _shape_within(self, kind: str, inside: Sequence[int]) -> int:
        first, last = inside[0], inside[-1]
        whole, earliest, latest = self._whole, self._first, self._last
        codes = [
            whole[number]
            if first <= earliest[number] and latest[number] <= last
            else self._code_within(number, first, last)
            for number in inside
        ]
        return self._known.setdefault(hash((kind, *codes)), len(self._known) + 1)

    def _code_within(self, number: int, first: int, last: int) -> int:
        """The code of an op in a stretch of ops: its type, its line, and those of its inputs that
        ops from ``first`` to ``last`` made."""
        inputs = self._inputs[number]
        near = tuple([number - taken if first <= taken <= last else 0 for taken in inputs])
        return self._code((self._kinds[number], near))

    def _code(self, key: Hashable) -> int:
        return self._codes.setdefault(key, len(self._codes))

    def token(self, child: Branch | int) -> Hashable:
        """A key that is the same for children that are alike."""
        if isinstance(child, Branch):
            return ("branch", child.kind, child.shape)
        return self._kinds[child]


def _ops_in(root: Branch) -> Iterator[int]:
    """The numbers of the ops of a branch and of those in it, in order."""
    waiting: list[Branch | int] = [root]
    while waiting:
        child = waiting.pop()
        if isinstance(child, int):
            yield child
        else:
            waiting.extend(reversed(child.children))


def weigh(root: Branch, values: Mapping[int, int]) -> None:
    """Set ``ops`` and ``values`` of all branches. ``values``: for an op, by its number, how many
    variables and constants it alone takes."""
    for branch in inner_first(root):
        branch.ops = branch.values = 0
        for child in branch.children:
            if isinstance(child, int):
                branch.ops += 1
                branch.values += values.get(child, 0)
            else:
                branch.ops += child.ops
                branch.values += child.values
