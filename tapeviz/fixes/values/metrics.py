"""Use the tensors themselves where a metric, a dataset or an array was to carry a loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, dotted, pairs_of
from ..plan import Plan
from ..source import ParsedSource

_FORMS = {
    "Mean": "{tf}.reduce_mean({a})",
    "Sum": "{tf}.reduce_sum({a})",
    "MeanSquaredError": "{tf}.reduce_mean({tf}.square({a} - {b}))",
    "MeanAbsoluteError": "{tf}.reduce_mean({tf}.abs({a} - {b}))",
}
# Smooth stand-ins: how sure the prediction is of the right answer. They grow as the metric does.
_SURE = {
    "SparseCategoricalAccuracy": "{tf}.reduce_mean({tf}.gather({b}, {a}, batch_dims=1))",
    "CategoricalAccuracy": "{tf}.reduce_mean({tf}.reduce_sum({a} * {b}, -1))",
    "BinaryAccuracy": "{tf}.reduce_mean(1.0 - {tf}.abs({a} - {b}))",
    "Precision": "{tf}.reduce_sum({a} * {b}) / {tf}.reduce_sum({b})",
    "AUC": (  # the share of pairs of a right and a wrong one that are in order
        "{tf}.reduce_sum({tf}.sigmoid({tf}.reshape({b}, [-1, 1]) - {tf}.reshape({b}, [1, -1]))"
        " * {tf}.reshape({a}, [-1, 1]) * (1.0 - {tf}.reshape({a}, [1, -1])))"
        " / ({tf}.reduce_sum({a}) * {tf}.reduce_sum(1.0 - {a}))"
    ),
    "MeanIoU": (
        "{tf}.reduce_mean({tf}.math.divide_no_nan({tf}.reduce_sum({y} * {p}, 0), "
        "{tf}.reduce_sum({y} + {p} - {y} * {p}, 0)))"
    ),
    "Recall": "{tf}.reduce_sum({a} * {b}) / {tf}.reduce_sum({a})",
}
# Metrics that are the mean of the loss of the same name (keras.metrics and keras.losses, 2 and 3).
_LOSSES = frozenset(
    {"BinaryCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy", "Poisson"}
    | {"KLDivergence", "Hinge", "SquaredHinge", "CategoricalHinge", "MeanSquaredLogarithmicError"}
    | {"MeanAbsolutePercentageError", "MeanSquaredError", "MeanAbsoluteError"}
)
_SURE_TITLE = "Estimate: how sure it is of the right answers, in place of how many are right"
_TITLE = "Compute the loss from the tensors; the metric only reports"


def compute_beside_metric(case: FixCase) -> Iterator[Edit]:
    """``loss = metric.result()``, or ``metric(y, p)`` → the same mean of the tensors themselves."""
    source = case.source
    for line in case.lines():
        statement = source.statement(line)
        for call in all_of(statement, cst.Call) if statement is not None else ():
            metric = dotted(call.func).removesuffix(".update_state")
            if _made(source, metric) is None:
                continue
            yield from _collected(source, metric, call)
            value, is_sure = _value(source, metric, call), False
            if not value and (value := _value(source, metric, call, _SURE)):
                is_sure = True
            results = [c for c in source.calls_to(f"{metric}.result") if source.line(c) >= line]
            if value and results:
                plan = Plan(source, {results[0]: value})
                yield from plan.edits(_SURE_TITLE if is_sure else _TITLE, is_estimate=is_sure)
        for forms, is_sure in ((_FORMS, False), (_SURE, True)):
            plan = Plan(source)
            for call in all_of(statement, cst.Call) if statement is not None else ():
                if value := _value(source, dotted(call.func), call, forms):
                    plan.replace(call, value)
            yield from plan.edits(_SURE_TITLE if is_sure else _TITLE, is_estimate=is_sure)


def follow_average(case: FixCase) -> Iterator[Edit]:
    """``average.average(w)`` after ``average.apply([w])`` → the same number with the slope that the
    last step gave it, ``1 - decay``."""
    source, tf = case.source, case.source.tf
    for line in case.lines():
        for applied in source.calls(line, "apply"):
            name = dotted(applied.func).rpartition(".")[0]
            made = _made(source, name)
            decay = argument(made, 0, "decay")
            if made is None or decay is None or called_name(made) != "ExponentialMovingAverage":
                continue
            plan = Plan(source)
            share = f"(1.0 - {source.operand(decay)})"
            for read in source.calls_to(f"{name}.average"):
                if read.args:
                    w, now = source.operand(read.args[0].value), source.code(read)
                    plan.replace(read, f"{now} + {share} * ({w} - {tf}.stop_gradient({w}))")
            title = "Give the average the slope of its last step: TensorFlow keeps it in a variable"
            yield from plan.edits(title, has_other_slope=True)


def _collected(source: ParsedSource, metric: str, call: cst.Call) -> Iterator[Edit]:
    """Updates in a loop: their values are collected in a list in place of the metric."""
    loop = source.enclosing(call, cst.For) or source.enclosing(call, cst.While)
    made = _made(source, metric)
    form = {"Mean": "reduce_mean", "Sum": "reduce_sum"}.get(called_name(made) if made else "")
    results = source.calls_to(f"{metric}.result")
    if loop is None or form is None or len(call.args) != 1 or not results:
        return
    plan = Plan(source)
    name = plan.fresh_name(f"{metric.rsplit('.', 1)[-1]}_values")
    plan.before(loop, f"{name} = []")
    plan.replace(call, f"{name}.append({source.code(call.args[0].value)})")
    for result in results:
        if source.line(result) > source.line(loop):
            plan.replace(result, f"{source.tf}.{form}({name})")
    yield from plan.edits(_TITLE)


def _value(
    source: ParsedSource, metric: str, call: cst.Call, forms: Mapping[str, str] = _FORMS
) -> str:
    """Code that computes the metric of these values; empty if it is not known."""
    made = _made(source, metric)
    name = called_name(made) if made is not None else ""
    given = [source.operand(arg.value) for arg in call.args if arg.keyword is None]
    if made is None or not given:
        return ""
    if name in forms:
        a = source.code(call.args[0].value) if len(given) == 1 else given[0]
        classes = argument(made, 0, "num_classes")
        size = source.code(classes) if classes is not None else "1"
        rows = [
            f"{source.tf}.reshape({source.tf}.one_hot({x}, {size}), [-1, {size}])" for x in given
        ]
        return forms[name].format(tf=source.tf, a=a, b=given[-1], y=rows[0], p=rows[-1])
    if name not in _LOSSES or ".metrics." not in dotted(made.func):
        return ""
    loss = dotted(made.func).replace(".metrics.", ".losses.")
    kept = (arg for arg in made.args if arg.keyword is None or arg.keyword.value != "name")
    settings = ", ".join(source.code(arg).rstrip(", ") for arg in kept)
    return f"{loss}({settings})({', '.join(source.code(arg.value) for arg in call.args)})"


def _made(source: ParsedSource, name: str) -> cst.Call | None:
    """The call that a name was made with, where it is bound."""
    for assign in all_of(source.module, cst.Assign):
        for target in assign.targets:
            for to, value in pairs_of(target.target, assign.value):
                if name and _is_same(dotted(to), name) and isinstance(value, cst.Call):
                    return value
    return None


def _is_same(bound: str, name: str) -> bool:
    """``self.mean`` inside the class is what is ``model.mean`` outside."""
    if bound.startswith("self.") and "." in name:
        return bound.partition(".")[2] == name.partition(".")[2]
    return bound == name
