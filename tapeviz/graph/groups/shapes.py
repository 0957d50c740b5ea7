"""Count the ops of each branch, and tell its shape."""

from __future__ import annotations

from array import array
from collections.abc import Hashable

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
        for place, (_, op) in enumerate(ordered):
            inputs = tuple([place_of.get(producers.get(tensor, none), -1) for tensor in op.inputs])
            made = [taken for taken in inputs if taken >= 0]
            key = op.type, id(op.description)
            kind = kinds.get(key)
            if kind is None:
                kind = kinds[key] = self._code((op.type, op.site.id))
            self._inputs.append(inputs)
            self._kinds.append(kind)
            self._first.append(min(made) if made else place)
            self._last.append(max(made) if made else place)
            near = tuple([place - taken if taken >= 0 else 0 for taken in inputs])
            self._whole.append(self._code((kind, near)))

    def count(self, root: Branch) -> None:
        """Set ``ops`` and ``shape`` of all branches."""
        found: dict[int, list[int]] = {}
        for branch in inner_first(root):
            inside: list[int] = []
            for child in branch.children:
                if isinstance(child, str):
                    inside.append(self._at[child])
                else:
                    inside += found.pop(id(child))
            branch.ops = len(inside)
            branch.shape = self._shape(inside, branch.kind)
            found[id(branch)] = inside

    def _shape(self, inside: list[int], kind: str) -> int:
        if not inside:
            return 0
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


def weigh(root: Branch) -> None:
    """Set ``ops`` of all branches."""
    for branch in inner_first(root):
        branch.ops = sum(1 if isinstance(child, str) else child.ops for child in branch.children)
