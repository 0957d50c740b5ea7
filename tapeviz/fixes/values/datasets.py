"""Do the steps of a dataset that a tensor goes through outside of the dataset."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..blocks import block_of_call, put_in_front
from ..model import Edit, FixCase
from ..nodes import (
    all_of,
    argument,
    called_name,
    elements,
    is_call_to,
    parameters_of,
    read_names,
    with_arguments,
)
from ..plan import Plan
from ..source import ParsedSource
from .leaving import PYTHON_FUNCTIONS

_LATER = ("prefetch", "cache", "take", "repeat", "skip", "shuffle", "batch")
"""Steps before which a function of the elements can as well be left out, and be called after; of a
batch, if it takes many elements as it takes one."""
_WALKS = ("iter", "enumerate", "zip", "list")


def map_in_python(case: FixCase) -> Iterator[Edit]:
    """``ds = made.map(f)`` → ``ds = made``, and ``for v in ds`` → ``for v in map(f, ds)``;
    where the tape begins in that loop, ``v = f(v)`` there instead.

    What a dataset computes no tape records; what Python computes for each element it does. The
    elements of a batch are mapped all at once, or one by one.
    """
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    for call in case.calls_given("map"):
        function = argument(call, 0, "map_func")
        if function is None or not isinstance(call.func, cst.Attribute):
            continue
        places = _places(source, _with_steps(source, call, _LATER))
        takes = _parameters(source, function)
        for is_batch in (False, True) if takes == 1 else (False,):
            plan = Plan(source, {call: call.func.value})
            for python in case.calls_given(*PYTHON_FUNCTIONS):
                inside, given = argument(python, 0, "func"), argument(python, 1, "inp")
                if inside is not None and given is not None:
                    taken = source.code(given)
                    is_list = isinstance(given, (cst.List, cst.Tuple))
                    taken = taken[1:-1] if is_list else f"*{taken}"
                    plan.replace(python, f"{source.operand(inside)}({taken})")
            made = plan.changed(function)
            f, by_one = source.code(made), source.operand(made)
            for place in places:
                loop = source.parent(place)
                elements = source.code(call.func.value if place is call else place)
                if block is None or loop is None or loop not in source.ancestors(block.node):
                    plan.replace(place, _mapped(source, f, takes, elements, is_batch))
                    continue
                assert isinstance(loop, cst.For)
                v = source.code(loop.target)
                many = f"{source.tf}.stack([{by_one}(v) for v in {v}])"
                plan.first(block.node, f"{v} = {many if is_batch else f'{by_one}({v})'}")
            if places:
                yield from plan.edits("Map the elements in Python, where the tape records it")


def walk_generator(case: FixCase) -> Iterator[Edit]:
    """``ds = tf.data.Dataset.from_generator(gen, …)``, ``for v in ds`` → ``for v in gen()``, where
    the tape records what the generator computes; its numbers become tensors, as a dataset's do."""
    source, tf = case.source, case.source.tf
    for call in case.calls_given("from_generator"):
        generator, given = argument(call, 0, "generator"), argument(call, 3, "args")
        places = _places(source, _with_steps(source, call, ("prefetch", "cache")))
        if generator is None or not places:
            continue
        plan = Plan(source)
        with_what = f"*{source.code(given)}" if given is not None else ""
        made = f"{source.operand(generator)}({with_what})"
        elements = f"({tf}.nest.map_structure({tf}.convert_to_tensor, v) for v in {made})"
        for place in places:
            plan.replace(place, elements)
        yield from plan.edits("Walk through the generator itself, where the tape records it")


def _with_steps(source: ParsedSource, made: cst.Call, steps: tuple[str, ...]) -> cst.BaseExpression:
    """A dataset with those of the steps that stand right behind it."""
    whole: cst.BaseExpression = made
    while isinstance(above := source.parent(whole), cst.Attribute):
        around = source.parent(above)
        if not isinstance(around, cst.Call) or above.attr.value not in steps:
            break
        whole = around
    return whole


