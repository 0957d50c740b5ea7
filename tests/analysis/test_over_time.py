"""Shares by turn add up to the gradient, and vanishing is told with its numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tapeviz.analysis import diagnose
from tapeviz.analysis.model import CallDiagnosis, Diagnosis
from tapeviz.analysis.rounds.call_sites import CallSite, SourceSeries
from tapeviz.analysis.rounds.over_time import (
    TurnShares,
    plot_sentences,
    trend_sentences,
    turn_shares,
)
from tapeviz.recording.live import Recorder, Snippet
from tapeviz.trace.ids import CallId
from tapeviz.trace.model import EMPTY_TRACE, Trace
from tests.traces import Script

CELL = """
import tensorflow as tf

u = tf.Variable([[0.4, 0.1], [0.0, 0.3]])
for step in range(2):
    with tf.GradientTape() as tape:
        h = tf.ones([1, 2])
        for t in range(10):
            h = tf.tanh(h @ u)
        loss = tf.reduce_sum(h)
    du = tape.gradient(loss, u)
    u.assign_sub(0.1 * du)
"""


def test_turns_of_a_recurrent_cell(recorder: Recorder) -> None:
    live = recorder.record(Snippet(CELL))
    trace = live.wait(60)
    live.release()
    diagnosis = diagnose(trace)
    call = diagnosis.calls[-1]
    (shares,) = turn_shares(trace, call)
    assert (shares.source, shares.line, len(shares.norms)) == ("u", 9, 10)
    assert shares.parts.sum() == pytest.approx(1)
    total = next(row for row in call.steps if row.kind == "sum" and len(row.upstream) == 10)
    given = [trace.value(share) for share in total.upstream if share is not None]
    result = trace.value(call.call.results[0])  # type: ignore[arg-type]
    assert result is not None
    np.testing.assert_allclose(np.sum(given, axis=0), result, rtol=1e-5)
    norms = sorted(float(np.linalg.norm(gradient)) for gradient in given if gradient is not None)
    np.testing.assert_allclose(np.sort(shares.norms), norms, rtol=1e-5)


def _shares(norms: list[float]) -> TurnShares:
    return TurnShares(0, "u", 9, np.array(norms))


def test_words_say_from_which_turns_it_comes() -> None:
    vanishing = _shares([1e-4] * 8 + [1.0, 2.0])
    (words,) = plot_sentences(EMPTY_TRACE, Diagnosis(), None, 0, [vanishing])
    assert words == (
        "∂u vanishes over the turns of line 9: more than 99 % of it comes from the last 2 of 10 "
        "turns."
    )
    exploding = _shares([90.0, 6.0] + [0.5] * 8)
    (words,) = plot_sentences(EMPTY_TRACE, Diagnosis(), None, 0, [exploding])
    assert words.startswith("∂u explodes over the turns of line 9: 96 % of it comes from the first")
    assert not plot_sentences(EMPTY_TRACE, Diagnosis(), None, 0, [_shares([1.0] * 10)])


def _site(norms: list[list[float]], losses: list[float], rank: int) -> CallSite:
    nothing = np.full(0, np.nan)
    rounds = len(losses)
    sources = tuple(
        SourceSeries(n, "loss", f"w{n}", ("flows",) * rounds, np.array(some), nothing, rank)
        for n, some in enumerate(norms)
    )
    ids = tuple(CallId(n) for n in range(rounds))
    return CallSite(3, ids, tuple(range(rounds)), sources, np.array(losses), (0,) * rounds)


def _network(
    layers: int, rounds: int, begins: int = 0, listed: tuple[int, ...] = ()
) -> tuple[Trace, Diagnosis]:
    """A network of matrices, each multiplied by what the one before gave. ``begins``: the layer
    that gets the input anew: those before it are a network beside it, and the target is a sum.
    ``listed``: the order of the sources, if it is another."""
    script = Script()
    handles = [script.variable(f"w{n}", (2, 2)) for n in range(layers)]
    tape = script.tape()
    x = y = script.op("Const", [], (2, 2))
    beside, steps = [], []
    for n, handle in enumerate(handles):
        if n == begins:
            beside, y = [y], x
        weight = script.read(handle, (2, 2))
        steps.append((script.last_op, [weight]))
        y = script.op("MatMul", [y, weight], (2, 2))
        steps.append((script.last_op, [y, weight]))
    target = script.op("AddV2", [y, *beside], (2, 2))
    steps.append((script.last_op, [y, *beside]))
    script.exit(tape)
    asked = [handles[place] for place in listed] or handles
    with script.call(tape, [target], asked, variables=handles) as results:
        for op, inputs in reversed(steps):
            script.step(op, [script.tensor((2, 2))], [script.tensor((2, 2)) for _ in inputs])
        results += [script.tensor((2, 2)) for _ in handles]
    trace = script.trace()
    (call,) = trace.calls
    return trace, Diagnosis(calls=(CallDiagnosis(call, ()),) * rounds)


def test_words_compare_the_first_layer_with_the_last() -> None:
    site = _site([[1e-5], [1e-3], [1e-2], [0.02]], [1.0], 2)
    (words,) = plot_sentences(*_network(4, 1), site, 1, ())
    assert words == (
        "Vanishes towards the first layer, by a factor of 2,000: ‖∂w0‖ is 1e-05, ‖∂w3‖ 0.02 "
        "(round 1)."
    )
    network = _network(4, 1, listed=(0, 1, 3, 2))
    (words,) = plot_sentences(*network, _site([[1e-5], [1e-3], [0.02], [1e-2]], [1.0], 2), 1, ())
    assert words.endswith("‖∂w0‖ is 1e-05, ‖∂w2‖ 0.02 (round 1).")
    to_and_fro = _site([[1e-5], [1e-3], [1e-4], [1e-6], [0.02]], [1.0], 2)
    assert not plot_sentences(*_network(5, 1), to_and_fro, 1, ())


def test_layers_of_another_network_are_not_compared() -> None:
    norms = [[1e-7], [1e-6], [1e-5], [1e-3], [1e-2], [0.02]]
    site = _site(norms, [1.0], 2)
    (words,) = plot_sentences(*_network(6, 1, begins=2), site, 1, ())
    assert words.endswith("‖∂w2‖ is 1e-05, ‖∂w5‖ 0.02 (round 1).")
    assert not plot_sentences(*_network(6, 1, begins=3), site, 1, ())
    unused = _site([[np.nan], [np.nan], *norms[2:]], [1.0], 2)
    assert plot_sentences(*_network(6, 1, begins=2), unused, 1, ()) == (words,)


def test_words_compare_layers_before_the_last_one_has_settled() -> None:
    norms = [[1e-6, 1e-7], [1e-4, 1e-7], [1e-2, 1e-7], [1.0, 1e-7]]
    settled, run = _site(norms, [1.0, 0.9], 2), _network(4, 2)
    (words,) = trend_sentences(*run, settled, settled.sources)
    assert words.endswith("‖∂w0‖ is 1e-06, ‖∂w3‖ 1 (round 1).")
    assert not trend_sentences(*run, settled, settled.sources, 2)


def test_words_tell_a_blow_up_from_learning() -> None:
    blown = _site([[1.0, 2.0, 30.0, 5_000.0]], [1.0, 1.0, 2.0, 9.0], 1)
    (words,) = plot_sentences(EMPTY_TRACE, Diagnosis(), blown, 4, ())
    assert words == "‖∂w0‖ explodes over the rounds: 1 in round 1, 5e+03 in round 4."
    stuck = _site([[1.0, 0.1, 1e-3, 1e-5]], [1.0, 0.9, 0.9, 0.9], 1)
    (words,) = plot_sentences(EMPTY_TRACE, Diagnosis(), stuck, 4, ())
    assert words == (
        "‖∂w0‖ falls from 1 to 1e-05 over the rounds: loss has settled at 0.9, a minimum or a "
        "plateau."
    )
    moving = _site([[1.0, 0.1, 1e-3, 1e-5]], [1.0, 5.0, 20.0, 100.0], 1)
    assert not trend_sentences(EMPTY_TRACE, Diagnosis(), moving, moving.sources)
    learnt = _site([[1.0, 0.1, 1e-3, 1e-5]], [1.0, 0.1, 1e-3, 1e-6], 1)
    assert not plot_sentences(EMPTY_TRACE, Diagnosis(), learnt, 4, ())
    from_zeros = [[0.0, 1e-4, *np.linspace(1e-3, 0.5, 98)]]  # of a matrix beside one of zeros
    assert not plot_sentences(
        EMPTY_TRACE, Diagnosis(), _site(from_zeros, [*np.linspace(1.0, 0.8, 100)], 1), 4, ()
    )
    many = _site([[1.0, 2.0, 30.0, 5_000.0 + n] for n in range(9)], [1.0, 1.0, 2.0, 9.0], 1)
    first, *_, more = plot_sentences(EMPTY_TRACE, Diagnosis(), many, 4, ())
    assert first.startswith("‖∂w8‖ explodes")
    assert more == "The gradients of 6 more sources change as much."
