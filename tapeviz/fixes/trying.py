"""Run the edits for a diagnosis, and add those that were found good to it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ..analysis.diagnose import diagnose
from ..analysis.model import Diagnosis
from ..priority import after_the_window
from ..recording.live import Listener, LiveRecording, Recorder, Snippet
from ..trace.model import Trace
from .crossing import cross_cuts
from .edit_judge import EditJudge
from .goals import MOST_EDITS, MOST_TRIALS, FixGoal, distinct, goals_of, with_fixes, with_words
from .judging import Outcome, breaks
from .merging import edits_for_all_cuts
from .model import Edit, FixCase
from .source import ParsedSource
from .table import edits_for
from .tables.errors import edits_for_error

MOST_RUNS = 12
AT_ONCE = 2
_FEWEST_SECONDS = 10.0
_PATIENCE = 60.0
_SLOWEST = 20.0
"""Seconds of a run; of a longer one too few trials would be over in time."""
TOO_SLOW = "not tried: the snippet takes too long to be run again"
_DEEPEST = 3


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

    def release(self) -> None:
        """Let its process and its recording go: the texts of all trials are kept to the end."""
        if self.live is not None:
            self.live.release()
            self.live = None


class _Wakes(Listener):
    def __init__(self, ended: threading.Event) -> None:
        self._ended = ended

    def ended(self, trace: Trace) -> None:
        self._ended.set()


class _Trials:
    def __init__(self, before: Outcome, recorder: Recorder, like: Snippet) -> None:
        self.before = before
        self.recorder = recorder
        seconds = before.trace.ending.seconds
        like = replace(like, timeout=max(_FEWEST_SECONDS, 3 * seconds))
        self.judge = EditJudge(before, recorder, like)
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
        self.judge.judge_by_first_calls(key for goal in goals if goal.edits for key in goal.keys)
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
        rounds = self.judge.all_rounds(goal.keys[0])
        is_there = any(found.status == "flows" for _, found in rounds)
        case = FixCase(self.before.trace, diagnosed.call, finding, goal.cause, source, is_there)
        firsts: dict[str, Edit] = {}
        for edit in edits_for_all_cuts(case):  # two cuts may give the same edit
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
        wanted = [(goal, edit) for goal, edit in trial.edits if not goal.is_done]
        if not wanted or self._runs >= MOST_RUNS or time.monotonic() > self._until:
            return
        for goal, edit in wanted:
            goal.note_trial(edit)
        self._runs += 1
        listener = _Wakes(self._woken)
        like = replace(self.judge.like, text=trial.text, in_copy=True)
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
            with after_the_window():
                diagnosis = diagnose(trace)
            self._judge(trial, Outcome(trace, diagnosis))
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
            if (goal.has_enough and not goal.left) or goal.is_kept_already(edit):
                continue
            if self.judge.is_good(goal, edit, after):
                kept = self.judge.kept(goal, edit, after, trial.live)
                if not goal.has_enough or set(goal.left) & kept.values.keys():
                    goal.kept.append(kept)
                    self._offer_to_others(trial, edit, after)
            else:
                similar = [each for each in goal.edits if each.title == edit.title]
                if edit in similar[:-1]:
                    self._offer(goal, similar[similar.index(edit) + 1], trial.depth)
                if any(not kept.is_partial for kept in goal.kept):
                    continue
            if goal.left and trial.depth < _DEEPEST and not goal.is_done:
                self._follow_up(trial, goal, edit, after)

    def _offer_to_others(self, trial: _Trial, edit: Edit, after: Outcome) -> None:
        """A good edit may mend other gradients, too: those of a call that needs this one's."""
        offered = {id(goal) for goal, _ in trial.edits}
        for goal in self._goals:
            is_open = goal.keys and not goal.kept and not goal.lent and id(goal) not in offered
            if is_open and self.judge.is_good(goal, edit, after):
                goal.lent.append(self.judge.kept(goal, edit, after, trial.live))

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
        edit = replace(edit, is_fallback=edit.is_fallback or bool(corrections))
        for second in [*reversed(firsts.values())][:2]:
            self._offer(goal, edit.followed_by(second, second.new_text), trial.depth + 1)

    def _edits_behind(
        self, trial: _Trial, goal: FixGoal, after: Outcome, source: ParsedSource
    ) -> Iterator[Edit]:
        """The edits for the next cut on the way, unless it is the one that this edit was for."""
        left = ((key, after.finding(key)) for key in goal.left)
        open_ = ((k, f, f.cause) for k, f in left if f is not None and f.cause is not None)
        key, finding, cause = next(open_, (None, None, None))
        if key is None or finding is None or cause is None:
            return
        is_made = cause.code not in map(str.strip, self.before.trace.source.split("\n"))
        is_same = goal.cause is not None and cause.kind == goal.cause.kind
        if is_made and (finding.status == "zero" or (is_same and trial.depth > 1)):
            return  # zeros that the edit made are no cut to be mended
        if is_same and goal.cause is not None and cause.code == goal.cause.code:
            return
        call = after.diagnosis.calls[key[0]].call
        yield from edits_for(FixCase(after.trace, call, finding, cause, source))
