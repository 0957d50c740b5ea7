"""Find names of models and other objects that were given to another object.

The variables of an object change with it: those given as sources may belong to one object, and the
target may have been made with another.
"""

from __future__ import annotations

from ....latest import for_latest
from ....trace.ids import TensorId
from ....trace.model import Binding, Trace
from ....trace.sites import Site
from ...call_facts import CallFacts
from ...python.steering import read_on
from ..questions import Unlinked, Used
from .makers import made_when, targets_done


def owner_given_away(used: Used) -> Binding | None:
    """The binding that gave the name of a model or another object in the sources to another one
    after the target was made; None if there is none."""
    facts, targets = used.facts, used.facts.call.target_tensors
    done = max((made_when(facts, tensor) for tensor in targets), default=0)
    for name in sorted(facts.names_of_sources):
        named = _objects_named(facts.trace).get(name, ())
        before = [binding for binding in named if binding.when < done]
        after = [binding for binding in named if done < binding.when < facts.call.when]
        if not before or not after or before[-1].object == after[-1].object:
            continue
        is_same_name = _function(before[-1].site) == _function(after[-1].site)
        if is_same_name and name in used.once(_names_read):
            return after[-1]
    return None


def owner_since_listed(case: Unlinked) -> tuple[Binding, Binding] | None:
    """For a source in a list made from the variables of an object: the binding of the list, and the
    later one that gave the object's name to another, with which the target was made."""
    facts, done = case.facts, targets_done(case)
    for name in sorted(facts.names_of_sources):
        listed = facts.once(_bound_last).get((name, case.tensor))
        if listed is None:
            continue
        for owner in sorted(read_on(facts.text, listed.site.line) - {name}):
            named = _objects_named(facts.trace).get(owner, ())
            before = [binding for binding in named if binding.when < listed.when]
            then = [binding for binding in named if listed.when < binding.when < done]
            is_read = owner in case.used.once(_names_read)
            if before and then and is_read and before[-1].object != then[-1].object:
                return listed, then[-1]
    return None


def _names_read(used: Used) -> frozenset[str]:
    """The names on the lines where the target was made."""
    return frozenset[str]().union(*(read_on(used.facts.text, line) for line in used.lines))


@for_latest
def _objects_named(trace: Trace) -> dict[str, list[Binding]]:
    """The Keras objects and modules that each name was given, in their order."""
    found: dict[str, list[Binding]] = {}
    for binding in sorted(trace.bindings, key=lambda binding: binding.when):
        if binding.object and binding.value.startswith(("keras", "Module")):
            found.setdefault(binding.name, []).append(binding)
    return found


def _bound_last(facts: CallFacts) -> dict[tuple[str, TensorId], Binding]:
    """(name in the sources, tensor) → the last binding of the name, before the call, to this tensor
    or to a list with it."""
    names, when = facts.names_of_sources, facts.call.when
    return {
        (binding.name, tensor): binding
        for binding in facts.trace.bindings
        if binding.name in names and binding.when < when
        for tensor, _ in binding.tensors
    }


def _function(site: Site) -> str:
    return site.frames[0].function if site.frames else ""
