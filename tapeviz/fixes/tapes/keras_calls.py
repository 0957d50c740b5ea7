"""Edit calls of Keras that raise: those of Keras 2 that Keras 3 does not take, and ``predict``."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, ErrorCase
from ..nodes import all_of, argument, called_name, with_arguments
from ..plan import Plan
from ..source import CstStatement, ParsedSource
from ..translation.translating import called_model

_IN_ORDER = ("name", "shape", "dtype", "initializer")
"""The first parameters of ``Layer.add_weight`` in Keras 2; in Keras 3 the first is the shape."""


def name_weight(case: ErrorCase) -> Iterator[Edit]:
    """``self.add_weight("w", [2])`` → ``self.add_weight(name="w", shape=[2])``, wherever a weight
    is made so: the next one would raise as well."""
    source = case.source
    plan = Plan(source)
    for call in source.calls_to("add_weight"):
        if not isinstance(argument(call, 0), cst.SimpleString):
            continue
        given = [arg for arg in call.args if arg.keyword is None and not arg.star]
        rest = [arg for arg in call.args if arg.keyword is not None]
        if len(given) + len(rest) != len(call.args) or len(given) > len(_IN_ORDER):
            continue
        words = [
            f"{keyword}={source.code(arg.value)}"
            for keyword, arg in zip(_IN_ORDER, given, strict=False)
        ]
        words += [f"{arg.keyword.value}={source.code(arg.value)}" for arg in rest if arg.keyword]
        plan.replace(call, f"{source.code(call.func)}({', '.join(words)})")
    yield from plan.edits("Give add_weight its arguments by name")


_COMPUTING = ("minimize", "compute_gradients")


def compute_on_tape(case: ErrorCase) -> Iterator[Edit]:
    """``opt.minimize(loss_fn, [w])`` → the loss on a tape, then ``opt.apply_gradients``.

    ``opt.compute_gradients(loss_fn, [w])``, which gives pairs, likewise.
    """
    source = case.source
    plan = Plan(source)
    steps = source.calls_to(*_COMPUTING)
    for call, (loss, variables) in with_arguments(steps, "loss", "var_list"):
        statement, value = plan.statement_begun_by(call), _value(source, loss)
        if not value or statement is None or not isinstance(call.func, cst.Attribute):
            continue
        tape, result = plan.fresh_name("tape"), plan.fresh_name("value")
        asked = source.code(variables)
        plan.before(statement, _on_tape(source, tape, f"{result} = {value}"))
        pairs = f"zip({tape}.gradient({result}, {asked}), {asked})"
        is_step = called_name(call) == "minimize"
        optimizer = source.code(call.func.value)
        plan.replace(call, f"{optimizer}.apply_gradients({pairs})" if is_step else f"list({pairs})")
    yield from plan.edits("Compute the gradients on a tape, and apply them")


def _on_tape(source: ParsedSource, tape: str, line: str) -> CstStatement:
    text = f"with {source.tf}.GradientTape() as {tape}:\n    {line}\n"
    block = cst.parse_statement(text)
    assert isinstance(block, cst.With)
    return block


def _value(source: ParsedSource, given: cst.BaseExpression) -> str:
    """The code that computes a loss that is given as a function of nothing; empty for a tensor."""
    made = source.value_of(given)
    if isinstance(made, cst.Lambda) and not made.params.params:
        return source.code(made.body) if made is given else f"{source.code(given)}()"
    functions = (function.name.value for function in all_of(source.module, cst.FunctionDef))
    is_function = isinstance(given, cst.Name) and given.value in functions
    return f"{source.code(given)}()" if is_function else ""


def call_model(case: ErrorCase) -> Iterator[Edit]:
    """``model.predict(x)`` on a tape → ``model(x)``: the dataset that ``predict`` makes has no
    gradient function (``IteratorGetNext``; TensorFlow 2.15, where its results are on the tape)."""
    source = case.source
    plan = Plan(source)
    for line in {op.line for op in case.trace.ops.values() if op.type == "IteratorGetNext"}:
        for call in source.calls(line, "predict"):
            if model := called_model(source, call):
                plan.replace(call, model)
    yield from plan.edits("Call the model itself in place of predict")
