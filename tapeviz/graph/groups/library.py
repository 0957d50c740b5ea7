"""Tell the groups that hold what a library did in a single call of the snippet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...text.called_names import CalledNames, kind_of
from ...trace.ids import SiteId
from ...trace.model import Trace
from ...trace.ops import Op
from ...trace.sites import Site
from .branches import Branch, inner_first


def mark_library_calls(root: Branch, ops: Sequence[Op], trace: Trace, names: CalledNames) -> None:
    """Mark the branches whose ops ran in one call of a layer of Keras, and lines whose ops mostly
    did in one call of a function of a module (``tf.nn.softmax_cross_entropy_with_logits``).

    The snippet did not write what is in there, down to the ops that find out the size of a batch.
    A model is no such call: it is made of layers, or is the only one and has most of the ops. The
    layers in one with weights, as ``moments`` in a batch normalization, are functions that it
    calls.
    """
    kinds = _kinds_with_weights(trace)
    sites: dict[int, Site] = {}
    """The only site of the ops in each layer that is no model, by the layer's identity."""
    branches = inner_first(root)
    for branch in branches:
        if branch.kind == "line":
            branch.is_library = _is_call(branch, ops, names)
        elif branch.kind == "layer" and (site := _site_of(branch, ops, sites, kinds)) is not None:
            sites[id(branch)] = site
            # Else the snippet's own class wrote its ``call`` on one line.
            branch.is_library = kind_of(_own_name(branch)) != names.layer_at(site.line)[1]
    calls = [branch for branch in branches if branch.is_library]
    if calls and calls[-1].kind == "layer" and 2 * calls[-1].ops > root.ops:
        calls[-1].is_library = any(branch.kind == "layer" for branch in calls[:-1])
    for branch in reversed(branches):
        for child in branch.children if branch.is_library else ():
            if isinstance(child, Branch):
                child.is_library = True


def _is_call(line: Branch, ops: Sequence[Op], names: CalledNames) -> bool:
    """Whether more than half of a line's ops ran in one call of a function of a module."""
    sites = Counter[SiteId]()
    example: dict[SiteId, Site] = {}
    for child in line.children:
        if not isinstance(child, Branch):
            site = ops[child].site
            sites[site.id] += 1
            example[site.id] = site
    for id_, count in sites.most_common(1):
        frames = example[id_].frames
        span = frames[0].span if frames else None
        return 2 * count > line.ops and span is not None and bool(names.function(span))
    return False


def _kinds_with_weights(trace: Trace) -> frozenset[str]:
    """The names of layers with variables, without the numbers that Keras adds."""
    paths = {variable.path for variable in trace.variables.values()}
    return frozenset(kind_of(layer) for path in paths for layer in path.split("/")[:-1])


def _site_of(
    layer: Branch, ops: Sequence[Op], sites: dict[int, Site], kinds: frozenset[str]
) -> Site | None:
    """The site of all ops in a layer; None if there are several, or if it is a model."""
    inside = [child for child in layer.children if isinstance(child, Branch)]
    if any(kind_of(_own_name(child)) in kinds for child in inside if child.kind == "layer"):
        return None
    if len(inside) > 1 and kind_of(_own_name(layer)) not in kinds:
        return None
    found: Site | None = None
    for child in layer.children:
        site = sites.get(id(child)) if isinstance(child, Branch) else ops[child].site
        if site is None or not site.frames or (found is not None and site.id != found.id):
            return None
        found = site
    return found


def _own_name(layer: Branch) -> str:
    """The name of a layer in the name scope."""
    key = layer.key[1] if layer.key is not None else None
    return str(key[0]) if isinstance(key, tuple) else layer.title
