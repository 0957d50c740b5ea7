"""Edit calls of Keras that raise: those of Keras 2 that Keras 3 does not take, ``predict``, an
optimizer for other variables, functions of TensorFlow on a model that is being built."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, ErrorCase
from ..nodes import all_of, argument, called_name, dotted, read_names, with_arguments
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


def make_own_optimizer(case: ErrorCase) -> Iterator[Edit]:
    """``opt.apply_gradients`` for variables that ``opt`` was not built for → of a second optimizer,
    made as the first one."""
    source = case.source
    for call in case.calls("apply_gradients", "minimize"):
        if not isinstance(call.func, cst.Attribute):
            continue
        name = source.code(call.func.value)
        made = [
            each
            for each in all_of(source.module, cst.Assign)
            if [source.code(target.target) for target in each.targets] == [name]
        ]
        statement = source.statement_of(made[0]) if len(made) == 1 else None
        if statement is not None:
            owner, dot, last = name.rpartition(".")
            plan = Plan(source)
            other = f"{owner}{dot}{plan.fresh_name(f'{last}_2')}"
            plan.after(statement, f"{other} = {source.code(made[0].value)}")
            plan.replace(call.func.value, other)
            yield from plan.edits("Make an optimizer of its own for these variables")


def wrap_in_layer(case: ErrorCase) -> Iterator[Edit]:
    """``tf.reduce_sum(h, axis=1)`` of what a layer of a model gives →
    ``tf.keras.layers.Lambda(lambda h: tf.reduce_sum(h, axis=1))(h)``."""
    source = case.source
    symbolic = {each.name for each in case.failure.held if each.type == "KerasTensor"}
    for node in (*case.nodes(cst.Call), *case.nodes(cst.BinaryOperation)):
        given = symbolic & read_names(node)
        if len(given) == 1 and _calls_functions(source, node):
            (name,) = given
            layer = f"{source.tf}.keras.layers.Lambda(lambda {name}: {source.code(node)})"
            plan = Plan(source, {node: f"{layer}({name})"})
            yield from plan.edits("Make a layer of the function")


def _calls_functions(source: ParsedSource, node: cst.CSTNode) -> bool:
    """Whether all calls in an expression are of functions of modules: Keras trains no weights of a
    layer that a ``Lambda`` calls."""
    paths = [dotted(call.func).split(".") for call in all_of(node, cst.Call)]
    return all(path[0] in source.imported and path[-1].islower() for path in paths)


def take_first_output(case: ErrorCase) -> Iterator[Edit]:
    """``model.output`` of a Sequential model, which has none in Keras 3 → ``model.outputs[0]``."""
    source = case.source
    for node in case.nodes(cst.Attribute):
        if node.attr.value == "output":
            model = source.code(node.value)
            plan = Plan(source, {node: f"{model}.outputs[0]"})
            yield from plan.edits(f"Take the first of the outputs of {model}")
