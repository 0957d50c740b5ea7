"""Send ``tensor`` events for the tensors that events name: bytes that travel, and those kept."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from . import limits, private
from .json_text import to_json
from .measuring import LEAST_SAMPLED, Measuring, as_field
from .values import array_of, little_endian, raw_bytes, sampling, statistics, texts_of

_LARGE = 1 << 16
_OBJECTS = 512
"""Bytes of TensorFlow's and NumPy's objects around the elements of a tensor that is held."""
_FORMS = 1 << 20


class _Form(NamedTuple):
    """Facts shared by tensors of one dtype and shape. ``head``: the fields that name these;
    ``text``: those of a small one up to where its bytes are; ``size``: -1 if not so simple;
    ``elements``: how many."""

    head: str
    text: str
    size: int
    place: int
    number: int
    shape: tuple[int, ...]
    elements: int


class _Budget:
    """Tensors that are held up to ``limit`` bytes; the oldest go first."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._by_age: dict[int, int] = {}

    def add(self, identity: int, size: int) -> list[int]:
        """Count a tensor in; return those that have to go for it."""
        gone: list[int] = []
        self.used += size - self._by_age.pop(identity, 0)
        self._by_age[identity] = size
        while self.used > self.limit:
            gone.append(next(iter(self._by_age)))
            self.remove(gone[-1])
        return gone

    def remove(self, identity: int) -> None:
        self.used -= self._by_age.pop(identity, 0)


