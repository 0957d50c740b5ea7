"""Explain exceptions of lists and dicts: keys and elements that they do not have."""

from __future__ import annotations

import ast
import re
from pathlib import PurePath

from ....text.called_names import VARIABLE_LISTS
from ....text.names import targets_of
from ..case import Case

_DEVICES = r"\blist_(?:physical|logical)_devices\("


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
    return ""
