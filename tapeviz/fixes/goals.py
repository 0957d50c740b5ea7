"""Group the findings that are to be fixed, and put fixes into their diagnosis."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from ..analysis.findings import Cause, Fix
from ..analysis.model import Diagnosis
from ..text.diffs import short_diff
from ..text.trees import parse_expression, parse_module
from ..trace.stats import Array
from .judging import FindingKey, Outcome
from .model import ESTIMATE, Edit

MOST_EDITS = 4
"""The most edits, by their titles, that are looked for and tried for a goal."""
MOST_TRIALS = 6
"""The most that are tried while a gradient is left that none mends, with those for further cuts."""
MOST_KEPT = 2


@dataclass(frozen=True, slots=True)
class KeptEdit:
    """An edit that mends, with the gradients that came out, which are those of the
    ``first_calls`` of compiled functions. ``is_partial``: not in all rounds; ``keeps_target``: the
    target has the value that it had."""

    edit: Edit
    values: dict[FindingKey, Array | None]
    is_partial: bool = False
    first_calls: frozenset[FindingKey] = frozenset()
    keeps_target: bool = False

    @property
    def mended(self) -> int:
        """The number of gradients that are not zero."""
        return sum(value is None or bool(value.any()) for value in self.values.values())


@dataclass(slots=True)
class FixGoal:
    """The findings that have one cause, which an edit is to mend. Without keys: the error that
    ended the snippet."""

    cause: Cause | None
    keys: list[FindingKey] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    """The fixes, the likeliest first; if several have the same title, the first that is good."""
    tried: int = 0
    """The number of edits that were tried; those with the same title count as one."""
    titles: set[str] = field(default_factory=set)
    """The titles of the edits that were tried."""
    kept: list[KeptEdit] = field(default_factory=list)
    lent: list[KeptEdit] = field(default_factory=list)
    """Edits for other goals that mend this one, too; they are shown if none of its own mends it."""

    def first_of_each_title(self) -> list[Edit]:
        titles = [edit.title for edit in self.edits]
        return [edit for index, edit in enumerate(self.edits) if titles.index(edit.title) == index]

    def note_trial(self, edit: Edit) -> None:
        """Count an edit that is tried, if it is the first with its title."""
        self.tried += edit.title not in self.titles
        self.titles.add(edit.title)

    def in_order(self, text: str) -> list[KeptEdit]:
        """The kept edits of a text, the likeliest first; in front of it those that mend more
        gradients than it, without more of an estimate. Those for a further cut stand behind.

        Those that mend some rounds only, or give nothing but zeros, stand where no others are, and
        zeros where they mend a gradient that no other edit does. One that changes more lines than
        another of them, and these among them, is left out, unless the other one brings another
        gradient than the one across the cut, or gives the target another value where this one keeps
        it. So is one that does something more than another, or adds the same lines in another
        order. Neither is left out where it mends a gradient that the other does not, or, without an
        estimate, gives other numbers: it closes further cuts. NaN is mended only by the edits that
        leave the fewest zeros. A fallback stands where no other edit does.
        """
        rank = {edit.new_text: index for index, edit in enumerate(self.edits)}
        kept = sorted(
            self.kept or self.lent, key=lambda each: rank.get(each.edit.new_text, len(rank))
        )
        whole = [each for each in kept if not each.is_partial] or kept
        telling = [each for each in whole if not _are_zeros(each.values.values())]
        mended = {key for each in telling for key in each.values}
        best = [each for each in whole if each in telling or not mended.issuperset(each.values)]
        best = best if telling else whole[:MOST_KEPT]
        if self.cause is not None and self.cause.kind == "nonfinite":
            zeros = [_zeros_in(each.values.values()) for each in best]
            best = [each for each, count in zip(best, zeros, strict=True) if count == min(zeros)]
        best = [each for each in best if not each.edit.is_fallback] or best[:1]
        best = [
            each
            for each in best
            if not any(_has_more_than(each.edit, o.edit) and _gives_all(o, each) for o in best)
        ]
        firsts: dict[object, KeptEdit] = {}
        for each in best:
            firsts.setdefault(_blocks(text, each.edit.new_text), each)
        best = list(firsts.values())
        changed = [(_changed_lines(text, each.edit.new_text), each) for each in best]
        best = [
            each
            for lines, each in changed
            if not any(
                fewer < lines
                and other.edit.has_other_slope <= each.edit.has_other_slope
                and other.keeps_target >= each.keeps_target
                and _gives_all(other, each)
                for fewer, other in changed
            )
        ]
        if len(best) > 1:
            first = best[0].edit.is_estimate
            best.sort(key=lambda each: -each.mended * (each.edit.is_estimate <= first))
        return best

    def is_kept_already(self, edit: Edit) -> bool:
        """Whether a kept edit has this title, or gives the same text."""
        kept = [each.edit for each in self.kept]
        return any(e.title == edit.title or e.new_text == edit.new_text for e in kept)

    @property
    def has_enough(self) -> bool:
        """Whether so many edits are kept that no further one is tried. Those that are partial, or
        whose gradients are zeros, do not count."""
        kept = (each for each in self.kept if not each.is_partial)
        return sum(not _are_zeros(each.values.values()) for each in kept) >= MOST_KEPT

    @property
    def is_done(self) -> bool:
        """Whether no further edit is tried. Where a gradient is left, one may mend it, too."""
        most = MOST_EDITS if self.kept and not self.left else MOST_TRIALS
        return self.tried >= most or (self.has_enough and not self.left)

    @property
    def left(self) -> list[FindingKey]:
        """The findings that no kept edit mends."""
        mended = {key for each in self.kept for key in each.values}
        return [key for key in self.keys if key not in mended]


def goals_of(diagnosis: Diagnosis) -> Iterator[FixGoal]:
    """The goals of a diagnosis. In each, sources whose gradient across the cut is known stand
    before others of their call: on some of those the target may not depend, as where the largest is
    chosen."""
    found: dict[tuple[str, int, str], FixGoal] = {}
    for number, call in enumerate(diagnosis.calls):
        for index, finding in enumerate(call.findings):
            if finding.status != "flows" and finding.cause is not None:
                cause = finding.cause
                # A line may have several ops that give NaN, each to another source.
                words = cause.op_words if finding.status == "nonfinite" else ""
                goal = found.setdefault((cause.kind, cause.line, words), FixGoal(cause))
                goal.keys.append((number, index))
    for goal in found.values():
        goal.keys.sort(key=lambda key: (key[0], _across(diagnosis, key) is None))
        yield goal
    if diagnosis.error is not None:
        yield FixGoal(None)


def _across(diagnosis: Diagnosis, key: FindingKey) -> object:
    return diagnosis.calls[key[0]].findings[key[1]].across


def _has_more_than(edit: Edit, other: Edit) -> bool:
    """Whether an edit does what the title of another says, and something more."""
    title, less = edit.title.lower(), other.title.lower()
    return title != less and less.removeprefix(ESTIMATE.lower()) in title


def _gives_all(less: KeptEdit, more: KeptEdit) -> bool:
    """Whether one edit mends all gradients that another does, and by the same numbers, unless the
    other estimates them."""
    return all(
        key in less.values and (more.edit.is_estimate or _are_same(value, less.values[key]))
        for key, value in more.values.items()
    )


def _are_same(a: Array | None, b: Array | None) -> bool:
    """Whether two gradients are the same, as far as both are known."""
    if a is None or b is None:
        return True
    return a.shape == b.shape and bool(np.allclose(a, b, 1e-3, 1e-6, equal_nan=True))


def _changed_lines(old: str, new: str) -> frozenset[str]:
    return frozenset(line.strip() for line in {*new.split("\n")} ^ {*old.split("\n")})


def _blocks(old: str, new: str) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    """The lines that an edit replaces, and those it puts there, sorted."""
    before, after = old.split("\n"), new.split("\n")
    alike = 0
    for line, other in zip(before, after, strict=False):
        if line != other:
            break
        alike += 1
    changes = SequenceMatcher(None, before[alike:], after[alike:]).get_opcodes()
    return tuple(
        (alike + start, alike + end, tuple(sorted(after[alike + first : alike + last])))
        for kind, start, end, first, last in changes
        if kind != "equal"
    )


def _zeros_in(values: Iterable[Array | None]) -> int:
    known = (value for value in values if value is not None and value.dtype.kind in "fc")
    return sum(value.size - int(np.count_nonzero(value)) for value in known)


def _are_zeros(values: Iterable[Array | None]) -> bool:
    """Whether all gradients are zeros: they may be right in place of NaN, but another edit may give
    more."""
    known = [value for value in values if value is not None and value.dtype.kind in "fc"]
    return bool(known) and not any(value.any() for value in known)


def distinct(edits: Iterator[Edit], text: str) -> Iterator[Edit]:
    """The edits that change something, differ from each other, and give text that parses, up to
    :data:`MOST_EDITS` titles: several with one title are ways to do the same, tried in turn."""
    seen = {text}
    titles: set[str] = set()
    for edit in edits:
        if edit.new_text in seen:
            continue
        seen.add(edit.new_text)
        try:
            parse_module(edit.new_text)
        except (SyntaxError, ValueError):
            continue
        titles.add(edit.title)
        if len(titles) > MOST_EDITS:
            return
        yield edit


def part_of(value: Array | None, subscript: str) -> Array | None:
    """The part of the gradient that the source is: ``[0, :2]`` as NumPy reads it."""
    if value is None or not subscript:
        return value
    try:
        parts = parse_expression(f"x{subscript}")
        assert isinstance(parts, ast.Subscript)
        return np.asarray(value[_index(parts.slice)])  # of one element NumPy gives a scalar
    except (AssertionError, ValueError, SyntaxError, IndexError):
        return None


def _index(node: ast.expr) -> Any:
    if isinstance(node, ast.Tuple):
        return tuple(_index(element) for element in node.elts)
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if end is None else ast.literal_eval(end) for end in ends))
    return ast.literal_eval(node)


def with_fixes(before: Outcome, goals: list[FixGoal]) -> Diagnosis:
    diagnosis, text = before.diagnosis, before.trace.source
    fixes: dict[FindingKey, list[Fix]] = {}
    errors = diagnosis.errors
    for goal in goals:
        for kept in goal.in_order(text):
            edit, values = kept.edit, kept.values
            diff = short_diff(text, edit.new_text)
            if not goal.keys and errors:
                fix = Fix(edit.title, diff, edit.new_text, None, edit.is_estimate)
                first = replace(errors[0], fixes=(*errors[0].fixes, fix))
                errors = (first, *errors[1:])
            for key, value in values.items():
                is_first = key in kept.first_calls
                fix = Fix(edit.title, diff, edit.new_text, value, edit.is_estimate, is_first)
                fixes.setdefault(key, []).append(fix)
    calls = tuple(
        replace(
            call,
            findings=tuple(
                replace(finding, fixes=tuple(fixes.get((number, index), ())))
                for index, finding in enumerate(call.findings)
            ),
        )
        for number, call in enumerate(diagnosis.calls)
    )
    return replace(diagnosis, calls=calls, errors=errors)


def with_words(diagnosis: Diagnosis, words: str) -> Diagnosis:
    """The diagnosis in which each troubled finding says why no fixes were tried."""
    calls = tuple(
        replace(
            call,
            findings=tuple(
                finding if finding.status == "flows" else replace(finding, not_tried=words)
                for finding in call.findings
            ),
        )
        for call in diagnosis.calls
    )
    return replace(diagnosis, calls=calls)
