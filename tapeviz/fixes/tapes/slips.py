"""Mend slips of Python: a keyword or an attribute that is misspelt, a method without self, no
return, NumPy in a function that is traced."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterator

import libcst as cst

from ...analysis.errors.python.calls import KEYWORDS_OF_TAPES
from ...analysis.errors.tensors.arguments import RENAMED_KEYWORDS
from ...analysis.errors.training.keras import KEYWORDS_OF_OPTIMIZERS
from ...text.messages import converted_lines, suggested_name
from ...trace.model import Trace
from ..model import Edit
from ..nodes import all_of, argument, called_name, dotted, enclosed, sole
from ..plan import Plan
from ..source import ParsedSource
from ..translation.numpy_words import FUNCTIONS, twin_of

_KEYWORDS = (*itertools.chain(*KEYWORDS_OF_TAPES.values()), *KEYWORDS_OF_OPTIMIZERS)
_UNKNOWN = re.compile(r"(?:[Gg]ot an unexpected keyword argument|not recognized: \{)\s?'(\w+)'")
_NO_ATTRIBUTE = re.compile(r"'([\w.]+)'(?: object)? has no attribute '(\w+)'")
_TOO_MANY = re.compile(r"\b(\w+)\.(\w+)\(\) takes \w+ positional arguments? but \d+")


def spell_keyword(trace: Trace, source: ParsedSource) -> Iterator[Edit]:
    """``GradientTape(persistant=True)`` → ``persistent``; the keyword of a function of the text
    likewise."""
    failure = trace.failure
    found = _UNKNOWN.search(failure.message) if failure is not None else None
    statement = source.statement(failure.line) if failure is not None else None
    if found is None or statement is None:
        return
    for call in all_of(statement, cst.Call):
        for arg in call.args:
            if arg.keyword is None or arg.keyword.value != found[1]:
                continue
            names = [
                param.name.value
                for function in all_of(source.module, cst.FunctionDef)
                if function.name.value in (called_name(call), "__init__")
                for param in function.params.params
            ]
            near = difflib.get_close_matches(found[1], [*names, *_KEYWORDS], n=1)
            if found[1] in RENAMED_KEYWORDS and found[1] not in names:
                near = [RENAMED_KEYWORDS[found[1]]]
            if near:
                plan = Plan(source, {arg.keyword: near[0]})
                yield from plan.edits(f"Write {near[0]}= in place of {found[1]}=")


def add_self(trace: Trace, source: ParsedSource) -> Iterator[Edit]:
    """``def __call__(x)`` in a class → ``def __call__(self, x)``."""
    failure = trace.failure
    found = _TOO_MANY.search(failure.message) if failure is not None else None
    for kind in all_of(source.module, cst.ClassDef) if found is not None else ():
        for function in all_of(kind.body, cst.FunctionDef):
            names = [param.name.value for param in function.params.params]
            is_meant = found is not None and [kind.name.value, function.name.value] == [
                *found.groups()
            ]
            if is_meant and names[:1] != ["self"] and not function.decorators:
                plan, own = Plan(source), cst.Param(cst.Name("self"))
                params = function.params
                plan.replace(params, params.with_changes(params=[own, *params.params]))
                yield from plan.edits(f"Give self to {function.name.value}")


def return_last(trace: Trace, source: ParsedSource) -> Iterator[Edit]:
    """A function without a return whose last line makes a value: it returns that."""
    failure = trace.failure
    if failure is None or "None" not in failure.message:
        return
    for function in all_of(source.module, cst.FunctionDef):
        last = (
            sole(function.body.body[-1]) if isinstance(function.body, cst.IndentedBlock) else None
        )
        target = last.targets[0].target if isinstance(last, cst.Assign) else None
        if isinstance(target, cst.Name) and not any(all_of(function.body, cst.Return)):
            plan = Plan(source)
            plan.last(function, f"return {target.value}")
            yield from plan.edits(f"Return {target.value} from {function.name.value}")


def spell_attribute(trace: Trace, source: ParsedSource) -> Iterator[Edit]:
    """``self.dense`` in a class that has ``self.dense1`` → that; any other attribute → the name
    that Python proposes for it."""
    failure = trace.failure
    found = _NO_ATTRIBUTE.search(failure.message) if failure is not None else None
    statement = source.statement(failure.line) if failure is not None else None
    if found is None or failure is None or statement is None:
        return
    near = [name] if (name := suggested_name(failure.traceback)) else []
    for kind in all_of(source.module, cst.ClassDef):
        if kind.name.value == found[1]:
            stored = [target.target for target in all_of(kind.body, cst.AssignTarget)]
            given = [each.attr.value for each in stored if isinstance(each, cst.Attribute)]
            near += difflib.get_close_matches(found[2], given, n=1)
    for proposed in dict.fromkeys(near):
        plan = Plan(source)
        for node in all_of(statement, cst.Attribute):
            if node.attr.value == found[2]:
                plan.replace(node.attr, proposed)
        yield from plan.edits(f"Write {proposed} in place of {found[2]}")


_NO_SUPER = re.compile(r"In layer '(\w+)', you forgot to call `super\(\)\.__init__\(\)`")


def call_super(trace: Trace, source: ParsedSource) -> Iterator[Edit]:
    """A layer or model whose ``__init__`` does not call that of its base class."""
    failure = trace.failure
    found = _NO_SUPER.search(failure.message) if failure is not None else None
    for kind in all_of(source.module, cst.ClassDef) if found is not None else ():
        if found is None or kind.name.value != found[1]:
            continue
        for function in all_of(kind.body, cst.FunctionDef):
            if function.name.value == "__init__":
                plan = Plan(source)
                plan.first(function, "super().__init__()")
                yield from plan.edits(f"Call super().__init__() first in {kind.name.value}")


def spell_key(trace: Trace, source: ParsedSource) -> Iterator[Edit]:
    """``params["weight"]`` of a dict that has ``"w"`` → the key that is nearest."""
    failure = trace.failure
    if failure is None or failure.type != "KeyError":
        return
    key = failure.message.strip("'\"")
    keys = {held.name: held.keys for held in failure.held if held.size >= 0}
    statement = source.statement(failure.line)
    for node in all_of(statement, cst.Subscript) if statement is not None else ():
        index, known = node.slice[0].slice, keys.get(source.code(node.value).replace('"', "'"), ())
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.3)
        if not near or not isinstance(index, cst.Index):
            continue
        if isinstance(index.value, cst.SimpleString) and index.value.evaluated_value == key:
            plan = Plan(source, {index.value: f'"{near[0]}"'})
            yield from plan.edits(f"Take the key {near[0]} in place of {key}")


def ask_for_variables(trace: Trace, source: ParsedSource) -> Iterator[Edit]:
    """``tape.gradient(y, layer)`` → of ``layer.trainable_variables``."""
    failure = trace.failure
    if failure is None or "has no attribute '_id'" not in failure.message:
        return
    for call in source.calls(failure.line, "gradient", "jacobian"):
        given = argument(call, 1, "sources")
        if given is not None and isinstance(given.value, (cst.Name, cst.Attribute, cst.Subscript)):
            plan, code = Plan(source), source.code(given.value)
            plan.replace(given.value, f"{code}.trainable_variables")
            yield from plan.edits(f"Ask for the variables of {code}")


def make_loss(trace: Trace, source: ParsedSource) -> Iterator[Edit]:
    """``loss = "mse"`` that is called → ``loss = tf.keras.losses.get("mse")``."""
    failure = trace.failure
    statement = source.statement(failure.line) if failure is not None else None
    if failure is None or statement is None:
        return
    if not failure.message.rstrip().endswith("'str' object is not callable"):
        return
    for call in all_of(statement, cst.Call):
        made = source.bound_to(call.func) if isinstance(call.func, cst.Name) else None
        if isinstance(made, cst.SimpleString):
            plan = Plan(source, {made: f"{source.tf}.keras.losses.get({source.code(made)})"})
            yield from plan.edits(f"Make the loss of the name {source.code(made)}")


_NO_NUMBER = re.compile(
    r"Tensor'? object has no attribute 'numpy'|numpy\(\) is only available"
    r"|(?:float|int)\(\) argument must be .*, not '\w*Tensor'"
)


def print_in_graph(trace: Trace, source: ParsedSource) -> Iterator[Edit]:
    """``print(y.numpy())`` and ``float(y)`` in a function that is traced, where tensors have no
    numbers → ``tf.print(y)`` and ``y``."""
    failure = trace.failure
    if failure is None or not _NO_NUMBER.search(failure.message):
        return
    plan, is_shown = Plan(source), False
    for call in source.calls(failure.line, "numpy", "float", "int"):
        if called_name(call) == "numpy" and isinstance(call.func, cst.Attribute):
            plan.replace(call, call.func.value)
        elif isinstance(call.func, cst.Name) and len(call.args) == 1:
            plan.replace(call, enclosed(call.args[0].value))
        around = [above for above in source.ancestors(call) if isinstance(above, cst.Call)]
        for above in around:
            if isinstance(above.func, cst.Name) and above.func.value == "print":
                plan.replace(above.func, f"{source.tf}.print")
                is_shown = True
    if plan.changes:
        shown = "Print with tf.print, which shows the numbers of each call"
        yield from plan.edits(shown if is_shown else "Keep the tensor: it has no numbers yet")


def say_in_tensorflow(trace: Trace, source: ParsedSource) -> Iterator[Edit]:
    """``np.sin(x)`` of a symbolic tensor → ``tf.sin(x)``, on the line that was traced."""
    failure = trace.failure
    if failure is None or not re.search(r"numpy\(\) is only|symbolic tf\.Tensor", failure.message):
        return
    plan = Plan(source)
    for line in dict.fromkeys(converted_lines(failure.message, trace.filename)):
        for call in source.calls(line, *(name.rpartition(".")[2] for name in FUNCTIONS)):
            module, _, name = dotted(call.func).partition(".")
            if module == source.np and name in FUNCTIONS:
                plan.replace(call, twin_of(source, name, call))
    yield from plan.edits("Compute with TensorFlow in place of NumPy")
