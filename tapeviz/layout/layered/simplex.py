"""Improve the ranks of a connected acyclic graph to minimal weighted edge length.

Network simplex after Gansner, Koutsofios, North, Vo, "A Technique for Drawing Directed Graphs"
(1993), section 2.3. The cut value of a tree edge is computed as the net outflow of one side: edges
inside a subtree cancel, so one pass over the tree gives all cut values.
"""

from __future__ import annotations

from collections.abc import Sequence

EdgePairs = Sequence[tuple[int, int]]
TINY = 1e-9


def shortest_ranks(
    count: int, edges: EdgePairs, weights: Sequence[float], ranks: Sequence[int]
) -> list[int]:
    """Integer ranks with ``rank[head] >= rank[tail] + 1`` and minimal Σ weight · length."""
    tree = _SpanningTree(count, edges, weights, list(ranks))
    tree.grow()
    # Degenerate pivots can cycle; in practice the optimum comes after fewer pivots than nodes.
    for _ in range(10 * count + 100):
        if not tree.pivot():
            break
    return tree.ranks


class _SpanningTree:
    def __init__(
        self, count: int, edges: EdgePairs, weights: Sequence[float], ranks: list[int]
    ) -> None:
        self.ranks = ranks
        self.edges = edges
        self.outflow = [0.0] * count
        self.incident: list[list[int]] = [[] for _ in range(count)]
        for edge, (tail, head) in enumerate(edges):
            self.outflow[tail] += weights[edge]
            self.outflow[head] -= weights[edge]
            self.incident[tail].append(edge)
            self.incident[head].append(edge)
        self.links: list[set[int]] = [set() for _ in range(count)]  # tree edges at each node
        self.parent_edge = [-1] * count
        self.order: list[int] = []  # preorder: a subtree is a run of it
        self.start = [0] * count
        self.stop = [0] * count

    def slack(self, edge: int) -> int:
        tail, head = self.edges[edge]
        return self.ranks[head] - self.ranks[tail] - 1

    def grow(self) -> None:
        """Join all nodes by tight edges, moving the tree towards the nearest node outside."""
        inside = [False] * len(self.ranks)
        members: list[int] = []
        self._absorb(0, inside, members)
        while len(members) < len(self.ranks):
            border = [e for e, (t, h) in enumerate(self.edges) if inside[t] != inside[h]]
            edge = min(border, key=self.slack)
            tail, head = self.edges[edge]
            shift = self.slack(edge) if inside[tail] else -self.slack(edge)
            for vertex in members:
                self.ranks[vertex] += shift
            self._link(edge)
            self._absorb(head if inside[tail] else tail, inside, members)
        self._number()

    def _absorb(self, root: int, inside: list[bool], members: list[int]) -> None:
        inside[root] = True
        stack = [root]
        while stack:
            vertex = stack.pop()
            members.append(vertex)
            for edge in self.incident[vertex]:
                tail, head = self.edges[edge]
                other = head if tail == vertex else tail
                if not inside[other] and self.slack(edge) == 0:
                    inside[other] = True
                    self._link(edge)
                    stack.append(other)

    def _link(self, edge: int) -> None:
        for vertex in self.edges[edge]:
            self.links[vertex].add(edge)

    def _number(self) -> None:
        """Walk the tree from node 0: preorder, subtree runs, edge to the parent."""
        order: list[int] = []
        parent_edge, start, edges, links = self.parent_edge, self.start, self.edges, self.links
        stack = [(0, -1)]
        while stack:
            vertex, via = stack.pop()
            parent_edge[vertex] = via
            start[vertex] = len(order)
            order.append(vertex)
            for edge in links[vertex]:
                if edge != via:
                    tail, head = edges[edge]
                    stack.append((head if tail == vertex else tail, edge))
        self.stop = stop = [place + 1 for place in start]
        for vertex in reversed(order):
            via = parent_edge[vertex]
            if via >= 0:
                tail, head = edges[via]
                parent = head if tail == vertex else tail
                stop[parent] = max(stop[parent], stop[vertex])
        self.order = order

    def _leaving(self) -> int:
        """A node whose edge to its parent has a negative cut value, or -1."""
        order = self.order
        sums = [0.0]
        for vertex in order:
            sums.append(sums[-1] + self.outflow[vertex])
        worst, worst_cut = -1, -TINY
        for vertex in order[1:]:
            cut = sums[self.stop[vertex]] - sums[self.start[vertex]]
            if self.edges[self.parent_edge[vertex]][0] != vertex:
                cut = -cut
            if cut < worst_cut:
                worst, worst_cut = vertex, cut
        return worst

    def pivot(self) -> bool:
        """Replace a tree edge by a better one; False if the tree is optimal."""
        child = self._leaving()
        if child < 0:
            return False
        leaving = self.parent_edge[child]
        child_is_tail = self.edges[leaving][0] == child
        subtree = self.order[self.start[child] : self.stop[child]]
        inside = set(subtree)
        entering, best = -1, 0
        for vertex in subtree:
            for edge in self.incident[vertex]:
                tail, head = self.edges[edge]
                # Only an edge that runs against the leaving one across the cut can replace it.
                against = head if child_is_tail else tail
                other = tail if child_is_tail else head
                if against == vertex and other not in inside:
                    slack = self.slack(edge)
                    if entering < 0 or slack < best or (slack == best and edge < entering):
                        entering, best = edge, slack
        if entering < 0:
            return False
        shift = -best if child_is_tail else best
        for vertex in subtree:
            self.ranks[vertex] += shift
        for vertex in self.edges[leaving]:
            self.links[vertex].discard(leaving)
        self._link(entering)
        self._number()
        return True
