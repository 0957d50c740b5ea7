"""``not-connected``: the target does not depend on the source at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...trace.model import Operand, TensorId, VariableId
from ..call_facts import CallFacts
from ..flow.ends import Ends, ends_of
from ..model import Cause, Evidence
from .questions import Unlinked

_HOW = {
    "constant": (
        "{target} is a constant: no operation on any tensor made it. "
        "A number that Python chose, say by an if, has no derivative. "
        "Compute {target} from {source} with tf operations."
    ),
    "swapped": (
        "{source} was computed from {target}, not the other way round. "
        "gradient(target, sources) takes what was computed first, then what it was computed "
        "from. Swap the two."
    ),
    "statistics": (
        "{target} was not computed from {source}, which is not trainable: it only keeps "
        "statistics. Ask for trainable_variables."
    ),
}


@dataclass(frozen=True, slots=True)
class SkippedBranch:
    """``predicate``: its words, empty if not known; ``was``: its value; ``line``: where the branch
    that did not run uses the source, 0 elsewhere than in the snippet."""

    predicate: str
    was: bool
    line: int

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        predicate = self.predicate or "the condition"
        where = f" (line {self.line})" if self.line else ""
        return (
            f"{predicate} on line {cause.line} was {self.was}, and {source} is used only in the "
            f"branch that did not run{where}. So {target} does not depend on {source} in this "
            f"call. Use {source} in both branches if it should count each time."
        )


@dataclass(frozen=True, slots=True)
class NotConnected(Evidence):
    """``how``: why the target cannot depend on the source, where that is known; ``ends``: else
    where the data flow from the source ends and that to the target begins; ``branch``: the source
    is only used in a branch of a compiled conditional that did not run."""

    kind: ClassVar[str] = "not-connected"
    how: Literal["constant", "swapped", "statistics"] | None
    ends: Ends | None = None
    branch: SkippedBranch | None = None

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.branch is not None:
            return self.branch.sentence(cause, target, source)
        if self.how is not None:
            return _HOW[self.how].format(target=target, source=source)
        words = _two_ends(self.ends or Ends(), target, source)
        return f"{target} was not computed from {source}. {words}"


def _two_ends(ends: Ends, target: str, source: str) -> str:
    """Where the data flow from the source ends, and what the target is made from."""
    place = f"{target} (line {ends.target_line})" if ends.target_line else target
    other = f"{place} is made from {ends.made_from or 'constants'} alone"
    reaches = ends.reaches
    if not reaches:
        return (
            f"Nothing that ran while the tape recorded uses {source}, and {other}. "
            f"Use {source} on the way to {target}, or ask for what {target} is made from."
        )
    if ends.decides:
        return (
            f"{source} reaches {reaches} (line {ends.reaches_line}), which decides what "
            f"runs and gives no number; {other}. "
            f"Compute {target} from {source} itself."
        )
    if ends.is_whole:
        return (
            f"{source} reaches {reaches} (line {ends.reaches_line}), which gives whole numbers (a "
            f"place or a count has no derivative); {other}. "
            f"Compute {target} from {source} itself."
        )
    return (
        f"{source} reaches {reaches} (line {ends.reaches_line}) and nothing after it; "
        f"{other}. Use {reaches} on the way to {target}, if that was meant."
    )


def in_skipped_branch(asked: Unlinked) -> Cause | None:
    """A conditional on the way to the target, whose other branch takes the source.

    TensorFlow gives zeros for what the branch that ran does not take (``_IfGrad`` in cond_v2.py,
    2.15-2.21).
    """
    facts, trace = asked.facts, asked.facts.trace
    for conditional in trace.conditionals.values():
        op = trace.ops[conditional.op]
        if op.when > facts.call.when or asked.used_tensors.isdisjoint(op.outputs):
            continue
        for tensor, line in conditional.skipped.items():
            if tensor == asked.tensor or _leads_to(asked, tensor):
                words = facts.text.condition_on(op.line)
                branch = SkippedBranch(words, conditional.taken == 0, line)
                return facts.cause_at(NotConnected(None, branch=branch), op)
    return None


def _leads_to(asked: Unlinked, tensor: TensorId) -> bool:
    made_from = asked.facts.flow.ancestry([tensor])
    return tensor in made_from.leads_from(asked.starts)


def not_connected(asked: Unlinked) -> Cause:
    """The target was made neither from the source nor from a tensor that the source replaced."""
    return unconnected(asked.facts, asked.source)


def unconnected(facts: CallFacts, source: Operand) -> Cause:
    """As :func:`not_connected`, for a source that may be no tensor of the recording."""
    how = _how(facts, source)
    evidence = NotConnected(how, None if how else ends_of(facts, source))
    return facts.cause(evidence, facts.call.line)


def _how(facts: CallFacts, source: Operand) -> Literal["constant", "swapped", "statistics"] | None:
    targets, flow = facts.paths.targets, facts.flow
    if not any(flow.into(target) for target in targets):
        return "constant"
    variable = facts.trace.variables.get(VariableId(source.tensor or TensorId(0)))
    if variable is not None:
        return None if variable.trainable else "statistics"
    made_from = flow.ancestry([source.tensor] if source.tensor is not None else [])
    return "swapped" if any(target in made_from.into for target in targets) else None
