"""``not-connected``: what the target needs of the source stands in a branch that did not run."""

from __future__ import annotations

import ast
from dataclasses import replace

from ....text.branches import names_inside
from ....text.statements import read_text
from ....text.trees import lines_of
from ...call_facts import CallFacts
from ...findings import Cause
from ...flow.ends import last_made_from
from ...numbers.branches import SkippedUse, only_use, skipped_use
from ..questions import MadeZero, Unlinked
from .not_connected import NotConnected, SkippedBranch

_LONGEST = 60
"""Letters of a condition that is quoted."""


def in_skipped_branch(asked: Unlinked) -> Cause | None:
    """Find a branch of a compiled conditional that did not run and alone takes the source."""
    used = asked.used.tensors
    found = skipped_use(asked.facts, asked.tensor, asked.starts, used)
    return None if found is None else _in_branch(asked.facts, found)


def in_other_branch(zero: MadeZero) -> Cause | None:
    """Find such a branch in a graph of which it is not known what ran: that a flat op ran in the
    one branch is less likely than that the other branch ran."""
    if zero.op is None or zero.step is None or zero.is_sure:
        return None
    found = only_use(zero.facts, zero.op, zero.starts)
    return None if found is None else replace(_in_branch(zero.facts, found), is_probable=True)


def _in_branch(facts: CallFacts, found: SkippedUse) -> Cause:
    predicate = facts.text.condition_on(found.op.line)
    branch = SkippedBranch(predicate, found.was, (found.line,) if found.line else (), found.writes)
    return facts.cause_at(NotConnected(None, branch=branch), found.op)


def in_branch_of_python(asked: Unlinked) -> Cause | None:
    """Nothing that ran uses the source, and the text uses it in a branch of Python's that was
    passed by: lines around it ran while the tape recorded, and none of its own."""
    facts, tensor = asked.facts, asked.source.tensor
    named = facts.text.branches
    found = [each for name in names_inside(asked.source.text) for each in named.get(name, ())]
    if not found or tensor is None or last_made_from(facts, tensor) is not None:
        return None
    ran = {lines[-1] for lines in facts.ran}
    block, scope = facts.once(_block_of_tape), read_text(facts.text).scope
    for branch in found:
        if branch.around.isdisjoint(ran) or not ran.isdisjoint(branch.lines):
            continue
        line = branch.test.lineno
        if block and line not in block and scope(line) == scope(block.start):
            continue  # what it would have run no tape would have recorded
        words = facts.text.segment(branch.test)
        words = words if len(words) <= _LONGEST else ""
        was: bool | str = not branch.when
        if isinstance(branch.test, ast.pattern):
            words, was = f"case {words}" if words else "this case", "no match"
        skipped = SkippedBranch(words, was, branch.uses)
        return facts.cause(NotConnected(None, branch=skipped), branch.test.lineno)
    return None


def _block_of_tape(facts: CallFacts) -> range:
    """The lines of the ``with`` that the call's tape recorded in; empty if there is none."""
    tape, tree = facts.tape, facts.text.tree
    for node in ast.walk(tree) if tape is not None and tree is not None else ():
        if isinstance(node, ast.With) and tape is not None and node.lineno == tape.site.line:
            return lines_of(node)
    return range(0)
