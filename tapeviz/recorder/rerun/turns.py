"""Keep what the turns of a loop give in lists of bounded length: of the last turns, and of those
that are wanted.

The wanted turns stand in a variable that all copies of functions read, so that a copy serves
whatever turns somebody looks at.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from typing import Any

from .. import limits
from ..private import functions
from .definitions import SIZE, TURNS, Edited

_VARIABLE = "wanted turns"
_LAST = limits.TURNS_AT_EITHER_END + 1
"""The turn before the first one that is read hands its values on to it."""
CHUNK = 128
"""Turns in each of the lists of :class:`AllTurnsOfDataset`."""
_BYTES_AROUND = 192
"""Memory of a tensor in a list besides its elements: its object, its buffer, the allocator's."""


class WantedTurns:
    """The turns of every loop that are kept besides the last ones: the first, those that are
    ``asked`` for, and the turn before each."""

    def __init__(self, asked: Collection[int]) -> None:
        self._asked = asked
        first = range(limits.TURNS_AT_EITHER_END)
        before = (turn - 1 for turn in asked if turn)
        self._kept: Sequence[int] = sorted({*first, *asked, *before})

    def of(self, count: int) -> list[int]:
        """The turns that are read of a loop that turned so often."""
        end = limits.TURNS_AT_EITHER_END
        ends = {*range(count)[:end], *range(count)[-end:]}
        return sorted(ends | {turn for turn in self._asked if 0 <= turn < count})

    def with_those_before(self, count: int) -> list[int]:
        """The same, and the turn before each, which hands its values on to it."""
        wanted = self.of(count)
        return sorted({*wanted, *(turn - 1 for turn in wanted if turn)})

    def place(self, turn: int) -> int:
        """The position of a turn in the lists of its loop."""
        found = bisect_left(self._kept, turn)
        is_kept = found < len(self._kept) and self._kept[found] == turn
        return _LAST + found if is_kept else turn % _LAST

    def prepare(self) -> None:
        """Let the copies that run next keep these turns."""
        handle = functions.new_variable(functions.INT32, [None], _VARIABLE)
        functions.set_variable(handle, self._kept)


class TurnLists:
    """Adds to the body of a loop what counts its turns and keeps values of some of them."""

    counters: Sequence[tuple[int, int]] = ((TURNS, functions.INT32),)
    """Further loop variables that begin at 0: what the last value is to a probe, and the dtype."""

    def __init__(self, body: Edited) -> None:
        self._body = body
        self._place = ""

    def count(
        self,
        counted: Sequence[str],
        values: Sequence[tuple[str, int]] = (),
        sizes: Sequence[str] = (),
    ) -> list[str]:
        """How the body refers to its counters in the next turn; ``counted``: in this one.
        ``values``: what is kept of a turn, with dtypes; ``sizes``: of lists among these."""
        body, number, (turn,) = self._body, functions.INT32, counted
        handle = body.add_variable(number, _VARIABLE)
        kept = body.call("ReadVariableOp", [handle], dtype=number)
        zero, step, last = (body.add_constant(number, value) for value in (0, 1, _LAST))
        is_turn, is_kept = _compare(body, kept, zero, turn)
        found = body.call("Cast", [is_turn], SrcT=functions.BOOL, DstT=number, Truncate=False)
        found = body.call("ArgMax", [found, zero], T=number, Tidx=number, output_type=number)
        found = body.call("AddV2", [found, last], T=number)
        among_last = body.call("FloorMod", [turn, last], T=number)
        self._place = body.call("SelectV2", [is_kept, found, among_last], T=number)
        return [body.call("AddV2", [turn, step], T=number)]

    def begun(self, function: Edited, dtype: int) -> str:
        """How the function around the loop refers to a list without any turn."""
        return function.add_list(dtype)

    def longer(self, taken: str, ref: str, dtype: int) -> str:
        """How the body refers to the list ``taken`` with the value ``ref`` of this turn in it."""
        return self._body.set_list_item(taken, self._place, ref, dtype)


class AllTurns(TurnLists):
    """Keeps all turns in their order. Beyond :data:`.limits.BYTES_TAKEN_BY_LOOP` it keeps no more,
    and what it kept is of no use."""

    counters = ((TURNS, functions.INT32), (SIZE, functions.INT64))

    def count(
        self,
        counted: Sequence[str],
        values: Sequence[tuple[str, int]] = (),
        sizes: Sequence[str] = (),
    ) -> list[str]:
        body, number, (turn, size) = self._body, functions.INT64, counted
        most = body.add_constant(number, limits.BYTES_TAKEN_BY_LOOP)
        start, step = (body.add_constant(functions.INT32, value) for value in (0, 1))
        fits = body.call("Less", [size, most], T=number)
        self._place = body.call("SelectV2", [fits, turn, start], T=functions.INT32)
        tensors = [value for value in values if value[1] != functions.VARIANT]
        for further in (*sizes, *(_bytes_of(body, ref, dtype) for ref, dtype in tensors)):
            size = body.call("AddV2", [size, further], T=number)
        return [body.call("AddV2", [turn, step], T=functions.INT32), size]


