"""Warn of a ``tf.Variable`` that a Keras layer holds and does not list among its weights."""

from __future__ import annotations

from collections.abc import Iterator

from ..call_facts import CallFacts, name_of
from ..model import Warned


def uncollected_variable(facts: CallFacts) -> Iterator[Warned]:
    """``self.a = tf.Variable(1.0)`` in a layer, used for the target, asked for nowhere, and never
    written, as a state would be.

    A layer of Keras 3 collects variables of its own class alone (``Layer._initialize_tracker`` in
    keras/src/layers/layer.py, 3.0 to 3.12); one of Keras 2 collects every ``tf.Variable``.
    """
    lines, tape, trace = facts.text.variables_of_layers, facts.tape, facts.trace
    if not lines or tape is None:
        return
    for watch in tape.watches:
        variable = trace.variable(watch.tensor)
        if variable is None or variable.site.line not in lines or len(variable.versions) > 1:
            continue
        if watch.tensor in facts.flow.sources:
            continue
        leads_to = facts.paths.recent.leads_from(facts.paths.starts(watch.tensor))
        if any(target in leads_to for target in facts.paths.targets):
            name = name_of(trace, variable.id)
            yield Warned(
                "uncollected",
                variable.site.line,
                f"{name} is a tf.Variable, which Keras 3 leaves out of the layer's "
                f"trainable_variables: no gradient is asked for it, and no optimizer changes it. "
                f"Make it with self.add_weight(shape=…, initializer=…), or ask for it as well.",
            )
