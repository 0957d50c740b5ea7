"""Compute the share of each target in each gradient of a call with several targets.

``tape.gradient`` adds up over targets and over the elements of each. TensorFlow runs its pass once
more here for each of them, over the tensors that it kept: the same gradient functions in the same
order, started by one target alone, or by one element of it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.requests.replays import run_shown, value_given
from ..errors import TapevizError
from ..trace.calls import Call, Operand
from ..trace.ids import CallId
from ..trace.model import Trace
from ..trace.stats import Array

if TYPE_CHECKING:
    from .kept import KeptRecording
    from .live import LiveRecording

MAX_STEPS = 20_000
MAX_TARGETS = 64
MAX_ELEMENTS = 64
MAX_RESULT = 10_000
MAX_CALLS = 20
MAX_SECONDS = 3.0
Cell = Array | None
"""A gradient; None where the target and the source are not connected."""


@dataclass(frozen=True, slots=True)
class ShareRow:
    """The share of one target, or of one element of it, in each source's gradient.

    ``elements``: of a target with several, the same for each, unless all targets together have too
    many.
    """

    label: str
    cells: tuple[Cell, ...]
    shape: tuple[int, ...] = ()
    elements: tuple[ShareRow, ...] = ()

    def jacobian(self, column: int) -> Cell:
        """The result of ``tape.jacobian`` for this target, of shape target × source."""
        cells = [row.cells[column] for row in self.elements]
        known = next((cell for cell in cells if cell is not None), None)
        if known is None:
            return None
        rows = [np.zeros_like(known) if cell is None else cell for cell in cells]
        return np.stack(rows).reshape(*self.shape, *known.shape)


@dataclass(frozen=True, slots=True)
class ShareTable:
    """Targets × sources. ``sums``: for each source what TensorFlow returned, the sum of its column.

    ``rows``: one for each target, in the order of the call.
    """

    call: CallId
    line: int
    columns: tuple[str, ...]
    rows: tuple[ShareRow, ...]
    sums: tuple[Cell, ...]

    @property
    def lines(self) -> tuple[ShareRow, ...]:
        """The rows to be shown: of a single target its elements."""
        only = self.rows[0]
        return only.elements if len(self.rows) == 1 and only.elements else self.rows


def has_shares(trace: Trace, call: Call) -> bool:
    """Whether the call's gradients are sums over several targets, or over elements of one."""
    if call.method != "gradient" or not call.ended or not call.steps:
        return False
    if len(call.targets) > 1:
        return len(call.targets) <= MAX_TARGETS
    return (
        bool(call.targets) and 1 < _size(trace, call.targets[0]) <= MAX_ELEMENTS and _is_sum(call)
    )


def share_table(live: LiveRecording | KeptRecording, call: Call) -> ShareTable:
    """The shares of a call for which :func:`has_shares`; asks the kernel, and blocks meanwhile.

    :class:`TapevizError` says why there is none: the kernel is gone, the pass too long, or what was
    computed again does not add up to what TensorFlow returned.
    """
    trace = live.wait(0)
    if len(call.steps) > MAX_STEPS or any(step.op is None for step in call.steps):
        raise TapevizError("this backward pass cannot be run once more for each target")
    asker = _Asker(live, trace, call)
    rows = tuple(asker.row(index) for index in range(len(call.targets)))
    sums = tuple((None if tensor is None else live.fetch_tensor(tensor)) for tensor in call.results)
    for column, returned in enumerate(sums):
        if not adds_up([row.cells[column] for row in rows], returned):
            raise TapevizError("computed once more, the shares do not add up to the gradient")
    return ShareTable(call.id, call.line, tuple(source.text for source in call.sources), rows, sums)


def adds_up(cells: list[Cell], returned: Cell) -> bool:
    """Whether the sum is the one returned, up to the rounding of its own dtype."""
    known = [cell for cell in cells if cell is not None]
    if returned is None or not known:
        return not known and (returned is None or not np.any(returned))
    if returned.dtype.kind not in "fc":
        return bool(np.array_equal(sum(known[1:], known[0]), returned))
    wide = np.complex128 if returned.dtype.kind == "c" else np.float64
    size = float(np.max([np.max(np.abs(cell), initial=0.0) for cell in known]))
    slack = 64 * float(np.finfo(returned.dtype).eps) ** 0.75
    with np.errstate(all="ignore"):
        total = np.sum([cell.astype(wide) for cell in known], axis=0)
        near = np.allclose(total, returned.astype(wide), slack, slack * size, equal_nan=True)
    return bool(near) or not math.isfinite(size)


class _Asker:
    """Asks for one backward pass after the other of the same call."""

    def __init__(self, live: LiveRecording | KeptRecording, trace: Trace, call: Call) -> None:
        self._live = live
        self._trace = trace
        self._call = call
        self._count = sum(_size(trace, target) for target in call.targets)
        self._program = [["op", step.op] for step in call.steps]
        self._wanted = list(dict.fromkeys(filter(None, call.source_tensors)))

    def row(self, index: int) -> ShareRow:
        trace = self._trace
        target = self._call.targets[index]
        given = self._call.output_gradients
        start = value_given(trace, self._call, given[index]) if index < len(given) else 0
        cells = self._cells(index, start)
        shape = _shape(trace, target)
        widest = max((cell.size for cell in cells if cell is not None), default=0)
        size = math.prod(shape)
        is_small = size > 1 and self._count <= MAX_ELEMENTS and size * widest <= MAX_RESULT
        if not is_small or not _is_sum(self._call) or target.tensor is None:
            return ShareRow(target.text, cells, shape)
        elements = tuple(
            ShareRow(_element_label(target.text, place), self._cells(index, 0, number))
            for number, place in enumerate(np.ndindex(*shape))
        )
        return ShareRow(target.text, cells, shape, elements)

    def _cells(self, place: int, *start: int) -> tuple[Cell, ...]:
        target = self._call.targets[place].tensor
        if target is None:
            return (None,) * len(self._call.sources)
        request: dict[str, Any] = {
            "seeds": [[target, *start]],
            "program": self._program,
            "wanted": self._wanted,
            "brief": True,
            "call": self._call.id,
            **run_shown(self._trace, self._call),
            "share": [place, start[1] if len(start) > 1 else -1],
        }
        found = self._live.replay(request)
        return tuple(found.get(str(source.tensor)) for source in self._call.sources)


def _is_sum(call: Call) -> bool:
    """Whether every element counts once: no gradient was given to start with."""
    return not any(gradient.tensor for gradient in call.output_gradients)


def _shape(trace: Trace, target: Operand) -> tuple[int, ...]:
    if target.tensor is None:
        return ()
    variable = trace.variable(target.tensor)
    known = variable or trace.tensors.get(target.tensor)
    shape = known.shape if known is not None else None
    return tuple(size or 0 for size in shape) if shape is not None else ()


def _size(trace: Trace, target: Operand) -> int:
    return math.prod(_shape(trace, target))


def _element_label(name: str, place: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, place))}]"


def share_tables(live: LiveRecording | KeptRecording) -> Mapping[CallId, ShareTable]:
    """The shares of the first calls that have some, where they can be had in a short time."""
    trace = live.wait(0)
    tables: dict[CallId, ShareTable] = {}
    until = time.monotonic() + MAX_SECONDS
    for call in trace.calls:
        if len(tables) == MAX_CALLS or time.monotonic() > until:
            break
        if has_shares(trace, call):
            with suppress(TapevizError):
                tables[call.id] = share_table(live, call)
    return tables
