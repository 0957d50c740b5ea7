"""Find when and by which statement a variable or a target was made, and what else it made."""

from __future__ import annotations

from bisect import bisect_left
from itertools import dropwhile

from ....text.statements import read_text
from ....trace.ids import TensorId, VariableId
from ....trace.model import Binding
from ....trace.variables import Variable
from ...call_facts import CallFacts
from ..questions import Unlinked, Used

_MAKING = frozenset({"__init__", "__new__", "__post_init__"})
"""Methods of an object that run while it is made."""

VariableKey = tuple[int, str, tuple[int | None, ...] | None, str]


def variable_key(variable: Variable) -> VariableKey:
    """A key that is the same for variables that one statement made, as in another turn of a
    loop."""
    return variable.site.line, variable.dtype, variable.shape, _own_name(variable)


def first_made(used: Used) -> dict[VariableKey, tuple[Variable, Variable | None]]:
    """Key → (the first variable with it that the target was made from, the first of them that was
    made while the tape recorded)."""
    found: dict[VariableKey, tuple[Variable, Variable | None]] = {}
    for handle in used.tensors:
        variable = used.facts.trace.variable(handle)
        if variable is not None:
            first, inside = found.get(variable_key(variable), (variable, None))
            if inside is None and is_made_inside(used.facts, variable):
                inside = variable
            found[variable_key(variable)] = first, inside
    return found


def is_made_inside(facts: CallFacts, variable: Variable) -> bool:
    return facts.tape is not None and facts.tape.is_recording(variable.when)


def _own_name(variable: Variable) -> str:
    """``kernel`` of ``dense_1/kernel``: a layer's weights are made by one statement and differ in
    this part."""
    return (variable.path or variable.name).split("/")[-1]


def line_of_maker(facts: CallFacts, variable: Variable) -> int:
    """The line that made the Keras layer, or other object, that owns the variable; else the line
    that made the variable."""
    made = bound_before(facts, variable)
    return line_of_owner(variable) if made is None else made.site.line


def line_of_owner(variable: Variable) -> int:
    """The line that made the object whose constructor made the variable; else the line that made
    the variable."""
    frames = dropwhile(lambda frame: frame.function in _MAKING, variable.site.frames)
    return next((frame.line for frame in frames), variable.site.line)


def bound_before(facts: CallFacts, variable: Variable) -> Binding | None:
    """The last binding of a Keras object in the same function before the variable was made."""
    function = variable.site.frames[0].function if variable.site.frames else ""
    makers = facts.once(_bound_layers).get(function, [])
    earlier = bisect_left(makers, variable.when, key=lambda binding: binding.when)
    return None if not earlier or function == "<module>" else makers[earlier - 1]


def _bound_layers(facts: CallFacts) -> dict[str, list[Binding]]:
    """Name of a function → its bindings of Keras objects, in the order of time. Parameters and the
    names of ``for`` are none: they are given objects that were made elsewhere."""
    text = read_text(facts.text)
    found: dict[str, list[Binding]] = {}
    for binding in facts.trace.bindings:
        if not binding.value.startswith("keras") or not binding.site.frames:
            continue
        statement = text.statement(binding.site.line)
        if not text.header(binding.site.line) and not (statement and statement.is_for):
            found.setdefault(binding.site.frames[0].function, []).append(binding)
    return {name: sorted(given, key=lambda binding: binding.when) for name, given in found.items()}


def targets_done(case: Unlinked) -> int:
    """The time at which the targets had been made; that of the call where one is a variable, which
    gives the value that it has then."""
    targets, trace = case.facts.call.target_tensors, case.facts.trace
    if any(VariableId(tensor) in trace.variables for tensor in targets):
        return case.facts.call.when
    return max((made_when(case.facts, tensor) for tensor in targets), default=0)


def made_when(facts: CallFacts, tensor: TensorId) -> int:
    maker = facts.trace.maker(tensor)
    return maker.when if maker is not None else 0