class Tensors:
    """Every tensor seen so far, and the elements of those that can still be asked for.

    A small tensor whose elements travelled is not held: it is made again from the bytes. For
    others TensorFlow's own memory is held, as a NumPy array, so that the snippet's object dies when
    it drops it. The oldest are let go of when ``keep_budget`` is used up; large ones that can be
    computed again when :data:`.limits.PASSING_BYTES` is.
    ``seen``: for each id where its bytes are, or -1; plain integers, so that the garbage collector
    has nothing to visit.
    """

    def __init__(self, value_limit: int, value_budget: int, keep_budget: int) -> None:
        self.seen: dict[int, int] = {}
        self.offset = 0
        self.value_limit = value_limit
        self._budget = value_budget
        self._held: dict[int, tuple[int | None, Any]] = {}  # dtype and array, or None and tensor
        self._lasting = _Budget(keep_budget)
        self._passing = _Budget(min(keep_budget, limits.PASSING_BYTES))
        self._stayed: set[int] = set()
        self._measuring = Measuring(self._held.__contains__, self._is_small)
        self.glanced: set[int] = set()
        """Large tensors whose elements were not looked at, as nothing has named them so far."""
        self.copied_for: set[object] = set()
        """A token of each caller that asks for copies to be held in place of TensorFlow's memory;
        callers run on several threads."""
        self.elements = 0
        """Elements of all large tensors that were seen so far."""
        self._samplings: dict[tuple[int, ...], tuple[Any, list[int]]] = {}
        self._forms: dict[Any, _Form] = {}
        self._forms_by_place: list[_Form] = []
        self._parts: list[Any] = []
        self._sent: list[bytes] = []
        self._sent_from: list[int] = []

    def see(
        self,
        identity: int,
        tensor: Any,
        lines: list[str],
        op_type: str | bytes | None = None,
        is_passing: bool = False,
        inputs: Sequence[Any] = (),
        attrs: Any = None,
    ) -> None:
        """Write the ``tensor`` event of an eager tensor that was not seen before. Hot.

        ``op_type``, ``inputs``, ``attrs``: of the op that gave it, where that is known;
        ``is_passing``: large elements are looked at when it is seen again.
        """
        key = (tensor._datatype_enum(), tensor._shape_tuple())
        try:
            form = self._forms[key]
        except KeyError:
            form = self._new_form(*key)
        size, offset = form.size, self.offset
        if size >= 0 and offset + size <= self._budget:
            lines.append(f'{{"e":"tensor","id":{identity}{form.text}{offset}}}')
            self._parts.append(tensor)
            self.seen[identity] = offset * _FORMS + form.place
            self.offset = offset + size
            return
        self.seen[identity] = -1
        if is_passing and form.elements > self.value_limit:
            self.glanced.add(identity)
            self.elements += form.elements
            made_by = self._measuring.made_by(op_type, inputs, attrs)
            self._measuring.pass_over(identity, form.elements, made_by)
            lines.append(f'{{"e":"tensor","id":{identity}{form.head}}}')
        else:
            self._see_slowly(identity, tensor, lines, op_type, form, inputs, attrs)

    def see_symbolic(self, identity: int, tensor: Any, lines: list[str]) -> None:
        """Write the ``tensor`` event of a graph's tensor: it has a dtype and a shape, no value."""
        self.seen[identity] = -1
        event: dict[str, Any] = {"e": "tensor", "id": identity, "dtype": tensor.dtype.name}
        shape = private.shape_of(tensor)
        if shape is not None:
            event["shape"] = shape
        if private.is_resource(tensor.dtype.as_datatype_enum):
            event["handle"] = True
        lines.append(to_json(event))

    def see_array(self, identity: int, array: Any, lines: list[str]) -> None:
        """Write the ``tensor`` event of a value that exists as a NumPy array only."""
        self.seen[identity] = -1
        is_text = array.dtype.kind in "OSU"
        dtype = "string" if is_text else array.dtype.name
        line = f'{{"e":"tensor","id":{identity},"dtype":"{dtype}","shape":{list(array.shape)}'
        if is_text:
            shown = array.ravel()[: self.value_limit]
            texts = [
                item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)
                for item in shown
            ]
            line += f',"text":{to_json(texts)}'
        elif array.size <= limits.ELEMENTS_OF_RESULT and array.nbytes + self.offset <= self._budget:
            line += self._travel(array.tobytes())
        else:
            line += as_field(statistics(array)) + self._sample(array)
        lines.append(line + "}")

    def send_result(self, identity: int, tensor: Any, lines: list[str]) -> None:
        """Send the elements of what was asked for, though it is larger than others that travel; of
        a still larger one all statistics. ``identity``: the id that it was seen with."""
        if identity not in self._stayed:
            return
        form = self._forms[tensor._datatype_enum(), tensor._shape_tuple()]
        line = f'{{"e":"tensor","id":{identity}{form.head}'
        if form.elements <= limits.ELEMENTS_OF_RESULT:
            self._stayed.discard(identity)
            line += self._travel(raw_bytes(tensor))
        elif self._measuring.is_over:
            return
        else:
            line += as_field(statistics(array_of(tensor)))
        lines.append(f'{line},"kept":{"true" if identity in self._held else "false"}}}')

    def keep(self, tensor: Any) -> None:
        """Hold a tensor that was seen, as long as forward values are held."""
        identity = private.id_of(tensor)
        if identity in self._stayed:
            self._passing.remove(identity)
            number, array = tensor._datatype_enum(), array_of(tensor)
            self._hold(identity, (number, array), array.nbytes, self._lasting)

    def measure(self, lines: list[str]) -> None:
        """Complete these events, to be done with all that were written before others are."""
        self._measuring.complete(lines)

    def take_blob(self) -> bytes:
        """The bytes to be sent since the last call."""
        parts, self._parts = self._parts, []
        try:
            # EagerTensors give their memory by the buffer protocol: one copy, in C.
            blob = b"".join(parts)
        except (TypeError, ValueError, BufferError):
            blob = b"".join(part if isinstance(part, bytes) else raw_bytes(part) for part in parts)
        if blob:
            self._sent.append(blob)
            self._sent_from.append(self.offset - len(blob))
        return blob

    def answer(self, lines: list[str]) -> tuple[dict[str, Any], list[bytes]]:
        """Answer with these events and the bytes that came with them; ``at``: how many bytes were
        sent before those."""
        blob = self.take_blob()
        return {"events": lines, "at": self.offset - len(blob)}, [blob]

    def tensor(self, identity: int) -> Any:
        """A tensor with the elements of the one that had this id; ``None`` if they are gone."""
        if identity in self._held:
            number, held = self._held[identity]
            return held if number is None else private.tensor_of_array(held, number)
        place = self.seen.get(identity, -1)
        if place < 0:
            return None
        offset, form = place // _FORMS, self._forms_by_place[place % _FORMS]
        index = bisect_right(self._sent_from, offset) - 1
        start = offset - self._sent_from[index]
        raw = self._sent[index][start : start + form.size]
        tensor = private.tensor_from(raw, form.number, form.shape)
        self._held[identity] = None, tensor
        return tensor

    def has(self, identity: int) -> bool:
        """Whether the elements of the tensor with this id can be had."""
        return identity in self._held or self.seen.get(identity, -1) >= 0

    def end_run(self) -> None:
        """Compute all statistics of a large tensor at once from now on, and hold what comes in the
        room that the run left: nothing is let go of that other values are computed from."""
        self._measuring.is_over = True
        room = self._lasting.limit - self._lasting.used
        self._passing.limit = max(self._passing.limit, room)

    def hold_again(self, identity: int, tensor: Any) -> None:
        """Hold a tensor that was let go of and computed anew."""
        number = tensor._datatype_enum()
        if self.has(identity) or private.is_opaque(number) or private.is_string(number):
            return
        array = array_of(tensor)
        self._hold(identity, (number, array), array.nbytes, self._passing)

    def is_same(self, identity: int, tensor: Any) -> bool:
        """Whether a tensor that was computed anew has the norm of the one with this id, as far as
        that is known."""
        return self._measuring.is_same(identity, tensor)

    def _is_small(self, identity: int) -> bool:
        """Whether the elements of the tensor with this id travelled as it was seen."""
        return self.seen.get(identity, -1) >= 0

    def _travel(self, raw: bytes) -> str:
        """Send these bytes; the fields that say where they are."""
        fields = f',"at":{self.offset},"nbytes":{len(raw)}'
        self._parts.append(raw)
        self.offset += len(raw)
        return fields

    def _sample(self, array: Any) -> str:
        """Send a few evenly spaced elements of an array, for its picture; not those of one that is
        small or text."""
        shape = array.shape
        is_small = array.size <= self.value_limit
        if is_small or array.dtype.kind in "OSU" or self.offset >= self._budget:
            return ""
        if shape not in self._samplings:
            self._samplings[shape] = sampling(shape)
        indices, (rows, columns) = self._samplings[shape]
        raw = little_endian(array.take(indices))
        if self.offset + len(raw) > self._budget:
            return ""
        field = f',"sample":[{self.offset},{rows},{columns}]'
        self._parts.append(raw)
        self.offset += len(raw)
        return field

    def _new_form(self, number: int, shape: tuple[int, ...]) -> _Form:
        head, size = f',"dtype":"{private.dtype_name(number)}","shape":{list(shape)}', -1
        count, place = prod(shape), len(self._forms_by_place)
        if count <= self.value_limit and private.is_buffer(number) and place < _FORMS:
            size = count * private.dtype_size(number)
        text = f'{head},"nbytes":{size},"kept":true,"at":'
        form = _Form(head, text, size, place, number, shape, count)
        self._forms[number, shape] = form
        self._forms_by_place.append(form)
        return form

    def _see_slowly(
        self,
        identity: int,
        tensor: Any,
        lines: list[str],
        op_type: str | bytes | None,
        form: _Form,
        inputs: Sequence[Any],
        attrs: Any,
    ) -> None:
        """One whose elements are large or no plain numbers."""
        line = f'{{"e":"tensor","id":{identity}{form.head}'
        number, count = form.number, form.elements
        is_known = identity in self.glanced
        can_repeat = is_known or (op_type and private.functions.can_repeat(op_type))
        is_over = self._measuring.is_over
        budget = self._passing if can_repeat or is_over else self._lasting
        self.glanced.discard(identity)
        self.elements += count
        if private.is_opaque(number):
            line += ',"handle":true' if private.is_resource(number) else ""
            if not _makes_iterator(op_type):
                self._hold(identity, (None, tensor), private.size_behind(tensor), budget)
            lines.append(line + "}")
            return
        if private.is_string(number):
            if count <= self.value_limit:
                line += f',"text":{to_json(texts_of(tensor))}'
            self._hold(identity, (None, tensor), 0, budget)
            lines.append(line + ',"kept":true}')
            return
        array = array_of(tensor)
        is_kept = self._hold(identity, (number, array), array.nbytes, budget)
        end = ',"kept":true}' if is_kept else "}"
        if count <= self.value_limit and self.offset + array.nbytes <= self._budget:
            lines.append(line + self._travel(little_endian(array)) + end)
            return
        self._stayed.add(identity)
        measuring, made_by = self._measuring, None
        if is_known:
            made_by = measuring.made_before(identity)
        elif count >= LEAST_SAMPLED:  # smaller ones are read in full, whatever made them
            made_by = measuring.made_by(op_type, inputs, attrs)
        after = self._sample(array) + end
        measuring.wait(lines, line, after, identity, array, made_by)

    def _hold(
        self, identity: int, held: tuple[int | None, Any], size: int, budget: _Budget
    ) -> bool:
        """Keep a dtype and array, or ``None`` and a tensor; when the budget is used up, the oldest
        go. Whether it is kept itself. What takes little room is held like what cannot be computed
        again, and handles as long as the process lives."""
        number, value = held
        is_copied = self.copied_for and number is not None
        self._held[identity] = (number, value.copy()) if is_copied else held
        if 0 < size < _LARGE:
            budget, size = self._lasting, size + _OBJECTS
        for oldest in budget.add(identity, size) if size else ():
            self._held.pop(oldest, None)
        return identity in self._held


def _makes_iterator(op_type: str | bytes | None) -> bool:
    """Whether an op's result is an iterator over a dataset, which no later run can use: with its
    handle the iterator ends, and with it the generator that it takes elements of."""
    return op_type is not None and str(op_type).strip("b'").startswith(_ITERATORS)


_ITERATORS = ("AnonymousIterator", "AnonymousMultiDeviceIterator")
