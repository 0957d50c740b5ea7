"""Edit what a call is given, where it raised about the form of that."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import libcst as cst

from ...analysis.errors.training.keras import near_word
from ..forms import matches
from ..model import Edit, ErrorCase, ErrorFixFunction
from ..nodes import all_of, argument, bare, called_name
from ..plan import Plan


def written(
    pattern: str,
    new: str | Callable[[re.Match[str]], str],
    title: str,
    *,
    everywhere: bool = False,
) -> ErrorFixFunction:
    """A fix that replaces a pattern of code in the lines that the exception came through, or in the
    whole text."""

    def fix(case: ErrorCase) -> Iterator[Edit]:
        lines = case.source.text.splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            if everywhere or number in case.lines:
                lines[number - 1] = re.sub(pattern, new, line)
        if (new_text := "".join(lines)) != case.source.text:
            yield Edit(title, new_text)

    return fix


def put_into_list(case: ErrorCase) -> Iterator[Edit]:
    """``strategy.run(f, args=x)`` → ``args=(x,)``, ``tf.random.normal(3)`` → of ``[3]``: the
    argument that the message names, else the first."""
    source = case.source
    takes = {held.name: re.findall(r"[A-Za-z_]\w*", held.takes) for held in case.failure.held}
    for call in case.nodes(cst.Call):
        names = takes.get(source.code(call.func), [])
        for place, arg in enumerate(call.args):
            name = arg.keyword.value if arg.keyword else (names[place : place + 1] or [""])[0]
            if name and re.search(rf"\b{name}\b", case.failure.message) and not arg.star:
                code = source.code(bare(arg.value))
                for given, kind in ((f"({code},)", "tuple"), (f"[{code}]", "list")):
                    plan = Plan(source, {arg.value: given})
                    yield from plan.edits(f"Give {name} as a {kind}")


def add_axis(case: ErrorCase) -> Iterator[Edit]:
    """``model(x)`` of a single sample → ``model(x[tf.newaxis])``; of pictures or series without a
    channel → ``x[..., tf.newaxis]``."""
    source = case.source
    tensors = {held.name for held in case.failure.held if held.dtype and held.shape}
    for call in case.nodes(cst.Call):
        given = next((arg.value for arg in call.args if source.code(arg.value) in tensors), None)
        if given is not None:
            for index, where in (
                ("", "in front: a batch of one"),
                ("..., ", "at the end: a channel"),
            ):
                plan = Plan(source, {given: f"{source.code(given)}[{index}{source.tf}.newaxis]"})
                yield from plan.edits(f"Add an axis {where}")


def reduce_other_axis(case: ErrorCase) -> Iterator[Edit]:
    """``(x - mean) / std`` where ``mean, std = x.mean(axis=1), x.std(axis=1)`` → along axis 0, or
    another one, in the assignments of the names on the line."""
    source = case.source
    reduced = [
        (keyword, int(keyword.value.value))
        for name in case.nodes(cst.Name)
        if (made := source.bound_to(name)) is not None
        for keyword in all_of(made, cst.Arg)
        if keyword.keyword is not None and keyword.keyword.value == "axis"
        if isinstance(keyword.value, cst.Integer)
    ]
    for axis in (0, 1):
        plan = Plan(source)
        for keyword, was in reduced:
            if was != axis:
                plan.replace(keyword.value, str(axis))
        yield from plan.edits(f"Reduce along axis {axis}")


def split_last_axis(case: ErrorCase) -> Iterator[Edit]:
    """``tf.split(z, 2)`` of [11, 8], along the first axis by default → along the last one."""
    source = case.source
    for call in case.calls("split"):
        if argument(call, 2, "axis") is None:
            given = ", ".join(source.code(arg).rstrip(", ") for arg in call.args)
            plan = Plan(source, {call: f"{source.code(call.func)}({given}, axis=-1)"})
            yield from plan.edits("Split along the last axis")


def stop_at_last(case: ErrorCase) -> Iterator[Edit]:
    """``for i in range(4)`` around ``x[i]`` of [3] → ``for i in range(x.shape[0])``."""
    source, axis = case.source, int(case.match[1])
    for picked, (tensor, index) in matches(case.nodes(cst.Subscript), "_a[_i]"):
        loop = source.enclosing(picked, cst.For)
        if loop is not None and isinstance(index, cst.Name) and index.deep_equals(loop.target):
            for _, (end,) in matches([loop.iter], "range(_n)", f"{source.tf}.range(_n)"):
                plan = Plan(source, {end: f"{source.operand(tensor)}.shape[{axis}]"})
                yield from plan.edits(f"Stop at the last element of {source.code(tensor)}")


def keep_axes(case: ErrorCase) -> Iterator[Edit]:
    """``tf.concat([x, tf.reduce_sum(x, axis=1)], axis=1)`` → with ``keepdims=True``."""
    source, plan = case.source, Plan(case.source)
    joined = case.calls("concat", "concatenate")
    for call in (each for around in joined for each in all_of(around, cst.Call)):
        is_reduced = called_name(call).startswith("reduce_") and argument(call, 1, "axis")
        if is_reduced and argument(call, 2, "keepdims") is None:
            given = ", ".join(source.code(arg).rstrip(", ") for arg in call.args)
            plan.replace(call, f"{source.code(call.func)}({given}, keepdims=True)")
    yield from plan.edits("Keep the axis that is reduced, with one element")


def give_default(case: ErrorCase) -> Iterator[Edit]:
    """``def call(self, x, training)`` that is called without it → ``training=None``."""
    source, name = case.source, case.match[1]
    for function in all_of(source.module, cst.FunctionDef):
        params = function.params.params
        for param, after in zip(params, (*params[1:], None), strict=True):
            may_have = after is None or after.default is not None
            if param.name.value == name and param.default is None and may_have:
                default = param.with_changes(default=cst.Name("None"), equal=_EQUAL)
                plan = Plan(source, {param: default})
                words = f"Give {name} of {function.name.value} the default None"
                yield from plan.edits(words)


_EQUAL = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def divide_whole(case: ErrorCase) -> Iterator[Edit]:
    """``range(n / 2)``, and ``count = n / 2`` that is given to it → ``n // 2``."""
    source, plan = case.source, Plan(case.source)
    floats = {held.name for held in case.failure.held if held.type == "float"}
    made = [source.bound_to(node) for node in case.nodes(cst.Name) if node.value in floats]
    given = [arg.value for call in case.nodes(cst.Call) for arg in call.args]
    for node in (*given, *made):
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide):
            plan.replace(node.operator, cst.FloorDivide())
    yield from plan.edits("Divide by //, which gives a whole number")


