"""Interpolate between elements that were picked by a rounded number."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import libcst as cst

from ...trace.model import VariableId
from ..model import Edit, FixCase
from ..plan import Plan, enclosed, fitting
from ..source import ParsedSource, all_of, argument, called_name, nodes_in
from .counts import uncast

_MOST_AXES = 3
_TITLE = "Estimate: interpolate between the element at the index and the next"


def interpolate(case: FixCase) -> Iterator[Edit]:
    """``tf.gather(p, i)`` with ``i = tf.cast(x, tf.int32)`` → the line between two elements at x.

    ``p[int(x)]`` likewise, and ``tf.gather_nd(p, i)`` along each of the axes that are picked from.
    """
    source = case.source
    plan = Plan(source)
    for call in all_of(source.module, cst.Call):
        params, indices = argument(call, 0, "params"), argument(call, 1, "indices")
        name = called_name(call)
        if name not in ("gather", "gather_nd") or params is None or indices is None:
            continue
        x = uncast(source, indices.value)
        if name == "gather_nd":
            text = _between_corners(case, params, indices, x)
            if x and text and _is_at_cause(case, indices):
                _put(plan, call, text)
            continue
        if x and argument(call, 2, "axis", "batch_dims") is None and _is_at_cause(case, indices):
            code, tf = source.code, source.tf
            p, i = code(enclosed(params.value)), code(enclosed(indices.value))
            here = f"{tf}.gather({p}, {i})"
            following = f"{tf}.gather({p}, {tf}.minimum({i} + 1, {tf}.shape({p})[0] - 1))"
            part = f"({x} - {tf}.cast({i}, {tf}.float32))" + _widened(case, p)
            _put(plan, call, f"{here} + {part} * ({following} - {here})")
    for call in all_of(source.module, cst.Call):
        key = argument(call, 0, "keys")
        x = uncast(source, key.value) if key is not None and called_name(call) == "lookup" else ""
        if key is not None and x and _is_at_cause(case, key):
            code = source.code
            table, k = code(call.func), code(enclosed(key.value))
            here = f"{table}({k})"
            part = f"({x} - {source.tf}.cast({k}, {source.tf}.float32))"
            _put(plan, call, f"{here} + {part} * ({table}({k} + 1) - {here})")
    for node in all_of(source.module, cst.Subscript):
        part_of = node.slice[0].slice
        if len(node.slice) != 1 or not isinstance(part_of, cst.Index):
            continue
        x = uncast(source, part_of.value)
        if x and _is_at_cause(case, part_of):
            p, i = source.code(node.value), source.code(enclosed(part_of.value))
            following = f"{p}[min({i} + 1, len({p}) - 1)]"
            _put(plan, node, f"{p}[{i}] + ({x} - {i}) * ({following} - {p}[{i}])")
    if plan.changes:
        yield Edit(_TITLE, plan.text(), is_estimate=True)


def interpolate_edges(case: FixCase) -> Iterator[Edit]:
    """``tf.gather(v, i)`` with ``i`` of ``tf.searchsorted(edges, x)`` → the line between values.

    ``v`` has a value for each edge. The line goes over from one to the next as ``x`` goes over from
    edge to edge.
    """
    source, code, tf = case.source, case.source.code, case.source.tf
    for found in case.calls("searchsorted"):
        edges, x = argument(found, 0, "sorted_sequence"), argument(found, 1, "values")
        if edges is None or x is None:
            continue
        plan, e = Plan(source), code(enclosed(edges.value))
        low, part = source.free_name("low"), source.free_name("part")
        for call in all_of(source.module, cst.Call):
            values, place = argument(call, 0, "params"), argument(call, 1, "indices")
            if called_name(call) != "gather" or values is None or place is None:
                continue
            made = place.value
            if isinstance(made, cst.Name):
                made = source.bound_to(made.value) or made
            is_from = made is found or any(node is found for node in all_of(made, cst.Call))
            if not is_from or code(values.value) == code(edges.value):
                continue
            v = code(enclosed(values.value))
            rise = f"{tf}.gather({v}, {low} + 1) - {tf}.gather({v}, {low})"
            _put(plan, call, f"{tf}.gather({v}, {low}) + {part} * ({rise})")
        statement = source.statement_of(found)
        if plan.changes and statement is not None:
            most = f"{tf}.size({e}) - 2"
            span = f"{tf}.gather({e}, {low} + 1) - {tf}.gather({e}, {low})"
            way = f"({code(enclosed(x.value))} - {tf}.gather({e}, {low})) / ({span})"
            plan.before(
                statement,
                f"{low} = {tf}.clip_by_value({code(found)} - 1, 0, {most})",
                f"{part} = {tf}.clip_by_value({way}, 0.0, 1.0)",
            )
            title = "Estimate: interpolate between the values of the two edges around it"
            yield Edit(title, plan.text(), is_estimate=True)


_PICKING = {"top_k": (0, "input"), "argsort": (0, "values"), "non_max_suppression": (1, "scores")}


def weigh_picked(case: FixCase) -> Iterator[Edit]:
    """``tf.gather(p, i)`` with ``i`` of ``tf.math.top_k(s, k)`` → times a sigmoid of each score.

    The choice itself has no slope; the weight gives one to the scores of what was chosen (as the
    gate of top-k pooling does: Gao and Ji 2019, "Graph U-Nets").
    """
    source, code, tf = case.source, case.source.code, case.source.tf
    for chosen in case.calls(*_PICKING):
        place, keyword = _PICKING[called_name(chosen)]
        scores = argument(chosen, place, keyword)
        if scores is None:
            continue
        names = _positions_of(source, chosen)
        plan = Plan(source)
        for call in all_of(source.module, cst.Call):
            params, indices = argument(call, 0, "params"), argument(call, 1, "indices")
            if called_name(call) != "gather" or params is None or indices is None:
                continue
            if not (names & {node.value for node in all_of(indices, cst.Name)}):
                continue
            ranks = _ranks_of_gather(case, source.line(call))
            s, i = code(scores.value), code(indices.value)
            if ranks is None or s == code(params.value):
                continue
            picked, given = ranks
            batch = f", batch_dims={given - 1}" if given > 1 else ""
            weight = f"{tf}.sigmoid({tf}.gather({s}, {i}{batch}))"
            if picked > given:
                weight += f"[..., {', '.join([f'{tf}.newaxis'] * (picked - given))}]"
            _put(plan, call, f"{code(call)} * {weight}")
        if plan.changes:
            title = "Estimate: weigh what is picked by a sigmoid of its score"
            yield Edit(title, plan.text(), is_estimate=True)


def _positions_of(source: ParsedSource, chosen: cst.Call) -> set[str]:
    """The names that the positions are bound to: ``i`` of ``_, i = tf.math.top_k(s, k)`` and of
    ``i = tf.math.top_k(s, k).indices``, and names bound to an expression with such a name."""
    assign = source.enclosing(chosen, cst.Assign)
    if assign is None:
        return set()
    target: cst.BaseExpression = assign.targets[0].target
    names: set[str] = set()
    if isinstance(target, (cst.Tuple, cst.List)) and len(target.elements) == 2:
        target = target.elements[1].value
    if isinstance(target, cst.Name):
        names.add(target.value)
    for later in all_of(source.module, cst.Assign):
        made = later.targets[0].target
        read = {node.value for node in all_of(later.value, cst.Name)}
        is_plain = not any(isinstance(node, cst.Call) for node in nodes_in(later.value))
        if names & read and is_plain and isinstance(made, cst.Name):
            names.add(made.value)
    return names


def _ranks_of_gather(case: FixCase, line: int) -> tuple[int, int] | None:
    """The ranks of what a gather on a line gave and of its indices, as it ran."""
    known = case.trace.tensors
    for op in case.trace.ops.values():
        if op.type in ("GatherV2", "ResourceGather") and op.line == line and len(op.inputs) > 1:
            made, indices = known[op.outputs[0]].shape, known[op.inputs[1]].shape
            if made is not None and indices is not None:
                return len(made), len(indices)
    return None


def _between_corners(case: FixCase, params: cst.Arg, indices: cst.Arg, x: str) -> str:
    """Multilinear interpolation, where an index has a number for each axis of the params."""
    source, tf = case.source, case.source.tf
    p, i = (source.code(enclosed(given.value)) for given in (params, indices))
    rank = rank_of(case, p)
    if not 1 <= rank <= _MOST_AXES:
        return ""
    corners = ", ".join(f"[{', '.join(map(str, sides))}]" for sides in _sides(rank))
    part = f"{x} - {tf}.cast({i}, {tf}.float32)"
    weight = f"{tf}.reduce_prod({tf}.where(side, {part}, 1.0 - ({part})), -1)"
    last = f"{tf}.shape({p}) - 1"
    corner = f"{tf}.minimum({tf}.cast({i}, {tf}.int32) + {tf}.cast(side, {tf}.int32), {last})"
    return f"{tf}.add_n([{weight} * {tf}.gather_nd({p}, {corner}) for side in ({corners})])"


def _sides(rank: int) -> list[tuple[bool, ...]]:
    return list(itertools.product((False, True), repeat=rank))


def _put(plan: Plan, place: cst.BaseExpression, text: str) -> None:
    plan.replace(place, fitting(plan.source, place, cst.parse_expression(text)))


def _is_at_cause(case: FixCase, indices: cst.CSTNode) -> bool:
    """Whether the index is cast on a line of the cause, or is a name that was bound there."""
    source, lines = case.source, case.lines()
    if any(source.covers(indices, line) for line in lines):
        return True
    value = indices.value if isinstance(indices, (cst.Arg, cst.Index)) else None
    bound = source.bound_to(value.value) if isinstance(value, cst.Name) else None
    return bound is not None and any(source.covers(bound, line) for line in lines)


def _widened(case: FixCase, params: str) -> str:
    """A new axis for each of the params' rows, where they are more than single numbers."""
    rank = rank_of(case, params) or 1
    return f"[..., {', '.join([f'{case.source.tf}.newaxis'] * (rank - 1))}]" if rank > 1 else ""


def rank_of(case: FixCase, params: str) -> int:
    """The rank of the tensor or variable of this name; 0 if it is not known."""
    trace = case.trace
    shapes = [
        known.shape
        for tensor, names in trace.names.items()
        if params in names
        and (known := trace.variables.get(VariableId(tensor)) or trace.tensors.get(tensor))
    ]
    return len(shapes[0] or ()) if shapes else 0
