"""The way from a diagnosed trace to a scene: build, fold, lay out, compose."""

from .arranging import (
    Arranged,
    arrange,
    built_graph,
    compose_over,
    draw,
    group_paths,
    repeats,
    shown_call,
    sized_graph,
)

__all__ = [
    "Arranged",
    "arrange",
    "built_graph",
    "compose_over",
    "draw",
    "group_paths",
    "repeats",
    "shown_call",
    "sized_graph",
]
