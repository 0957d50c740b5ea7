"""Copy a traced function so that it also gives what nobody could compute again.

The copy runs in the place of the function: a batch of an iterator, what a Python function returned,
random numbers are its further outputs. The graph that was traced stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import private
from ..private import functions
from .cuts import cut
from .definitions import RUN_FUNCTIONS, SIZE, TURNS
from .probes import ProbePath, Prober


class Tapped(NamedTuple):
    """The copy. ``name``: its name in the runtime; ``further``: how many outputs it has besides;
    ``order``: which of them each source is; ``sizes``: which are the bytes of lists of a loop;
    ``spoiled``: positions of the resources that it may have written to with what cannot be computed
    again."""

    name: str
    further: int
    order: Sequence[int]
    sizes: Sequence[int]
    spoiled: Sequence[int]


def tap(definition: Any) -> Tapped | None:
    """The copy that gives the sources of the re-run; ``None`` if none is needed, or if one of them
    is a resource (a table that the function makes), which no output holds for later."""
    left = cut(definition)
    if any(source.dtype == functions.RESOURCE for source in left.sources):
        return None
    wanted = {(source.path, source.op) for source in left.sources if source.output != TURNS}
    turned = {(source.path, source.op) for source in left.sources if source.output == TURNS}
    if not wanted and not turned:
        return None

    def is_wanted(path: ProbePath, op: str, node: Any) -> bool:
        return (path, op) in wanted

    opens = RUN_FUNCTIONS | private.DATASET_LOOPS
    prober = Prober(is_wanted, opens=opens, in_place=True, counts=turned)
    probed = prober.probe(definition)
    places = {probe._replace(node=""): place for place, probe in enumerate(probed.probes)}
    return Tapped(
        probed.name,
        len(probed.probes),
        [places[source] for source in left.sources],
        [place for place, probe in enumerate(probed.probes) if probe.output == SIZE],
        left.spoiled,
    )
