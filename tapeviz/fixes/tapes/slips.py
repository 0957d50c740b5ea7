"""Mend slips of Python: a keyword or an attribute that is misspelt, a method without self, no
return, NumPy in a function that is traced."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from functools import partial

import libcst as cst

from ...analysis.errors.python.containers import apart, near_key
from ...analysis.errors.python.signatures import RENAMED_KEYWORDS, in_order
from ...analysis.errors.training.datasets import PAIRING
from ...text.messages import converted_lines, raised_inside, suggested_name
from ..forms import matches
from ..model import Edit, ErrorCase
from ..nodes import all_of, argument, called_name, dotted, enclosed, is_call_to, parameters_of, sole
from ..plan import Plan
from ..source import ParsedSource
from ..translation.numpy_words import FUNCTIONS, twin_of


def spell_keyword(case: ErrorCase) -> Iterator[Edit]:
    """``GradientTape(persistant=True)`` → ``persistent``: the nearest parameter of what is called,
    as far as it was recorded, or of a function of the text; without one the argument is left out.
    A function of the text that a library gives the keyword gets such a parameter."""
    source, unknown = case.source, case.match[1]
    takes = {held.name: re.findall(r"[A-Za-z_]\w*", held.takes) for held in case.failure.held}
    for call in case.nodes(cst.Call):
        for arg in call.args:
            if arg.keyword is None or arg.keyword.value != unknown:
                continue
            names = [
                name
                for function in all_of(source.module, cst.FunctionDef)
                if function.name.value in (called_name(call), "__init__")
                for name in parameters_of(function)
            ]
            names += takes.get(source.code(call.func), [])
            near = difflib.get_close_matches(unknown, names, n=1)
            if unknown in RENAMED_KEYWORDS and unknown not in names:
                near = [RENAMED_KEYWORDS[unknown]]
            if near:
                plan = Plan(source, {arg.keyword: near[0]})
                yield from plan.edits(f"Write {near[0]}= in place of {unknown}=")
            else:
                others = [each for each in call.args if each is not arg]
                others[-1:] = [each.with_changes(comma=_NO_COMMA) for each in others[-1:]]
                plan = Plan(source, {call: call.with_changes(args=others)})
                yield from plan.edits(f"Leave out {unknown}=")
    called = re.search(r"(\w+)\(\) got an unexpected keyword", case.failure.message)
    for function in all_of(source.module, cst.FunctionDef) if called else ():
        if called and function.name.value == called[1] and not function.params.star_kwarg:
            (own,) = cst.parse_module(f"def f({unknown}=None): 0").body
            more = own.params.params if isinstance(own, cst.FunctionDef) else ()
            params = [*function.params.params, *more]
            plan = Plan(source, {function.params: function.params.with_changes(params=params)})
            yield from plan.edits(f"Give {called[1]} the parameter {unknown}, which it gets")


_NO_COMMA = cst.MaybeSentinel.DEFAULT


def reorder_arguments(case: ErrorCase) -> Iterator[Edit]:
    """``loss(x, y, model)`` of a function ``loss(model, x, y)`` → ``loss(model, x, y)``."""
    source, made = case.source, all_of(case.source.module, cst.FunctionDef)
    for call in case.calls(*(function.name.value for function in made)):
        function = next(f for f in made if f.name.value == called_name(call))
        wanted = in_order(
            [dotted(arg.value) for arg in call.args if arg.keyword is None],
            [param.name.value for param in function.params.params],
        )
        if wanted:
            plan = Plan(source)
            for arg, name in zip(call.args, wanted, strict=False):
                plan.replace(arg.value, name)
            yield from plan.edits(f"Give {called_name(call)} its arguments in their order")


def add_self(case: ErrorCase) -> Iterator[Edit]:
    """``def __call__(x)`` in a class → ``def __call__(self, x)``."""
    source = case.source
    for kind in all_of(source.module, cst.ClassDef):
        for function in all_of(kind.body, cst.FunctionDef):
            names = parameters_of(function)
            is_meant = (kind.name.value, function.name.value) == case.match.groups()
            if is_meant and names[:1] != ["self"] and not function.decorators:
                params, own = function.params, cst.Param(cst.Name("self"))
                plan = Plan(source, {params: params.with_changes(params=[own, *params.params])})
                yield from plan.edits(f"Give self to {function.name.value}")


def return_last(case: ErrorCase) -> Iterator[Edit]:
    """A function without a return whose last line makes a value, or calls something: it returns
    that."""
    source = case.source
    for function in all_of(source.module, cst.FunctionDef):
        last = (
            sole(function.body.body[-1]) if isinstance(function.body, cst.IndentedBlock) else None
        )
        target = last.targets[0].target if isinstance(last, cst.Assign) else None
        if isinstance(target, cst.Name) and not any(all_of(function.body, cst.Return)):
            plan = Plan(source)
            plan.last(function, f"return {target.value}")
            yield from plan.edits(f"Return {target.value} from {function.name.value}")
        elif isinstance(last, cst.Expr) and not any(all_of(function.body, cst.Return)):
            plan = Plan(source, {last: cst.Return(last.value)})
            yield from plan.edits(f"Return {source.code(last.value)} from {function.name.value}")


def write_expected(case: ErrorCase) -> Iterator[Edit]:
    """``Expected keys ['cls'] in loss dict, but found ['class']`` → the text "cls" for "class"."""
    extra, missing = apart(case.failure.message)
    texts = all_of(case.source.module, cst.SimpleString) if len(extra) == len(missing) == 1 else ()
    plan = Plan(case.source)
    for text in texts:
        if text.evaluated_value == extra[0]:
            plan.replace(text, repr(missing[0]))
    yield from plan.edits(f"Write {', '.join(missing)} in place of {', '.join(extra)}")


def bracket_pair(case: ErrorCase) -> Iterator[Edit]:
    """``for i, x, y in enumerate(data)`` → ``for i, (x, y) in enumerate(data)``; two names for
    the keys of a dict → for its items."""
    source = case.source
    dicts = {held.name for held in case.failure.held if held.keys and held.size >= 0}
    for loop in case.nodes(cst.For):
        target, data = loop.target, loop.iter
        if isinstance(data, cst.Dict) or source.code(data) in dicts:
            plan = Plan(source, {data: f"{source.code(data)}.items()"})
            yield from plan.edits("Take each key with its value")
        is_pair = is_call_to(data, *PAIRING)
        if is_pair and isinstance(target, cst.Tuple) and len(target.elements) > 2:
            first, *others = target.elements
            pair = target.with_changes(elements=[first, cst.Element(cst.Tuple(others))])
            names = ", ".join(source.code(each.value) for each in others)
            plan = Plan(source, {loop: loop.with_changes(target=pair)})
            yield from plan.edits(f"Take the second part of each pair apart: {names}")


def slice_together(case: ErrorCase) -> Iterator[Edit]:
    """``from_tensor_slices(x, y)`` → ``from_tensor_slices((x, y))``."""
    source = case.source
    for call in case.calls("from_tensor_slices"):
        if len(call.args) > 1 and not any(arg.keyword or arg.star for arg in call.args):
            parts = ", ".join(source.code(arg.value) for arg in call.args)
            plan = Plan(source, {call: f"{source.code(call.func)}(({parts}))"})
            yield from plan.edits("Give one tuple: the parts of an element belong together")


def ask_at_run_time(case: ErrorCase) -> Iterator[Edit]:
    """``x.shape`` in a function that is traced for any length → ``tf.shape(x)``."""
    source = case.source
    plan = Plan(source)
    for node in case.nodes(cst.Attribute):
        if node.attr.value == "shape":
            plan.replace(node, f"{source.tf}.shape({source.code(node.value)})")
    yield from plan.edits("Take the shape that the tensor has at each call")


def spell_attribute(case: ErrorCase) -> Iterator[Edit]:
    """``self.dense`` in a class that has ``self.dense1`` → that; any other attribute → the name
    that Python proposes for it."""
    source, (owner, unknown) = case.source, case.match.groups()
    near = [name] if (name := suggested_name(case.failure.traceback)) else []
    for kind in all_of(source.module, cst.ClassDef):
        if kind.name.value == owner:
            stored = [target.target for target in all_of(kind.body, cst.AssignTarget)]
            given = [each.attr.value for each in stored if isinstance(each, cst.Attribute)]
            given += [method.name.value for method in all_of(kind.body, cst.FunctionDef)]
            near += difflib.get_close_matches(unknown, given, n=1)
    for proposed in dict.fromkeys(near):
        plan = Plan(source)
        for node in case.nodes(cst.Attribute):
            if node.attr.value == unknown:
                plan.replace(node.attr, proposed)
        yield from plan.edits(f"Write {proposed} in place of {unknown}")


def call_super(case: ErrorCase) -> Iterator[Edit]:
    """An object whose ``__init__`` does not call that of its base class."""
    source, owner = case.source, case.match[1] or case.match[2]
    for kind in all_of(source.module, cst.ClassDef):
        is_meant = kind.name.value == owner and bool(kind.bases)
        for function in all_of(kind.body, cst.FunctionDef) if is_meant else ():
            calls_base = any(called_name(call) == "__init__" for call in all_of(function, cst.Call))
            if function.name.value == "__init__" and not calls_base:
                plan = Plan(source)
                plan.first(function, "super().__init__()")
                yield from plan.edits(f"Call super().__init__() first in {kind.name.value}")


def spell_key(case: ErrorCase) -> Iterator[Edit]:
    """``params["weight"]`` of a dict that has ``"weights"`` → the key that is nearest."""
    said = raised_inside(case.failure.type, case.failure.message)[1]
    source, key = case.source, said.strip("'\"")
    keys = {held.name: held.keys for held in case.failure.held if held.size >= 0}
    for _, (whole, given) in matches(case.nodes(cst.Subscript), "_d[_k]"):
        near = near_key(key, keys.get(source.code(whole).replace('"', "'"), ()))
        if near and isinstance(given, cst.SimpleString) and given.evaluated_value == key:
            plan = Plan(source, {given: f'"{near}"'})
            yield from plan.edits(f"Take the key {near} in place of {key}")


def ask_for_variables(case: ErrorCase) -> Iterator[Edit]:
    """``tape.gradient(y, layer)`` → of ``layer.trainable_variables``."""
    source = case.source
    for call in source.calls(case.failure.line, "gradient", "jacobian"):
        given = argument(call, 1, "sources")
        if given is not None and isinstance(given, (cst.Name, cst.Attribute, cst.Subscript)):
            code = source.code(given)
            plan = Plan(source, {given: f"{code}.trainable_variables"})
            yield from plan.edits(f"Ask for the variables of {code}")


def make_loss(case: ErrorCase) -> Iterator[Edit]:
    """``loss = "mse"`` that is called → ``loss = tf.keras.losses.get("mse")``."""
    source = case.source
    for call in case.nodes(cst.Call):
        made = source.value_of(call.func)
        if isinstance(made, cst.SimpleString):
            plan = Plan(source, {made: f"{source.tf}.keras.losses.get({source.code(made)})"})
            yield from plan.edits(f"Make the loss of the name {source.code(made)}")


def print_in_graph(case: ErrorCase) -> Iterator[Edit]:
    """``print(y.numpy())`` and ``float(y)`` in a function that is traced, where tensors have no
    numbers → ``tf.print(y)`` and ``y``."""
    source = case.source
    plan, is_shown = Plan(source), False
    for call in source.calls(case.failure.line, "numpy", "float", "int"):
        if called_name(call) == "numpy" and isinstance(call.func, cst.Attribute):
            plan.replace(call, call.func.value)
        elif isinstance(call.func, cst.Name) and len(call.args) == 1:
            plan.replace(call, enclosed(call.args[0].value))
        around = [above for above in source.ancestors(call) if isinstance(above, cst.Call)]
        for above in around:
            if isinstance(above.func, cst.Name) and above.func.value == "print":
                plan.replace(above.func, f"{source.tf}.print")
                is_shown = True
    shown = "Print with tf.print, which shows the numbers of each call"
    yield from plan.edits(shown if is_shown else "Keep the tensor: it has no numbers yet")


def _twin(source: ParsedSource, name: str, call: cst.Call) -> cst.BaseExpression:
    return cst.parse_expression(twin_of(source, name, call))


def say_in_tensorflow(case: ErrorCase) -> Iterator[Edit]:
    """``np.sin(x)`` of a symbolic tensor → ``tf.sin(x)``, on the line that was traced."""
    source = case.source
    plan = Plan(source)
    for line in dict.fromkeys(converted_lines(case.failure.message, case.trace.filename)):
        for call in source.calls(line, *(name.rpartition(".")[2] for name in FUNCTIONS)):
            module, _, name = dotted(call.func).partition(".")
            if module == source.np and name in FUNCTIONS:
                plan.replace(call, partial(_twin, source, name))
    yield from plan.edits("Compute with TensorFlow in place of NumPy")
