"""``not-connected``: the target does not depend on the source at all."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

from ....text.line_words import lines_in_words
from ....trace.calls import Operand
from ....trace.model import Leave
from ....trace.op_kinds import ops_with
from ....wording import listed
from ...call_facts import CallFacts
from ...findings import Cause, Evidence
from ...flow.ancestry import Ancestry
from ...flow.dataflow import FORM_OPS
from ...flow.ends import Ends, ends_of, last_made_from
from ...python.caught import SkippedByError, skipped_by_error
from ...python.forms import FormRead, first_made_from, forms_read, has_size_by_values
from ...python.late_names import LateName, late_names_called
from ...python.outside import NO_NUMBER
from ...python.shadowed import Shadowed, shadowed
from ..ops.not_differentiable import NotDifferentiable
from ..questions import Unlinked, Used

_LOOPS = ops_with("loop")

HowUnlinked = Literal["constant", "chosen", "repeated", "swapped", "statistics", "form"]
_HOW: dict[HowUnlinked, str] = {
    "constant": (
        "{target} is a constant: no operation on any tensor made it. "
        "A number that Python chose, say by an if, has no derivative. "
        "Compute {target} from {source} with tf operations."
    ),
    "chosen": (
        "Line {line} tests a condition that depends on {source}: {source} chooses what {target} is "
        "made from, but {target} is not computed from its value. A choice has no derivative. Use "
        "{source} in what follows that choice, too, or weigh both outcomes by a sigmoid."
    ),
    "repeated": (
        "{source} decides how often the loop on line {line} repeats, but {target} is not computed "
        "from its value. A number of turns is whole: it jumps from one to the next, so it has no "
        "derivative. Compute {target} from the values that the loop works on, too."
    ),
    "swapped": (
        "{source} was computed from {target}, not the other way round. "
        "gradient(target, sources) takes what was computed first, then what it was computed "
        "from. Swap the two."
    ),
    "statistics": (
        "{target} was not computed from {source}, a variable that is not trainable: it keeps "
        "state, such as a layer's statistics. Ask for the trainable_variables of what {target} was "
        "computed with."
    ),
    "form": (
        "{target} uses only the shape of {source}: {op} asks how many elements there are, not what "
        "they are. That is a whole number, which has no derivative. "
        "Use the values of {source} as well, if {target} should depend on them."
    ),
}


@dataclass(frozen=True, slots=True)
class SkippedBranch:
    """The value is used only in a branch that did not run. ``predicate``: its words, empty if not
    known; ``was``: its value, of ``tf.switch_case`` the number of the branch, or "not 2" where only
    one that did not run is known; ``lines``: where branches that did not run use the source, none
    elsewhere than in the snippet; ``writes``: the variable that it would have written what is made
    from the source into."""

    predicate: str
    was: bool | int | str
    lines: tuple[int, ...]
    writes: str = ""

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        predicate = self.predicate or "the condition"
        if self.writes:
            return (
                f"{predicate} on line {cause.line} was {self.was}, so line {self.lines[0]}, which "
                f"writes what is made from {source} into {self.writes}, did not run, and {target} "
                f"does not depend on {source} in this call. Where it runs, the gradient is None as "
                f"well: gradients do not pass a write to a variable. Compute {target} with the "
                f"tensor that is written, in place of {self.writes}."
            )
        branches = "branches" if len(self.lines) > 1 else "a branch"
        where = f" ({lines_in_words(self.lines)})" if self.lines else ""
        return (
            f"{predicate} on line {cause.line} was {cause.probably}{self.was}, and {source} is "
            f"used only in {branches} that did not run{where}. So {target} does not depend on "
            f"{source} in this call. Use {source} in every branch if it should count each time."
        )


@dataclass(frozen=True, slots=True)
class SameSlope:
    """The target is made from the gradient of ``of`` by ``by``, asked for on ``line``, which is the
    same for every value of the source."""

    of: str
    by: str
    line: int

    def sentence(self, target: str, source: str) -> str:
        why = (
            f"{self.of} is linear in {source}: its slope is the same wherever {source} is"
            if self.by == source
            else f"no step from {self.by} to {self.of} has a slope that {source} changes"
        )
        return (
            f"{target} is made from the gradient of {self.of} by {self.by} (line {self.line}), and "
            f"{why}. So its derivative is zero, and TensorFlow gives None for it. "
            f"unconnected_gradients=tf.UnconnectedGradients.ZERO gives zeros."
        )


class CopiedBefore(NamedTuple):
    """Before the tape began, ``line`` gave the value of the source to a variable that the target
    was computed with."""

    line: int

    def sentence(self, target: str, source: str) -> str:
        return (
            f"{target} was computed with a copy of {source}: line {self.line} gave its value to "
            f"another variable, which does not change with it. Compute {target} with {source} "
            f"itself, or ask for the gradient of the copy."
        )


@dataclass(frozen=True, slots=True)
class NotConnected(Evidence):
    """No operation leads from the source to the target. ``how``: why the target cannot depend on
    the source, where that is known; ``ends``: else where the data flow from the source ends and
    that to the target begins; ``branch``: the source is only used in a branch that did not run;
    ``why``: the target is made from a gradient that is the same everywhere, what would have used
    the source raised and the snippet caught that, a name on the way has another meaning than where
    the source is given, or the target was computed with a copy of it."""

    kind: ClassVar[str] = "not-connected"
    how: HowUnlinked | None
    ends: Ends | None = None
    branch: SkippedBranch | None = None
    why: SameSlope | SkippedByError | LateName | Shadowed | CopiedBefore | None = None

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.branch is not None:
            return self.branch.sentence(cause, target, source)
        if self.why is not None:
            return self.why.sentence(target, source)
        if self.how is not None:
            words = f"{cause.op_words or 'an op'} on line {cause.line}"
            return _HOW[self.how].format(target=target, source=source, op=words, line=cause.line)
        words = _two_ends(self.ends or Ends(), target, source)
        return f"{target} was not computed from {source}. {words}"


_NOTHING = {
    "tf.gradients": "No operation of the graph",
    "jvp": "Nothing that ran while the accumulator recorded",
}


def _two_ends(ends: Ends, target: str, source: str) -> str:
    """Where the data flow from the source ends, and what the target is made from."""
    place = f"{target} (line {ends.target_line})" if ends.target_line else target
    other = f"{place} is made from {ends.made_from or 'constants'} alone"
    if ends.is_variable:
        other = f"{target} is the variable {ends.is_variable}"
    reaches = ends.reaches
    nothing = _NOTHING.get(ends.method, "Nothing that ran while the tape recorded")
    if not reaches and source in ends.variables:
        return (
            f"{nothing} uses this {source}: {place} is made from "
            f"another variable of the same name, as a copy of a model has. Ask for the variables "
            f"of the model that {target} was computed with."
        )
    if not reaches and source in ends.names:
        return (
            f"{nothing} uses this {source}: {place} is made from another tensor of the same name. "
            f"Compute {target} from this {source}, or ask for the gradient of the other one."
        )
    if not reaches:
        return (
            f"{nothing} uses {source}, and {other}. "
            f"Use {source} to compute {target}, or ask for what {target} is made from."
        )
    arrives = f"{source} reaches {reaches} (line {ends.reaches_line})"
    itself = f"Compute {target} from {source} itself."
    match ends.fate:
        case "decides":
            return f"{arrives}, which only decides what runs; {other}. {itself}"
        case "counts":
            return (
                f"{arrives}, which gives whole numbers (a place or a count has no derivative); "
                f"{other}. {itself}"
            )
        case "left":
            return (
                f"{arrives}, where it leaves TensorFlow to decide or to be shown; {other}. {itself}"
            )
        case "inside":
            return (
                f"{source} goes into what ran for {target}, but there it only decides what runs or "
                f"is counted: no value computed from it arrives; {other}. {itself}"
            )
        case "beside":
            return (
                f"{source} goes into the function that line {ends.reaches_line} calls, but only "
                f"another of its results is made from it; {other}. {itself}"
            )
        case "read":
            return (
                f"Line {ends.reaches_line} reads {source} and uses none of its elements (its "
                f"shape, size and rank are constants); {other}. Use the values of {source} as "
                f"well, if {target} should depend on them."
            )
        case "asked":
            return f"{arrives}, and not {target}; {other}. {itself}"
        case "unused":
            return (
                f"{arrives} and nothing after it; {other}. Use {reaches} to compute {target}, if "
                f"that was meant."
            )


def only_decides(asked: Unlinked) -> Cause | None:
    """The source decides about the target inside of a compiled function, and gives nothing to it.

    ``If`` and ``While`` have no gradient by their predicates (``_IfGrad`` in cond_v2.py,
    ``_WhileGrad`` in while_v2.py, 2.15-2.21).
    """
    facts = asked.facts
    deciders = facts.paths.deciders
    by = next((deciders[start] for start in asked.starts if start in deciders), None)
    if by is None or not facts.line_of(facts.trace.ops[by]):
        return None
    how: HowUnlinked = "repeated" if facts.trace.ops[by].type in _LOOPS else "chosen"
    return facts.cause_at(NotConnected(how), facts.trace.ops[by])


def raised_before_use(asked: Unlinked) -> Cause | None:
    """A line that reads the source raised, and an ``except`` of the snippet caught it."""
    error = skipped_by_error(asked.facts, asked.starts)
    if error is None:
        return None
    cause = asked.facts.cause(NotConnected(None, why=error), error.line)
    return replace(cause, is_probable=not error.is_sure)


def read_late(asked: Unlinked) -> Cause | None:
    """Nothing that ran uses the source, and a function on the way to the target reads the variable
    of a loop, which was the source when the function was made and is another one by now."""
    facts, tensor = asked.facts, asked.tensor
    made = asked.used.once(_late_names)
    if not made or last_made_from(facts, tensor) is not None:
        return None
    root = asked.source.text.partition("[")[0].partition(".")[0]
    for late in made:
        meanings = {bound for _, bound, _ in facts.flow.bound.get(late.name, ())}
        if tensor in meanings or (not meanings and root in late.takes):
            return facts.cause(NotConnected(None, why=late), late.line)
    return None


def _late_names(used: Used) -> Sequence[LateName]:
    return list(dict.fromkeys(late_names_called(used.facts, used.makers)))


def is_same_slope(asked: Unlinked) -> Cause | None:
    """The target is made from a gradient of something that is made from the source.

    TensorFlow computes the gradient of ``3 * x`` without looking at ``x``.
    """
    facts = asked.facts
    for call, operand, made_from in facts.gradients_used:
        if made_from.leads_from(asked.starts):
            of = listed([target.text for target in call.targets])
            slope = SameSlope(of, operand.text, call.line)
            return facts.cause(NotConnected(None, why=slope), facts.call.line)
    return None


def only_form(asked: Unlinked) -> Cause | None:
    """The target takes nothing of the source but its form, which no small change alters: unless it
    is that of what a mask or the like picked, which is a count.

    A form that a variable was made with before the tape began says nothing of what was written to
    it since.
    """
    facts = asked.facts
    edges = facts.paths.ancestry_from(asked.starts).edges_from(asked.starts)
    if not any(target in edges for target in facts.paths.targets):
        return None
    for into in edges.values():
        for edge in into:
            op = facts.op(edge)
            is_form = op is not None and op.type in FORM_OPS and op.call is None
            if op is not None and is_form and op.when >= facts.paths.begin:
                reached = facts.flow.ancestry([edge.start]).leads_from(asked.starts)
                evidence = _of_form(has_size_by_values(facts, reached))
                return facts.cause(evidence, facts.line_of(op), edge)
    return None


def _of_form(is_count: bool) -> Evidence:
    """A form that is a count jumps; of another no change of the values tells."""
    return NotDifferentiable(is_count=True) if is_count else NotConnected("form")


def form_in_python(asked: Unlinked) -> Cause | None:
    """Find that the target uses only the shape or size of the source, which Python read from it."""
    facts = asked.facts
    found = first_made_from(facts, asked.used.once(_forms_read), asked.starts)
    if found is None:
        return None
    form, is_count = found
    return replace(facts.cause(_of_form(is_count), form.line), words=form.words)


def _forms_read(used: Used) -> Sequence[FormRead]:
    return forms_read(used.facts, used.lines)


def shadowed_name(asked: Unlinked) -> Cause | None:
    """Nothing that ran uses the source, and its name means something else on the way to the
    target."""
    facts, used = asked.facts, asked.used
    if last_made_from(facts, asked.tensor) is not None:
        return None
    found = shadowed(facts.text, asked.source.text, facts.call.line, used.lines)
    return None if found is None else facts.cause(NotConnected(None, why=found), facts.call.line)


def not_connected(asked: Unlinked) -> Cause:
    """The target was made neither from the source nor from a tensor that the source replaced."""
    return unconnected(asked.facts, asked.source)


def unconnected(facts: CallFacts, source: Operand, copied_on: int = 0) -> Cause:
    """Give the cause of :func:`not_connected` for a source that may be no tensor of the
    recording. ``copied_on``: the line of :class:`CopiedBefore`, 0 if there was no copy."""
    how = _how(facts, source)
    ends = None if how else ends_of(facts, source)
    decides = ends is not None and ends.fate in ("decides", "counts")
    # A number that Python chose becomes a tensor only in the op that takes it, if in one.
    is_constant = how == "constant" or (ends is not None and not ends.made_from)
    choice = _choice(facts, source) if is_constant or decides else None
    if choice is not None:
        line = choice.site.line
        if how == "constant" or choice.how != "bool" or facts.text.chooses_value(line):
            is_while = isinstance(facts.text.statement(line), ast.While)
            is_loop = choice.how == "while_loop" or is_while
            return facts.cause(NotConnected("repeated" if is_loop else "chosen"), line)
    if ends is not None and ends.fate == "counts" and facts.text.counts_turns(ends.reaches_line):
        return facts.cause(NotConnected("repeated"), ends.reaches_line)
    why = CopiedBefore(copied_on) if copied_on and how is None else None
    return facts.cause(NotConnected(how, ends, why=why), facts.call.line)


def _choice(facts: CallFacts, source: Operand) -> Leave | None:
    """The last truth value that the snippet took of something made from the source while the tape
    recorded; None if there is none."""
    flow = facts.flow
    if source.tensor is None:
        return None
    taken, made_from = facts.once(_truth_values)
    reached = made_from.leads_from(facts.paths.starts(source.tensor))
    return next((leave for leave in taken if flow.position_left(leave) in reached), None)


def _truth_values(facts: CallFacts) -> tuple[Sequence[Leave], Ancestry]:
    """The truth values that the snippet took before the call while the tape recorded, the latest
    first, and what they were made from."""
    flow = facts.flow
    taken = [each for each in reversed(facts.leaves) if each.how in NO_NUMBER and each.site.line]
    return taken, flow.ancestry(map(flow.position_left, taken))


def _how(facts: CallFacts, source: Operand) -> HowUnlinked | None:
    targets, flow = facts.paths.targets, facts.flow
    if not any(flow.into(target) for target in targets):
        return "constant"
    variable = facts.trace.variable(source.tensor)
    if variable is not None:
        return None if variable.trainable else "statistics"
    made_from = flow.ancestry([source.tensor] if source.tensor is not None else [])
    return "swapped" if any(target in made_from.into for target in targets) else None
