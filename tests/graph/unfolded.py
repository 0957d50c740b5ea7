"""Op graphs as they are drawn when nothing is grouped."""

from __future__ import annotations

from typing import Any

import networkx as nx

from tapeviz.graph.build import build
from tapeviz.graph.groups.fold import fold
from tapeviz.graph.groups.opening import OpenGroups
from tapeviz.graph.groups.tree import Tree
from tapeviz.trace.model import Trace


def unfolded(trace: Trace, *about: Any, **options: Any) -> nx.MultiDiGraph:
    """Every node and edge that :func:`build` finds, with what it is told."""
    return fold(build(trace, *about, **options), Tree(), OpenGroups(frozenset(), {}))
