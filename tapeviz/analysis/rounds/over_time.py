"""Say where the gradients of a round, or of all rounds, vanish or explode.

By turn (of a loop inside the tape), by layer (from source to source) and by round.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...trace.calls import Call, Step
from ...trace.ids import OpId, SiteId, TensorId
from ...trace.model import Trace
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ...wording import counted
from ..model import CallDiagnosis, Diagnosis
from .call_sites import CallSite, Numbers, SourceSeries
from .round_words import number_text, series_words

LEAST_TURNS = 4
"""Shares of one gradient from one place in the source from which they are turns of a loop."""
_PART = 0.2
_MOST_OF_IT = 0.9
_STEEP = 100.0
"""Factor between first and last layer from which a gradient vanishes or explodes."""
_COLLAPSE = 1000.0
_LEAST_LAYERS = 4
_MOST_TOLD = 3
"""Sources whose change over the rounds is told; of more only how many."""
_STEADY = 2 / 3
"""The part of the layers from which on to the next one the norm changes in the same direction."""
_HANDED_ON = ops_with("view") | ops_with("copy") | {"ReadVariableOp"}
"""Ops between a variable and the op that uses its value: a read, a cast, a slice."""


@dataclass(frozen=True, eq=False)
class TurnShares:
    """The share of one gradient that comes from each turn of a loop.

    ``place``: of the source among the results of the call; ``line``: where each turn uses it;
    ``norms``: the Euclidean norm of each turn's share, first turn first.
    """

    place: int
    source: str
    line: int
    norms: Numbers

    @property
    def parts(self) -> Numbers:
        """Each turn's part of the sum of all norms, from 0 to 1."""
        total = float(np.nansum(self.norms))
        return self.norms / total if total else np.zeros_like(self.norms)


def turn_shares(trace: Trace, diagnosed: CallDiagnosis) -> tuple[TurnShares, ...]:
    """For each source that a loop uses turn by turn, from each line that does so, its shares."""
    givers: dict[TensorId, OpId] = {}
    sums: dict[TensorId, tuple[TensorId | None, ...]] = {}
    for row in diagnosed.steps:
        if row.kind == "sum" and row.downstream and row.downstream[0] is not None:
            sums[row.downstream[0]] = row.upstream
        else:
            givers.update({g: op for (_, op), g in row.walked if op is not None})
    found: list[TurnShares] = []
    for place, result in enumerate(diagnosed.call.results[: len(diagnosed.findings)]):
        by_site: dict[SiteId, list[tuple[Op, float]]] = {}
        for share in sums.get(result, ()) if result is not None else ():
            op = trace.ops.get(givers.get(share, OpId(-1))) if share is not None else None
            stats = trace.stats(share)
            if op is not None:
                norm = np.nan if stats is None or stats.norm is None else stats.norm
                by_site.setdefault(op.site.id, []).append((op, norm))
        for shares in by_site.values():
            if len(shares) >= LEAST_TURNS:
                ordered = sorted(shares, key=lambda share: share[0].when)
                norms = np.array([norm for _, norm in ordered], np.float64)
                name, line = diagnosed.findings[place].source, ordered[0][0].line
                found.append(TurnShares(place, name, line, norms))
    return tuple(found)


def plot_sentences(
    trace: Trace,
    diagnosis: Diagnosis,
    site: CallSite | None,
    number: int,
    shares: Sequence[TurnShares],
) -> tuple[str, ...]:
    """Sentences about the most important facts of the plots, with their numbers.

    ``number``: the round (from 1) that the shares are of; without a call site nothing is said of
    rounds and layers.
    """
    turns = tuple(_turns(shares))
    if site is None:
        return turns
    trends = trend_sentences(trace, diagnosis, site, site.sources, number)
    return (*_spoiled_rounds(diagnosis, site), *turns, *trends)


def trend_sentences(
    trace: Trace,
    diagnosis: Diagnosis,
    site: CallSite,
    about: Sequence[SourceSeries],
    number: int | None = None,
) -> tuple[str, ...]:
    """Sentences about some sources of a call site whose gradients vanish or explode: from layer to
    layer, in a round (``number``, from 1; None: the last, or else the first), or over all rounds.
    A network in which they vanish ends where its last layer has done what it can alone."""
    ends = (number,) if number else dict.fromkeys((len(site), 1))
    rounds = [each - 1 for each in ends]
    chain: Sequence[SourceSeries] = ()
    norms = site.layer_norms[:, rounds]
    is_long = len(norms) >= _LEAST_LAYERS
    if is_long and (np.fmax.reduce(norms) >= _STEEP * np.fmin.reduce(norms)).any():
        chain = _in_a_row(trace, diagnosis.round(site, len(site)).call, site.layers)
    layers = next(filter(None, (tuple(_layers(chain, about, each)) for each in ends)), ())
    return (*layers, *_rounds(site, about))


def _spoiled_rounds(diagnosis: Diagnosis, site: CallSite) -> Iterator[str]:
    for series in site.sources:
        if series.is_troubled:
            words = series_words(diagnosis, site, series)
            yield f"∂{series.target}/∂{series.source}: {words}."


def _turns(shares: Sequence[TurnShares]) -> Iterator[str]:
    for share in shares:
        turns = len(share.norms)
        few = max(1, round(turns * _PART))
        late, early = float(np.nansum(share.parts[-few:])), float(np.nansum(share.parts[:few]))
        if late >= _MOST_OF_IT:
            yield (
                f"∂{share.source} vanishes over the turns of line {share.line}: {_percent(late)} "
                f"of it comes from the last {few:,} of {turns:,} turns."
            )
        elif early >= _MOST_OF_IT:
            yield (
                f"∂{share.source} explodes over the turns of line {share.line}: {_percent(early)} "
                f"of it comes from the first {few:,} of {turns:,} turns, the farthest from the "
                "target."
            )


