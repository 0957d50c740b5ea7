"""``replaced-source``: the source given now is another tensor than the one that was used.

:data:`REPLACEMENTS` is the table: each looks at the source and at what the target was made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

from ....text.statements import read_text
from ....trace.ids import TensorId, VariableId
from ....trace.op_kinds import ops_with
from ....trace.ops import Op
from ....trace.sites import NOWHERE
from ...call_facts import CallFacts
from ...findings import Cause, Evidence
from ...flow.ancestry import Position
from ...flow.same import SameWork
from ...python.blocks import line_beside
from ..questions import Unlinked, Unwatched, Used
from .makers import (
    bound_before,
    first_made,
    is_made_inside,
    line_of_maker,
    line_of_owner,
    targets_done,
    variable_key,
)
from .owners import owner_given_away, owner_since_listed

_VIEWS = ops_with("view")
_DEEPEST = 40


HowReplaced = Literal[
    "rebound",
    "owner",
    "owner-outdated",
    "outdated",
    "copy",
    "computed-again",
    "lost",
    "cloned",
    "kept",
    "made-again",
]


@dataclass(frozen=True, slots=True)
class ReplacedSource(Evidence):
    """The source is no longer the tensor that the target was computed from. ``how``: a name was
    ``rebound``; so was the ``name`` of a model or other object that has the source (``owner``), or
    had it when the source was ``listed`` on that line (``owner-outdated``); an attribute of this
    ``name`` was given another tensor, with which the target was computed (``outdated``); a ``copy``
    or slice was made; the same was computed from the same values (``computed-again``), for the
    target on the line ``listed``; the name of a variable was given to a tensor (``lost``); a model
    was ``cloned``; a result was ``kept`` since an earlier tape; a layer or variable was
    ``made-again``."""

    kind: ClassVar[str] = "replaced-source"
    how: HowReplaced
    name: str = ""
    listed: int = 0

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        words = {"line": cause.line, "target": target, "source": source, "name": self.name}
        how: str = self.how
        if how == "computed-again" and self.listed not in (0, cause.line):
            how = "computed-beside"
        return _SENTENCES[how].format(**words, listed=self.listed)


_SENTENCES = {
    "rebound": (
        "Line {line} gives the name {source} to another tensor, and {target} was computed "
        "from the one before it. The gradient asked for is that of the new tensor. "
        "Keep the first tensor under a name of its own and ask for that."
    ),
    "owner": (
        "Line {line} gives the name {name} to another object, and {target} was computed with the "
        "one before it. {source} belongs to the new one, which {target} does not use. "
        "Keep the first one under a name of its own, or ask for the gradient before line {line}."
    ),
    "owner-outdated": (
        "Line {line} gives the name {name} to another object, and {target} was computed with that. "
        "{source} was listed on line {listed} and belongs to the one before it, which {target} "
        "does not use. List the variables of {name} again after line {line}."
    ),
    "outdated": (
        "Line {line} assigns another tensor to {name}, and {target} was computed with that. "
        "{source} is what {name} was before, and {target} does not depend on it. "
        "Change a variable in place with assign(…), or ask for the one that is used."
    ),
    "copy": (
        "Line {line} makes a new tensor from what {target} was computed from; "
        "{target} does not depend on the new one. "
        "Ask for the gradient of the original, and slice or copy the result."
    ),
    "computed-again": (
        "Line {line} computes once more what {target} was computed from: the same numbers in "
        "another tensor, which {target} does not depend on. "
        "Compute it once, and make both {target} and the source from that."
    ),
    "computed-beside": (
        "Lines {line} and {listed} compute the same numbers, each in a tensor of its own. "
        "{target} was computed from that of line {listed} and does not depend on the other one. "
        "Compute it once, and make both {target} and the source from that."
    ),
    "lost": (
        "{source} was a tf.Variable until line {line} gave its name to a plain tensor. "
        "Tapes watch trainable variables automatically, other tensors only on request. "
        "Change the variable in place with {source}.assign(…), so that it stays one."
    ),
    "cloned": (
        "Line {line} makes a copy that has variables of its own, and {target} was "
        "computed with those of the copy. A change of {source} would not change {target}. "
        "Ask for the variables of the copy, or compute with the original."
    ),
    "kept": (
        "Line {line} ran under an earlier tape, and its result was kept until now. "
        "Each tape knows only what ran in its own block, so it sees a constant here. "
        "Compute it again inside the block."
    ),
    "made-again": (
        "Line {line} makes a new layer or variable each time it runs, so {target} was "
        "computed with other weights than {source}. "
        "Make it once, outside of the function or loop that runs again, and keep it."
    ),
}


def replaced(case: Unlinked) -> Cause | None:
    """How the source given became another tensor than the one used; None if it never was one."""
    if case.tensor in case.used.tensors:  # of the source itself something was used, its shape
        return None
    for look in REPLACEMENTS:
        cause = look(case)
        if cause is not None:
            return cause
    return None


def lost_variable(asked: Unwatched) -> Cause | None:
    """The name meant a variable until it was given to a tensor made from it: ``w = w - step``.

    An object made anew gets its parts without a name, as by ``p = p._replace(w=p.w - step)``: there
    an earlier round of the same call tells what ``p.w`` was, and the line is where the tensor was
    made.
    """
    if asked.variable is not None:
        return None
    facts, source, tensor = asked.facts, asked.source, asked.tensor
    trace = facts.trace
    held: VariableId | None = None
    line = 0
    for when, bound, bound_on in facts.flow.bound.get(source.text, ()):
        if when > facts.call.when:
            continue
        known = trace.variable(bound)
        if known is not None:
            held, line = (known.id if known.trainable else None), 0
        elif bound == tensor and held is not None and not line:
            line = bound_on
    if held is None:
        return None
    line = line or _put_into(facts, source.text, tensor)
    if not line and held in facts.flow.variables_at.get((facts.call.site.id, source.text), ()):
        line = facts.line_where_made(tensor)
    if not line:
        return None
    starts = facts.flow.positions_of_source(TensorId(held))
    if not facts.flow.ancestry([tensor]).leads_from(starts):
        return None
    return facts.cause(ReplacedSource("lost"), line)


def _put_into(facts: CallFacts, path: str, tensor: TensorId) -> int:
    """The line that put the tensor into what ``path`` is a part of, under whatever key it had."""
    site, _ = facts.flow.first_seen.get(tensor, (NOWHERE, 0))
    statement = read_text(facts.text).statement(site.line)
    whole = path.partition("[")[0]
    is_put = statement is not None and whole != path and whole in statement.changes
    return site.line if is_put else 0


def _rebound(case: Unlinked) -> Cause | None:
    """The name meant a tensor that the target was made from, and was given to another one.

    Names inside a compiled function are noticed late, after the call: those only if no other is.
    """
    for until in (case.facts.call.when, None):
        for given in _histories(case):
            line = _rebound_on(case, given, until)
            if line:
                return case.facts.cause(ReplacedSource("rebound"), line)
    return None


_Given = tuple[int, TensorId, int]


def _histories(case: Unlinked) -> Iterator[Sequence[_Given]]:
    """The tensors that each attribute and name of the source was given: when, and on which line."""
    facts = case.facts
    attributes = facts.flow.attributes
    owned = attributes.named.get(case.tensor, {})
    yield from (attributes.given[each] for each in dict.fromkeys(owned.values()))
    text, own = read_text(facts.text), case.source.text
    for name in dict.fromkeys((own, *facts.trace.names.get(case.tensor, ()))):
        if name not in owned:
            given = facts.flow.bound.get(name, ())
            if name != own:  # each call of a function has parameters of its own
                given = [each for each in given if not text.header(each[2])]
            yield from (_by_object if "." in name else _by_scope)(facts, name, given)


def _by_scope(facts: CallFacts, name: str, given: Sequence[_Given]) -> Iterator[Sequence[_Given]]:
    """The parts of a history of a name, of each function that binds it, and of the module.

    The parameters of a compiled function have no line (0): those belong to each part.
    """
    text, root = read_text(facts.text), name.partition("[")[0]
    scopes = [text.owner(line, root) if line else None for _, _, line in given]
    for scope in dict.fromkeys(scopes):
        yield [each for each, its in zip(given, scopes, strict=True) if its in (scope, None)]


def _by_object(facts: CallFacts, _name: str, given: Sequence[_Given]) -> Iterator[Sequence[_Given]]:
    """The parts of a history of ``self.w``: each run of a constructor makes another object."""
    constructors = facts.once(_lines_of_constructors)
    begins = [place for place, (_, _, line) in enumerate(given) if line in constructors]
    for begin, end in pairwise((0, *begins, len(given))):
        yield given[begin:end]


def _lines_of_constructors(facts: CallFacts) -> frozenset[int]:
    sites = (binding.site for binding in facts.trace.bindings)
    return frozenset(s.line for s in sites if s.frames and s.frames[0].function == "__init__")


def _rebound_on(case: Unlinked, given: Sequence[_Given], until: int | None) -> int:
    """The line that gave the name to the source, after it meant a tensor that was used; else 0.

    A loop over several variables means one after the other, and gives no name away.
    """
    line = used_on = 0
    was_used = False
    for when, bound, bound_on in given:
        if when > case.facts.call.when and (bound != case.tensor or until is not None):
            continue
        if bound in case.used.tensors:
            was_used, line, used_on = True, 0, bound_on
        elif bound == case.tensor and was_used and not line:
            head = read_text(case.facts.text).statement(bound_on)
            is_next_item = head is not None and head.is_for and bound_on == used_on
            line = 0 if is_next_item else bound_on
    return line


def _object_rebound(case: Unlinked) -> Cause | None:
    """The object that has the source was made of the one before it, under the same name, as by
    ``state = advance(state)``; the target was computed from that one."""
    facts, root = case.facts, case.source.text.partition(".")[0]
    made = facts.trace.maker(case.tensor)
    if root == case.source.text or made is None:
        return None
    line = line_beside(made.site, facts.call.site)
    statement = read_text(facts.text).statement(line)
    if statement is None or root not in statement.binds & statement.reads:
        return None
    if case.used.positions.keys().isdisjoint(facts.flow.ancestry([case.tensor]).into):
        return None
    return facts.cause(ReplacedSource("rebound"), line)


def _given_after(case: Unlinked) -> Cause | None:
    """A variable that was made after the target, and is given under a path that was read where the
    target was made: ``net.w``, of an object of unknown identity."""
    variable, path = case.facts.trace.variable(case.tensor), case.source.text
    if variable is None or "." not in path or variable.when < targets_done(case):
        return None
    text, root = read_text(case.facts.text), path.partition(".")[0]
    owner = text.owner(case.facts.call.line, root)
    made = (text.statement(n) for n in case.used.lines if text.owner(n, root) == owner)
    if not any(statement is not None and path in statement.reads for statement in made):
        return None
    return case.facts.cause(ReplacedSource("rebound"), line_of_owner(variable))


def _owner_rebound(case: Unlinked) -> Cause | None:
    """The name of a model or another object in the sources meant another one when the target was
    made, by a line that reads the name."""
    given = case.used.once(owner_given_away)
    if given is None:
        return None
    return case.facts.cause(ReplacedSource("owner", given.name), given.site.line)


def _owner_outdated(case: Unlinked) -> Cause | None:
    """The source was put into a list by a line that reads the name of a model or another object,
    and that name meant another one when the target was made."""
    found = owner_since_listed(case)
    if found is None:
        return None
    listed, owner = found
    evidence = ReplacedSource("owner-outdated", owner.name, listed.site.line)
    return case.facts.cause(evidence, owner.site.line)


def _outdated(case: Unlinked) -> Cause | None:
    """An attribute was the source until it was given another tensor, which was used."""
    attributes = case.facts.flow.attributes
    for own, attribute in attributes.named.get(case.tensor, {}).items():
        was_source = False
        for when, tensor, line in attributes.given[attribute]:
            was_source |= tensor == case.tensor
            if was_source and tensor in case.used.tensors and when < case.facts.call.when:
                names = {each: name for name, each in attributes.named[tensor].items()}
                evidence = ReplacedSource("outdated", names.get(attribute, own))
                return case.facts.cause(evidence, line)
    return None


def _made_anew(case: Unlinked) -> Cause | None:
    """The same computation from the same values, run once more: ``x[0]`` makes a new tensor."""
    made = case.facts.trace.maker(case.tensor)
    if made is None:
        return None
    same = SameWork(case.facts.trace)
    for twin in case.used.once(_makers).get(made.type, ()):
        if same.ops(twin, made):
            is_copy = made.type in _VIEWS or case.tensor in case.facts.trace.reads
            evidence = ReplacedSource("copy")
            if not is_copy:
                other = line_beside(twin.site, case.facts.call.site)
                evidence = ReplacedSource("computed-again", listed=other)
            return case.facts.cause(evidence, line_beside(made.site, case.facts.call.site))
    return None


def _makers(used: Used) -> dict[str, list[Op]]:
    """The ops that made the tensors used, by type."""
    found: dict[str, list[Op]] = {}
    for maker in used.makers:
        found.setdefault(maker.type, []).append(maker)
    return found


def _copied(case: Unlinked) -> Cause | None:
    """A slice, a cast, a copy of a tensor that the target was made from."""
    trace, flow = case.facts.trace, case.facts.flow
    variable = trace.variable(case.tensor)
    if variable is not None:
        initial = variable.versions[0].value if variable.versions else None
        if initial is None or not _is_view_of(case, initial):
            return None
        return case.facts.cause(ReplacedSource("copy"), variable.site.line)
    if not _is_view_of(case, case.tensor):
        return None
    maker = trace.maker(case.tensor)
    edges = flow.into(case.tensor)
    if maker is not None:
        line = line_beside(maker.site, case.facts.call.site)
        return case.facts.cause(ReplacedSource("copy"), line)
    leave = edges[0].leave if edges else None
    return case.facts.cause(ReplacedSource("copy"), leave.site.line) if leave else None


def _is_view_of(case: Unlinked, tensor: TensorId) -> bool:
    """Whether only ops that move elements about lead from a used position to the tensor."""
    position: Position = tensor
    flow, trace = case.facts.flow, case.facts.trace
    for _ in range(_DEEPEST):
        edges = flow.into(position)
        if not edges:
            return False
        edge = edges[0]
        if edge.kind == "op" and edge.op is not None and trace.ops[edge.op].type not in _VIEWS:
            return False
        position = edge.start
        if position in case.used.positions or _handle(case, position) in case.used.tensors:
            return True
    return False


def _handle(case: Unlinked, position: Position) -> TensorId | None:
    return None if isinstance(position, int) else TensorId(position.variable)


def _made_again(case: Unlinked) -> Cause | None:
    """A variable made by the same statement as one that was used, at another time.

    So it is with a layer that a function makes on each call. Either the one used was made while
    the tape recorded, or the source when the target was there already.
    """
    source = case.facts.trace.variable(case.tensor)
    if source is None or not source.site.line:
        return None
    first, inside = case.used.once(first_made).get(variable_key(source), (None, None))
    done = targets_done(case)
    twin = first if source.when > done else inside
    if twin is None or (source.when <= done and is_made_inside(case.facts, source)):
        return None
    newer = max(source, twin, key=lambda variable: variable.when)
    return case.facts.cause(ReplacedSource("made-again"), line_of_maker(case.facts, newer))


def _made_inside(case: Unlinked) -> Cause | None:
    """A layer made while the tape recorded, with weights like the source's, which nothing used."""
    facts = case.facts
    source = facts.trace.variable(case.tensor)
    if source is None or not source.path or is_made_inside(facts, source):
        return None
    for handle in case.used.tensors:
        used = facts.trace.variable(handle)
        if used is None or not used.path or variable_key(used)[1:] != variable_key(source)[1:]:
            continue
        made = bound_before(facts, used)
        if made is not None and facts.tape is not None and facts.tape.is_recording(made.when):
            return facts.cause(ReplacedSource("made-again"), made.site.line)
    return None


REPLACEMENTS: tuple[Callable[[Unlinked], Cause | None], ...] = (
    _rebound,
    _object_rebound,
    _given_after,
    _owner_rebound,
    _owner_outdated,
    _outdated,
    _made_anew,
    _copied,
    _made_again,
    _made_inside,
)
