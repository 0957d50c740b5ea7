"""Run the edits for a diagnosis, and add those that were found good to it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from ..analysis.diagnose import diagnose
from ..analysis.model import Diagnosis, Finding
from ..errors import TapevizError
from ..recording import LiveRecording, Recorder, Silent, Snippet
from ..trace.model import Array, Trace
from .crossing import cross_cuts, fetched
from .folders import Folder
from .goals import (
    MOST_EDITS,
    MOST_TRIALS,
    FixGoal,
    KeptEdit,
    distinct,
    goals_of,
    part_of,
    with_fixes,
    with_words,
)
from .judging import (
    FindingKey,
    Outcome,
    answer_to,
    breaks,
    has_come_out,
    has_same_numbers,
    is_repeatable,
    is_zero_here,
)
from .merging import pairs_of
from .model import Edit, FixCase
from .source import ParsedSource
from .table import edits_for, edits_for_error

MOST_RUNS = 12
AT_ONCE = 2
_FEWEST_SECONDS = 10.0
_PATIENCE = 60.0
_SLOWEST = 20.0
"""Seconds of a run; of a longer one too few trials would be over in time."""
TOO_SLOW = "not tried: the snippet takes too long to be run again"
_DEEPEST = 3
_FEW = 2
"""Edits of each cut that are tried together with those of another."""


def try_fixes(
    trace: Trace,
    diagnosis: Diagnosis,
    recorder: Recorder,
    *,
    like: Snippet | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Diagnosis:
    """Run the edits that may mend each finding; those after which the gradient comes out are kept.

    ``like``: the snippet that was recorded: its folder, arguments and options hold for the trials.
    ``on_progress(done, known)`` is called after each trial. It blocks; not for Qt's thread.
    """
    if trace.ending.how not in ("finished", "raised", "exit"):
        return diagnosis
    like = like or Snippet(trace.source, trace.filename)
    like = replace(like, options={**like.options, "seed": trace.seed})
    if trace.ending.seconds > _SLOWEST:
        return with_words(diagnosis, TOO_SLOW)
    diagnosis = cross_cuts(Outcome(trace, diagnosis), recorder, like)
    trials = _Trials(Outcome(trace, diagnosis), recorder, like)
    trials.on_progress = on_progress
    trials.should_stop = should_stop
    return trials.run()


@dataclass(slots=True)
class _Trial:
    """A text to be run, for one goal or for several."""

    text: str
    edits: list[tuple[FixGoal, Edit]]
    depth: int = 1
    live: LiveRecording | None = None
    folder: Folder | None = None

    def release(self) -> None:
        """Let its process and its recording go: the texts of all trials are kept to the end."""
        if self.live is not None:
            self.live.release()
            self.live = None
        if self.folder is not None:
            self.folder.remove()


class _Wakes(Silent):
    def __init__(self, ended: threading.Event) -> None:
        self._ended = ended

    def ended(self, trace: Trace) -> None:
        self._ended.set()


class _Trials:
    def __init__(self, before: Outcome, recorder: Recorder, like: Snippet) -> None:
        self.before = before
        self.recorder = recorder
        seconds = before.trace.ending.seconds
        self.like = replace(like, timeout=max(_FEWEST_SECONDS, 3 * seconds))
        self.on_progress: Callable[[int, int], None] | None = None
        self.should_stop: Callable[[], bool] | None = None
        self._until = time.monotonic() + _PATIENCE
        self._waiting: deque[_Trial] = deque()
        self._running: list[_Trial] = []
        self._known: dict[str, _Trial] = {before.trace.source: _Trial("", [])}
        self._goals: list[FixGoal] = []
        self._woken = threading.Event()
        self._runs = 0
        self._done = 0
        self._first: Outcome | None = None
        self._again: Outcome | None = None

    def run(self) -> Diagnosis:
        goals = self._goals = list(goals_of(self.before.diagnosis))
        if not goals:
            return self.before.diagnosis
        try:
            source = ParsedSource(self.before.trace.source)
        except ValueError:
            return self.before.diagnosis
        for goal in goals:
            goal.edits.extend(self._edits(goal, source))
        self._open_first_calls(key for goal in goals if goal.edits for key in goal.keys)
        for rank in range(MOST_EDITS):  # the likeliest of each before the second of any
            for goal in goals:
                firsts = goal.first_of_each_title()
                if rank < len(firsts):
                    self._offer(goal, firsts[rank], 1)
        self._try_all()
        for goal in goals:  # where none was good the last one that is known
            left = [e for e in goal.first_of_each_title() if e.new_text not in self._known]
            if left and not goal.kept:
                goal.tried = min(goal.tried, MOST_TRIALS - 1)
                self._offer(goal, left[-1], 1)
        self._try_all()
        return with_fixes(self.before, goals)

    def _try_all(self) -> None:
        while self._waiting or self._running:
            while self._waiting and len(self._running) < AT_ONCE:
                self._start(self._waiting.popleft())
            if not self._running:
                continue
            if self.should_stop is not None and self.should_stop():
                self._drop_all()
            # In the order of their starts, so that each run of tapeviz keeps the same edits.
            elif not self._is_judged(self._running[0]):
                self._woken.wait(0.25)
                self._woken.clear()

    def _edits(self, goal: FixGoal, source: ParsedSource) -> list[Edit]:
        if goal.cause is None:
            return list(distinct(edits_for_error(self.before.trace, source), source.text))
        call, number = goal.keys[0]
        diagnosed = self.before.diagnosis.calls[call]
        finding = diagnosed.findings[number]
        rounds = self._all_rounds(goal.keys[0])
        is_there = any(found.status == "flows" for _, found in rounds)
        case = FixCase(self.before.trace, diagnosed.call, finding, goal.cause, source, is_there)
        edits = list(distinct(edits_for(case), source.text))
        beside = [cause for cause in finding.others if cause.kind != goal.cause.kind]
        for other in beside[:1]:  # a cut on another way: one edit alone may bring a part only
            second = list(distinct(edits_for(replace(case, cause=other)), source.text))[:_FEW]
            pairs = distinct(pairs_of(source.text, edits[:_FEW], second), source.text)
            edits[_FEW:_FEW] = [*list(pairs)[:_FEW], *second]
        firsts: dict[str, Edit] = {}
        for edit in edits:  # both cuts may give the same edit, and none may come after itself
            firsts.setdefault(edit.new_text, edit)
        return list(firsts.values())

    def _offer(self, goal: FixGoal, edit: Edit, depth: int) -> None:
        known = self._known.get(edit.new_text)
        if known is not None:
            known.edits.append((goal, edit))
            return
        trial = _Trial(edit.new_text, [(goal, edit)], depth)
        self._known[edit.new_text] = trial
        self._waiting.append(trial)

    def _start(self, trial: _Trial) -> None:
        wanted = [goal for goal, _ in trial.edits if not goal.is_done]
        if not wanted or self._runs >= MOST_RUNS or time.monotonic() > self._until:
            return
        for goal in wanted:
            goal.tried += 1
        self._runs += 1
        listener = _Wakes(self._woken)
        trial.folder = Folder(self.like.directory)
        like = replace(self.like, text=trial.text, directory=trial.folder.path)
        trial.live = self.recorder.record(like, listener)
        self._running.append(trial)

    def _is_judged(self, trial: _Trial) -> bool:
        """Judge the trial, if it is over."""
        assert trial.live is not None
        try:
            trace = trial.live.wait(0)
        except TimeoutError:
            return False
        self._running.remove(trial)
        try:
            self._judge(trial, Outcome(trace, diagnose(trace)))
        finally:
            trial.release()
        self._done += 1
        if self.on_progress is not None:
            self.on_progress(self._done, self._done + len(self._running) + len(self._waiting))
        return True

    def _drop_all(self) -> None:
        self._waiting.clear()
        for trial in self._running:
            if trial.live is not None:
                trial.live.stop()
            trial.release()
        self._running.clear()

    def _judge(self, trial: _Trial, after: Outcome) -> None:
        for goal, edit in tuple(trial.edits):  # one offered meanwhile for this text comes too late
            if goal.has_enough or goal.is_told(edit):
                continue
            if self._is_good(goal, edit, after):
                goal.kept.append(
                    self._kept(goal, edit, self._values(trial, after, goal, edit), after)
                )
                self._lend(trial, edit, after)
                continue
            similar = [each for each in goal.edits if each.title == edit.title]
            if edit in similar[:-1]:
                self._offer(goal, similar[similar.index(edit) + 1], trial.depth)
            if goal.keys and trial.depth < _DEEPEST and not goal.is_done:
                self._follow_up(trial, goal, edit, after)

    def _lend(self, trial: _Trial, edit: Edit, after: Outcome) -> None:
        """A good edit may mend other gradients, too: those of a call that needs this one's."""
        offered = {id(goal) for goal, _ in trial.edits}
        for goal in self._goals:
            is_open = goal.keys and not goal.kept and not goal.lent and id(goal) not in offered
            if is_open and self._is_good(goal, edit, after):
                values = self._values(trial, after, goal, edit)
                goal.lent.append(self._kept(goal, edit, values, after))

    def _is_good(self, goal: FixGoal, edit: Edit, after: Outcome) -> bool:
        if not goal.keys:
            return after.trace.failure is None and self._asked_again(after)
        if breaks(self.before, after):
            return False
        first = goal.keys[0]
        before = self._comparable(first)
        if not has_come_out(before, after, first, edit):
            return False
        if has_same_numbers(before, after, first, edit) or self._goes_on(first, after, edit):
            return True
        return not self._repeats(first)

    def _goes_on(self, key: FindingKey, after: Outcome, edit: Edit) -> bool:
        """Whether the edit mends an earlier round as well, from which this one goes on with other
        numbers."""
        first = next(iter(self._rounds_of(key)), key)
        return (
            first[0] < key[0]
            and has_come_out(self.before, after, first, edit)
            and has_same_numbers(self.before, after, first, edit)
        )

    def _rounds_of(self, key: FindingKey) -> list[FindingKey]:
        """The same result in each round of its call that has a cause of this kind, in order."""
        finding = self.before.finding(key)
        if finding is None or finding.cause is None:
            return []
        causes = ((other, found.cause) for other, found in self._all_rounds(key))
        return [other for other, cause in causes if cause and cause.kind == finding.cause.kind]

    def _all_rounds(self, key: FindingKey) -> list[tuple[FindingKey, Finding]]:
        """The same result in each round of its call that asked for it, in order."""
        diagnosis = self.before.diagnosis
        site = diagnosis.rounds.site_of(diagnosis.calls[key[0]].call.id)
        rounds = [(place, key[1]) for place in site.places] if site is not None else []
        return [(other, found) for other in rounds if (found := self.before.finding(other))]

    def _kept(
        self,
        goal: FixGoal,
        edit: Edit,
        values: dict[FindingKey, Array | None],
        after: Outcome,
    ) -> KeptEdit:
        """With words about the rounds, if the gradient of the first source came out in some only.

        A variable made before a loop may become a plain tensor in the loop's first turn.
        """
        rounds = self._rounds_of(goal.keys[0]) if goal.keys else []
        asked = [key for key in rounds if after.finding(answer_to(key, edit)) is not None]
        mended = sum(has_come_out(self._comparable(key), after, key, edit) for key in asked)
        first = frozenset(key for key in values if self._comparable(key) is self._first)
        old, new = (
            each.finding(goal.keys[0]) if goal.keys else None for each in (self.before, after)
        )
        if old is not None and new is not None and is_zero_here(old, new, edit):
            edit = replace(edit, title=f"{edit.title} (the gradient is 0 at these values)")
        if mended == len(asked):
            return KeptEdit(edit, values, first_calls=first)
        title = f"{edit.title} (comes out in {mended} of {len(asked)} rounds)"
        return KeptEdit(replace(edit, title=title), values, is_partial=True, first_calls=first)

    def _open_first_calls(self, keys: Iterable[FindingKey]) -> None:
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
        pairs = [(self.before.finding(key), first.finding(key)) for key in repeated]
        if all(old and new and old.status == new.status for old, new in pairs):
            self._first, self.like = first, like

    def _has_many_calls(self, key: FindingKey) -> bool:
        call = self.before.diagnosis.calls[key[0]].call
        return bool(call.traced) and call.ran > 1

    def _comparable(self, key: FindingKey) -> Outcome:
        """The run before the edit that shows this result in the call that trials show it in."""
        if self._first is not None and self._has_many_calls(key):
            return self._first
        return self.before

    def _asked_again(self, after: Outcome) -> bool:
        """Whether the call that raised, if it was one, gives gradients now."""
        calls = self.before.trace.calls
        if not calls or calls[-1].ended:
            return True
        count = len(self.before.diagnosis.calls)
        return count < len(after.diagnosis.calls) and not after.diagnosis.calls[count].is_troubled

    def _repeats(self, key: FindingKey) -> bool:
        """Whether the unedited text gives the same numbers each time. It is run again to find
        out."""
        if self._again is None:
            self._again = self._run_as_it_was(self.like)
        return self._again is None or is_repeatable(self._comparable(key), self._again, key)

    def _run_as_it_was(self, like: Snippet) -> Outcome | None:
        """The text without an edit, run again; ``None`` if that took too long or failed."""
        folder = Folder(like.directory)
        text = self.before.trace.source
        live = self.recorder.record(replace(like, text=text, directory=folder.path))
        try:
            trace = live.wait(like.timeout)
            return Outcome(trace, diagnose(trace))
        except (TimeoutError, TapevizError):
            return None
        finally:
            live.release()
            folder.remove()

    def _values(
        self, trial: _Trial, after: Outcome, goal: FixGoal, edit: Edit
    ) -> dict[FindingKey, Array | None]:
        """The gradient of each finding for which it came out."""
        values: dict[FindingKey, Array | None] = {}
        for key in goal.keys:
            if has_come_out(self._comparable(key), after, key, edit):
                finding = after.finding(answer_to(key, edit))
                assert finding is not None
                part = edit.parts[key[1]] if edit.parts else ""
                values[key] = None
                with suppress(TapevizError):
                    value = fetched(trial.live, after, finding.tensor) if trial.live else None
                    values[key] = part_of(value, part)
        return values

    def _follow_up(self, trial: _Trial, goal: FixGoal, edit: Edit, after: Outcome) -> None:
        """The gradient meets another cut now, or an error that the edit brought: mend that, too."""
        try:
            source = ParsedSource(trial.text)
        except ValueError:
            return
        is_raised = after.trace.failure is not None
        corrections = [*edits_for_error(after.trace, source)] if is_raised else []
        if corrections and not breaks(self.before, after):
            return
        # An error that none of them mends may come of the gradient, which is still None.
        found = iter(corrections or self._edits_behind(trial, goal, after, source))
        firsts = {each.title: each for each in reversed([*distinct(found, trial.text)])}
        edit = replace(edit, is_corrected=edit.is_corrected or bool(corrections))
        for second in [*reversed(firsts.values())][:2]:
            self._offer(goal, edit.followed_by(second, second.new_text), trial.depth + 1)

    def _edits_behind(
        self, trial: _Trial, goal: FixGoal, after: Outcome, source: ParsedSource
    ) -> Iterator[Edit]:
        """The edits for the next cut on the way, unless it is the one that this edit was for."""
        key = goal.keys[0]
        finding = after.finding(key)
        if finding is None or (cause := finding.cause) is None:
            return
        is_made = cause.code not in map(str.strip, self.before.trace.source.split("\n"))
        is_same = goal.cause is not None and cause.kind == goal.cause.kind
        if is_made and (finding.status == "zero" or (is_same and trial.depth > 1)):
            return  # zeros that the edit made are no cut to be mended
        if is_same and goal.cause is not None and cause.code == goal.cause.code:
            return
        call = after.diagnosis.calls[key[0]].call
        yield from edits_for(FixCase(after.trace, call, finding, cause, source))
