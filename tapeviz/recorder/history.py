"""Find an op that ran by its number, its attributes or its tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

from . import limits
from .json_text import from_json

_INSIDE = 1 << 40
"""From here on ops have numbers that were looked at inside of a compiled function's call."""


class KeptOp(NamedTuple):
    """An op as a replay needs it. ``backward``: of an entry of ``record_operation``; ``first``: the
    first op in such an entry; ``call``: the gradient call that it ran in, 0 if in none."""

    type: str
    inputs: Sequence[int]
    attrs: Any
    outputs: Sequence[int]
    scope: str = ""
    backward: Any = None
    call: int = 0
    first: int = 0

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes by name."""
        return dict(zip(self.attrs[::2], self.attrs[1::2], strict=False)) if self.attrs else {}


class History:
    """Every op, in order; number 1 is at index 0 of ``lines`` and ``attrs``.

    ``lines``: the event of an eager op as it was sent, read again only when somebody asks; an entry
    of ``record_operation`` as it is; ``None`` for what cannot be replayed. No tensor is held.
    """

    def __init__(self) -> None:
        self.lines: list[str | KeptOp | None] = []
        self.attrs: list[Any] = []
        self._known: dict[int, KeptOp] = {}
        """Ops that were asked for by their number: checks of several sources ask for the same."""
        self._inside: list[KeptOp] = []
        self.opened: dict[int, list[KeptOp]] = {}
        """All that a compiled function did, by the op that was its call."""
        self.turned: dict[int, list[int]] = {}
        """The numbers of its ops, where it has loops and every turn of them is among the ops."""
        self._outputs_by_attrs: dict[int, int] = {}
        self._graph_attrs: list[Any] = []  # held, so that no other tuple gets the same id
        self._by_attrs: dict[int, int] = {}
        self._producers: dict[int, int] = {}
        self._attrs_indexed = 0
        self._outputs_indexed = 0

    def add(self, entry: KeptOp | None, outputs: Sequence[int] = ()) -> int:
        """The number of a new entry that is not an eager op."""
        self.lines.append(entry)
        self.attrs.append(None)
        number = len(self.lines)
        for identity in outputs:
            self._producers[identity] = number
        return number

    def add_inside(self, op: KeptOp) -> int:
        """The number of an op inside of a call; it has no place in the order of the others."""
        self._inside.append(op)
        return _INSIDE + len(self._inside) - 1

    def between(self, first: int, last: int) -> Iterator[KeptOp]:
        """The eager ops with numbers in this range; for an opened call the ops inside it."""
        for number in range(first, min(last, len(self.lines)) + 1):
            if isinstance(self.lines[number - 1], str):
                op = self.op(number)
                yield from self.opened.get(number, [op] if op is not None else [])

    def op(self, number: int) -> KeptOp | None:
        """The op with this number, as a replay needs it; ``None`` if it did not run eagerly."""
        if number >= _INSIDE:
            return self._inside[number - _INSIDE] if number - _INSIDE < len(self._inside) else None
        line = self.lines[number - 1] if 0 < number <= len(self.lines) else None
        if not isinstance(line, str):
            return line
        known = self._known.get(number)
        if known is None:
            if len(self._known) >= limits.OPS_OF_CHECK:
                self._known.clear()
            known = self._known[number] = self._read(number, line)
        return known

    def _read(self, number: int, line: str) -> KeptOp:
        event = from_json(line)
        attrs, scope = self.attrs[number - 1], event.get("scope", "")
        type_, call = event["type"], event.get("call", 0)
        return KeptOp(type_, event["inputs"], attrs, event["outputs"], scope, call=call)

    def producer(self, identity: int) -> int:
        """The op, or later entry of ``record_operation``, that gave a tensor; 0 if none did."""
        for number in range(self._outputs_indexed + 1, len(self.lines) + 1):
            line = self.lines[number - 1]
            if isinstance(line, str):
                for output in _outputs_of(line):
                    self._producers.setdefault(output, number)
        self._outputs_indexed = len(self.lines)
        return self._producers.get(identity, 0)

    def same_attrs(self, attrs: Any, outputs: Sequence[int]) -> None:
        """A tape got these attributes for the graph's op that gave ``outputs``; the event of that
        op may come later."""
        if attrs and outputs:
            self._outputs_by_attrs[id(attrs)] = outputs[0]
            self._graph_attrs.append(attrs)

    def find_by_attrs(self, attrs: Any) -> int:
        """The op a gradient function was called for with these attributes; 0 if it is not known.

        TensorFlow hands a tape the very tuple of attributes that the op's callback got.
        """
        by_attrs, first = self._by_attrs, self._attrs_indexed
        by_attrs.update(zip(map(id, self.attrs[first:]), count(first + 1), strict=False))
        self._attrs_indexed = len(self.attrs)
        if not attrs:
            return 0
        # The tuples are held, so that their ids stay theirs. To find a producer all lines are read.
        found = by_attrs.get(id(attrs), 0)
        given = 0 if found else self._outputs_by_attrs.get(id(attrs), 0)
        return self.producer(given) if given else found

    def find(self, op_type: str, inputs: Sequence[int], outputs: Sequence[int]) -> int:
        """The same of an op without attributes, by its tensors; some may be missing (0)."""
        for identity in outputs:
            if number := self.producer(identity):
                return number
        return self._find_by_inputs(op_type, inputs) if any(inputs) else 0

    def _find_by_inputs(self, op_type: str, inputs: Sequence[int]) -> int:
        for number in range(len(self.lines), max(0, len(self.lines) - limits.OPS_BACK), -1):
            op = self.op(number)
            if op and op.type == op_type and list(op.inputs[: len(inputs)]) == list(inputs):
                return number
        return 0


def _outputs_of(line: str) -> Iterator[int]:
    """The outputs of an op's event, which it ends with; to read all of it takes ten times as
    long."""
    numbers = line[line.rfind("[") + 1 : -2]
    return map(int, numbers.split(",")) if numbers else iter(())