class AllTurnsOfDataset(AllTurns):
    """The same in a list of lists of :data:`CHUNK`. A loop over a dataset copies a list to set an
    item: ``ScanDatasetOp`` keeps the state that it hands to the body (2.15-2.21)."""

    def __init__(self, body: Edited) -> None:
        super().__init__(body)
        self._chunk = self._chunk_before = ""

    def count(
        self,
        counted: Sequence[str],
        values: Sequence[tuple[str, int]] = (),
        sizes: Sequence[str] = (),
    ) -> list[str]:
        body, number = self._body, functions.INT32
        counters = super().count(counted, values, sizes)
        start, step = (body.add_constant(number, value) for value in (0, 1))
        before = body.call("Sub", [self._place, step], T=number)
        before = body.call("Maximum", [before, start], T=number)
        self._chunk_before, _ = _place_in_chunks(body, before)
        self._chunk, self._place = _place_in_chunks(body, self._place)
        return counters

    def begun(self, function: Edited, dtype: int) -> str:
        chunks, chunk = function.add_list(functions.VARIANT), function.add_list(dtype)
        start = function.add_constant(functions.INT32, 0)
        return function.set_list_item(chunks, start, chunk, functions.VARIANT)

    def longer(self, taken: str, ref: str, dtype: int) -> str:
        """A chunk begins as a copy of the one before it: the items after the last turn are of no
        use."""
        chunk = self._body.list_item(taken, self._chunk_before, functions.VARIANT)
        chunk = self._body.set_list_item(chunk, self._place, ref, dtype)
        return self._body.set_list_item(taken, self._chunk, chunk, functions.VARIANT)


def _place_in_chunks(function: Edited, turn: str) -> tuple[str, str]:
    """How a function refers to the chunk of a turn, and to its place in that."""
    number, size = functions.INT32, function.add_constant(functions.INT32, CHUNK)
    return (
        function.call("FloorDiv", [turn, size], T=number),
        function.call("FloorMod", [turn, size], T=number),
    )


def add_elements(
    function: Edited, count: str, lists: Sequence[str], items: Sequence[tuple[int, Any]]
) -> str:
    """A dataset of so many elements, each component from a list of :class:`AllTurnsOfDataset`;
    ``items``: their dtypes and shapes, protos. The body of the loop takes them as arguments:
    TensorFlow optimizes it as it did."""
    number, empty = functions.INT64, functions.FunctionDef()
    empty.signature.name = "elements"
    element = Edited(empty)
    index = element.add_input(number)
    turn = element.call("Cast", [index], SrcT=number, DstT=functions.INT32, Truncate=False)
    chunk, place = _place_in_chunks(element, turn)
    for dtype, shape in items:
        taken = element.list_item(element.add_input(functions.VARIANT), chunk, functions.VARIANT)
        element.add_output(element.list_item(taken, place, dtype, shape), dtype)
    element.register()
    start, step = (function.add_constant(number, value) for value in (0, 1))
    stop = function.call("Cast", [count], SrcT=functions.INT32, DstT=number, Truncate=False)
    numbers = function.add_node("RangeDataset", [start, stop, step])
    numbers.attr["output_types"].list.type.append(number)
    numbers.attr["output_shapes"].list.shape.add()
    found = function.add_node("MapDataset", [f"{numbers.name}:handle:0", *lists])
    found.attr["f"].func.name = element.name
    found.attr["Targuments"].list.type.extend([functions.VARIANT] * len(lists))
    for dtype, shape in items:
        found.attr["output_types"].list.type.append(dtype)
        known = found.attr["output_shapes"].list.shape.add(unknown_rank=shape is None)
        if shape is not None:
            known.CopyFrom(shape)
    return f"{found.name}:handle:0"


def _bytes_of(body: Edited, ref: str, dtype: int) -> str:
    """How a function refers to the memory that a value takes in a list."""
    number = functions.INT64
    count = body.call("Size", [ref], T=dtype, out_type=number)
    each = body.add_constant(number, functions.bytes_of_element(dtype))
    around = body.add_constant(number, _BYTES_AROUND)
    return body.call("AddV2", [body.call("Mul", [count, each], T=number), around], T=number)


def is_turn_kept(function: Edited, kept: str, axis: str, turn: str) -> str:
    """How a function refers to whether a turn is among those in a vector; ``axis``: to a 0."""
    return _compare(function, kept, axis, turn)[1]


def _compare(function: Edited, kept: str, axis: str, turn: str) -> tuple[str, str]:
    """Which elements of a vector are this turn, and whether any is."""
    number = functions.INT32
    is_turn = function.call("Equal", [kept, turn], T=number, incompatible_shape_error=True)
    return is_turn, function.call("Any", [is_turn, axis], Tidx=number, keep_dims=False)
