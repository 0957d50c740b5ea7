"""Explain exceptions of lists and dicts: keys and elements that they do not have."""

from __future__ import annotations

import ast
import re
from pathlib import PurePath

from ....text.called_names import VARIABLE_LISTS
from ....text.names import dotted, targets_of
from ..case import Case

_DEVICES = r"\blist_(?:physical|logical)_devices\("


def own_key(case: Case) -> str:
    """A key that a dict which stands in the text does not have."""
    key = case.failure.message.strip("'\"")
    statement = case.text.statement(case.line)
    for node in ast.walk(statement) if statement is not None else ():
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
            continue
        made = _dict_named(case, node.value.id)
        keys = [each.value for each in made.keys if isinstance(each, ast.Constant)] if made else []
        if made is None or not keys or key in map(str, keys):
            continue
        return (
            f"Line {case.line} asks {node.value.id} for the key {key!r}, and that dict (line "
            f"{made.lineno}) has {', '.join(map(repr, keys))}. Write one of these."
        )
    return ""


def no_metric(case: Case) -> str:
    """A word that the history of a training does not have: ``h.history["acc"]``. A snippet without
    a call of ``fit`` has a history of its own, as has the attribute of an own class."""
    key = case.failure.message.strip("'\"")
    statement = case.text.statement(case.line)
    has_fit = any(dotted(call.func).endswith(".fit") for call in case.nodes(ast.Call))
    for node in ast.walk(statement) if statement is not None and has_fit else ():
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Attribute):
            continue
        is_other = isinstance(node.slice, ast.Constant) and node.slice.value != key
        owner = case.text.segment(node.value)
        if node.value.attr == "history" and owner != "self.history" and not is_other:
            return (
                f"Line {case.line} asks the history of a training for {key!r}. It has loss, and "
                f"each metric by the name that compile was given (accuracy, not acc), with val_ in "
                f"front where fit had validation data. Print {owner}.keys()."
            )
    return ""


def _dict_named(case: Case, name: str) -> ast.Dict | None:
    """The dict that a name was last bound to above the failure."""
    value = _last_value(case, name)
    return value if isinstance(value, ast.Dict) else None


def _last_value(case: Case, name: str) -> ast.expr | None:
    """The expression that the last assignment above the failure gives to a name."""
    assigns = [
        node
        for node in case.nodes(ast.Assign)
        if node.lineno <= case.line
        if any(isinstance(target, ast.Name) and target.id == name for target in targets_of(node))
    ]
    last = max(assigns, key=lambda node: node.lineno, default=None)
    return last.value if last is not None else None


def no_key(case: Case) -> str:
    """A missing key: the result of a gradient call has the structure of its sources."""
    calls = [call for call in case.trace.calls if call.ended]
    if not calls or not case.line:
        return ""
    call = calls[-1]
    names = {binding.name for binding in case.trace.bindings if binding.site.line == call.line}
    if not any(f"{name}[" in case.code for name in names):
        return ""
    return (
        f"Line {case.line} looks for a gradient that the call on line {call.line} did not return. "
        f"gradient() gives back the structure of its sources: one gradient for each source given "
        f"there, and no more. Add the missing source to that call."
    )


def no_place(case: Case) -> str:
    """An element of a list beyond its end, asked for by a number in the text; not an error that a
    function of a library raised, whatever it was given."""
    frames = re.findall(r'^ +File "(.*?)", line (\d+)', case.failure.traceback, re.MULTILINE)
    name = PurePath(case.trace.filename).name
    if frames and (PurePath(frames[-1][0]).name, int(frames[-1][1])) != (name, case.line):
        return ""  # Python names the whole path of a script, whatever it was called by
    statement = case.text.statement(case.line)
    found = [
        node
        for node in (ast.walk(statement) if statement is not None else ())
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
    ]
    if len(found) != 1 or not isinstance(found[0].slice, (ast.Constant, ast.Name)):
        return ""
    owner, index = case.text.segment(found[0].value), case.text.segment(found[0].slice)
    made = _last_value(case, owner)
    if re.search(_DEVICES, case.text.segment(made) if made is not None else owner):
        return (
            f"Line {case.line} takes device {index} of a list, and TensorFlow finds fewer of this "
            f"kind. Ask first, as in if gpus:, so that the program runs without one, too."
        )
    if owner.rpartition(".")[2] in VARIABLE_LISTS and not any(
        variable.path for variable in case.trace.variables.values()
    ):
        return (
            f"Line {case.line} takes element {index} of {owner}, which has fewer. A layer or model "
            f"of Keras makes its variables when it is first called, and has none before. Call it "
            f"once with data, or print len({owner}) just before."
        )
    return (
        f"Line {case.line} takes element {index} of {owner}, which is shorter than that. Elements "
        f"are counted from 0. Print len({owner}) just before."
    )
