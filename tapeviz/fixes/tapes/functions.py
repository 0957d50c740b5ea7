"""Mend a ``custom_gradient`` that gives None, or an object that swallows its input."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.ops.custom_gradient import CustomGradient
from ...analysis.causes.states.stateful import StatefulObject
from ...wording import enumerated
from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, dotted, elements, is_call_to, parameters_of, sole
from ..plan import Plan, without_blank_lines
from ..source import ParsedSource


def differentiate_itself(case: FixCase) -> Iterator[Edit]:
    """Take away the decorator and the gradient function, so that TensorFlow differentiates the
    body."""
    source = case.source
    function = _decorated(case)
    if function is None or _is_cut_itself(case, function):
        return
    plan = Plan(source)
    for decorator in function.decorators:
        if dotted(decorator.decorator).endswith("custom_gradient"):
            plan.remove(decorator)
    inner = {function.name.value for function in all_of(function.body, cst.FunctionDef)}
    for result in all_of(function.body, cst.Return):
        if source.enclosing(result, cst.FunctionDef) is not function:
            continue
        parts = elements(result.value)
        if result.value is None or len(parts) != 2:
            continue
        if isinstance(parts[1], cst.Lambda) or dotted(parts[1]) in inner:
            plan.replace(result.value, parts[0])
            yield from plan.edits(f"Let TensorFlow differentiate {function.name.value} itself")
            return


def differentiate_rest(case: FixCase) -> Iterator[Edit]:
    """``return dy, None`` in the gradient function → the gradient of the value that a tape around
    its computation gives, where None stands."""
    source, function = case.source, _decorated(case)
    result = sole(source.statement(case.cause.line))
    inner = source.enclosing(result, cst.FunctionDef) if isinstance(result, cst.Return) else None
    if not isinstance(result, cst.Return) or function is None or inner is None:
        return
    if inner is function or not inner.params.params or _is_cut_itself(case, function):
        return
    given, upstream = result.value, parameters_of(inner)[0]
    parts = elements(given) or ([given] if given is not None else [])
    pairs = zip(parts, parameters_of(function), strict=False)
    lacking = [(part, name) for part, name in pairs if dotted(part) == "None"]
    body = list(function.body.body)
    at = body.index(inner) if inner in body else 0
    computing = [
        each
        for each in body[:at]
        if isinstance(each, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        and not isinstance(sole(each), cst.Expr)
    ]
    value = _value_returned(source, function)
    if not lacking or not computing or not value:
        return
    plan = Plan(source)
    tape = plan.fresh_name("inner")
    head = f"with {source.tf}.GradientTape(persistent=True) as {tape}:\n    "
    watched = ", ".join(name for _, name in lacking)
    watched = f"[{watched}]" if len(lacking) > 1 else watched
    block = plan.parse(f"{head}{tape}.watch({watched})\n")
    assert isinstance(block, cst.With)
    inside = block.body.with_changes(body=[*block.body.body, *map(without_blank_lines, computing)])
    plan.before(computing[0], block.with_changes(body=inside))
    for each in computing:
        plan.remove(each)
    for element, name in lacking:
        plan.replace(element, f"{tape}.gradient({value}, {name}, {upstream})")
    names = enumerated(name for _, name in lacking)
    yield from plan.edits(f"Let a tape in {function.name.value} compute the gradient of {names}")


def _value_returned(source: ParsedSource, function: cst.FunctionDef) -> str:
    """``y`` of ``return y, grad``; empty if it is no name."""
    for result in all_of(function.body, cst.Return):
        if source.enclosing(result, cst.FunctionDef) is function:
            parts = elements(result.value)
            return dotted(parts[0]) if len(parts) == 2 and isinstance(parts[0], cst.Name) else ""
    return ""


def loop_in_python(case: FixCase) -> Iterator[Edit]:
    """The function whose loop over a dataset has no gradient, without ``tf.function``."""
    source, evidence = case.source, case.cause.evidence
    loop = source.statement(case.cause.line)
    if evidence != StatefulObject("loop") or loop is None:
        return
    for function in source.ancestors(loop):
        if not isinstance(function, cst.FunctionDef):
            continue
        plan = Plan(source)
        if run_in_python(plan, function.name.value):
            title = f"Let Python run the loop: take {source.tf}.function off {function.name.value}"
            yield from plan.edits(title)


def run_in_python(plan: Plan, *names: str) -> bool:
    """Take ``tf.function`` off the functions of these names; whether any of them had it."""
    source, count = plan.source, 0
    compiled = f"{source.tf}.function"
    for function in all_of(source.module, cst.FunctionDef):
        for decorator in function.decorators if function.name.value in names else ():
            made = decorator.decorator
            if dotted(made.func if isinstance(made, cst.Call) else made) == compiled:
                plan.remove(decorator)
                count += 1
    for call in source.calls_to(compiled):
        if call.args and dotted(call.args[0].value) in names:
            plan.replace(call, call.args[0].value)
            count += 1
    return count > 0


def return_computed(case: FixCase) -> Iterator[Edit]:
    """A gradient function that computes something and forgets to return it."""
    source = case.source
    function = _decorated(case)
    for inner in all_of(function.body, cst.FunctionDef) if function is not None else ():
        body = inner.body.body
        last = body[-1] if body else None
        small = sole(last) if isinstance(last, cst.CSTNode) else None
        if all_of(inner.body, cst.Return):
            continue
        plan = Plan(source)
        if isinstance(small, cst.Expr):
            plan.replace(small, cst.Return(small.value))
        elif isinstance(small, cst.Assign) and isinstance(last, cst.SimpleStatementLine):
            plan.after(last, f"return {source.code(small.targets[0].target)}")
        else:
            continue
        yield from plan.edits(f"Return what {inner.name.value} computes")


def pass_upstream(case: FixCase) -> Iterator[Edit]:
    """``return None`` in the gradient function → the upstream gradient, as through the identity."""
    source = case.source
    statement = source.statement(case.cause.line)
    small = sole(statement)
    if not isinstance(small, cst.Return) or small.value is None:
        return
    function = source.enclosing(small, cst.FunctionDef)
    if function is None or not function.params.params:
        return
    upstream = parameters_of(function)[0]
    plan = Plan(source)
    for value in elements(small.value) or [small.value]:
        if isinstance(value, cst.Name) and value.value == "None":
            plan.replace(value, upstream)
    title = f"Estimate: return the upstream gradient {upstream} where None is returned"
    yield from plan.edits(title)


def _decorated(case: FixCase) -> cst.FunctionDef | None:
    evidence = case.cause.evidence
    name = evidence.function if isinstance(evidence, CustomGradient) else ""
    for function in all_of(case.source.module, cst.FunctionDef):
        has_decorator = any(
            dotted(decorator.decorator).endswith("custom_gradient")
            for decorator in function.decorators
        )
        if has_decorator and (function.name.value == name or _covers(case, function)):
            return function
    return None


def _is_cut_itself(case: FixCase, function: cst.FunctionDef) -> bool:
    """Whether the gradient is cut on a line of the function, too: TensorFlow's own gradient of what
    it computes would be ``None`` as well."""
    return any(case.source.covers(function, other.line) for other in case.finding.others)


def _covers(case: FixCase, function: cst.FunctionDef) -> bool:
    return case.source.covers(function, case.cause.line)


def keep_written(case: FixCase) -> Iterator[Edit]:
    """``array.write(i, v)`` → ``array = array.write(i, v)``."""
    source: ParsedSource = case.source
    plan = Plan(source)
    for call in case.calls("write", "unstack", "scatter", "split"):
        statement = source.statement_of(call)
        small = sole(statement)
        if not isinstance(small, cst.Expr) or small.value is not call:
            continue
        name = dotted(call.func).rsplit(".", 1)[0]
        target = cst.AssignTarget(cst.parse_expression(name))  # type: ignore[arg-type]
        assert called_name(call)
        plan.replace(small, lambda old, t=target: cst.Assign([t], old.value))  # type: ignore[misc]
    title = "Keep what write returns: the array with the value in it"
    yield from plan.edits(title, has_other_value=True)


def start_random(case: FixCase) -> Iterator[Edit]:
    """Weights that start as zeros → small random numbers."""
    source = case.source
    plan = Plan(source)
    for call in source.calls_to("Variable"):
        if not call.args:
            continue
        trained = argument(call, 1, "trainable")
        if trained is not None and source.code(trained) == "False":
            continue  # a mask or a counter that is 0 on purpose
        initial = call.args[0].value
        shape = _shape_of_zeros(source, initial)
        if shape:
            plan.replace(initial, f"{source.tf}.random.normal({shape}, stddev=0.1)")
    for text in all_of(source.module, cst.SimpleString):
        parent = source.parent(text)
        keyword = parent.keyword if isinstance(parent, cst.Arg) else None
        is_kernel = keyword is not None and keyword.value in ("kernel_initializer", "initializer")
        if text.evaluated_value == "zeros" and is_kernel:
            plan.replace(text, f"{text.quote}glorot_uniform{text.quote}")
    for call in source.calls_to("Zeros", "zeros_initializer"):
        place = source.parent(call)
        keyword = place.keyword if isinstance(place, cst.Arg) else None
        if keyword is None or keyword.value != "bias_initializer":
            plan.replace(call, f"{source.tf}.keras.initializers.GlorotUniform()")
    title = "Start the weights from small random numbers in place of zeros"
    yield from plan.edits(title, is_estimate=True)


def _shape_of_zeros(source: ParsedSource, initial: cst.BaseExpression) -> str:
    """The shape of ``tf.zeros(s)``, ``np.zeros(s)``, ``[0.0, 0.0]`` or ``0.0``, as code."""
    if is_call_to(initial, "zeros") and initial.args:
        return source.code(initial.args[0].value)
    shape: list[int] = []
    node = initial
    while parts := elements(node):
        shape.append(len(parts))
        if not all(part.deep_equals(parts[0]) for part in parts):
            return ""
        node = parts[0]
    is_zero = isinstance(node, cst.Float) and float(node.value) == 0.0
    return str(shape) if is_zero else ""
