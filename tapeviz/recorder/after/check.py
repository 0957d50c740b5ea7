"""Compare a gradient across a cut with central finite differences.

The source is moved a little to both sides along some directions, and the recorded ops run again
(:mod:`.sweep`): no gradient function has a part in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import thread_time
from typing import Any

import numpy as np

from .. import limits, private
from ..encode import Encoder
from ..json_text import to_json
from ..values import array_of
from . import tensor_ops
from .sweep import CannotSweep, Sweep

_DIRECTIONS = 3
_STEPS = (1e-6, 1e-4, 1e-3)
_NARROW_STEPS = (1e-2, 3e-2, 2e-3)
_AGREES, _NARROW_AGREES = 1e-4, 2e-2


def check(encoder: Encoder, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """The answer to ``check``: the line of one ``check`` event.

    ``call``, ``source``; ``gradient``: the tensor to be checked; ``seeds``: of each target its id
    and that of its weights (0: ones); ``since``, ``until``: the first and the last op that count;
    ``writes_since``, ``updates_since``: writes to variables, gradients and what optimizers made of
    those, that ran before this op, do not move with the source;
    ``op``: the custom gradient that gave it, if it is not that of the whole call. ``within``: is
    repeated in the event.
    """
    event: dict[str, Any] = {"e": "check"}
    event |= {name: request[name] for name in ("call", "source", "op", "within") if name in request}
    try:
        with private.quiet_eager_mode(), np.errstate(all="ignore"):
            event |= _Check(encoder, request).verdict()
    except CannotSweep as reason:
        event["words"] = str(reason)
    except Exception as error:  # of an op that behaves otherwise alone: no verdict, no harm
        event["words"] = f"the recorded ops could not be run again ({type(error).__name__})"
    return encoder.tensors.answer([to_json(event)])


class _Check:
    def __init__(self, encoder: Encoder, request: Mapping[str, Any]) -> None:
        source = request["source"]
        self._seeds = request["seeds"]
        targets = [target for target, _ in self._seeds]
        span = (request.get("since", 1), request.get("writes_since", 1), request["until"])
        updates_since = request.get("updates_since", 0)
        deadline = thread_time() + limits.SECONDS_OF_CHECK
        self._sweep = Sweep(encoder, source, targets, span, updates_since, deadline)
        self._gradient = array_of(self._sweep.kept(request["gradient"]))
        if self._gradient.dtype.kind not in "fV" and str(self._gradient.dtype) != "bfloat16":
            raise CannotSweep("only real numbers are moved")
        self._gradient = self._gradient.astype(np.float64)
        self._start = float(np.max(np.abs(self._where()), initial=0.0)) or 1.0

    def verdict(self) -> dict[str, Any]:
        """``error``: the largest difference, relative to the largest derivative."""
        here = self._total(np.zeros_like(self._gradient))  # shows which dtypes can be had, too
        directions = list(self._directions())
        predicted = np.array(
            [float(np.vdot(direction, self._gradient)) for direction in directions]
        )
        best, is_settled = np.inf, True
        for step in _NARROW_STEPS if self._sweep.is_narrow else _STEPS:
            size = step * self._start
            ahead, behind = np.transpose(list(self._sides(here, directions, size)))
            measured = (ahead + behind) / 2
            scale = max(np.abs(predicted).max(), np.abs(measured).max())
            error = float(np.abs(measured - predicted).max() / scale) if scale else 0.0
            best = min(best, error) if np.isfinite(error) else best
            is_settled = bool(np.abs(ahead - behind).max() <= 0.05 * scale)
            if best <= (_NARROW_AGREES if self._sweep.is_narrow else _AGREES):
                return {"error": best, "agrees": True}
        if not is_settled or not np.isfinite(best):
            return {"words": "finite differences do not settle here: it is a kink or an edge"}
        return {"error": best}

    def _sides(
        self, here: float, directions: list[Any], size: float
    ) -> Iterator[tuple[float, float]]:
        """The slopes ahead and behind along each direction; ``here``: the sum where it starts."""
        for direction in directions:
            ahead, behind = self._total(size * direction), self._total(-size * direction)
            yield (ahead - here) / size, (here - behind) / size

    def _directions(self) -> Iterator[Any]:
        """Each element alone if few ops run for it, else up to three directions drawn at random.

        Each direction takes two passes.
        """
        shape, size = self._gradient.shape, self._gradient.size
        affordable = limits.OPS_OF_DIRECTIONS // (2 * max(len(self._sweep), 1))
        if size <= min(affordable, limits.ELEMENTS_OF_CHECK):
            for place in range(size):
                yield np.eye(1, size, place).reshape(shape)
            return
        numbers = np.random.default_rng(0)
        for _ in range(min(_DIRECTIONS, max(affordable, 1))):
            direction = numbers.normal(size=shape)
            yield direction / np.linalg.norm(direction)

    def _total(self, delta: Any) -> float:
        """The weighted sum of the targets, which is what the gradient is of."""
        value_of = self._sweep.run(tensor_ops.constant(delta))
        total = 0.0
        for target, given in self._seeds:
            value = array_of(tensor_ops.wider(value_of(target))).astype(np.float64)
            weights = array_of(self._sweep.kept(given)).astype(np.float64) if given else 1.0
            total += float(np.sum(value * weights))
        return total

    def _where(self) -> Any:
        """The source's value, as far as it is known without running anything."""
        tensor = self._sweep.kept(self._sweep.source)
        if private.is_opaque(tensor._datatype_enum()):
            return np.ones(1)
        return array_of(tensor).astype(np.float64)
