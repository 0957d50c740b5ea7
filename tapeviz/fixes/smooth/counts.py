"""Give histograms, bins, counts and one-hot vectors weights that change smoothly.

An element counts for the whole number next to it by a triangle of width 2: 1 at the number itself,
0 one away from it. That is linear interpolation between two bins.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, FixCase
from ..nodes import argument, called_name, dotted, elements, is_call_to
from ..plan import Plan
from ..rewrites import CallRewrite, Code, template
from ..source import ParsedSource
from ..translation.numpy_words import LEAVING_METHODS, without_exit


def triangle(source: ParsedSource, distance: str) -> str:
    """The code of 1 at a distance of 0, 0 from 1 on, and straight in between."""
    return f"{source.tf}.nn.relu(1.0 - {source.tf}.abs({distance}))"


def _ends(source: ParsedSource, given: cst.BaseExpression | None) -> tuple[str, str]:
    """The code of both ends of a range."""
    if given is None:
        return "", ""
    if len(ends := elements(given)) == 2:
        return source.operand(ends[0]), source.operand(ends[1])
    code = source.operand(given)
    return f"{code}[0]", f"{code}[1]"


def _position(source: ParsedSource, call: cst.Call, x: str) -> tuple[str, str]:
    """The position of ``x`` among the bins, counted from 0, and the number of bins."""
    low, high = _ends(source, argument(call, 1, "value_range"))
    bins = source.argument_code(call, 2, "nbins") or "100"
    return (_among_bins(x, low, high, bins) if low else ""), bins


def _among_bins(x: str, low: str, high: str, bins: str) -> str:
    return f"({x} - {low}) / ({high} - {low}) * {bins} - 0.5"


def _into_bins(source: ParsedSource, place: str, bins: str) -> str:
    distance = f"{place} - {source.tf}.range({bins}, dtype={source.tf}.float32)"
    return f"{source.tf}.reduce_sum({triangle(source, distance)}, axis=0)"


def _histogram(case: FixCase, call: cst.Call) -> str:
    source = case.source
    flat = f"{source.tf}.reshape({source.argument_code(call, 0, 'values')}, [-1, 1])"
    place, bins = _position(source, call, flat)
    within = (
        f"{source.tf}.clip_by_value({place}, 0.0, {bins} - 1.0)"  # as the op counts those beyond
    )
    return _into_bins(source, within, bins) if place else ""


def _numpy_histogram(case: FixCase, call: cst.Call) -> str:
    """The counts and the edges of the bins, as ``np.histogram`` returns them."""
    source, tf = case.source, case.source.tf
    x = _tensor_behind(source, argument(call, 0, "a"))
    weighed = any(arg.keyword and arg.keyword.value in ("weights", "density") for arg in call.args)
    if dotted(call.func) != f"{source.np}.histogram" or not x or weighed or len(call.args) > 3:
        return ""
    bins = source.argument_code(call, 1, "bins") or "10"
    low, high = _ends(source, argument(call, 2, "range"))
    if not low:
        low, high = f"{tf}.reduce_min({x})", f"{tf}.reduce_max({x})"
    place = _among_bins(f"{tf}.reshape({x}, [-1, 1])", low, high, bins)
    ends = ", ".join(f"{tf}.cast({end}, {tf}.float32)" for end in (low, high))
    return f"({_into_bins(source, place, bins)}, {tf}.linspace({ends}, {bins} + 1))"


def _tensor_behind(source: ParsedSource, node: cst.BaseExpression | None) -> str:
    """The tensor that a NumPy array was taken from: ``x`` of ``x.numpy()``, or of its name."""
    made = source.value_of(node) if node is not None else None
    if is_call_to(made, "numpy"):
        node = made.func.value if isinstance(made.func, cst.Attribute) else None
    return source.operand(node) if isinstance(node, cst.BaseExpression) else ""


def _histogram_bins(case: FixCase, call: cst.Call) -> str:
    source = case.source
    place, bins = _position(source, call, source.argument_code(call, 0, "values"))
    return f"{source.tf}.clip_by_value({place}, -0.5, {bins} - 0.5)" if place else ""


def _bincount(case: FixCase, call: cst.Call) -> str:
    """Remove the cast, too, where floats were cast to integers."""
    source = case.source
    given = argument(call, 0, "arr")
    count = source.argument_code(call, 2, "minlength")
    floats = uncast(source, given) if given is not None else ""
    if not floats or not count:
        return ""
    flat = f"{source.tf}.reshape({floats}, [-1, 1])"
    distance = f"{flat} - {source.tf}.range({count}, dtype={source.tf}.float32)"
    return f"{source.tf}.reduce_sum({triangle(source, distance)}, axis=0)"


def _one_hot(case: FixCase, call: cst.Call) -> str:
    source = case.source
    given, depth = argument(call, 0, "indices"), source.argument_code(call, 1, "depth")
    floats = uncast(source, given) if given is not None else ""
    if not floats or not depth:
        return ""
    x = f"{source.tf}.expand_dims({floats}, -1)"
    return triangle(source, f"{x} - {source.tf}.range({depth}, dtype={source.tf}.float32)")


def _edges_passed(values: tuple[int, str], edges: tuple[int, str]) -> Code:
    """Each edge counts by a sigmoid of how far it was passed."""

    def code(case: FixCase, call: cst.Call) -> str:
        x, sorted_edges = argument(call, *values), argument(call, *edges)
        return _passed(case.source, x, sorted_edges)

    return code


def _passed(
    source: ParsedSource, x: cst.BaseExpression | None, edges: cst.BaseExpression | None
) -> str:
    if x is None or edges is None:
        return ""
    tf, code = source.tf, source.code
    far = f"{tf}.expand_dims({code(x)}, -1) - {source.operand(edges)}"
    return f"{tf}.reduce_sum({tf}.sigmoid({far}), axis=-1)"


_IN_TOP_K = ("in_top_k", "sparse_top_k_categorical_accuracy")


def _in_top_k(case: FixCase, call: cst.Call) -> str:
    """Replace ``in_top_k`` by how far fewer than k scores exceed that of the target, each counted
    by a sigmoid."""
    source, tf = case.source, case.source.tf
    target = source.argument_code(call, 0, "targets", "y_true")
    scores = source.argument_code(call, 1, "predictions", "y_pred")
    k = source.argument_code(call, 2, "k") or "5"
    if not (target and scores):
        return ""
    if not is_call_to(call, "in_top_k"):
        target = f"{tf}.cast({tf}.reshape({target}, [-1]), {tf}.int32)"
    own = f"{tf}.gather({scores}, {target}, batch_dims=1)[:, {tf}.newaxis]"
    return f"{tf}.sigmoid({k} - {tf}.reduce_sum({tf}.sigmoid({scores} - {own}), -1))"


def _absolute(case: FixCase, call: cst.Call) -> str:
    source = case.source
    x = source.argument_code(call, 0, "input")
    given = argument(call, 0, "input")
    if given is None or isinstance(given, cst.Comparison):
        return ""
    return f"{source.tf}.reduce_sum({source.tf}.abs({x}){further_args(source, call)})"


def _row(what: str, code: Code, *names: str) -> CallRewrite:
    return CallRewrite(names, code, f"Estimate: {what}")


SOFT_COUNTS = (
    _row("a histogram into which elements count by distance", _histogram, "histogram_fixed_width"),
    _row("a histogram into which elements count by distance", _numpy_histogram, "histogram"),
    _row(
        "the place among the bins, not rounded down", _histogram_bins, "histogram_fixed_width_bins"
    ),
    _row("counts into which elements count by distance", _bincount, "bincount"),
    _row("a one-hot vector that goes over from one place to the next", _one_hot, "one_hot"),
    _row(
        "count each edge by a sigmoid",
        _edges_passed((1, "values"), (0, "sorted_sequence")),
        "searchsorted",
    ),
    _row(
        "count each boundary by a sigmoid",
        _edges_passed((0, "input"), (1, "boundaries")),
        "Bucketize",
    ),
    _row("how far the target is among the first, by sigmoids", _in_top_k, *_IN_TOP_K),
    _row("the sum of absolute values in place of the count", _absolute, "count_nonzero"),
    _row(
        "count each singular value by tanh, which goes from 0 to 1",
        template("{tf}.reduce_sum({tf}.tanh({tf}.linalg.svd({arg}, compute_uv=False)), -1)"),
        "matrix_rank",
    ),
)
"""The rows of the table :data:`tapeviz.fixes.table.FIXES` that make counts smooth."""


def count_unique(case: FixCase) -> Iterator[Edit]:
    """``values, _, count = tf.unique_with_counts(round(x))`` → a count to which each element adds
    by how near it is to the value."""
    source, tf = case.source, case.source.tf
    for call in source.calls_to("unique_with_counts"):
        given, statement = argument(call, 0, "x"), source.statement_of(call)
        targets = elements(source.target_of(call))
        if given is None or statement is None or len(targets) != 3:
            continue
        distinct, _, count = targets
        floats, plan = before_rounding(source, given), Plan(source)
        values = source.code(distinct)
        if values == "_":
            values = plan.fresh_name("values")
            plan.replace(distinct, values)
        fixed = f"{tf}.stop_gradient({tf}.cast({values}, {tf}.float32))"
        far = f"{tf}.expand_dims({floats}, -1) - {fixed}"
        counted = f"{tf}.reduce_sum({triangle(source, far)}, axis=0)"
        plan.after(statement, f"{source.code(count)} = {counted}")
        title = "Estimate: a count to which elements add by how near they are to its value"
        yield from plan.edits(title)


def before_rounding(source: ParsedSource, node: cst.BaseExpression) -> str:
    """The floats that were cast or rounded, else the expression itself."""
    floats = uncast(source, node)
    made = source.value_of(node)
    while not floats and isinstance(made, cst.Call) and (x := _without_rounding(made)) is not None:
        node = made = x
    return floats or source.code(node)


_MADE = (cst.Call, cst.BinaryOperation, cst.Subscript)


def uncast(source: ParsedSource, node: cst.BaseExpression) -> str:
    """The floats that were rounded and cast to integers: of the cast itself, or of its name."""
    if isinstance(node, cst.Name):
        made, place = source.maker_of(node) or (None, None)
        if is_call_to(made, "unstack", "split") and made.args:
            made = made.args[0].value if place is not None else None
        if isinstance(made, (cst.ListComp, cst.GeneratorExp)) and place is not None:
            return _uncast_each(source, made, place)
        x = uncast(source, made) if isinstance(made, _MADE) else ""
        return f"{x}[{place}]" if x and place is not None else x
    if isinstance(node, cst.Subscript):
        x = uncast(source, node.value)
        return x + source.code(node).removeprefix(source.code(node.value)) if x else ""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.right, cst.Integer):
        x = uncast(source, node.left)  # n + 1
        return f"{x}{source.code(node).removeprefix(source.code(node.left))}" if x else ""
    if not isinstance(node, cst.Call) or not node.args:
        return ""
    inner = node.args[0].value
    if called_name(node) == "reduce_sum":
        x = uncast(source, inner)
        return f"{source.tf}.reduce_sum({x}{further_args(source, node)})" if x else ""
    if called_name(node) in ("stack", "concat") and isinstance(inner, (cst.List, cst.Tuple)):
        each = [uncast(source, element) for element in elements(inner)]
        name = called_name(node)
        text = f"{source.tf}.{name}([{', '.join(each)}]{further_args(source, node)})"
        return text if all(each) else ""
    if called_name(node) in ("clip_by_value", "minimum", "maximum", "reshape", "squeeze"):
        x = uncast(source, inner)
        bounds = "".join(f", {source.code(arg.value)}" for arg in node.args[1:])
        return f"{source.tf}.{called_name(node)}({x}{bounds})" if x else ""
    if called_name(node) in ("Bucketize", "searchsorted"):
        is_search = called_name(node) == "searchsorted"
        values = argument(node, 1, "values") if is_search else argument(node, 0, "input")
        edges = argument(node, *((0, "sorted_sequence") if is_search else (1, "boundaries")))
        return _passed(source, values, edges)
    if (boundaries := _boundaries(source, node)) is not None:
        return _passed(source, argument(node, 0, "inputs"), boundaries)
    if searches_edges(source, node):
        return _between_edges(source, node)
    if called_name(node) == "astype" and "int" in source.code(inner):
        inner = node.func.value if isinstance(node.func, cst.Attribute) else inner
    elif called_name(node) not in ("cast", "int") and dotted(node.func) not in _TO_INT:
        return ""
    dtype = argument(node, 1, "dtype") if called_name(node) == "cast" else None
    if dtype is not None and any(word in source.code(dtype) for word in ("float", "bool")):
        return ""
    while isinstance(inner, cst.Call) and (inside := _without_rounding(inner)) is not None:
        inner = inside
    is_whole = is_call_to(inner, *_WHOLE)
    if is_whole or isinstance(inner, cst.Comparison):
        return ""
    return uncast(source, inner) or source.operand(inner)  # a second cast in the first


def _boundaries(source: ParsedSource, call: cst.Call) -> cst.BaseExpression | None:
    """The edges of the bins, where a ``tf.keras.layers.Discretization`` is called."""
    layer = call.func
    made = source.bound_to(dotted(layer)) if not isinstance(layer, cst.Call) else layer
    if not is_call_to(made, "Discretization"):
        return None
    return argument(made, 0, "bin_boundaries")


def soft_bins(case: FixCase) -> Iterator[Edit]:
    """``bins(x)`` of a ``tf.keras.layers.Discretization`` → the sum of a sigmoid for each edge."""
    source, plan = case.source, Plan(case.source)
    for call in source.nodes(cst.Call, case.cause.line):
        boundaries = _boundaries(source, call)
        if boundaries is not None and call.args:
            plan.replace(call, _passed(source, call.args[0].value, boundaries))
    yield from plan.edits("Estimate: count each boundary by a sigmoid")


def searches_edges(source: ParsedSource, node: cst.BaseExpression) -> bool:
    """Whether NumPy looks for numbers among edges, here or in what a name is bound to, perhaps
    with a whole number added."""
    made = source.value_of(node)
    if isinstance(made, cst.BinaryOperation) and isinstance(made.right, cst.Integer):
        made = made.left
    names = (f"{source.np}.digitize", f"{source.np}.searchsorted")
    return isinstance(made, cst.Call) and dotted(made.func) in names


def up_to_one(tf: str, part: str) -> str:
    """The code of ``part`` between 0 and 1. Where it is exactly 1 it has no slope, unlike with
    ``tf.clip_by_value``, which counts two slopes where one element ends and the next begins:
    ``tf.minimum`` gives that of equal numbers to its first argument (_MinimumGrad in math_grad.py,
    2.15-2.21)."""
    return f"{tf}.maximum({tf}.minimum(1.0, {part}), 0.0)"


def _between_edges(source: ParsedSource, call: cst.Call) -> str:
    """How many edges NumPy found below a number, plus the part of the way to the next one: half of
    a piece is the whole number itself."""
    x, edges = argument(call, 0, "x"), argument(call, 1, "bins")
    if called_name(call) == "searchsorted":
        x, edges = argument(call, 1, "v"), argument(call, 0, "a")
    if x is None or edges is None:
        return ""
    tf = source.tf
    part = f"({tf}.expand_dims(x, -1) - e[:-1]) / (e[1:] - e[:-1])"
    given = f"{source.code(without_exit(x))}, {tf}.cast({source.code(edges)}, {tf}.float32)"
    return f"(lambda x, e: 0.5 + {tf}.reduce_sum({up_to_one(tf, part)}, -1))({given})"


def _uncast_each(source: ParsedSource, each: cst.BaseComp, place: int) -> str:
    """``box[1]`` for the second of ``(int(v) for v in box)``."""
    assert isinstance(each, (cst.ListComp, cst.GeneratorExp))
    inside = uncast(source, each.elt) if isinstance(each.elt, cst.Call) else ""
    values = each.for_in.iter
    while isinstance(values, cst.Call) and (inner := _without_rounding(values)) is not None:
        values = inner
    name = dotted(each.for_in.target)
    is_each = inside and inside == name
    return f"{source.operand(values)}[{place}]" if is_each else ""


def further_args(source: ParsedSource, call: cst.Call) -> str:
    """The arguments after the first, with a comma in front of each, but for the dtype of a
    count."""
    kept = (arg for arg in call.args[1:] if arg.keyword is None or arg.keyword.value != "dtype")
    return "".join(f", {source.code(arg)}".rstrip(", ") for arg in kept)


def _without_rounding(call: cst.Call) -> cst.BaseExpression | None:
    """``x`` of ``tf.round(x)`` and of ``x.numpy()``."""
    if called_name(call) in _ROUNDING and call.args:
        return call.args[0].value
    is_left = called_name(call) in LEAVING_METHODS and not call.args
    return call.func.value if is_left and isinstance(call.func, cst.Attribute) else None


_WHOLE = ("argmax", "argmin", "argsort", "shape", "size", "where", "count_nonzero")
_ROUNDING = ("round", "floor", "ceil", "rint", "float", "around")
# Functions of Python that give a whole number of its type int.
_TO_INT = ("round", "math.floor", "math.ceil", "math.trunc")
