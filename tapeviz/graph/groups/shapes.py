"""Branches in, how many ops each has and which of them are alike, out."""

from __future__ import annotations

from collections.abc import Hashable

from ...trace.model import Op, OpId, Trace
from ..model import NodeId
from .branches import Branch


class Shapes:
    """Counts the ops of every branch, and tells which branches are alike.

    Alike: the same op types from the same lines, each with the same inputs relative to the branch.
    """

    def __init__(self, ordered: list[tuple[NodeId, Op]], trace: Trace) -> None:
        self._trace = trace
        self._at = {name: place for place, (name, _) in enumerate(ordered)}
        self._ops = [op for _, op in ordered]
        place_of = {op.id: place for place, (_, op) in enumerate(ordered)}
        self._inputs = [
            tuple(place_of.get(trace.producers.get(tensor, OpId(-1)), -1) for tensor in op.inputs)
            for _, op in ordered
        ]
        self._known: dict[Hashable, int] = {}

    def count(self, branch: Branch) -> list[int]:
        """The places of the branch's ops in the order of all; sets ``ops`` and ``shape``."""
        inside: list[int] = []
        for child in branch.children:
            inside.extend([self._at[child]] if isinstance(child, str) else self.count(child))
        branch.ops = len(inside)
        branch.shape = self.shape(inside, branch.kind)
        return inside

    def shape(self, inside: list[int], kind: str = "") -> int:
        if not inside:
            return 0
        first = inside[0]
        last = inside[-1]
        key = (
            kind,
            tuple(
                (
                    self._ops[i].type,
                    self._ops[i].site.id,
                    tuple(i - j if first <= j <= last else 0 for j in self._inputs[i]),
                )
                for i in inside
            ),
        )
        return self._known.setdefault(hash(key), len(self._known) + 1)

    def token(self, child: Branch | NodeId) -> Hashable:
        if isinstance(child, Branch):
            return ("branch", child.kind, child.shape)
        op = self._ops[self._at[child]]
        return op.type, op.site.id
