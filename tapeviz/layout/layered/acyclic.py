"""Choose the edges to reverse so that a directed graph has no cycle."""

from __future__ import annotations

from collections.abc import Sequence

from ..arrays import GraphArrays


def turned_down(graph: GraphArrays) -> tuple[set[int], list[tuple[int, int]]]:
    """The edges to reverse, and all edges as (upper, lower), which have no cycle then."""
    turned = edges_to_turn(graph)
    ends = zip(graph.tails.tolist(), graph.heads.tolist(), strict=True)
    down = [(b, a) if edge in turned else (a, b) for edge, (a, b) in enumerate(ends)]
    return turned, down


def edges_to_turn(graph: GraphArrays) -> set[int]:
    """The edges that close a cycle in a depth-first walk in insertion order, without self-loops.

    Insertion order is execution order, so these edges run backwards in time.
    """
    tails, heads = graph.tails.tolist(), graph.heads.tolist()
    out: list[list[int]] = [[] for _ in range(graph.size)]
    sources = set(range(graph.size))
    for edge, (tail, head) in enumerate(zip(tails, heads, strict=True)):
        if tail != head:
            out[tail].append(edge)
            sources.discard(head)
    roots = [v for v in range(graph.size) if v in sources]
    roots += [v for v in range(graph.size) if v not in sources]
    return _back_edges(roots, out, heads)


def _back_edges(roots: Sequence[int], out: list[list[int]], heads: list[int]) -> set[int]:
    unseen, open_, done = 0, 1, 2
    state = [unseen] * len(out)
    found: set[int] = set()
    for root in roots:
        if state[root] != unseen:
            continue
        state[root] = open_
        stack = [(root, iter(out[root]))]
        while stack:
            vertex, edges = stack[-1]
            for edge in edges:
                head = heads[edge]
                if state[head] == open_:
                    found.add(edge)
                elif state[head] == unseen:
                    state[head] = open_
                    stack.append((head, iter(out[head])))
                    break
            else:
                state[vertex] = done
                stack.pop()
    return found
