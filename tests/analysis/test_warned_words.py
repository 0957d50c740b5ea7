"""The gradients that a warning speaks of, in words."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tapeviz.analysis import diagnose, warnings
from tapeviz.analysis.model import Diagnosis, Warned
from tapeviz.analysis.warned_words import warned_about, warned_title, warned_where
from tapeviz.recording.kept import KeptRecording
from tapeviz.trace.ids import CallId
from tapeviz.trace.stored.file import load

RECORDINGS = Path(__file__).parents[1] / "recordings"


def diagnosed(name: str) -> Diagnosis:
    return diagnose(KeptRecording(load(RECORDINGS / f"{name}.tape")).wait())


def test_a_warning_is_about_all_calls_that_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def look(facts: Any) -> Any:
        if facts.call.id != 2:
            yield Warned("ties", 4, f"said of {facts.call.id}")

    monkeypatch.setattr(warnings, "WARNINGS", (look,))
    facts: Any = [SimpleNamespace(call=SimpleNamespace(id=CallId(n))) for n in (1, 2, 3)]
    assert warnings.warn(facts) == (Warned("ties", 4, "said of 1", (CallId(1), CallId(3))),)


@pytest.mark.parametrize(
    ("rounds", "where"),
    [((2,), "in round 2 only"), ((1, 3), "in rounds 1 and 3"), (None, "in all {total} rounds")],
)
def test_in_a_loop_it_says_in_which_rounds(rounds: tuple[int, ...] | None, where: str) -> None:
    diagnosis = diagnosed("training_loop")
    (site,) = diagnosis.rounds.sites
    numbers = range(1, len(site) + 1) if rounds is None else rounds
    warned = Warned("ties", 3, "", tuple(site.calls[number - 1] for number in numbers))
    where_words = where.format(total=len(site))
    assert warned_where(diagnosis, warned) == f"line {site.line}, {where_words}"
    assert warned_title(diagnosis, warned).startswith(f"∂{site.target} ")
    assert warned_about(diagnosis, warned).endswith(f" · line {site.line}, {where_words}")


def test_of_several_calls_it_names_the_first_and_counts_the_others() -> None:
    diagnosis = diagnosed("persistent_tape")
    calls = tuple(call.call.id for call in diagnosis.calls)
    assert len(calls) > 1
    line = diagnosis.calls[0].call.line
    assert warned_where(diagnosis, Warned("ties", 3, "", calls[:1])) == f"line {line}"
    both = warned_where(diagnosis, Warned("ties", 3, "", calls[:2]))
    assert both == f"line {line} · and in 1 other call"


def test_of_a_single_call_or_the_whole_recording_nothing_has_to_be_said() -> None:
    diagnosis = diagnosed("slice_assign")
    (call,) = diagnosis.calls
    assert warned_about(diagnosis, Warned("ties", 3, "", (call.call.id,))) == ""
    assert warned_title(diagnosis, Warned("incomplete", 0, "")) == ""
