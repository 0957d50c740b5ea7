"""Interpolate between elements that were picked by a rounded number."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import libcst as cst

from ..forms import is_same, match, matches
from ..model import Edit, FixCase
from ..nodes import (
    all_of,
    argument,
    called_name,
    dotted,
    elements,
    is_call_to,
    nodes_in,
    parameters_of,
    with_arguments,
)
from ..plan import Plan
from ..source import ParsedSource
from ..translation.numpy_words import without_exit
from .counts import searches_edges, uncast

MOST_AXES = 3
_TITLE = "Estimate: interpolate between the element at the index and the next"


def interpolate(case: FixCase) -> Iterator[Edit]:
    """``tf.gather(p, i)`` with ``i = tf.cast(x, tf.int32)`` → the line between two elements at x.

    ``p[int(x)]`` likewise, and ``tf.gather_nd(p, i)`` along each of the axes that are picked from.
    """
    source = case.source
    plan = Plan(source)
    for call in all_of(source.module, cst.Call):
        params, indices = argument(call, 0, "params"), argument(call, 1, "indices", "ids")
        name = called_name(call)
        if name == "read" and isinstance(call.func, cst.Attribute) and len(call.args) == 1:
            x = uncast(source, call.args[0].value)
            if x and is_at_cause(case, call.args[0]):
                plan.replace(call, _between_elements(source, call, x))
            continue
        table = embeddings_of(source, call)
        if table and (ids := argument(call, 0 if name != "embedding_lookup" else 1, "ids")):
            x, i = uncast(source, ids), source.operand(ids)
            is_at_cut = is_at_cause(case, ids)
            if not x and name != "embedding_lookup" and case.cause.op == "Cast":
                x, i = i, f"{source.tf}.cast({source.code(ids)}, {source.tf}.int32)"
                is_at_cut = source.covers(call, case.cause.line)  # the layer casts what it is given
            if x and is_at_cut:
                here = source.code(call) if name != "embedding_lookup" else ""
                plan.replace(call, _between_rows(case, table, i, x, 2, here=here))
            continue
        if name not in ("gather", "gather_nd") or params is None or indices is None:
            continue
        x = uncast(source, indices)
        if name == "gather_nd":
            text = _between_corners(case, call, params, indices, x)
            if x and text and is_at_cause(case, indices):
                plan.replace(call, text)
            continue
        along = argument(call, 3, "axis")
        axis = source.code(along) if along is not None else "0"
        is_row = axis.isdigit() and argument(call, 4, "batch_dims") is None
        if x and is_row and is_at_cause(case, indices):
            p, i = source.operand(params), source.operand(indices)
            plan.replace(call, _between_rows(case, p, i, x, rank_of(case, p), int(axis)))
    for node, (index, picked_from) in matches(all_of(source.module, cst.Subscript), "_p[_i]"):
        x = uncast(source, index)
        if x and is_at_cause(case, index):
            p, i = source.code(picked_from), source.operand(index)
            if searches_edges(source, index):  # of arrays
                gather, most = f"{source.tf}.gather({p}, ", f"len({p}) - 1"
                step = f"{gather}{source.tf}.minimum({i} + 1, {most})) - {gather}{i})"
                part = f"({x} - {source.tf}.cast({i}, {source.tf}.float32))"
                plan.replace(node, f"{gather}{i}) + {part} * ({step})")
                continue
            following = f"{p}[min({i} + 1, len({p}) - 1)]"
            plan.replace(node, f"{p}[{i}] + ({x} - {i}) * ({following} - {p}[{i}])")
    yield from plan.edits(_TITLE, is_estimate=True)


def _between_elements(source: ParsedSource, read: cst.Call, x: str) -> str:
    """The line between two elements of a ``tf.TensorArray``, at ``x``."""
    tf, given = source.tf, read.args[0].value
    i, array = (
        source.operand(given),
        source.code(cst.ensure_type(read.func, cst.Attribute).value),
    )
    following = f"{array}.read({tf}.minimum({i} + 1, {array}.size() - 1))"
    here = source.code(read)
    return f"{here} + ({x} - {tf}.cast({i}, {tf}.float32)) * ({following} - {here})"


def _between_rows(
    case: FixCase, p: str, i: str, x: str, rank: int, axis: int = 0, here: str = ""
) -> str:
    """The line between two rows of a table of this rank, at ``x``, which is ``i`` rounded down.

    ``here``: what gives the row at ``i``, if another expression (a layer, which builds its table).
    """
    tf, after = case.source.tf, rank - 1 - axis
    along = f", axis={axis}" if axis else ""
    here = here or f"{tf}.gather({p}, {i}{along})"
    following = f"{tf}.gather({p}, {tf}.minimum({i} + 1, {tf}.shape({p})[{axis}] - 1){along})"
    part = f"({x} - {tf}.cast({i}, {tf}.float32))"
    if after > 0:
        part += f"[..., {', '.join([f'{tf}.newaxis'] * after)}]"
    return f"{here} + {part} * ({following} - {here})"


def interpolate_edges(case: FixCase) -> Iterator[Edit]:
    """``tf.gather(v, i)`` with ``i`` of ``tf.searchsorted(edges, x)`` → the line between values.

    ``v`` has a value for each edge. The line goes over from one to the next as ``x`` goes over from
    edge to edge.
    """
    source, code, tf = case.source, case.source.code, case.source.tf
    parameters = ("sorted_sequence|a", "values|v")
    for found, (edges, sought) in with_arguments(case.calls("searchsorted"), *parameters):
        plan, e, indices = Plan(source), source.operand(edges), set()
        x = source.operand(without_exit(sought))
        low, part = plan.fresh_name("low"), plan.fresh_name("part")
        gathers = source.calls_to("gather")
        for call, (values, place) in with_arguments(gathers, "params", "indices"):
            if not source.leads_to(place, found) or code(values) == code(edges):
                continue
            indices.add(code(place))
            v = source.operand(values)
            rise = f"{tf}.gather({v}, {low} + 1) - {tf}.gather({v}, {low})"
            plan.replace(call, f"{tf}.gather({v}, {low}) + {part} * ({rise})")
        statement = plan.statement_begun_by(found)
        if len(indices) == 1 and statement is not None:  # with more the text interpolates itself
            most = f"{tf}.size({e}) - 2"
            span = f"{tf}.gather({e}, {low} + 1) - {tf}.gather({e}, {low})"
            way = f"({x} - {tf}.gather({e}, {low})) / ({span})"
            is_tf = dotted(found.func) == f"{tf}.searchsorted"
            after = code(found) if is_tf else f"{tf}.searchsorted({e}, {x})"
            plan.before(
                statement,
                f"{low} = {tf}.clip_by_value({after} - 1, 0, {most})",
                f"{part} = {tf}.clip_by_value({way}, 0.0, 1.0)",
            )
            title = "Estimate: interpolate between the values of the two edges around it"
            yield from plan.edits(title)


def move_window(case: FixCase) -> Iterator[Edit]:
    """``tf.slice(x, [i, j], size)`` with ``i`` cast from ``a`` → plus ``a - i`` times what the
    window a step further has more, along each axis. So ``x[i : i + n]`` and
    ``tf.image.crop_to_bounding_box(x, i, j, height, width)``."""
    source, tf, plan = case.source, case.source.tf, Plan(case.source)
    for window, starts in _windows(source):
        rises = []
        for written in starts:
            start, x = source.operand(written[0]), uncast(source, written[0])
            if x and is_at_cause(case, written[0]):
                next_ = Plan(source, dict.fromkeys(written, f"{start} + 1")).changed(window)
                rises.append((f"{x} - {tf}.cast({start}, {tf}.float32)", source.code(next_)))
        if rises:
            here = plan.named(window)
            if isinstance(window, cst.Subscript):  # beyond the end it is shorter: that shall raise
                rises = [(p, f"{tf}.reshape({each}, {tf}.shape({here}))") for p, each in rises]
            terms = [f"({part}) * ({following} - {here})" for part, following in rises]
            plan.replace(window, " + ".join([here, *terms]))
    yield from plan.edits("Estimate: interpolate between the window at the index and the next")


def _windows(
    source: ParsedSource,
) -> Iterator[tuple[cst.BaseExpression, list[list[cst.BaseExpression]]]]:
    """Expressions that cut a window of a fixed size out of a tensor, and for each axis the
    expressions by which the window begins."""
    for call, (_, begin) in with_arguments(source.calls_to("slice"), "input_", "begin"):
        yield call, [[each] for each in elements(begin)]
    for call, (_, top, left) in with_arguments(
        source.calls_to("crop_to_bounding_box"), "image", "offset_height", "offset_width"
    ):
        yield call, [[top], [left]]
    for node in all_of(source.module, cst.Subscript):
        starts: list[list[cst.BaseExpression]] = []
        for part in (each.slice for each in node.slice):
            if isinstance(part, cst.Slice) and part.lower is not None:
                end = match(part.upper, "_i + _n")
                starts += [[part.lower, end[0]]] if end and is_same(part.lower, end[0]) else []
        if starts and not isinstance(source.parent(node), (cst.AssignTarget, cst.Del)):
            yield node, starts


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
        gathers = source.calls_to("gather")
        for call, (params, indices) in with_arguments(gathers, "params", "indices"):
            if not (names & {node.value for node in all_of(indices, cst.Name)}):
                continue
            gathered = ranks_gathered(case, source.line(call))
            s, i = code(scores), code(indices)
            if gathered is None or s == code(params):
                continue
            picked, given, is_float = gathered
            batch = f", batch_dims={given - 1}" if given > 1 else ""
            sign = "-" if _picks_smallest(source, chosen) else ""
            weight = f"{tf}.sigmoid({sign}{tf}.gather({s}, {i}{batch}))"
            if picked > given:
                weight += f"[..., {', '.join([f'{tf}.newaxis'] * (picked - given))}]"
            taken = code(call) if is_float else f"{tf}.cast({code(call)}, {tf}.float32)"
            plan.replace(call, f"{taken} * {weight}")
        yield from plan.edits("Estimate: weigh what is picked by a sigmoid of its score")


def _picks_smallest(source: ParsedSource, chosen: cst.Call) -> bool:
    """Whether the first places of an ascending ``tf.argsort`` are taken: by ``[:k]``, not from its
    end, and not turned round by ``[::-1]``."""
    direction, sliced = argument(chosen, 2, "direction"), source.parent(chosen)
    is_down = direction is not None and "DESC" in source.code(direction)
    last = sliced.slice[-1].slice if isinstance(sliced, cst.Subscript) else None
    is_turned = isinstance(last, cst.Slice) and isinstance(last.step, cst.UnaryOperation)
    is_from_end = is_turned or (isinstance(last, cst.Slice) and last.lower is not None)
    return called_name(chosen) == "argsort" and not is_down and not is_from_end


def _positions_of(source: ParsedSource, chosen: cst.Call) -> set[str]:
    """The names that the positions are bound to: ``i`` of ``_, i = tf.math.top_k(s, k)`` and of
    ``i = tf.math.top_k(s, k).indices``, names bound to an expression with such a name, and
    parameters of functions that are given one."""
    assign = source.enclosing(chosen, cst.Assign)
    if assign is None:
        return set()
    target = assign.targets[0].target
    parts = elements(target)
    names = {dotted(parts[1] if len(parts) == 2 else target)} - {""}
    for later in all_of(source.module, cst.Assign):
        made = later.targets[0].target
        read = {node.value for node in all_of(later.value, cst.Name)}
        is_plain = not any(isinstance(node, cst.Call) for node in nodes_in(later.value))
        if names & read and is_plain and isinstance(made, cst.Name):
            names.add(made.value)
    return names | {
        parameter
        for function in all_of(source.module, cst.FunctionDef)
        for call in source.calls_of(function)
        for parameter, arg in zip(
            (each for each in parameters_of(function) if each != "self"), call.args, strict=False
        )
        if isinstance(arg.value, cst.Name) and arg.value.value in names
    }


def ranks_gathered(case: FixCase, line: int) -> tuple[int, int, bool] | None:
    """The ranks of what a gather on a line gave and of its indices, as it ran, and whether it gave
    real numbers."""
    known = case.trace.tensors
    for op in case.trace.ops.values():
        if op.type in ("GatherV2", "ResourceGather") and op.line == line and len(op.inputs) > 1:
            made, indices = known[op.outputs[0]], known[op.inputs[1]]
            if made.shape is not None and indices.shape is not None:
                return len(made.shape), len(indices.shape), "float" in made.dtype
    return None


def _between_corners(
    case: FixCase, call: cst.Call, params: cst.BaseExpression, indices: cst.BaseExpression, x: str
) -> str:
    """Multilinear interpolation, where an index has a number for each of some axes of the params;
    in front of them may be those of a batch, behind them others."""
    source, tf = case.source, case.source.tf
    p, i = source.operand(params), source.operand(indices)
    batch, stacked = argument(call, 3, "batch_dims"), source.value_of(indices)
    first = int(batch.value) if isinstance(batch, cst.Integer) else 0
    axes = rank_of(case, p) - first
    numbers = stacked.args[0].value if is_call_to(stacked, "stack") else None
    depth = len(elements(numbers)) if numbers is not None else axes
    if not 1 <= depth <= min(axes, MOST_AXES):
        return ""
    corners = ", ".join(f"[{', '.join(map(str, sides))}]" for sides in sides_of(depth))
    part = f"{x} - {tf}.cast({i}, {tf}.float32)"
    weight = f"{tf}.reduce_prod({tf}.where(side, {part}, 1.0 - ({part})), -1)"
    if axes > depth:
        weight += f"[..., {', '.join([f'{tf}.newaxis'] * (axes - depth))}]"
    picked = f"[{first}:{first + depth}]" if first or axes > depth else ""
    last = f"{tf}.shape({p}){picked} - 1"
    corner = f"{tf}.minimum({tf}.cast({i}, {tf}.int32) + {tf}.cast(side, {tf}.int32), {last})"
    along = f", batch_dims={first}" if first else ""
    gathered = f"{tf}.gather_nd({p}, {corner}{along})"
    return f"{tf}.add_n([{weight} * {gathered} for side in ({corners})])"


def sides_of(rank: int) -> list[tuple[bool, ...]]:
    return list(itertools.product((False, True), repeat=rank))


def is_at_cause(case: FixCase, indices: cst.CSTNode) -> bool:
    """Whether the index is cast on a line of the cause, or is made of names that were bound
    there."""
    source, lines = case.source, case.lines()
    return any(source.covers(node, line) for node in source.behind(indices) for line in lines)


def embeddings_of(source: ParsedSource, call: cst.Call) -> str:
    """The table that a call looks rows up in: ``emb.embeddings`` of ``emb(ids)``, ``table`` of
    ``tf.nn.embedding_lookup(table, ids)``; else empty."""
    if called_name(call) == "embedding_lookup":
        params = argument(call, 0, "params")
        return source.code(params) if params is not None else ""
    layer = source.code(call.func)
    for assign in all_of(source.module, cst.Assign):
        made, names = assign.value, [source.code(target.target) for target in assign.targets]
        if is_call_to(made, "Embedding") and layer in names:
            return f"{layer}.embeddings"
    return ""


def input_shape(case: FixCase) -> tuple[int | None, ...]:
    """The shape of what the op at the cut took; empty if it is not known."""
    trace = case.trace
    op = trace.op(case.cause.op_id)
    tensor = trace.tensors.get(op.inputs[0]) if op is not None and op.inputs else None
    return tensor.shape or () if tensor is not None else ()


def rank_of(case: FixCase, params: str) -> int:
    """The rank of the tensor or variable of this name; 0 if it is not known."""
    form = form_of(case, params)
    return len(form[0]) if form is not None else 0


def form_of(case: FixCase, name: str) -> tuple[tuple[int | None, ...], str] | None:
    """The shape and dtype of the tensor or variable of this name, if it is known."""
    trace = case.trace
    for tensor, names in trace.names.items():
        known = trace.variable(tensor) or trace.tensors.get(tensor)
        if name in names and known is not None:
            return known.shape or (), known.dtype
    return None