def _places(source: ParsedSource, whole: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The expressions at which a dataset is walked through: itself, or reads of its name."""
    name = source.target_of(whole)
    if isinstance(name, cst.Name):
        return list(_walked(source, name.value))
    return [whole] if _is_walk(source, whole) else []


def _parameters(source: ParsedSource, function: cst.BaseExpression) -> int:
    """How many parameters a function of the text has; 1 if it is not known."""
    if isinstance(function, cst.Lambda):
        return len(parameters_of(function))
    defined = {each.name.value: each for each in all_of(source.module, cst.FunctionDef)}
    found = defined.get(source.code(function))
    return len(parameters_of(found)) if found is not None else 1


def _mapped(source: ParsedSource, f: str, takes: int, elements: str, is_batch: bool) -> str:
    if is_batch:
        return f"({source.tf}.stack([({f})(v) for v in batch]) for batch in {elements})"
    if takes == 1:
        return f"map({f}, {elements})"
    return f"(({f})(*element) for element in {elements})"


def _walked(source: ParsedSource, name: str) -> Iterator[cst.BaseExpression]:
    """The places where the dataset of this name is walked through."""
    for node in all_of(source.module, cst.Name):
        if node.value != name:
            continue
        place: cst.BaseExpression = node
        method = source.parent(node)
        around = source.parent(method) if isinstance(method, cst.Attribute) else None
        is_same = isinstance(method, cst.Attribute) and method.attr.value in _LATER
        if isinstance(around, cst.Call) and is_same:
            place = around
        if _is_walk(source, place):
            yield place


def _is_walk(source: ParsedSource, place: cst.BaseExpression) -> bool:
    """Whether an expression is what a loop goes through."""
    above = source.parent(place)
    if isinstance(above, (cst.For, cst.CompFor)):
        return above.iter is place
    around = source.parent(above) if isinstance(above, cst.Arg) else None
    return is_call_to(around, *_WALKS)


def unstack_values(case: FixCase) -> Iterator[Edit]:
    """``Dataset.from_tensor_slices(t)`` that is walked in a loop → ``tf.unstack(t)``; of several
    tensors in a tuple or a dict, the same of each."""
    source, tf = case.source, case.source.tf
    for call in case.calls("from_tensor_slices", "from_tensors"):
        if len(call.args) != 1:
            continue
        value, v = source.code(call.args[0].value), source.operand(call.args[0].value)
        is_whole = called_name(call) == "from_tensors"
        size = None if is_whole else _batch_size(source, call)
        walked, n = (call, "1") if size is None else (size[0], source.operand(size[1]))
        part = "v[i]" if size is None else f"v[i:i + {n}]"
        parts = f"{tf}.nest.map_structure(lambda v: {part}, {value})"
        rows = f"{tf}.nest.flatten({value})[0].shape[0]"
        of_several = f"[{parts} for i in range(0, {rows}, {n})]"
        of_tensor = f"{tf}.unstack({value})"
        if size is not None:
            of_tensor = f"[{v}[i:i + {n}] for i in range(0, {v}.shape[0], {n})]"
        for new in (f"[{value}]",) if is_whole else (of_tensor, of_several):
            plan = Plan(source, {walked: new})
            yield from plan.edits("Walk through the tensor itself in place of a dataset")


def gather_by_position(case: FixCase) -> Iterator[Edit]:
    """``ds = Dataset.from_tensor_slices(t).batch(n)``, ``for v in ds`` → a dataset of positions,
    and ``v = tf.gather(t, v)`` in the block of the tape, which begins in the loop. Of a tuple of
    tensors the first that is computed becomes positions, the others stay. Nothing else may walk
    through the dataset, and the loop must not read ``v`` before the block: it would read positions.
    """
    source, tf = case.source, case.source.tf
    block = block_of_call(source, case.trace, case.call)
    for call in case.calls("from_tensor_slices") if block is not None else ():
        given = argument(call, 0, "tensors")
        if given is None or block is None:
            continue
        values = elements(given) if isinstance(given, cst.Tuple) else [given]
        place = next((n for n, v in enumerate(values) if not isinstance(v, cst.Name)), 0)
        t = source.code(values[place])
        positions = f"{tf}.range({tf}.shape({t})[0])"
        plan = Plan(source, {values[place]: positions})
        walks = _places(source, _with_steps(source, call, _LATER))
        loop = source.parent(walks[0]) if len(walks) == 1 else None
        beside = source.beside(block.node, loop.body.body[0]) if isinstance(loop, cst.For) else None  # type: ignore[arg-type]
        if not isinstance(loop, cst.For) or beside is None:
            continue
        targets = elements(loop.target) or [loop.target]
        name = source.code(targets[place]) if len(targets) == len(values) else ""
        early = set().union(*map(read_names, source.before(beside)), read_names(values[place]))
        if name and name not in early:
            put_in_front(plan, block, f"{name} = {tf}.gather({t}, {name})")
            yield from plan.edits("Let the dataset give positions, and take the elements there")


def _batch_size(source: ParsedSource, made: cst.Call) -> tuple[cst.Call, cst.BaseExpression] | None:
    """The call ``….batch(n)`` right behind the dataset, and ``n``."""
    method = source.parent(made)
    call = source.parent(method) if isinstance(method, cst.Attribute) else None
    if not is_call_to(call, "batch") or not call.args:
        return None
    return call, call.args[0].value


def reduce_in_python(case: FixCase) -> Iterator[Edit]:
    """``y = ds.reduce(start, f)`` → ``y = start``, and ``for element in ds: y = f(y, element)``."""
    source = case.source
    reductions = case.calls("reduce")
    for call, (start, function) in with_arguments(reductions, "initial_state", "reduce_func"):
        statement, target = source.statement_of(call), source.target_of(call)
        if target is None or statement is None or not isinstance(call.func, cst.Attribute):
            continue
        y, f, plan = source.code(target), source.operand(function), Plan(source)
        element, elements = plan.fresh_name("element"), source.code(call.func.value)
        plan.replace(call, source.code(start))
        plan.after(statement, f"for {element} in {elements}:\n    {y} = {f}({y}, {element})\n")
        yield from plan.edits("Loop over the dataset in Python, where the tape records it")


def keep_elements(case: FixCase) -> Iterator[Edit]:
    """``ds.as_numpy_iterator()`` → ``ds``, whose elements are tensors."""
    plan = Plan(case.source)
    for call in case.calls("as_numpy_iterator"):
        if isinstance(call.func, cst.Attribute):
            plan.replace(call, call.func.value)
    yield from plan.edits("Take the elements as tensors, without as_numpy_iterator")