def _in_a_row(trace: Trace, call: Call, layers: Sequence[SourceSeries]) -> list[SourceSeries]:
    """The layer that is used last, and before it, in the order of their last use, those whose
    gradient came back through an op that uses its weights: those of another network, or of another
    branch, did not. A list of weights has those of a decoder's attention behind its output's."""
    steps = [(step, op) for step in call.steps if (op := trace.op(step.op)) is not None]
    reached: dict[TensorId | None, int] = {}
    for number, (step, op) in enumerate(steps):
        for tensor in _passed(step, op):
            reached.setdefault(tensor, number)
    known = [(call.sources[s.place].tensor, s) for s in layers if s.place < len(call.sources)]
    known.sort(key=lambda layer: -reached.get(layer[0], len(steps)))
    weights, through = {known[-1][0] if known else None}, set[TensorId | None]()
    for step, op in reversed(steps):
        if not weights.isdisjoint(_passed(step, op)):
            if op.type in _HANDED_ON:
                weights.update(step.made(op))
            else:
                through.update(step.made(op))
    for step, op in steps:
        if not through.isdisjoint(step.made(op)):
            through.update(_passed(step, op))
    return [series for tensor, series in known if tensor in through]


def _passed(step: Step, op: Op) -> Iterator[TensorId]:
    """The tensors to which a step passed a gradient."""
    pairs = zip(step.taken(op), step.downstream, strict=False)
    return (tensor for tensor, gradient in pairs if gradient is not None)


def _layers(
    layers: Sequence[SourceSeries], about: Sequence[SourceSeries], round_number: int
) -> Iterator[str]:
    """The weights of the first layer against those of the last one, if those between them lead from
    one to the other."""
    if len(layers) < _LEAST_LAYERS or layers[0] not in about:
        return
    first, last = layers[0], layers[-1]
    norms = np.array([series.norms[round_number - 1] for series in layers])
    low, high = norms[0], norms[-1]
    if not (low > 0 and high > 0):
        return
    changes = np.diff(norms) if high > low else -np.diff(norms)
    if np.mean(changes > 0) < _STEADY:
        return
    ends = (
        f"‖∂{first.source}‖ is {number_text(low)}, ‖∂{last.source}‖ {number_text(high)} "
        f"(round {round_number:,})"
    )
    if high / low >= _STEEP:
        yield f"Vanishes towards the first layer, by {_factor(high / low)}: {ends}."
    elif low / high >= _STEEP:
        yield f"Explodes towards the first layer, by {_factor(low / high)}: {ends}."


def _rounds(site: CallSite, about: Sequence[SourceSeries]) -> Iterator[str]:
    """The steepest changes first. A gradient that begins near 0 and grows to a level, as where a
    matrix of zeros is trained, does not explode: unless the target grows as well, the largest norm
    must lie far above most others. Gradients also fall where training has reached a minimum, as of
    noisy data: numbers alone do not tell that from a plateau."""
    known = site.target_values[np.isfinite(site.target_values)]
    end = number_text(float(known[-1])) if known.size else ""
    has_stuck = known.size > 1 and abs(known[-1]) > abs(known[0]) / 2
    late = known[-max(2, known.size // 4) :]
    has_settled = has_stuck and np.ptp(late) <= np.abs(known).max() / 10
    has_grown = known.size > 1 and abs(known[-1]) > abs(known[0]) * 2
    norms = np.array([series.norms for series in about], np.float64).reshape(-1, len(site))
    is_there = norms > 0
    largest = norms.max(axis=1, initial=0.0, where=is_there)
    has_changed = largest >= _COLLAPSE * norms.min(axis=1, initial=np.inf, where=is_there)
    rows = np.flatnonzero(has_changed & (is_there.sum(axis=1) >= LEAST_TURNS))
    found: list[tuple[float, str]] = []
    settled: list[tuple[float, str]] = []
    for row, there in zip(rows, is_there[rows], strict=True):
        source, places = about[int(row)].source, np.flatnonzero(there)
        own = norms[row, places]
        first, last, most = float(own[0]), float(own[-1]), int(own.argmax())
        grown, fallen = float(own[most]) / first, first / last
        is_level = not has_grown and own[most] < math.sqrt(_COLLAPSE) * np.median(own)
        if grown >= _COLLAPSE and not is_level:
            words = (
                f"‖∂{source}‖ explodes over the rounds: {number_text(first)} in round "
                f"{places[0] + 1}, {number_text(float(own[most]))} in round {places[most] + 1}."
            )
            found.append((grown, words))
        elif fallen >= _COLLAPSE and has_settled:
            words = f"‖∂{source}‖ falls from {number_text(first)} to {number_text(last)}"
            settled.append((fallen, words))
    found.sort(key=lambda each: -each[0])
    yield from (words for _, words in found[:_MOST_TOLD])
    if len(found) > _MOST_TOLD:
        yield f"The gradients of {counted(len(found) - _MOST_TOLD, 'more source')} change as much."
    if settled:
        more = f", as do {counted(len(settled) - 1, 'more source')}" if len(settled) > 1 else ""
        where = f"{site.target} has settled at {end}, a minimum or a plateau"
        yield f"{max(settled)[1]} over the rounds{more}: {where}."


def _percent(part: float) -> str:
    return "more than 99 %" if part > 0.995 else f"{part:.0%}".replace("%", " %")


def _factor(factor: float) -> str:
    return f"a factor of {float(f'{factor:.2g}'):,.0f}"
