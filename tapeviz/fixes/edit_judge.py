"""Judge edits by what their runs gave, beside what the text gave without them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from ..analysis.diagnose import diagnose
from ..analysis.findings import Finding
from ..errors import TapevizError
from ..recording.live import LiveRecording, Recorder, Snippet
from ..trace.stats import Array
from .crossing import fetched
from .goals import FixGoal, KeptEdit, part_of
from .judging import (
    FindingKey,
    Outcome,
    agrees_in_first_turn,
    answer_to,
    breaks,
    has_come_out,
    has_same_numbers,
    has_same_targets,
    is_repeatable,
    is_zero_here,
)
from .model import Edit, raised_call


class EditJudge:
    """Decides whether an edit mends what it was tried for.

    ``before``: the run without an edit; ``like``: the snippet whose folder, arguments and options
    hold for every run of a trial. The text is run again without an edit where a second run of it
    has to be known: what it gave in the first call of a compiled function, whether it gives the
    same numbers each time.
    """

    def __init__(self, before: Outcome, recorder: Recorder, like: Snippet) -> None:
        self._before = before
        self._recorder = recorder
        self.like = like
        self._first: Outcome | None = None
        self._again: Outcome | None = None

    def judge_by_first_calls(self, keys: Iterable[FindingKey]) -> None:
        """Judge results of compiled functions by the first call of each, before and after.

        Such a result has the values of the function's last call. In a training loop these are
        others after a fix, since the variables were trained by other gradients. It stays with the
        last call where the first one has another trouble.
        """
        repeated = [key for key in keys if self._has_many_calls(key)]
        like = replace(self.like, round=1)
        first = self._run_as_it_was(like) if repeated else None
        if first is None:
            return
        pairs = [(self._before.finding(key), first.finding(key)) for key in repeated]
        if all(old and new and old.status == new.status for old, new in pairs):
            self._first, self.like = first, like

    def is_good(self, goal: FixGoal, edit: Edit, after: Outcome) -> bool:
        """Whether the gradient that the goal is about comes out, with nothing else broken; for an
        error, whether it is gone."""
        if not goal.keys:
            return after.trace.failure is None and self._asked_again(after)
        if breaks(self._before, after):
            return False
        first = goal.keys[0]
        before = self._comparable(first)
        if not has_come_out(before, after, first, edit):
            return False
        if has_same_numbers(before, after, first, edit) or self._goes_on(first, after, edit):
            return True
        return not self._repeats(first)

    def kept(
        self, goal: FixGoal, edit: Edit, after: Outcome, live: LiveRecording | None
    ) -> KeptEdit:
        """A good edit with the gradients that came out after it.

        Where an error is gone and a gradient is not there for another reason, its title says so.
        Its title says so if the gradient of the first source came out in some rounds only, as where
        a variable made before a loop becomes a plain tensor in the loop's first turn.
        """
        missing = self._first_trouble(after) if not goal.keys else None
        if missing is not None:
            title = f"{edit.title} ({_words_of(missing)})"
            return KeptEdit(replace(edit, title=title), {}, is_partial=True)
        values = self._values(goal, edit, after, live)
        rounds = self._rounds_of(goal.keys[0]) if goal.keys else []
        asked = [key for key in rounds if after.finding(answer_to(key, edit)) is not None]
        mended = sum(has_come_out(self._comparable(key), after, key, edit) for key in asked)
        first = frozenset(key for key in values if self._comparable(key) is self._first)
        old, new = (
            each.finding(goal.keys[0]) if goal.keys else None for each in (self._before, after)
        )
        if old is not None and new is not None and is_zero_here(old, new, edit):
            edit = replace(edit, title=f"{edit.title} (the gradient is 0 at these values)")
        is_partial = mended != len(asked)
        if is_partial:
            title = f"{edit.title} (comes out in {mended} of {len(asked)} rounds)"
            edit = replace(edit, title=title)
        keeps_target = old is not None and has_same_targets(
            self._comparable(goal.keys[0]), after, goal.keys[0]
        )
        return KeptEdit(edit, values, is_partial, first, keeps_target)

    def all_rounds(self, key: FindingKey) -> list[tuple[FindingKey, Finding]]:
        """The same result in each round of its call that asked for it, in order."""
        diagnosis = self._before.diagnosis
        site = diagnosis.rounds.site_of(diagnosis.calls[key[0]].call.id)
        rounds = [(place, key[1]) for place in site.places] if site is not None else []
        return [(other, found) for other in rounds if (found := self._before.finding(other))]

    def _goes_on(self, key: FindingKey, after: Outcome, edit: Edit) -> bool:
        """Whether the edit mends an earlier round, or turn of a compiled loop, as well, from which
        this one goes on with other numbers."""
        if agrees_in_first_turn(self._before, after, key, edit):
            return True
        first = next(iter(self._rounds_of(key)), key)
        return (
            first[0] < key[0]
            and has_come_out(self._before, after, first, edit)
            and has_same_numbers(self._before, after, first, edit)
        )

    def _rounds_of(self, key: FindingKey) -> list[FindingKey]:
        """The same result in each round of its call that has a cause of this kind, in order."""
        finding = self._before.finding(key)
        if finding is None or finding.cause is None:
            return []
        causes = ((other, found.cause) for other, found in self.all_rounds(key))
        return [other for other, cause in causes if cause and cause.kind == finding.cause.kind]

    def _values(
        self, goal: FixGoal, edit: Edit, after: Outcome, live: LiveRecording | None
    ) -> dict[FindingKey, Array | None]:
        """The gradient of each finding for which it came out."""
        values: dict[FindingKey, Array | None] = {}
        for key in goal.keys:
            if has_come_out(self._comparable(key), after, key, edit):
                if edit.asks_fewer:
                    values[key] = None
                    continue
                finding = after.finding(answer_to(key, edit))
                assert finding is not None
                part = edit.parts[key[1]] if edit.parts else ""
                values[key] = None
                with suppress(TapevizError):
                    value = fetched(live, after, finding.tensor) if live else None
                    values[key] = part_of(value, part)
        return values

    def _has_many_calls(self, key: FindingKey) -> bool:
        call = self._before.diagnosis.calls[key[0]].call
        return bool(call.traced) and call.ran > 1

    def _comparable(self, key: FindingKey) -> Outcome:
        """The run before the edit that shows this result in the call that trials show it in."""
        if self._first is not None and self._has_many_calls(key):
            return self._first
        return self._before

    def _asked_again(self, after: Outcome) -> bool:
        """Whether the call that raised, if it was one, gives gradients now."""
        place, calls = self._place_of_raised(), after.diagnosis.calls
        return place is None or (place < len(calls) and not calls[place].is_troubled)

    def _place_of_raised(self) -> int | None:
        """The place that the call that raised, if it was one, has among those of a good edit."""
        raised = raised_call(self._before.trace)
        if raised is None:
            return None
        return sum(call.id < raised.id for call in self._before.trace.calls)

    def _first_trouble(self, after: Outcome) -> Finding | None:
        """The first gradient in trouble among those that were not asked for before the edit: from
        the call on that raised, else the last ones."""
        new = len(after.diagnosis.calls) - len(self._before.diagnosis.calls)
        place = self._place_of_raised()
        first = len(self._before.diagnosis.calls) if place is None else place
        calls = after.diagnosis.calls[first : first + max(new, 0)]
        findings = (finding for call in calls for finding in call.findings)
        return next((finding for finding in findings if finding.status != "flows"), None)

    def _repeats(self, key: FindingKey) -> bool:
        """Whether the unedited text gives the same numbers each time. It is run again to find
        out."""
        if self._again is None:
            self._again = self._run_as_it_was(self.like)
        return self._again is None or is_repeatable(self._comparable(key), self._again, key)

    def _run_as_it_was(self, like: Snippet) -> Outcome | None:
        """The text without an edit, run again; ``None`` if that took too long or failed."""
        text = self._before.trace.source
        live = self._recorder.record(replace(like, text=text, in_copy=True))
        try:
            trace = live.wait(like.timeout)
            return Outcome(trace, diagnose(trace))
        except (TimeoutError, TapevizError):
            return None
        finally:
            live.release()


def _words_of(finding: Finding) -> str:
    """Say that a snippet runs, and why a gradient is not there."""
    is_there = {"none": "None", "zero": "zero", "nonfinite": finding.nonfinite}[finding.status]
    line = finding.cause.line if finding.cause is not None else 0
    where = f", by line {line}" if line else ""
    return f"it runs then; the gradient for {finding.source} is {is_there}{where}"
