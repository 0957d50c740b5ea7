"""Explain a None where a value should be: what gave it to the name."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ....text.names import called_name, calls_in, dotted, pairs_of, targets_of
from ....text.statements import read_text
from ....text.trees import lines_of
from ..case import Case
from ..tensors.operands import names_read
from .calls import definition, returns_value


def none_given(case: Case) -> str:
    """None where a tensor should be."""
    if words := none_made(case):
        return words
    for call in calls_in(case.raised_at) if isinstance(case.raised_at, ast.Call) else ():
        if words := none_returned(case, case.text.segment(call), call, case.line):
            return words
    return _held_as_none(case)


def none_made(case: Case) -> str:
    """Words for a name on the line that an assignment gave None, or a function without a
    return, or one that came to its end without passing one."""
    line = case.line
    owner = read_text(case.text).owner
    read, statement = {node.id for node in case.nodes_here(ast.Name)}, case.statement
    if case.held:
        read = {name for name in read if name in case.held and case.held[name].type == "NoneType"}
    assigns = [each for each in case.nodes(ast.Assign) if each.lineno <= line]
    for assign in sorted(assigns, key=lambda each: -each.lineno):  # the last one before
        given = {
            name: value
            for name, value in pairs_of(assign)
            if name in read and owner(assign.lineno, name) == owner(line, name)
        }
        if not given:
            continue
        name, value = min(given.items(), key=lambda each: each[0])
        if isinstance(value, ast.Constant) and value.value is None:
            return (
                f"Line {line} works with {name}, which is None: line {assign.lineno} gives it "
                f"None. Give it a tensor there, or leave line {line} out when it is None."
            )
        if isinstance(value, ast.Call) and (
            words := none_returned(case, name, value, assign.lineno)
        ):
            return words
        if statement and assign.lineno < line and assign.col_offset <= statement.col_offset:
            read -= given.keys()  # in no branch of its own, so it ran since those before it
    return ""


def none_returned(case: Case, name: str, call: ast.Call, line: int) -> str:
    """Words for a call on a line that gave None: of a method that changes its object, or of a
    function of the snippet. ``name``: the name for its result, or the call itself."""
    begin, code = f"Line {case.line} works with {name}, which is None", case.text.segment(call)
    held = case.held.get(dotted(call.func))  # an object whose class is the snippet's
    paths = [f"{held.type}.{method}" for method in ("call", "__call__")] if held is not None else []
    found = (definition(case, path) for path in (called_name(call), *paths))
    made = next(filter(None, found), None)
    if made is None and called_name(call) in _IN_PLACE:
        return (
            f"{begin}: {called_name(call)} on line {line} changes its object and returns None. "
            f"Write {code} on a line of its own, and use the object afterwards."
        )
    if made is not None and not returns_value(made):
        return (
            f"{begin}: {made.name} (line {made.lineno}) returns nothing to line {line}. End it "
            f"with a return of what it computes."
        )
    if made is not None and case.held and _may_come_to_its_end(made.body):
        return (
            f"{begin}: {made.name} (line {made.lineno}) returned None to line {line}. It does so "
            f"where it comes to its end without a return, as where none of its conditions holds. "
            f"Return a value, or raise an error, in each case."
        )
    return ""


_IN_PLACE = frozenset(
    ("append", "clear", "extend", "insert", "remove", "reverse", "shuffle", "sort", "update")
)
"""Methods of Python's and NumPy's containers, and of ``random``, that return None."""


def _may_come_to_its_end(body: Sequence[ast.stmt]) -> bool:
    """Whether Python may leave these statements but by ``return`` or ``raise``."""
    last = body[-1]
    if isinstance(last, ast.If):
        return not last.orelse or any(map(_may_come_to_its_end, (last.body, last.orelse)))
    if isinstance(last, ast.With):
        return _may_come_to_its_end(last.body)
    return isinstance(last, (ast.For, ast.Expr, ast.Assign, ast.AugAssign))


def _held_as_none(case: Case) -> str:
    """The only name on the line that meant None, where the text does not tell why it did."""
    if "self" in case.held and case.held["self"].type == "NoneType":
        return (
            f"Line {case.line} runs in a method under tf.function whose object is gone: "
            f"tf.function does not keep an object alive, as in Trainer(…).step(x). Give the object "
            f"a name, trainer = Trainer(…), and call its method then."
        )
    paths = [each for each in names_read(case.raised_at or case.statement) if each in case.held]
    found = [path for path in paths if case.held[path].type == "NoneType"]
    if len(found) != 1:
        return ""
    owner = read_text(case.text).owner
    for loop in case.nodes(ast.For):
        if case.line in lines_of(loop) and found[0] in map(dotted, targets_of(loop)):
            return (
                f"Line {case.line} works with {found[0]}, which is None: the loop on line "
                f"{loop.lineno} goes over values of which one is None. Take that out of them, or "
                f"leave it out in the loop: if {found[0]} is not None."
            )
    for assign in case.nodes(ast.Assign):
        if found[0] not in map(dotted, targets_of(assign)):
            continue
        if "." not in found[0] and owner(assign.lineno, found[0]) != owner(case.line, found[0]):
            continue  # another variable of that name
        around = [each for each in case.nodes(ast.FunctionDef) if assign.lineno in lines_of(each)]
        name = dotted(assign.value)
        if around and name in _none_by_default(around[-1]):
            return (
                f"Line {case.line} works with {found[0]}, which is None: line {assign.lineno} "
                f"gives it the argument {name} of {around[-1].name} (line {around[-1].lineno}), "
                f"whose default is None. Give that argument where it is called."
            )
    return (
        f"Line {case.line} works with {found[0]}, which is None then. Look at what gives it its "
        f"value: a function without a return gives None, and so do dict.get and os.environ.get "
        f"where there is no such key."
    )


def may_end_without_return(case: Case) -> str:
    """Words for the only function of the snippet that returns a value in some cases and None in
    others, where a library that runs it got None."""
    found = [
        made
        for made in case.nodes(ast.FunctionDef)
        if returns_value(made) and _may_come_to_its_end(made.body)
    ]
    if len(found) != 1:
        return ""
    return (
        f"What line {case.line} runs was given None. {found[0].name} (line {found[0].lineno}) "
        f"returns a value in some cases only: where it comes to its end without a return it gives "
        f"None. Return a value in each case."
    )


def _none_by_default(function: ast.FunctionDef) -> Sequence[str]:
    """The parameters of a function whose default is None."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [*zip(reversed(plain), reversed(given.defaults), strict=False)]
    defaults += [(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d]
    is_none = (each for each in defaults if isinstance(each[1], ast.Constant))
    return [name.arg for name, default in is_none if getattr(default, "value", 0) is None]
