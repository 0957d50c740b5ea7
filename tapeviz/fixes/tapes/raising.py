"""Edit the text so that an exception of a gradient call is not raised."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.errors.python.results import paired_by_key
from ..blocks import TAPES, Block, block_of_call, gradient_call
from ..model import Edit, ErrorCase, raised_call
from ..nodes import (
    all_of,
    argument,
    bare,
    called_name,
    dotted,
    elements,
    is_call_to,
    nodes_in,
    sole,
)
from ..plan import Plan
from ..source import ParsedSource
from ..translation.translating import Translated


def make_persistent(case: ErrorCase) -> Iterator[Edit]:
    """A tape asked twice: ``persistent=True``."""
    source = case.source
    tapes = source.calls_to(TAPES[0])
    for call in _asking(case):
        name = source.code(call.func.value) if isinstance(call.func, cst.Attribute) else ""
        named = [tape for tape in tapes if _named(source, tape) == name]
        for tape in (named or tapes)[-1:]:
            if argument(tape, 0, "persistent") is None:
                given = source.further_arguments(tape)
                plan = Plan(source, {tape: f"{source.code(tape.func)}(persistent=True{given})"})
                yield from plan.edits("Make the tape persistent, so that it can be asked again")
                return


def _block_that_raised(case: ErrorCase) -> Block | None:
    """The block of the tape whose gradient call raised."""
    call = raised_call(case.trace)
    return None if call is None else block_of_call(case.source, case.trace, call)


def _asking(case: ErrorCase) -> Iterator[cst.Call]:
    return case.calls("gradient", "jacobian", "batch_jacobian")


def _named(source: ParsedSource, tape: cst.Call) -> str:
    parent = source.parent(tape)
    if isinstance(parent, cst.WithItem) and parent.asname is not None:
        return source.code(parent.asname.name)
    if isinstance(parent, cst.Assign):
        return source.code(parent.targets[0].target)
    return ""


def give_pairs(case: ErrorCase) -> Iterator[Edit]:
    """``apply_gradients(grads, variables)`` → ``apply_gradients(zip(grads, variables))``; so where
    only the gradients are given, with the sources that they were asked for. ``zip`` of two dicts →
    pairs by their keys; of gradients and other variables → those that they are the gradients by."""
    source, code = case.source, case.source.code
    for call in case.calls("apply_gradients"):
        given = [arg.value for arg in call.args if arg.keyword is None]
        alone = given[0] if len(given) == 1 else None
        made = source.value_of(alone) if alone is not None else None
        if is_call_to(made, "gradient"):
            sources = argument(made, 1, "sources")
            given += [sources] if sources is not None else []
        if len(given) == 2:
            listed = ", ".join(map(source.code, given))
            plan = Plan(source, {call: f"{source.code(call.func)}(zip({listed}))"})
            yield from plan.edits("Give the optimizer pairs of gradient and variable")
        dicts = {held.name for held in case.failure.held if held.keys and held.size >= 0}
        tensors = {held.name for held in case.failure.held if held.dtype}
        several = {h.name: h.size for h in case.failure.held if {"list", "tuple"} & {*h.kinds}}
        if not is_call_to(alone, "zip") or len(alone.args) != 2:
            continue
        first, second = (arg.value for arg in alone.args)
        names = [code(first), code(second)]
        made = source.value_of(first)
        sources = argument(made, 1, "sources") if is_call_to(made, "gradient") else None
        if sources is not None and code(sources) != names[1]:
            plan = Plan(source, {second: code(sources)})
            yield from plan.edits("Pair the gradients with what they were asked for")
        if dicts.issuperset(names):
            plan = Plan(source, {alone: paired_by_key(*names)})
            yield from plan.edits("Pair each gradient with the variable of the same key")
        elif tensors.issuperset(names):
            plan = Plan(source, {first: f"[{names[0]}]", second: f"[{names[1]}]"})
            yield from plan.edits("Put the gradient and the variable into lists")
        elif 1 < several.get(names[0], 0) < _FEW:
            for place in range(several[names[0]]):
                plan = Plan(source, {first: f"{names[0]}[{place}]"})
                yield from plan.edits(f"Give the list of gradients in {names[0]}")


_FEW = 4
"""More elements are not tried one by one."""


def watch_value(case: ErrorCase) -> Iterator[Edit]:
    """A Keras variable given to ``watch``: give its value."""
    for call in case.calls("watch"):
        given = argument(call, 0, "tensor")
        if given is None:
            continue
        code = case.source.code(given)
        for new in (f"{code}.value", f"[v.value for v in {code}]"):
            plan = Plan(case.source, {given: new})
            yield from plan.edits("Watch the tensor in the Keras variable")


def take_sparse_values(case: ErrorCase) -> Iterator[Edit]:
    """A ``SparseTensor`` as a source or a target, which has no gradient: its ``values`` have one.

    A source of that kind is watched by its values as well, at the start of the block.
    """
    source, block = case.source, _block_that_raised(case)
    for asked in _asking(case):
        for place, keyword in ((1, "sources"), (0, "target")):
            given = argument(asked, place, keyword)
            if given is None or not isinstance(given, (cst.Name, cst.Attribute)):
                continue
            code = source.code(given)
            plan = Plan(source, {given: f"{code}.values"})
            watched = [call.args[0].value for call in source.calls_to("watch") if call.args]
            for tensor in watched:
                if source.code(tensor) == code:
                    plan.replace(tensor, f"{code}.values")
            is_watched = any(source.code(tensor) in (code, f"{code}.values") for tensor in watched)
            if place == 1 and not is_watched and block is not None and block.name:
                plan.first(block.node, f"{block.name}.watch({code}.values)")
            yield from plan.edits(f"Ask for the values of {code}, which is sparse")


_REDUCTIONS = ("mean", "sum", "max", "min", "prod")
"""Their names in NumPy; in TensorFlow they begin with ``reduce_``."""


_GIVING = (cst.Assign, cst.AssignTarget, cst.Return)


def keep_tensor(case: ErrorCase) -> Iterator[Edit]:
    """A target or source that is a NumPy value already: leave ``.numpy()`` off, and reduce by
    TensorFlow what NumPy reduced."""
    source = case.source
    plan = Plan(source)
    for call in all_of(source.module, cst.Call):
        statement = source.statement_of(call)
        if called_name(call) == "numpy" and isinstance(call.func, cst.Attribute) and statement:
            if isinstance(source.parent(call), _GIVING):
                plan.replace(call, bare(call.func.value))
        elif called_name(call) == "float" and isinstance(source.parent(call), _GIVING):
            plan.replace(call, call.args[0].value)
        elif isinstance(source.parent(call), cst.Assign):
            name = dotted(call.func).removeprefix(f"{source.np}.")
            if name in _REDUCTIONS:
                plan.replace(call.func, f"{source.tf}.reduce_{name}")
    yield from plan.edits("Keep the tensor: take its number only to show it")
    block = _block_that_raised(case)
    translated = Translated(case, nodes_in(block.node.body) if block else ())
    if translated.count:
        yield from translated.plan.edits("Compute with TensorFlow in place of NumPy and Python")


def ask_for_given(case: ErrorCase) -> Iterator[Edit]:
    """``model.input`` as a source, which is symbolic → the tensor that the model was given."""
    source = case.source
    for asked in _asking(case):
        given = argument(asked, 1, "sources")
        node = given
        if not isinstance(node, cst.Attribute) or node.attr.value not in ("input", "inputs"):
            continue
        model = source.code(node.value)
        for call in all_of(source.module, cst.Call):
            if source.code(call.func) == model and call.args:
                x = source.code(call.args[0].value)
                plan = Plan(source, {node: x})
                yield from plan.edits(f"Ask for {x}, which {model} was called with")
                break


def make_dense(case: ErrorCase) -> Iterator[Edit]:
    """A gradient of picked rows, ``tf.IndexedSlices``, which does no arithmetic → a tensor."""
    source, message, names = case.source, case.failure.message, case.nodes(cst.Name)
    for name in dict.fromkeys(each.value for each in names):
        plan = Plan(source)
        for node in names:
            around, made = source.parent(node), source.bound_to(node)
            is_operand = isinstance(around, (cst.BinaryOperation, cst.UnaryOperation))
            is_owner = isinstance(around, cst.Attribute) and around.attr.value in message
            is_asked_for = made is None or any(
                called_name(call) == "gradient" for call in all_of(made, cst.Call)
            )
            if node.value == name and is_asked_for and (is_operand or is_owner):
                plan.replace(node, f"{source.tf}.convert_to_tensor({name})")
        yield from plan.edits(f"Make {name} a tensor: it holds the gradients of some rows")


def use_jacobian(case: ErrorCase) -> Iterator[Edit]:
    """``batch_jacobian`` of tensors without a common first axis → ``jacobian``."""
    for call in case.calls("batch_jacobian"):
        if isinstance(call.func, cst.Attribute):
            tape = case.source.code(call.func.value)
            plan = Plan(case.source, {call.func: f"{tape}.jacobian"})
            yield from plan.edits("Ask for the whole jacobian: these have no batch in common")


def hand_values(case: ErrorCase) -> Iterator[Edit]:
    """``keras.ops.f(w)`` of a ``tf.Variable``, which has no ``ndim``, or a ``tf.custom_gradient``
    function of a Keras variable, which that takes for none of its arguments → of its value;
    ``w.ndim`` → ``w.shape.rank``."""
    source, code = case.source, case.source.code
    held = {each.name for each in case.failure.held if each.type.endswith("Variable")}
    plan = Plan(source)
    for given in case.nodes(cst.Arg, *case.lines):
        if code(given.value) in held:
            plan.replace(given.value, f"{source.tf}.convert_to_tensor({code(given.value)})")
    yield from plan.edits("Hand on the value of the variable, which is a tensor")
    for node in case.nodes(cst.Attribute, *case.lines):
        if node.attr.value == "ndim":
            asked = f"{code(node.value)}.shape.rank"
            plan = Plan(source, {node: asked})
            yield from plan.edits(f"Ask for {asked}: a variable has no ndim")


def make_tensor(case: ErrorCase) -> Iterator[Edit]:
    """A source that is an array or a number: make it a tensor in front of the block, and watch."""
    source, call, block = case.source, raised_call(case.trace), _block_that_raised(case)
    if call is None or block is None or call.line not in case.failure.lines:
        return
    names = [
        operand.text
        for operand in call.sources
        if operand.kind == "other" and operand.text.isidentifier()
    ]
    if not names:
        given = argument(gradient_call(source, call), 1, "sources")
        names = [given.value] if given and isinstance(given, cst.Name) else []
    if names and block.name:
        plan = Plan(source)
        for name in names:
            plan.before(block.node, f"{name} = {source.tf}.convert_to_tensor({name})")
        plan.first(block.node, *(f"{block.name}.watch({name})" for name in names))
        yield from plan.edits(f"Make {', '.join(names)} a tensor, and watch it")


_BY_HAND = {
    "AdjustContrastv2": (
        "adjust_contrast",
        "({tf}.reduce_mean({0}, [-3, -2], keepdims=True) * (1.0 - {1}) + {1} * {0})",
    ),
    "AdjustSaturation": (
        "adjust_saturation",
        "({tf}.reduce_max({0}, -1, keepdims=True) * (1.0 - {1}) + {1} * {0})",
    ),
    "DenseBincount": (
        "bincount",
        "{tf}.math.unsorted_segment_sum({1}, {0}, {tf}.reduce_max({0}) + 1)",
    ),
    "SparseReduceMax": (
        "sparse.reduce_max",
        "{tf}.reduce_max({tf}.sparse.to_dense({0}, {0}.dtype.min), {1})",
    ),
    "Unique": (
        "unique",
        "({tf}.math.unsorted_segment_mean({0}, {tf}.unique({0})[1], "
        "{tf}.reduce_max({tf}.unique({0})[1]) + 1), {tf}.unique({0})[1])",
    ),
}
"""Ops without a gradient function (2.15 to 2.21): the function that runs each, and the same of its
one or two arguments by ops that have one."""


def compute_by_hand(case: ErrorCase) -> Iterator[Edit]:
    """``tf.image.adjust_contrast(x, 2.0)`` → the mean of the image, and how far ``x`` is from it:
    an op that has no gradient function, by others that have one."""
    source = case.source
    name, code = _BY_HAND.get(case.match[1], ("", ""))
    plan = Plan(source)
    for call in source.calls_to(name):
        if isinstance(call.func, cst.Attribute) and len(call.args) == 1 + ("{1}" in code):
            given = [source.operand(arg.value) for arg in call.args]
            plan.replace(call, code.format(*given, tf=source.tf))
    yield from plan.edits(f"Compute {name} by operations that have a gradient")


def leave_out_parentheses(case: ErrorCase) -> Iterator[Edit]:
    """``model.trainable_variables()``, of which the attribute is a list: without the call."""
    source = case.source
    plan = Plan(source)
    for call in case.nodes(cst.Call):
        if isinstance(call.func, cst.Attribute) and not call.args:
            plan.replace(call, source.code(call.func))
    yield from plan.edits("Leave out the parentheses: it is no function")


def return_as_many(case: ErrorCase) -> Iterator[Edit]:
    """``return dy, dy`` of the gradient function of a ``tf.custom_gradient`` of one argument →
    ``return dy``."""
    source, (wanted, given) = case.source, map(int, case.match.groups())
    for function in all_of(source.module, cst.FunctionDef):
        if not any(
            dotted(each.decorator).endswith("custom_gradient") for each in function.decorators
        ):
            continue
        for inner in all_of(function.body, cst.FunctionDef):
            returned = [each.value for each in all_of(inner, cst.Return)]
            plan = Plan(source)
            for value in returned:
                parts = [source.code(each) for each in elements(value)]
                if value is not None and 0 < wanted < len(parts) == given:
                    plan.replace(value, ", ".join(parts[:wanted]))
            yield from plan.edits(f"Return {wanted} gradient{'s' * (wanted != 1)}")


def watch_nothing(case: ErrorCase) -> Iterator[Edit]:
    """``tape.watch(model.trainable_variables)`` of Keras variables, which the tape watches by
    itself: the line goes."""
    source = case.source
    for call in case.calls("watch"):
        statement = source.statement_of(call)
        if statement is not None and isinstance(sole(statement), cst.Expr):
            plan = Plan(source)
            plan.remove(statement)
            yield from plan.edits("Leave out the watch: a tape watches trainable variables")
