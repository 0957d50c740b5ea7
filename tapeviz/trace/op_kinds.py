"""Tell what is special about an op's type: a row of ``resources/ops.txt`` for each type that some
rule names.

The recorder travels alone and has tables of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..files.resources import resource

TRAITS: Mapping[str, str] = MappingProxyType(
    {
        "call": "runs the graph of a function",
        "branch": "runs one of several graphs",
        "loop": "runs a graph for each turn",
        "dataset-loop": "ends a loop over a dataset: runs its body for each element",
        "switch": "hands its input to one of its outputs, as a predicate tells (TF1)",
        "ref-variable": "makes a TF1 ref variable",
        "ref-assign": "writes to a TF1 ref variable",
        "list-write": "gives a new list with another element (list_ops, TensorArray in a function)",
        "shape": "gives the shape or size of a tensor",
        "form": "looks at the form of a tensor and never at its elements",
        "no-data": "its output depends on no data value, whatever its input",
        "plumbing": "a reader of gradients does not miss it",
        "no-gradient": (
            "floats to floats, and its gradient function gives None or there is none (2.15-2.21)"
        ),
        "flat": "its derivative is 0 wherever there is one",
        "clips": "its slope is 0 over a stretch of its inputs and another elsewhere",
        "normalises": "its outputs sum to a constant",
        "product": "linear in each of several inputs: one's gradient is multiplied by the others",
        "linear": "linear in all its inputs at once: its gradient does not depend on them",
        "mask": "a mask chooses the elements that it lets through",
        "selects": "takes each element from one of two inputs, as a mask tells",
        "divides": "divides its first input by its second",
        "places": "puts its elements among others: its gradient is the part that belongs to them",
        "moves": "moves elements: a part that is zero was zero before",
        "singular": "its slope or its result is infinite or undefined at a point",
        "grows": "its result overflows soon",
        "matrix": "its result depends on whole matrices, not element by element",
        "copy": "gives its input as it is, perhaps in another shape",
        "view": "gives elements of its inputs: a slice, a copy, another shape or dtype",
        "difference": "compares two tensors element by element, as losses do",
        "mean": "gathers a loss into a number",
        "reduces": "gathers elements along axes, which its second input names",
        "reshape": "who writes it asks for another shape",
        "position": "gives positions of elements",
        "data-sized": "how many elements it gives depends on the values that it is given",
        "decodes-picture": "gives the picture that an encoder wrote, which may have lost details",
        "question": "answers true or false",
        "draw": "draws random numbers",
        "discrete": "draws whole numbers, of which each has a probability",
    }
)
"""The meaning of each trait."""

_ROWS = [
    line.partition("|")
    for line in resource("ops.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
OP_KINDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {name: frozenset(traits) for row, _, _ in _ROWS for name, *traits in [row.split()]}
)
"""The traits of each op type."""
WRITTEN_FORMULAS: Mapping[str, str] = MappingProxyType(
    {row.split()[0]: formula.strip() for row, _, formula in _ROWS if formula}
)
"""The formula of each op type that has one which does not depend on its attributes."""


def ops_with(*traits: str) -> frozenset[str]:
    """The op types that have one of these traits."""
    assert TRAITS.keys() >= set(traits)
    return frozenset(name for name, known in OP_KINDS.items() if known.intersection(traits))
