"""Call a Keras model with new weights that were written into it while a tape records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import libcst as cst

from ...text.called_names import VARIABLE_LISTS
from ..blocks import Block, block_of_call, watch_inside
from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, dotted, elements, enclosed, nodes_in, sole
from ..plan import Plan
from ..regions import LoopRounds, region_after, rounds_around
from ..renaming import rename_reads
from ..source import CstStatement, ParsedSource
from ..translation.numpy_words import without_exit
from .variables import constant_of


def model_of_weights(source: ParsedSource, variables: cst.BaseExpression) -> str:
    """``model`` of ``model.trainable_variables``, or of a name that was given those."""
    if isinstance(variables, cst.Attribute) and variables.attr.value in VARIABLE_LISTS:
        return dotted(variables.value)
    if isinstance(variables, cst.Name):
        for assign in all_of(source.module, cst.Assign):
            bound = assign.targets[0].target
            is_it = isinstance(bound, cst.Name) and bound.value == variables.value
            if is_it and isinstance(assign.value, cst.Attribute):
                return model_of_weights(source, assign.value)
    return ""


def call_with_weights(plan: Plan, model: str, weights: str, region: Iterable[cst.CSTNode]) -> int:
    """``model(x)`` → ``model.stateless_call(weights, …, x)[0]`` (Keras 3); how many calls."""
    count = 0
    for statement in region:
        for call in all_of(statement, cst.Call):
            if dotted(call.func) == model:
                plan.replace(call, partial(_called_with, plan.source, model, weights))
                count += 1
    return count


def _called_with(source: ParsedSource, model: str, weights: str, call: cst.Call) -> cst.CSTNode:
    given = ", ".join(source.code(arg).rstrip(", ") for arg in call.args)
    state = f"{weights}, {model}.non_trainable_variables"
    return cst.parse_expression(f"{model}.stateless_call({state}, {given})[0]")


def begin_with_tensors(
    plan: Plan, rounds: LoopRounds, variables: cst.BaseExpression, new: str
) -> None:
    """``new`` holds the variables' tensors before the first round, and tapes in the rounds that are
    asked for the variables watch them: a tape follows by itself only variables."""
    source, loop = plan.source, rounds.loop
    v = plan.fresh_name("v")
    tensors = f"[{source.tf}.convert_to_tensor({v}) for {v} in {source.code(variables)}]"
    plan.before(loop, f"{new} = {tensors}")
    listed = enumerate(elements(variables))
    names = {source.code(each): f"{new}[{place}]" for place, each in listed}
    names[source.code(variables)] = new
    watch_inside(plan, [loop], None, lambda asked: names.get(source.code(asked), ""))


def call_with_computed_weights(case: FixCase) -> Iterator[Edit]:
    """``layer = Dense(2, kernel_initializer=Constant(z.numpy()))`` → the layer is built, and called
    with ``z`` in place of its kernel."""
    source = case.source
    for made in source.calls(case.cause.line, *_layers_on(source, case.cause.line)):
        weights: list[tuple[str, str]] = []
        for arg in made.args:
            keyword = arg.keyword.value if arg.keyword is not None else ""
            value = constant_of(arg.value) if keyword.endswith(_INITIALIZER) else None
            if value is not None:
                code = source.code(without_exit(value))
                weights.append((keyword.removesuffix(_INITIALIZER), code))
        target = source.target_of(made)
        name = dotted(target) if target is not None else ""
        calls = [
            call
            for call in all_of(source.module, cst.Call)
            if call.func is made or (name and dotted(call.func) == name and call.args)
        ]
        plan = Plan(source)
        statement = plan.statement_begun_by(calls[0]) if weights and calls else None
        if statement is None or not calls[0].args:
            continue
        layer = name or plan.fresh_name("layer")
        if not name:
            plan.before(statement, f"{layer} = {source.code(made)}")
        plan.before(statement, f"{layer}.build({source.operand(calls[0].args[0].value)}.shape)")
        chosen = "".join(f"{z} if v is {layer}.{weight} else " for weight, z in weights)
        given = f"[{chosen}v for v in {layer}.trainable_variables]"
        for call in calls:
            plan.replace(call, partial(_called_with, source, layer, given))
        yield from plan.edits(f"Call {layer} with the computed {weights[0][0]}, by stateless_call")


_INITIALIZER = "_initializer"


def _layers_on(source: ParsedSource, line: int) -> set[str]:
    """The names of the classes that are called with an initializer on a line."""
    return {
        called_name(call)
        for call in source.nodes(cst.Call, line)
        for arg in call.args
        if arg.keyword is not None and arg.keyword.value.endswith(_INITIALIZER)
    }


@dataclass(frozen=True, slots=True)
class _InnerStep:
    """A statement in which an optimizer steps variables; ``block``: that of the asked tape."""

    statement: CstStatement
    gradients: cst.BaseExpression
    variables: cst.BaseExpression
    rate: str
    block: Block | None


def step_by_hand(case: FixCase) -> Iterator[Edit]:
    """``optimizer.apply_gradients`` inside the tape → a plain gradient step on tensors."""
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    for call in source.calls(case.cause.line, "apply_gradients"):
        statement = source.statement_of(call)
        pairs = argument(call, 0, "grads_and_vars")
        is_alone = isinstance(small := sole(statement), cst.Expr) and small.value is call
        if statement is None or not is_alone or pairs is None:
            continue
        parted = _parted(pairs)
        if parted is None:
            continue
        assert isinstance(call.func, cst.Attribute)
        step = _InnerStep(statement, *parted, _rate_of(source, statement, call.func.value), block)
        yield from _steps(source, step)
        yield from _steps_in_rounds(source, step)


def _rate_of(source: ParsedSource, step: CstStatement, optimizer: cst.BaseExpression) -> str:
    """The learning rate: the tensor that was assigned to the optimizer's before the step, or whose
    number the optimizer was made with, if one was."""
    if assigned := _assigned_rate(source, step, f"{source.code(optimizer)}.learning_rate"):
        return source.operand(assigned)
    made = source.value_of(optimizer)
    given = argument(made, 0, "learning_rate", "lr")
    tensor = without_exit(given) if given is not None else None
    if given is None or tensor is None or tensor is given:
        return f"{source.code(optimizer)}.learning_rate"
    return source.operand(tensor)


def _assigned_rate(
    source: ParsedSource, step: CstStatement, rate: str
) -> cst.BaseExpression | None:
    """``r`` of ``opt.learning_rate = r`` or ``opt.learning_rate.assign(r)``, if it is done in one
    place alone, which is before the step."""
    given = [
        node.value
        for node in all_of(source.module, cst.Assign)
        if any(dotted(target.target) == rate for target in node.targets)
    ]
    given += [call.args[0].value for call in source.calls_to(f"{rate}.assign") if call.args]
    is_before = len(given) == 1 and source.line(given[0]) < source.line(step)
    return given[0] if is_before else None


def _parted(
    pairs: cst.BaseExpression,
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """Gradients and variables of ``zip(gs, ws)`` or of ``[(g, w), …]``, as expressions."""
    if isinstance(pairs, cst.Call) and len(pairs.args) == 2:
        return pairs.args[0].value, pairs.args[1].value
    both = [elements(pair) for pair in elements(pairs)]
    if not both or not all(len(pair) == 2 for pair in both):
        return None
    columns = zip(*both, strict=True)
    gradients, variables = (cst.List([cst.Element(item) for item in each]) for each in columns)
    return gradients, variables


def _steps(source: ParsedSource, step: _InnerStep) -> Iterator[Edit]:
    variables = step.variables
    region = region_after(source, step.statement, step.block)
    plan = Plan(source)
    new = plan.fresh_name("new_weights")
    plan.before(step.statement, _stepped(plan, step, new, source.code(variables)))
    model = model_of_weights(source, variables)
    count = rename_reads(plan, variables, new, region.statements)
    for place, element in enumerate(elements(variables)):
        count += rename_reads(plan, enclosed(element), f"{new}[{place}]", region.statements)
    if model:
        count += call_with_weights(plan, model, new, region.statements)
    if count:
        yield from plan.edits(f"Take the inner step on tensors, in {new}", is_estimate=True)


def _steps_in_rounds(source: ParsedSource, step: _InnerStep) -> Iterator[Edit]:
    """The same for a step in each round of a loop; the variables are stepped, too."""
    rounds = rounds_around(source, step.statement, step.block)
    model = model_of_weights(source, step.variables)
    listed = elements(step.variables)
    if rounds is None or not (model or listed):
        return
    plan = Plan(source)
    new = plan.fresh_name("new_weights")
    begin_with_tensors(plan, rounds, step.variables, new)
    plan.after(step.statement, _stepped(plan, step, new, new))
    rename_reads(plan, step.variables, new, rounds.statements)
    count = call_with_weights(plan, model, new, rounds.statements) if model else 0
    for place, element in enumerate(listed):
        count += rename_reads(plan, element, f"{new}[{place}]", rounds.statements)
    for written in nodes_in(step.statement):
        plan.changes.pop(written, None)  # what the optimizer steps
    if count:
        title = f"Take the inner steps on tensors, in {new} from round to round"
        yield from plan.edits(title, is_estimate=True)


def _stepped(plan: Plan, step: _InnerStep, new: str, variables: str) -> str:
    """Code that makes ``new`` of the variables by a plain gradient step."""
    w, g = plan.fresh_name("w"), plan.fresh_name("g")
    pairs = f"zip({plan.source.code(step.gradients)}, {variables})"
    return f"{new} = [{w} - {step.rate} * {g} for {g}, {w} in {pairs}]"
