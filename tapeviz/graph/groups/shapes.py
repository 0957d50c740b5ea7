"""Count the ops of each branch, and tell its shape."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from ...trace.model import Op, OpId, Trace
from ..model import NodeId
from .branches import Branch, inner_first


class Shapes:
    """Counts the ops of every branch, and gives branches that are alike the same shape.

    Branches are alike if they have the same op types from the same lines, with the same inputs
    relative to the branch.
    """

    def __init__(self, ordered: list[tuple[NodeId, Op]], trace: Trace) -> None:
        self._at = {name: place for place, (name, _) in enumerate(ordered)}
        self._codes: dict[Hashable, int] = {}
        self._known: dict[Hashable, int] = {}
        self._of_stretch: dict[tuple[str, int, int], int] = {}
        """The shape of each stretch of the ops (kind, first and last place) that was a branch."""
        self._kinds: list[int] = []
        self._inputs: list[tuple[int, ...]] = []
        # An op is part of a shape at each level of groups. Most ops take values made near them; one
        # code for the op with its inputs, made once, serves all levels then.
        self._whole: list[int] = []
        self._first, self._last = array("q"), array("q")
        """The places of the first and the last op that made an input; its own if there is none."""
        place_of = {op.id: place for place, (_, op) in enumerate(ordered)}
        producers = trace.producers
        none = OpId(-1)
        kinds: dict[tuple[str, int], int] = {}
        codes = self._codes
        for place, (_, op) in enumerate(ordered):
            inputs = tuple([place_of.get(producers.get(tensor, none), -1) for tensor in op.inputs])
            made = [taken for taken in inputs if taken >= 0]
            key = op.type, id(op.description)
            kind = kinds.get(key)
            if kind is None:
                kind = kinds[key] = self._code((op.type, op.site.id))
            self._inputs.append(inputs)
            self._kinds.append(kind)
            if len(made) < 2:
                nearest = made[0] if made else place
                self._first.append(nearest)
                self._last.append(nearest)
            else:
                self._first.append(min(made))
                self._last.append(max(made))
            near = tuple([place - taken if taken >= 0 else 0 for taken in inputs])
            self._whole.append(codes.setdefault((kind, near), len(codes)))

    def count(self, root: Branch) -> None:
        """Set ``ops`` and ``shape`` of all branches."""
        firsts: dict[int, int] = {}
        lasts: dict[int, int] = {}
        """The places of the first and the last op of each branch."""
        for branch in inner_first(root):
            children = branch.children
            branch.ops = sum([1 if isinstance(child, str) else child.ops for child in children])
            if branch.ops:
                firsts[id(branch)] = first = self._place(children, firsts)
                lasts[id(branch)] = last = self._place(reversed(children), lasts)
            branch.shape = self._shape(branch, first, last) if branch.ops else 0

    def _place(self, children: Iterable[Branch | NodeId], known: Mapping[int, int]) -> int:
        """The place of the first op among some children; ``known``: for branches, by ``id``."""
        for child in children:
            if isinstance(child, str):
                return self._at[child]
            if child.ops:
                return known[id(child)]
        raise ValueError("no ops")

    def _shape(self, branch: Branch, first: int, last: int) -> int:
        if last - first + 1 != branch.ops:
            return self._shape_within(branch.kind, [self._at[name] for name in _nodes_in(branch)])
        stretch = branch.kind, first, last
        shape = self._of_stretch.get(stretch)
        if shape is None:
            inside = range(first, last + 1)
            shape = self._of_stretch[stretch] = self._shape_within(branch.kind, inside)
        return shape

    def _shape_within(self, kind: str, inside: Sequence[int]) -> int:
        first, last = inside[0], inside[-1]
        whole, earliest, latest = self._whole, self._first, self._last
        codes = [
            whole[place]
            if first <= earliest[place] and latest[place] <= last
            else self._code_within(place, first, last)
            for place in inside
        ]
        return self._known.setdefault(hash((kind, *codes)), len(self._known) + 1)

    def _code_within(self, place: int, first: int, last: int) -> int:
        """A number for an op's type, line and those inputs that were made from ``first`` to
        ``last``."""
        inputs = self._inputs[place]
        near = tuple([place - taken if first <= taken <= last else 0 for taken in inputs])
        return self._code((self._kinds[place], near))

    def _code(self, key: Hashable) -> int:
        return self._codes.setdefault(key, len(self._codes))

    def token(self, child: Branch | NodeId) -> Hashable:
        """A key that is the same for children that are alike."""
        if isinstance(child, Branch):
            return ("branch", child.kind, child.shape)
        return self._kinds[self._at[child]]


def _nodes_in(root: Branch) -> Iterator[NodeId]:
    """The nodes of the ops of a branch and of those in it, in order."""
    waiting: list[Branch | NodeId] = [root]
    while waiting:
        child = waiting.pop()
        if isinstance(child, str):
            yield child
        else:
            waiting.extend(reversed(child.children))


def weigh(root: Branch, values: Mapping[NodeId, int]) -> None:
    """Set ``ops`` and ``values`` of all branches; ``values``: of each op that alone takes some, how
    many."""
    for branch in inner_first(root):
        branch.ops = branch.values = 0
        for child in branch.children:
            if isinstance(child, str):
                branch.ops += 1
                branch.values += values.get(child, 0)
            else:
                branch.ops += child.ops
                branch.values += child.values