def make_object(case: ErrorCase) -> Iterator[Edit]:
    """``Doubler(x)`` of a layer's class without settings → ``Doubler()(x)``."""
    source = case.source
    held = {each.name: each for each in case.failure.held}
    for call in case.nodes(cst.Call):
        given = [held.get(source.code(arg.value)) for arg in call.args]
        if given and all(each is not None and each.dtype for each in given):
            plan = Plan(source, {call.func: f"{source.code(call.func)}()"})
            yield from plan.edits("Make an object of the class, and call it")


def declare_outer(case: ErrorCase) -> Iterator[Edit]:
    """``best`` of the module, which a function changes: ``global best`` in there."""
    source, name = case.source, case.match[1]
    statement = source.statement(case.failure.line)
    function = source.function_of(statement) if statement is not None else None
    is_outside = re.search(rf"^{name} *=", source.text, re.MULTILINE) is not None
    if isinstance(function, cst.FunctionDef) and is_outside:
        plan = Plan(source)
        plan.first(function, f"global {name}")
        yield from plan.edits(f"Declare {name} global in {function.name.value}")


def spell_word(case: ErrorCase) -> Iterator[Edit]:
    """``metrics=["acuracy"]`` → the word of Keras that is spelt nearly so."""
    source, near = case.source, near_word(case.match[1])
    words = [
        each
        for each in all_of(source.module, cst.SimpleString)
        if each.evaluated_value == case.match[1]
    ]
    if near:
        plan = Plan(source, dict.fromkeys(words, f'"{near}"'))
        yield from plan.edits(f"Write {near} in place of {case.match[1]}")
