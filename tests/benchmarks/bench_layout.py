"""The layered layout beside Graphviz dot on the same graphs: crossings, lengths, area, time.

    python tests/benchmarks/bench_layout.py [--direction right] [--dot-seconds 20] [NAME…]

Ratios below 1 are in our favour. ``routed``: crossings of the lines as drawn; ``straight``: of
the lines between the centres; ``hits``: edges nearer than 6 px to a box that is not theirs.
Our time is that of this process alone; dot's is by the clock, its start included.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import networkx as nx

sys.path.insert(0, str(Path(__file__).parents[1] / "layout"))

from figures import exponent, print_row
from graphviz_oracle import DOT, drawn_by_dot
from measure import boxes_hit, crossings, edge_length, extent, straight_crossings
from tape_graphs import TAPES, lstm, mlp, random_dag, residual

from tapeviz.layout import Layout, lay_out

SLOWEST = "lstm 7 gradient"
LARGE: dict[str, Callable[[], nx.MultiDiGraph]] = {
    "lstm 40": lambda: lstm(40),
    "residual 100 gradient": lambda: residual(100, backward=True),
    "mlp 100 adam": lambda: mlp(100, backward=True, adam=True),
    "random 4000": lambda: random_dag(4000, 1.2, 3, 30),
    "lstm 270": lambda: lstm(270),
    "lstm 2500": lambda: lstm(2500),
}


def figures(layout: Layout) -> tuple[int, int, int, float, float]:
    rects, routes = layout.rects, layout.routes
    width, height = extent(rects, routes)
    return (
        crossings(rects, routes),
        straight_crossings(rects, list(routes)),
        len(boxes_hit(rects, routes, 6.0)),
        edge_length(routes),
        width * height / 1e6,
    )


def compare(name: str, direction: str, patience: int) -> list[int] | None:
    """Print one line; gives the routed crossings, ours and dot's."""
    graph = TAPES[name]()
    start = time.process_time()
    ours = lay_out(graph, direction=direction)
    seconds = time.process_time() - start
    a = figures(ours)
    line = f"{name:22} {len(graph):4} nodes {seconds * 1000:6.0f} ms"
    try:
        start = time.perf_counter()
        theirs = drawn_by_dot(graph, direction, limit=patience)
        dot_seconds = time.perf_counter() - start
    except subprocess.TimeoutExpired:
        print(f"{line}   routed {a[0]:4}   dot was stopped after {patience} s")
        return None
    b = figures(theirs)
    ratio = f"{a[0] / b[0]:5.2f}" if b[0] else "    –"
    print(
        f"{line} (dot {dot_seconds * 1000:6.0f})   routed {a[0]:4} : {b[0]:4} {ratio}"
        f"   straight {a[1]:4} : {b[1]:4}   hits {a[2]} : {b[2]:3}"
        f"   length {a[3] / b[3]:4.2f}   area {a[4] / b[4]:4.2f}"
    )
    return [a[0], b[0]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="graphs to draw (default: all)")
    parser.add_argument("--direction", default="down", choices=["down", "right"])
    parser.add_argument("--dot-seconds", type=int, default=20, help="patience with dot")
    options = parser.parse_args()
    if DOT is None:
        sys.exit("Graphviz dot is not installed")
    costs: dict[str, tuple[int, float]] = {}  # before the pairs: a graph laid out last is known
    for name in options.names or (SLOWEST, *LARGE):
        if name == SLOWEST or name in LARGE:
            graph = {**TAPES, **LARGE}[name]()
            start = time.process_time()
            lay_out(graph, direction=options.direction)
            seconds = time.process_time() - start
            costs[name] = len(graph), seconds
            print(
                f"{name:22} {len(graph):6} nodes {graph.number_of_edges():6} edges {seconds:5.2f} s"
            )
    pairs = [
        pair
        for name in options.names or TAPES
        if name in TAPES and (pair := compare(name, options.direction, options.dot_seconds))
    ]
    if pairs:
        ours, theirs = map(sum, zip(*pairs, strict=True))
        print_row(
            f"crossings of {len(pairs)} graphs of tapes, ours to Graphviz dot's",
            f"{ours} to {theirs}, {ours / max(1, theirs):.2f} times",
            "at most dot's",
        )
    if SLOWEST in costs:
        size, seconds = costs[SLOWEST]
        print_row(f"layout of a recurrent gradient of {size} boxes", f"{seconds:.2f} s", "0.3 s")
    loops = [cost for name, cost in costs.items() if name in LARGE and name.startswith("lstm")]
    if len(loops) > 1:
        sizes, seconds_of = zip(*loops, strict=True)
        print_row(
            f"layout of loops, {sizes[0]:,} to {sizes[-1]:,} boxes",
            f"{seconds_of[-1]:.1f} s, grows as n^{exponent(sizes, seconds_of):.2f}",
            "at most n^1.1",
        )


if __name__ == "__main__":
    main()
