"""Explain exceptions of calls: of what is no function, and of arguments that do not fit."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from ....text.names import called_name, dotted, pairs_of
from ....text.trees import lines_of
from ..case import Case
from ..tensors.operands import held_words
from .signatures import is_int, misfit, unknown_words


def unknown_keyword(case: Case) -> str:
    callee, name = case.match["callee"].removesuffix(".__init__"), case.match["name"]
    if callee == "Loss.__call__":
        return (
            f"Line {case.line} calls a loss with {name}, and it takes the labels, the predictions "
            f"and sample_weight. Options of a loss are given where it is made, as in "
            f"tf.keras.losses.BinaryCrossentropy(from_logits=True)."
        )
    made = definition(case, callee) or definition(case, f"{callee}.__init__")
    if made is None and (words := misfit(case)):
        return words
    own = [each for each in _names_of_arguments(made) if each != "self"] if made else []
    if made and not any(each.arg == name for call in case.calls for each in call.keywords):
        if made.name == "__init__" and name in ("name", "trainable", "dtype"):
            return (
                f"What line {case.line} runs makes a {callee} (line {made.lineno}) with {name}=. "
                f"Keras gives each layer that it loads name, trainable and dtype. Take them, "
                f"def __init__({ast.unparse(made.args)}, **kwargs), hand them on by "
                f"super().__init__(**kwargs), and return the layer's own arguments by get_config."
            )
        return (
            f"What line {case.line} runs calls {callee} (line {made.lineno}) with {name}=, a "
            f"parameter that it does not have. Give it that: "
            f"def {made.name}({ast.unparse(made.args)}, {name}=None)."
        )
    return unknown_words(case.line, callee, name, own)


def unknown_of_library(case: Case) -> str:
    """A keyword of a message that does not name the function, which the line gives."""
    for call in case.calls:
        for name in (each.arg for each in call.keywords if each.arg):
            if re.search(rf"'{name}'|\b{name} is not a valid", case.failure.message):
                return unknown_words(case.line, case.text.segment(call.func), name, ())
    return ""


def wrong_count(case: Case) -> str:
    """More arguments by position than there are parameters: often ``self`` is not among these."""
    callee = case.match["callee"]
    made = definition(case, callee)
    if made is None:
        return ""
    if "." in callee and not made.decorator_list and (words := _without_self(made)):
        return words
    is_bound = "." in callee and "staticmethod" not in map(dotted, made.decorator_list)
    given = int(case.match["given"]) - is_bound
    takes = [each.arg for each in (*made.args.posonlyargs, *made.args.args)][is_bound:]
    known = "" if callee.rpartition(".")[2] != "call" else _CALLED_BY_KERAS
    named = ", ".join(f"{each.arg}=" for each in made.args.kwonlyargs)
    by_name = f", and by name {named}" if named else ""
    counted = "1 argument" if given == 1 else f"{given} arguments"
    return (
        f"Line {case.line} leads to a call of {callee} with {counted} by position, and line "
        f"{made.lineno} defines it with {len(takes)}: {', '.join(takes) or 'none'}{by_name}. "
        f"{known or 'Give as many as it takes, or give it another parameter.'}"
    )


_CALLED_BY_KERAS = (
    "Keras gives the call of a loss the labels and the predictions, that of a layer its inputs: "
    "def call(self, y_true, y_pred) or def call(self, inputs)."
)


def too_many_for_compiled(case: Case) -> str:
    """More arguments by position than a ``tf.function`` has parameters; the message lists those of
    a method without its first one, which is the object
    (``canonicalize_function_inputs`` in function_type_utils.py, 2.15-2.21)."""
    parameters = case.match["parameters"]
    first = parameters.partition(",")[0].partition(":")[0].partition("=")[0]
    called = {called_name(call) for call in case.calls}
    for kind in case.nodes(ast.ClassDef):
        for made in kind.body:
            words = ""
            if isinstance(made, ast.FunctionDef) and made.name in called:
                listed = [each.arg for each in made.args.args[1:2]] or [""]
                words = _without_self(made) if listed == [first] else ""
            if words:
                return words
    return ""


def _without_self(made: ast.FunctionDef) -> str:
    """Words for a method that does not name its object; empty if it does, or is static."""
    names = [each.arg for each in made.args.args]
    is_static = any(dotted(each) == "staticmethod" for each in made.decorator_list)
    if names[:1] in (["self"], ["cls"]) or made.args.vararg is not None or is_static:
        return ""
    written = f"def {made.name}({', '.join(['self', *names])})"
    return (
        f"Line {made.lineno} defines the method {made.name} without self. Python gives a "
        f"method its object as the first argument. Write {written}."
    )


def not_subscriptable(case: Case) -> str:
    """Square brackets after what has no elements: a function, a number, a history."""
    kind, line = case.match[1], case.line
    if kind == "History":
        return (
            f"Line {line} takes an element of what fit returned. It is an object whose attribute "
            f"history is the dict of numbers for each epoch. Write .history in front of the "
            f"brackets, as in h.history['loss']."
        )
    if kind in ("int", "float", "bool", "complex"):
        taken = [node for node in case.elements_taken if case.type_of(node.value) == kind]
        held = case.held[ast.unparse(taken[0].value)] if len(taken) == 1 else None
        what = f"{held.name}, which is {held.value}, a" if held is not None else "a"
        taken_of = getattr(taken[0].value, "value", None) if held is not None else None
        whole = ", ".join(held_words(case, taken_of)) if taken_of is not None else ""
        around = [each for each in case.nodes(ast.FunctionDef) if line in lines_of(each)]
        if around and around[-1].name == "build" and whole and "tuple" in whole:
            shape = ast.unparse(taken_of) if taken_of is not None else ""
            return (
                f"Line {line} takes an element of {held.name if held else ''}, a single number: "
                f"{whole}. Keras gives a build of one parameter the shape of the first argument of "
                f"call, so its last axis is {shape}[-1]."
            )
        return (
            f"Line {line} takes an element of {what} single Python number ({kind}), and it has "
            f"none{f'; {whole}' if whole else ''}. Look at the line that made it: it may have "
            f"taken a number of a tensor or list before."
        )
    taken = [n for n in case.nodes_here(ast.Subscript) if isinstance(n.value, ast.Attribute)]
    call = "f(x)"
    if "method" in kind and len(taken) == 1:
        method, index = case.text.segment(taken[0].value), case.text.segment(taken[0].slice)
        call = f"{method}()[{index}]"
    return (
        f"Line {line} writes square brackets after a function or method, and those take elements "
        f"of a list or tensor. Call it with parentheses: {call}."
    )


def missing_argument(case: Case) -> str:
    callee, names = case.match["callee"], case.match["names"].strip().rstrip(".")
    if callee.endswith("Loss.__call__"):
        return (
            f"Line {case.line} calls a loss without {names}. A loss takes the labels first and "
            f"then the predictions, as in loss_fn(y, model(x))."
        )
    if "'self'" in names:
        kind = callee.partition(".")[0]
        return (
            f"Line {case.line} calls {callee} on the class, and not on an object of it. Make an "
            f"object first, as in {kind.lower()} = {kind}(…)."
        )
    given = _class_given(case, callee)
    if given:
        return (
            f"Line {case.line} gives the class {given} where an object of it is needed, so "
            f"{callee} was called on the class. Make an object: {given}()."
        )
    made = definition(case, callee) or definition(case, f"{callee}.__init__")
    if made is None:
        return ""
    listed = ", ".join(name for name in _names_of_arguments(made) if name != "self")
    missing = names.replace("'", "")
    called = {called_name(call) for call in case.calls}
    handed = next(_handed_over(case, made.name), None) if made.name not in called else None
    if handed is not None:
        return (
            f"{callee} (line {made.lineno}) was called without {missing}: line {handed.lineno} "
            f"gives it to {case.text.segment(handed.func)}, which calls it in its own way. It "
            f"takes {listed}. Give a function that takes what it is called with, or call it there "
            f"and give the result."
        )
    return (
        f"Line {case.line} calls {callee} without {missing}. The definition on line {made.lineno} "
        f"takes {listed}. Give all that have no default, in that order or by name."
    )


def _handed_over(case: Case, name: str) -> Iterator[ast.Call]:
    """The calls that a function of this name is an argument of."""
    for call in case.nodes(ast.Call):
        for given in (*call.args, *(each.value for each in call.keywords)):
            if dotted(given).rpartition(".")[2] == name:
                yield call


def _class_given(case: Case, callee: str) -> str:
    """A class that the line hands on as an argument, alone or in a list, where the method of one
    lacks an argument: ``callbacks=EarlyStopping``. Empty if the snippet itself calls the method."""
    owner, _, method = callee.rpartition(".")
    calls = case.calls
    if not owner or method == "__init__" or any(called_name(call) == method for call in calls):
        return ""
    for call in calls:
        for argument in (*call.args, *(each.value for each in call.keywords)):
            for part in (
                argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else [argument]
            ):
                if case.type_of(part) in ("type", "ABCMeta"):
                    return case.text.segment(part)
    return ""


def returns_value(made: ast.FunctionDef) -> bool:
    """Whether a function returns or yields something; not whether one does that is made in it."""
    waiting: list[ast.AST] = [*made.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(node, ast.Return) and node.value is not None:
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return False


def definition(case: Case, path: str) -> ast.FunctionDef | None:
    """The last definition of a function, or of ``Class.method``, in the snippet."""
    owner, _, name = path.rpartition(".")
    homes: list[ast.AST] = [case.text.tree] if case.text.tree is not None else []
    if owner:
        last = owner.rpartition(".")[2]
        homes = [each for each in case.nodes(ast.ClassDef) if each.name == last]
    found = [
        node
        for home in homes
        for node in ast.walk(home)
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    return found[-1] if found else None


def called(case: Case) -> str:
    """Parentheses after what is no function: an attribute that holds a list, or a name that the
    snippet gave to a value, as ``sum = 0``."""
    line, made_of, call = case.line, case.match[1], _uncallable(case)
    if call is None:
        return ""
    kind = next((words for end, words in _KINDS.items() if made_of.endswith(end)), made_of)
    value = f"{'an' if kind == 'int' else 'a'} {kind}"
    name, path = case.text.segment(call.func), dotted(call.func)
    held = case.held.get(path)
    if made_of in _OF_ELEMENTS and len(call.args) == 1 and is_int(case, call.args[0]):
        return (
            f"Line {line} calls {name}, which is {value} and no function. An element of it is "
            f"taken by brackets: {name}[{case.text.segment(call.args[0])}]."
        )
    if held is not None and held.size >= 0 and not held.keys and call.args:
        given = case.text.segment(call.args[0])
        return (
            f"Line {line} calls {name}, which holds {held.size} elements in a list, and a list "
            f"is no function. Call its elements: {name}[0]({given}) for one, or for each in "
            f"{name}: {given} = each({given}) for layers that follow each other."
        )
    if isinstance(call.func, ast.Call) and made_of in _TENSOR_TYPES:
        return (
            f"Line {line} calls {name}, which is {value} and no function: its parentheses are "
            f"closed, and others follow. Leave out the second pair, or write * between them where "
            f"a product is meant."
        )
    is_plain = isinstance(call.func, ast.Attribute) and not call.args and not call.keywords
    made = _last_value(case, path) if path and not is_plain else 0
    if made and made_of == "str" and _is_text(case, made, path):
        return (
            f"Line {line} calls {name}, which is a text since line {made}. Keras knows such words "
            f"in model.compile only. Make the function or object itself, as in "
            f"tf.keras.losses.get({name}) for a loss, or give its name without quotes."
        )
    if made == line:
        return (
            f"Line {line} calls {name} and gives the same name to what comes back. When it "
            f"ran again, {name} was no function any more but {value}. "
            f"Give the result another name."
        )
    function = case.text.statement(made) if made else None
    if isinstance(function, ast.FunctionDef) and path in _names_of_arguments(function):
        return (
            f"Line {line} calls {name}, an argument of {function.name}, and was given {value} for "
            f"it, which cannot be called. Look at the call of {function.name}: the order of its "
            f"arguments is {', '.join(_names_of_arguments(function))}."
        )
    if made:
        hidden = f" It hides Python's own function {name}." if hasattr(builtins, path) else ""
        return (
            f"Line {line} calls {name}, but line {made} made it {value}, and that cannot "
            f"be called.{hidden} Use another name on line {made}."
        )
    return (
        f"Line {line} calls {name}, which holds {value} and is no function. "
        f"Leave out the parentheses: {name}."
        if is_plain
        else ""
    )


def _uncallable(case: Case) -> ast.Call | None:
    """The call that raised; where its place is not known the only one on the line that may have."""
    if isinstance(case.raised_at, ast.Call) and case.failure.span.column >= 0:
        return case.raised_at
    calls = case.calls
    found = [call for call in calls if case.type_of(call.func) == case.match[1]] or [
        call
        for call in calls
        if (isinstance(call.func, ast.Attribute) and not call.args and not call.keywords)
        or not dotted(call.func)
        or _last_value(case, dotted(call.func))
    ]
    return found[0] if len(found) == 1 else None


def _names_of_arguments(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    return [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _is_text(case: Case, line: int, name: str) -> bool:
    """Whether the assignment on a line gives a text to a name."""
    assign = case.text.statement(line)
    made = dict(pairs_of(assign)).get(name) if isinstance(assign, ast.Assign) else None
    return isinstance(made, ast.Constant) and isinstance(made.value, str)


_KINDS = {"Tensor": "tensor", "Variable": "tf.Variable", "ndarray": "NumPy array"}
"""The ends of the names of classes, and words for those."""


_TENSOR_TYPES = ("EagerTensor", "SymbolicTensor", "ndarray")
_OF_ELEMENTS = (*_TENSOR_TYPES, "list", "tuple", "dict", "TensorShape")


def _last_value(case: Case, name: str) -> int:
    """The line that gave a tensor to a name last; else the last line up to the failure that gives a
    value to it, as no def or import does."""
    bound = [each.site.line for each in case.trace.bindings if each.name == name]
    if bound and case.match[1] in _TENSOR_TYPES:
        return bound[-1]
    made = case.last_binding(name, also_here=True)
    return made.lineno if made is not None else 0
