"""References from event to event that lead nowhere, or have no end."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapeviz.errors import TapevizError
from tapeviz.trace import events as e
from tapeviz.trace.stored.file import load, save
from tapeviz.trace.stored.references import References
from tests.recordings.conftest import RECORDINGS
from tests.soak.mutate import mutated
from tests.soak.swept import sweep


def problem(*events: e.Event) -> str:
    """The error in the last event; the others are sound."""
    references = References()
    *before, last = events
    assert not any(references.problem(event) for event in before)
    return references.problem(last)


OPS = count(1)


def body(number: int, *runs: int) -> list[e.Event]:
    """A graph with one op for each graph that it runs."""
    inner: list[e.Event] = []
    for graph in runs:
        op = e.OpRan(next(OPS), "PartitionedCall", [], [], graph=number)
        inner += [e.BodiesRun([graph], into=number), op]
    return [e.BodyTraced(True), *inner, e.BodyTraced(False, graph=number)]


CALL = e.CallBegan(1, "tf.gradients", 0, [], [])
VALUE = e.TensorSeen(5, "float32", [2], at=0, nbytes=8)
FRAME = ("f", 1, -1, -1, -1)


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([VALUE, e.TensorSeen(5, "float32", [2])], ""),
        ([VALUE, e.TensorSeen(5, "float32", [3])], "dtype or shape changes"),
        ([VALUE, e.TensorSeen(5, "int32", [2], at=0, nbytes=8)], "dtype or shape changes"),
        ([e.TensorSeen(5, "float32", [None]), VALUE], ""),
        ([e.TapeOpened(1), e.Watched(1, [5])], ""),
        ([e.Watched(1, [5])], "a tape that is not there"),
        ([e.CallBegan(1, "gradient", 3, [], [])], "a tape that is not there"),
        ([CALL, e.CallEnded(1)], ""),
        ([CALL, e.CallEnded(2)], "a gradient call that is not there"),
        ([CALL, CALL], "a gradient call that is there already"),
        ([e.OpRan(1, "Sin", [], []), e.OpRan(1, "Sin", [], [])], "an op out of order"),
        ([e.OpRan(1, "Sin", [], [], site=1)], "a place that is not there"),
        ([e.SiteSeen(1, [FRAME]), e.SiteSeen(1, [FRAME])], "a place that is there already"),
        ([e.SiteSeen(1, [FRAME]), e.SiteSeen(2, [FRAME], caller=1)], ""),
        ([e.SiteSeen(2, [FRAME], caller=1)], "a caller that is not there"),
        ([*body(1), *body(2, 1)], ""),
        ([e.BodiesRun([])], "a call of no graph"),
        (body(1, 1), "a graph that was there before"),
        ([*body(2, 1), *body(1)], "a graph that was there before"),
        ([*body(1), *body(1)], "a graph that was there before"),
        ([e.InsideComputed(1, values=[(["while", 0], -1, 5, "exact")])], ""),
        ([e.InsideComputed(1, values=[([0, "while"], -1, 5, "exact")])], "a path"),
        ([e.InsideComputed(1, turns=[(["while"], "x", 5)])], "a path"),
        ([e.InsideComputed(1, turns=[([], "x", -5)])], "turns"),
        ([e.InsideComputed(1, ops=[([], "x", 0)])], "id"),
    ],
)
def test_references(events: list[e.Event], words: str) -> None:
    found = problem(*events)
    assert words in found
    assert bool(found) == bool(words)


def refused_at(events: list[e.Event]) -> tuple[int, str]:
    references = References()
    return next(
        (at, said) for at, event in enumerate(events) if (said := references.problem(event))
    )


def test_graphs_that_double_have_an_end() -> None:
    events = [*body(1, 0, 0)]
    for number in range(2, 100):
        events += body(number, number - 1, number - 1)
    at, words = refused_at(events)
    assert words == "graphs without end"
    assert at < 200


def test_graphs_in_graphs_have_an_end() -> None:
    chain = [event for number in range(1, 400) for event in body(number, number - 1)]
    assert refused_at(chain)[1] == "graphs without end"
    assert refused_at([e.BodyTraced(True)] * 400)[1] == "graphs without end"


def test_frames_of_callers_have_an_end() -> None:
    frames = [FRAME] * 1000
    chain = [e.SiteSeen(number, frames, number - 1) for number in range(1, 500)]
    assert refused_at([*chain])[1] == "places without end"


@settings(max_examples=25, deadline=None, derandomize=True)
@given(path=st.sampled_from(RECORDINGS), seed=st.integers(0, 1 << 32))
def test_a_changed_recording_is_refused_in_a_sentence_or_shown(
    path: Path, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    changed = tmp_path_factory.mktemp("changed") / "changed.tape"
    save(mutated(load(path), Random(seed)), changed)
    refused = ""
    try:
        sweep(changed)
    except TapevizError as error:
        refused = str(error)
    assert "\n" not in refused
