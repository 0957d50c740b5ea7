"""Explain an optimizer that was given no pairs of a gradient and its variable."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ....text.names import called_name
from ....text.statements import read_text
from ....trace.calls import Call
from ....trace.ids import VariableId
from ....trace.variables import Variable
from ....wording import listed
from ..case import Case

NOT_CONNECTED = (
    "The loss is not connected to these variables on the tape. "
    "Look at the gradients of this run: each None is explained with the line that cuts it."
)


def nothing_applied(case: Case) -> str:
    """No variables were asked for, or all gradients were None and left out."""
    calls = [call for call in case.trace.calls if call.ended]
    if calls and not calls[-1].sources:
        return _no_variables(case, calls[-1])
    if calls and set(calls[-1].results) == {None}:
        return (
            "apply_gradients was given an empty list: every gradient is None, and was left out. "
            + NOT_CONNECTED
        )
    return (
        "apply_gradients was given an empty list. It needs at least one pair of a gradient and its "
        "variable."
    )


def _no_variables(case: Case, call: Call) -> str:
    """The list of variables is empty. The variables that the tape watched are what it lacks: they
    were made after the list, or belong to a part that is frozen, or did not get into it.

    Keras leaves the variables of a part with ``trainable = False`` out of ``trainable_variables``.
    TensorFlow's own variable behind each stays trainable in Keras 3, so that a tape watches it
    all the same (``Layer.trainable`` and ``Variable.trainable`` of Keras 3.0 to 3.15).
    """
    said = (
        f"apply_gradients was given an empty list: the list of variables that line {call.line} "
        f"takes the gradients of is empty"
    )
    watched = _watched(case, call)
    handed = _line_that_hands_it_over(case, call)
    made = handed or _line_of_list(case, call)
    begin = call.line if handed else made
    late = [each for each in watched if _ran_in(case, each, begin, 0 if handed else made)]
    frozen = _frozen_at(case, call, bool(watched))
    if late:
        return (
            f"{said}. Line {made} {'hands it over' if handed else 'makes it'} before line "
            f"{late[0].site.line} makes the variables, at the first call of a model that does not "
            f"know the shape of its input. Read model.trainable_variables after that call, or give "
            f"the model a tf.keras.Input(shape)."
        )
    if frozen:
        return (
            f"{said}. Line {frozen} sets trainable=False, and the trainable_variables of a model "
            f"leave out all that belong to such a part. Leave a part trainable, or ask for "
            f"model.variables."
        )
    if watched:
        names = listed([each.path or each.name for each in watched])
        return (
            f"{said}, though the tape watched {names}. Look at what line {made or call.line} puts "
            f"into that list."
        )
    return (
        f"{said}, and no trainable variable was read in the tape's block. A model that does not "
        f"know the shape of its input has no variables before its first call: read "
        f"model.trainable_variables after that call, or give it a tf.keras.Input(shape)."
    )


def _watched(case: Case, call: Call) -> Sequence[Variable]:
    """The variables that the call's tape watched by itself."""
    tape = case.trace.tape(call.tape)
    watches = tape.watches if tape is not None else ()
    variables = (case.trace.variables.get(VariableId(watch.tensor)) for watch in watches)
    return [variable for variable in variables if variable is not None]


def _given_list(case: Case, call: Call) -> ast.expr | None:
    frame = call.site.frames[0] if call.site.frames else None
    node = case.text.call_at(frame.span, call.method) if frame is not None else None
    return case.text.operands(node, "sources")


def _line_that_hands_it_over(case: Case, call: Call) -> int:
    """The line that called the function whose parameter the list is; 0 if it is none."""
    given, text = _given_list(case, call), read_text(case.text)
    if not isinstance(given, ast.Name) or len(call.site.frames) < 2:
        return 0
    scope = text.scope(call.line)
    is_own = text.is_parameter(scope, given.id) and not text.writers(scope, given.id)
    return call.site.frames[1].line if is_own else 0


def _line_of_list(case: Case, call: Call) -> int:
    """The line that gives the list its name; that of the call where it stands there; 0 for a
    parameter, an attribute or a name that is not known."""
    given = _given_list(case, call)
    if not isinstance(given, ast.Name):
        is_read_there = isinstance(given, ast.Attribute) and "variables" in given.attr
        return call.line if is_read_there else 0
    text = read_text(case.text)
    writers = text.writers(text.owner(call.line, given.id), given.id)
    return max((each.first for each in writers if each.first < call.line), default=0)


def _ran_in(case: Case, variable: Variable, line: int, after: int) -> bool:
    """Whether a line of the function that holds ``line`` made the variable, one that stands after
    ``after``; False without a line."""
    text = read_text(case.text)
    scope = text.scope(line)
    frames = variable.site.frames if line else ()
    return any(text.scope(frame.line) == scope and frame.line > after for frame in frames)


def _frozen_at(case: Case, call: Call, is_watching: bool) -> int:
    """The line that set ``trainable`` to False for a part of a model, or made such a part; else 0,
    also where the text gives another expression, whose value is not known.

    ``is_watching``: the tape watched variables.
    """
    lines = {
        binding.site.line
        for binding in case.trace.bindings
        if binding.name.endswith(".trainable") and binding.when < call.when
    }
    for node in case.nodes(ast.Assign):
        if node.lineno in lines and _is_false(node.value):
            return node.lineno
    for made in case.nodes(ast.Call):
        if is_watching and called_name(made) == "Variable":
            continue  # one beside the model, as a counter of steps
        if any(each.arg == "trainable" and _is_false(each.value) for each in made.keywords):
            return made.lineno
    return 0


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value
