"""Find which statement made a variable, and the variables that the same statement made."""

from __future__ import annotations

from bisect import bisect_left
from itertools import dropwhile

from ...trace.model import Binding, Variable, VariableId
from ..call_facts import CallFacts
from .questions import Used

_MAKING = frozenset({"__init__", "__new__", "__post_init__"})
"""Methods of an object that run while it is made."""

Making = tuple[int, str, tuple[int | None, ...] | None, str]


def making(variable: Variable) -> Making:
    """The key that variables have in common which the same statement made."""
    return variable.site.line, variable.dtype, variable.shape, _own_name(variable)


def first_made(used: Used) -> dict[Making, tuple[Variable, Variable | None]]:
    """The first of the variables used that are alike, and the first made while the tape
    recorded."""
    found: dict[Making, tuple[Variable, Variable | None]] = {}
    for handle in used.tensors:
        variable = used.facts.trace.variables.get(VariableId(handle))
        if variable is not None:
            first, inside = found.get(making(variable), (variable, None))
            if inside is None and is_made_inside(used.facts, variable):
                inside = variable
            found[making(variable)] = first, inside
    return found


def is_made_inside(facts: CallFacts, variable: Variable) -> bool:
    return facts.tape is not None and facts.tape.is_recording(variable.when)


def _own_name(variable: Variable) -> str:
    """``kernel`` of ``dense_1/kernel``: one build makes a layer's weights, each with its own."""
    return (variable.path or variable.name).split("/")[-1]


def line_of_maker(facts: CallFacts, variable: Variable) -> int:
    """Where the Keras layer, or another object, was made that owns the variable, else where the
    variable was."""
    made = bound_before(facts, variable)
    return line_of_owner(variable) if made is None else made.site.line


def line_of_owner(variable: Variable) -> int:
    """Where the object was made whose constructor made the variable, else where that was made."""
    frames = dropwhile(lambda frame: frame.function in _MAKING, variable.site.frames)
    return next((frame.line for frame in frames), variable.site.line)


def bound_before(facts: CallFacts, variable: Variable) -> Binding | None:
    """The last name given to a Keras object before the variable was made, by the same function."""
    function = variable.site.frames[0].function if variable.site.frames else ""
    makers = facts.once(_bound_layers).get(function, [])
    earlier = bisect_left(makers, variable.when, key=lambda binding: binding.when)
    return None if not earlier or function == "<module>" else makers[earlier - 1]


def _bound_layers(facts: CallFacts) -> dict[str, list[Binding]]:
    """The names given to Keras objects, by the function that did so, in their order."""
    found: dict[str, list[Binding]] = {}
    for binding in facts.trace.bindings:
        if binding.value.startswith("keras") and binding.site.frames:
            found.setdefault(binding.site.frames[0].function, []).append(binding)
    return {name: sorted(given, key=lambda binding: binding.when) for name, given in found.items()}
