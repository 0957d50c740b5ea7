"""Explain exceptions of optimizers, layers and models."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ....text.names import called_name, calls_in
from ....trace.ids import VariableId
from ..case import Case
from ..python.calls import definition, returns_value
from .empty_list import nothing_applied

_COMPUTING = ("loss", "metrics", "weighted_metrics")
"""Arguments of ``compile`` that are functions, or lists or dicts of such."""


def no_pairs(case: Case) -> str:
    if "apply_gradients" not in case.code:
        return ""
    if "got 0" in case.failure.message:
        return nothing_applied(case)
    call = case.calling("apply_gradients")
    given = call.args[0] if call is not None and call.args else None
    if given is not None and _gives_pairs(given):
        if "Tensor' object has no attribute '_unique_id'" not in case.failure.message:
            return ""
        return _tensor_for_variable(case, given)
    return (
        "apply_gradients was not given pairs of a gradient and its variable. "
        "An optimizer has to know which gradient belongs to which variable. "
        "Write optimizer.apply_gradients(zip(gradients, variables))."
    )


def _gives_pairs(given: ast.expr) -> bool:
    if isinstance(given, ast.Call):
        return (called_name(given), len(given.args)) in (("zip", 2), ("list", 1))
    if isinstance(given, (ast.ListComp, ast.GeneratorExp)):
        return isinstance(given.elt, ast.Tuple)
    elements = given.elts if isinstance(given, (ast.List, ast.Tuple)) else []
    return bool(elements) and all(isinstance(element, ast.Tuple) for element in elements)


def _tensor_for_variable(case: Case, given: ast.expr) -> str:
    """Pairs with a tensor in the place of the variable; the line that gave it the name."""
    trace, line = case.trace, 0
    if right := _turned_round(case, given):
        return (
            f"apply_gradients was given pairs of a variable and its gradient, and takes the "
            f"gradient first. Write {right}."
        )
    for name in (node.id for node in ast.walk(given) if isinstance(node, ast.Name)):
        named = [b for b in trace.bindings if b.name == name and b.tensors]
        holds = [VariableId(binding.tensors[0][0]) in trace.variables for binding in named]
        if True in holds and not holds[-1]:
            line = next(b.site.line for b, held in zip(named, holds, strict=True) if not held)
            return (
                f"apply_gradients was given a tensor in place of a variable, which it could "
                f"change: line {line} gives the name {name}, which meant a tf.Variable, to a "
                f"tensor. Change the variable in place: {name}.assign(…)."
            )
    return (
        "apply_gradients was given a tensor in place of a variable. An optimizer changes variables "
        "in place, and tensors have no place. Give the variables that were made by tf.Variable."
    )


def _turned_round(case: Case, given: ast.expr) -> str:
    """For a ``zip`` of variables with what a gradient call gave, the ``zip`` as it should be."""
    if not isinstance(given, ast.Call) or called_name(given) != "zip" or len(given.args) != 2:
        return ""
    asked = {call.line for call in case.trace.calls if call.ended}
    gradients = {each.name for each in case.trace.bindings if each.site.line in asked}
    first, second = (
        {node.id for node in ast.walk(each) if isinstance(node, ast.Name)} for each in given.args
    )
    if first & gradients or not second & gradients:
        return ""
    return f"zip({case.text.segment(given.args[1])}, {case.text.segment(given.args[0])})"


def none_used(case: Case) -> str:
    if case.missing is None:
        return ""
    call, missing = case.missing
    return (
        f"Line {case.line} uses a gradient that is None: line {call.line} gave none for "
        f"{', '.join(missing[:3]) or 'its source'}. "
        f"None means that the tape found no path from the target back to the source. "
        f"The explanation of that gradient names the line that cuts it."
    )


def loss_without_return(case: Case) -> str:
    """A function of the snippet that ``compile`` was given and that returns nothing to ``fit``."""
    called = set(map(called_name, calls_in(case.text.statement(case.failure.line))))
    if called.isdisjoint(("fit", "evaluate", "train_on_batch", "test_on_batch")):
        return ""
    for call in case.nodes(ast.Call):
        if called_name(call) != "compile":
            continue
        named = [given.value for given in call.keywords if given.arg in _COMPUTING]
        for each in _functions_named([*call.args[1:3], *named]):
            made = definition(case, each.id)
            if made is not None and not returns_value(made):
                return (
                    f"{made.name} (line {made.lineno}), which line {call.lineno} gives to compile, "
                    f"returns nothing to Keras, which line {case.failure.line} runs. "
                    f"End it with a return of what it computes."
                )
    return ""


def step_without_dict(case: Case) -> str:
    """A ``train_step`` or ``test_step`` that returns a tensor, where ``fit`` or ``evaluate`` takes
    a dict (``_pythonify_logs`` of Keras 3.0 to 3.15; ``flatten_metrics_in_order`` of 2.15)."""
    called = set(map(called_name, calls_in(case.text.statement(case.failure.line))))
    steps = [name for method, name in _STEPS.items() if method in called]
    made = [each for each in case.nodes(ast.FunctionDef) if each.name in steps]
    if not made or not returns_value(made[0]):
        return ""
    return (
        f"{made[0].name} (line {made[0].lineno}) of the model that line {case.failure.line} runs "
        f"returns something else than a dict, and Keras takes the numbers that it shows from a "
        f"dict, by their names. End it with return {{'loss': loss}}."
    )


_STEPS = {"fit": "train_step", "train_on_batch": "train_step", "evaluate": "test_step"}


def _functions_named(given: Sequence[ast.expr]) -> Iterator[ast.Name]:
    """The names in expressions but those that are called there."""
    nodes = [node for each in given for node in ast.walk(each)]
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    return (node for node in nodes if isinstance(node, ast.Name) and node not in called)


def no_method(case: Case) -> str:
    """A method of optimizers that Keras 3 dropped."""
    owner, name = case.match[1], case.match[2]
    if name == "zero_grad":
        return (
            f"Line {case.line} calls zero_grad, as optimizers of PyTorch have it. In "
            f"TensorFlow each call of tape.gradient gives new gradients and adds to none: leave "
            f"the line out."
        )
    if name == "get_weights":
        return (
            f"Optimizers of Keras 3 have no get_weights, which line {case.line} calls. Their state "
            f"is in their variables: [v.numpy() for v in optimizer.variables]."
        )
    if name not in ("minimize", "get_gradients", "compute_gradients", "get_updates"):
        return ""
    return (
        f"Optimizers of Keras 3 have no {name}, and {owner} is one of them: they apply gradients, "
        f"they do not compute any. "
        f"Compute the loss inside with tf.GradientTape() as tape:, take tape.gradient(loss, "
        f"variables), then call optimizer.apply_gradients(zip(gradients, variables))."
    )
