"""Calls are grouped by call site, and what differs from round to round is told."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tapeviz.analysis import diagnose
from tapeviz.analysis.findings import Status
from tapeviz.analysis.rounds.call_sites import CallSite, SourceSeries
from tapeviz.analysis.rounds.round_words import path_words, rounds_words, series_words
from tapeviz.analysis.status import is_zero, joint_word, nonfinite_word, round_word
from tapeviz.panels.diagnosis.findings import pill_words
from tapeviz.recording.kept import KeptRecording
from tapeviz.trace.ids import CallId
from tapeviz.trace.stats import Stats
from tapeviz.trace.stored.file import load
from tests.traces import Script

RECORDINGS = Path(__file__).parents[1] / "recordings"
NOTHING = np.full(0, np.nan)


def _series(statuses: Sequence[Status | None]) -> SourceSeries:
    return SourceSeries(0, "loss", "w", tuple(statuses), np.ones(len(statuses)), NOTHING)


def _site(*sources: Sequence[Status | None], shapes: Sequence[int] = ()) -> CallSite:
    total = len(sources[0])
    ids = tuple(CallId(n) for n in range(total))
    series = tuple(_series(source) for source in sources)
    return CallSite(3, ids, tuple(range(total)), series, NOTHING, tuple(shapes or [0] * total))


def test_a_loop_is_one_call_site_with_the_numbers_of_each_round() -> None:
    trace = KeptRecording(load(RECORDINGS / "training_loop.tape")).wait()
    diagnosis = diagnose(trace)
    (site,) = diagnosis.rounds.sites
    assert len(site) == len(diagnosis.calls) > 1
    for number, call in enumerate(diagnosis.calls, 1):
        assert diagnosis.rounds.site_of(call.call.id) is site
        assert site.round_of(call.call.id) == number
        for series, finding in zip(site.sources, call.findings, strict=True):
            assert series.statuses[number - 1] == finding.status
            value = trace.value(finding.tensor)  # type: ignore[arg-type]
            assert value is not None
            norm = np.linalg.norm(value.astype(np.float64))
            assert series.norms[number - 1] == pytest.approx(norm, rel=1e-12)
    loss = trace.value(diagnosis.calls[0].call.targets[0].tensor)  # type: ignore[arg-type]
    assert loss is not None
    assert site.target_values[0] == float(loss)
    assert not site.odd_shapes
    assert not site.special


def test_two_calls_on_two_lines_are_two_call_sites() -> None:
    diagnosis = diagnose(KeptRecording(load(RECORDINGS / "persistent_tape.tape")).wait())
    assert [len(site) for site in diagnosis.rounds.sites] == [1] * len(diagnosis.calls)


def test_nan_and_infinity_are_told_apart() -> None:
    statuses: list[Status | None] = ["flows", "nonfinite", "nonfinite", None]
    series = replace(_series(statuses), nonfinite={2: "Inf", 3: "NaN"})
    assert [round_word(series, n) for n in range(1, 5)] == ["flows", "Inf", "NaN", ""]
    assert joint_word(["Inf", "Inf"]) == "Inf"
    assert joint_word(["Inf", "NaN"]) == "NaN or Inf"
    counts = [(0, 0), (2, 0), (0, 1), (1, 1)]
    words = [nonfinite_word(Stats(None, None, None, None, nan, inf)) for nan, inf in counts]
    assert words == ["", "NaN", "Inf", "NaN or Inf"]


def test_a_gradient_is_not_zero_because_its_range_was_not_looked_at() -> None:
    assert not is_zero(Stats(None, None, None, 0.1, 0, 0))
    assert is_zero(Stats(0.0, 0.0, 0.0, 0.0, 0, 0))
    assert is_zero(Stats(None, None, None, None, 0, 0)), "it has no element"


def test_what_differs_begins_where_it_was_not_so_before() -> None:
    statuses: list[Status | None] = ["flows"] * 10
    statuses[3:5] = ["none", "none"]
    statuses[8] = "nonfinite"
    site = _site(statuses, shapes=[0] * 9 + [7])
    assert site.special == (4, 9, 10)
    assert site.telling == 4
    assert site.odd_shapes == (10,)


@pytest.mark.parametrize(("unused", "odd"), [(True, ()), (False, (1,))])
def test_only_what_the_target_was_made_from_has_a_shape(unused: bool, odd: tuple[int, ...]) -> None:
    """The first round computes more; used for the loss or not."""
    script = Script("\n" * 9)
    w = script.variable("w", value=[1.0], line=2)
    for number in range(4):
        tape = script.tape(line=4)
        read = script.op("ReadVariableOp", [w], value=[1.0], line=6)
        if number == 0:
            more = script.op("Tanh", [read], value=[1.0], line=7)
            read = read if unused else more
        y = script.op("Square", [read], value=[1.0], line=8, name="y")
        square = script.last_op
        with script.call(tape, [y], [w], line=9, variables=[w]) as results:
            gave = script.tensor(value=[2.0])
            script.step(square, [script.tensor(value=[1.0])], [gave])
            results.append(gave)
    (site,) = diagnose(script.trace()).rounds.sites
    assert site.odd_shapes == odd


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([0, 6, 6], "NaN from round 2 on (line 6, tf.sqrt of 0)"),
        ([0, 6, 8], "NaN from round 2 on (first line 6, tf.sqrt of 0)"),
    ],
)
def test_a_reason_that_holds_for_some_rounds_only_is_that_of_the_first(
    lines: Sequence[int], words: str
) -> None:
    """``lines``: of the root of each round that meets a zero; 0 where none does."""
    source = "\n" * 5 + "y = tf.sqrt(w)\n\ny = tf.sqrt(w) * 1\n"
    script = Script(source)
    for line in lines:
        start = float(line == 0)
        w = script.variable("w", value=[start], line=2)
        tape = script.tape(line=4)
        read = script.op("ReadVariableOp", [w], value=[start], line=line or 6)
        y = script.op("Sqrt", [read], value=[start], line=line or 6, name="y")
        root = script.last_op
        with script.call(tape, [y], [w], line=10, variables=[w]) as results:
            seed = script.tensor(value=[1.0])
            gave = script.tensor(value=[0.5 if start else np.nan])
            script.step(root, [seed], [gave])
            results.append(gave)
    diagnosis = diagnose(script.trace())
    (site,) = diagnosis.rounds.sites
    assert series_words(diagnosis, site, site.sources[0]) == words


def test_shapes_that_always_differ_are_nothing_special() -> None:
    assert not _site(["flows"] * 4, shapes=[1, 2, 3, 3]).odd_shapes


def test_a_long_list_leaves_out_the_middle_but_for_the_first_of_each_status() -> None:
    statuses: list[Status | None] = ["flows"] * 2_000
    assert not list(_site(statuses[:1_000]).gaps())
    statuses[500:] = ["nonfinite"] * 1_500
    gaps = list(_site(statuses, ["flows"] * 2_000).gaps())
    assert gaps == [(60, 440), (501, 1_489)]
    assert 2_000 - sum(count for _, count in gaps) == 60 + 1 + 10


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (range(1, 31), "in all 30"),
        ([30], "in round 30 only"),
        (range(17, 31), "from round 17 on"),
        (range(3, 6), "in rounds 3–5"),
        ([3, 7, 12], "in rounds 3, 7 and 12"),
        ([2, 5, 6, 8, 9], "in 5 of 30 rounds, first in round 2"),
    ],
)
def test_rounds_in_words(numbers: Sequence[int], words: str) -> None:
    assert rounds_words(list(numbers), 30) == words


def test_large_numbers_of_rounds_have_their_thousands_apart() -> None:
    assert rounds_words([*range(1_200, 2_408)], 2_407) == "from round 1,200 on"
    assert rounds_words([1, 1_500], 2_407) == "in rounds 1 and 1,500"
    site = _site(["flows"] * 1_200 + ["nonfinite"] * 1_207, ["flows"] * 2_407)
    assert pill_words(site, site.sources[0]) == "NaN in 1,207 of 2,407"
    assert pill_words(site, site.sources[1]) == "all 2,407 flow"


def test_a_round_that_did_not_ask_for_a_source_does_not_count_on_its_badge() -> None:
    site = _site([None] * 60 + ["flows"] * 40, [None] * 60 + ["flows"] * 37 + ["zero"] * 3)
    assert pill_words(site, site.sources[0]) == "all 40 flow"
    assert pill_words(site, site.sources[1]) == "zero in 3 of 40"


def test_numbers_in_words() -> None:
    assert path_words(np.array([8.0, 2.0, 0.5])) == "8 → 0.5"
    assert path_words(np.array([8.0, 40.0, np.nan, 0.5])) == "8 → 0.5, highest 40 in round 2"
    assert path_words(np.array([-1.0, 3.0, 1.0])) == "-1 → 1, highest 3 in round 2"
    assert path_words(np.array([np.nan])) == ""


def test_a_diagnosis_lets_go_of_the_findings_that_others_replace() -> None:
    trace = KeptRecording(load(RECORDINGS / "slice_assign.tape")).wait()
    diagnosis = diagnose(trace)
    (call,) = diagnosis.calls
    call.work_out()
    gone = weakref.ref(call)
    with_fixes = replace(call, findings=tuple(replace(known) for known in call.findings))
    old = call.findings[0]
    diagnosis = replace(diagnosis, calls=(with_fixes,))
    del call
    assert gone() is None
    assert not [holder for holder in gc.get_referrers(old) if isinstance(holder, tuple)]
    assert diagnosis.calls[0].steps


@pytest.mark.parametrize(
    ("asked", "made_first", "rounds", "names"),
    [
        ("a b a b", "ab", [2, 2], ["a", "b"]),
        ("a b a b", "", [2, 2], ["a", "b"]),  # made at the first call about it
        ("a b", "ab", [1, 1], []),
        ("a a b b", "", [4], ["v"]),  # training begins anew, as in a cross-validation
        ("a a ab ab", "ab", [4], ["v", "v"]),  # one model, of which a layer was unfrozen
        ("ac bc ac bc", "abc", [2, 2], ["a", "c", "b", "c"]),  # heads on a common trunk
    ],
)
def test_models_that_are_trained_side_by_side_are_a_call_site_each(
    asked: str, made_first: str, rounds: list[int], names: list[str]
) -> None:
    s = Script("\n\ntape.gradient(loss, v)")
    models = {name: s.variable(name) for name in made_first}
    for asks in asked.split():
        models |= {name: s.variable(name) for name in asks if name not in models}
        own = [models[name] for name in asks]
        s.bind("v", own[0], 1)
        tape = s.tape()
        loss = s.op("Mul", [s.read(own[0])] * 2, line=2)
        s.exit(tape)
        with s.call(tape, [loss], own, line=3, variables=own) as results:
            results.extend(s.tensor(value=1.0) for _ in own)
    sites = diagnose(s.trace()).rounds.sites
    assert [len(site) for site in sites] == rounds
    assert [series.source for site in sites for series in site.sources] == names
