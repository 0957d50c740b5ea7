"""Tensors that events name in; ``tensor`` events, the bytes that travel and those kept out."""

from __future__ import annotations

import bisect
import json
import math
from typing import Any, NamedTuple

from . import private
from .values import array_of, little_endian, raw_bytes, sampling, statistics, texts_of

_LARGE = 1 << 16
_FORMS = 1 << 20
_FETCHED = 10_000
_PASSING = 128 << 20
"""Bytes of gradients that are held between one step of a backward pass and the next. A plain run
uses their memory again and again; more than these would be memory that it never touches, which
costs as much time as many an op."""


class _Form(NamedTuple):
    """Facts shared by small tensors of one dtype and shape. ``size``: -1 if not so simple."""

    text: str
    size: int
    place: int
    number: int
    shape: tuple[int, ...]


class _Budget:
    """Tensors that are held up to so many bytes, the oldest first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0
        self._by_age: dict[int, int] = {}

    def add(self, identity: int, size: int) -> list[int]:
        """Count a tensor in; return those that have to go for it."""
        gone: list[int] = []
        self.remove(identity)
        self._by_age[identity] = size
        self._used += size
        while self._used > self._limit:
            gone.append(next(iter(self._by_age)))
            self.remove(gone[-1])
        return gone

    def remove(self, identity: int) -> None:
        self._used -= self._by_age.pop(identity, 0)


class Tensors:
    """Every tensor seen so far, and the elements of those that can still be asked for.

    A small tensor whose elements travelled is not held: it is made again from the bytes. For
    others TensorFlow's own memory is held, as a NumPy array, so that the snippet's object dies when
    it drops it. The oldest large ones are let go of when ``keep_budget`` is used up, gradients
    between two steps of a backward pass when :data:`_PASSING` is.
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
        self._passing = _Budget(min(keep_budget, _PASSING))
        self._stayed: set[int] = set()
        self.glanced: set[int] = set()
        """Large tensors whose elements were not looked at, as nothing has named them so far."""
        self.elements = 0
        """Elements of all large tensors that were seen so far."""
        self._measured: dict[tuple[int, int, int], tuple[int, Any]] = {}
        self._samplings: dict[tuple[int, ...], tuple[Any, list[int]]] = {}
        self._forms: dict[Any, _Form] = {}
        self._forms_by_place: list[_Form] = []
        self._parts: list[Any] = []
        self._sent: list[bytes] = []
        self._sent_from: list[int] = []

    def see(self, identity: int, tensor: Any, lines: list[str]) -> None:
        """Write the ``tensor`` event of an eager tensor that was not seen before. Hot."""
        key = (tensor._datatype_enum(), tensor._shape_tuple())
        try:
            text, size, place, _, _ = self._forms[key]
        except KeyError:
            text, size, place, _, _ = self._new_form(*key)
        offset = self.offset
        if size >= 0 and offset + size <= self._budget:
            lines.append(f'{{"e":"tensor","id":{identity}{text}{offset}}}')
            self._parts.append(tensor)
            self.seen[identity] = offset * _FORMS + place
            self.offset = offset + size
        else:
            self.seen[identity] = -1
            self._see_slowly(identity, tensor, lines)

    def glance(self, identity: int, tensor: Any, lines: list[str]) -> None:
        """Like :meth:`see`, but large elements are looked at when it is seen again."""
        if math.prod(tensor._shape_tuple()) <= self.value_limit:
            self.see(identity, tensor, lines)
        else:
            self.seen[identity] = -1
            self.glanced.add(identity)
            self.elements += _count(tensor)
            lines.append(json.dumps(self._description(identity, tensor)))

    def see_symbolic(self, identity: int, tensor: Any, lines: list[str]) -> None:
        """Write the ``tensor`` event of a graph's tensor: it has a dtype and a shape, no value."""
        self.seen[identity] = -1
        event: dict[str, Any] = {"e": "tensor", "id": identity, "dtype": tensor.dtype.name}
        shape = private.shape_of(tensor)
        if shape is not None:
            event["shape"] = shape
        if private.is_resource(tensor.dtype.as_datatype_enum):
            event["handle"] = True
        lines.append(json.dumps(event))

    def see_array(self, identity: int, array: Any, lines: list[str]) -> None:
        """Write the ``tensor`` event of a value that exists as a NumPy array only."""
        self.seen[identity] = -1
        event = {"e": "tensor", "id": identity, "dtype": array.dtype.name}
        event["shape"] = array.shape
        if array.dtype.kind in "OSU":
            event["dtype"] = "string"
            event["text"] = [
                item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)
                for item in array.ravel()[: self.value_limit]
            ]
        elif array.size <= _FETCHED and array.nbytes + self.offset <= self._budget:
            self._travel(event, array.tobytes())
        else:
            event["stats"] = statistics(array)
            self._sample(event, array)
        lines.append(json.dumps(event))

    def send_value(self, tensor: Any, lines: list[str], limit: int) -> None:
        """Send a tensor's elements though it is larger than others that travel."""
        identity = private.id_of(tensor)
        if identity not in self._stayed or _count(tensor) > limit:
            return
        self._stayed.discard(identity)
        event = self._description(identity, tensor)
        event["kept"] = identity in self._held
        self._travel(event, raw_bytes(tensor))
        lines.append(json.dumps(event))

    def keep(self, tensor: Any) -> None:
        """Hold a tensor that was seen, as long as forward values are held."""
        identity = private.id_of(tensor)
        if identity in self._stayed:
            self._passing.remove(identity)
            size = _count(tensor) * private.dtype_size(tensor._datatype_enum())
            self._hold(identity, tensor, size, self._lasting)

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

    def tensor(self, identity: int) -> Any:
        """A tensor with the elements of the one that had this id; ``None`` if they are gone."""
        if identity in self._held:
            number, held = self._held[identity]
            return held if number is None else private.tensor_of_array(held, number)
        place = self.seen.get(identity, -1)
        if place < 0:
            return None
        offset, form = place // _FORMS, self._forms_by_place[place % _FORMS]
        index = bisect.bisect_right(self._sent_from, offset) - 1
        start = offset - self._sent_from[index]
        raw = self._sent[index][start : start + form.size]
        tensor = private.tensor_from(raw, form.number, form.shape)
        self._held[identity] = None, tensor
        return tensor

    def _travel(self, event: dict[str, Any], raw: bytes) -> None:
        event["at"], event["nbytes"] = self.offset, len(raw)
        self._parts.append(raw)
        self.offset += len(raw)

    def _sample(self, event: dict[str, Any], array: Any) -> None:
        """Send a few evenly spaced elements of a large array, for its picture."""
        if array.shape not in self._samplings:
            self._samplings[array.shape] = sampling(array.shape)
        indices, shape = self._samplings[array.shape]
        raw = little_endian(array.reshape(-1).take(indices))
        if array.dtype.kind not in "OSU" and self.offset + len(raw) <= self._budget:
            event["sample"] = [self.offset, *shape]
            self._parts.append(raw)
            self.offset += len(raw)

    def _new_form(self, number: int, shape: tuple[int, ...]) -> _Form:
        text, size = "", -1
        is_small = math.prod(shape) <= self.value_limit
        if is_small and private.is_buffer(number) and len(self._forms_by_place) < _FORMS:
            size = math.prod(shape) * private.dtype_size(number)
            text = f',"dtype":"{private.dtype_name(number)}","shape":{list(shape)}'
            text += f',"nbytes":{size},"kept":true,"at":'
        form = _Form(text, size, len(self._forms_by_place), number, shape)
        self._forms[number, shape] = form
        self._forms_by_place.append(form)
        return form

    def _see_slowly(self, identity: int, tensor: Any, lines: list[str]) -> None:
        """One whose elements are large or no plain numbers."""
        event = self._description(identity, tensor)
        number, count = tensor._datatype_enum(), _count(tensor)
        self.elements += count
        if private.is_opaque(number):
            if private.is_resource(number):
                event["handle"] = True
            self._hold(identity, tensor, private.size_behind(tensor), self._lasting)
            lines.append(json.dumps(event))
            return
        if private.is_string(number):
            if count <= self.value_limit:
                event["text"] = texts_of(tensor)
        else:
            raw = raw_bytes(tensor) if count <= self.value_limit else b""
            if count <= self.value_limit and self.offset + len(raw) <= self._budget:
                self._travel(event, raw)
            else:
                array = array_of(tensor)
                event["stats"] = self._statistics(identity, array, number)
                self._sample(event, array)
                self._stayed.add(identity)
        budget = self._passing if identity in self.glanced else self._lasting
        self.glanced.discard(identity)
        if self._hold(identity, tensor, count * private.dtype_size(number), budget):
            event["kept"] = True
        lines.append(json.dumps(event))

    def _statistics(self, identity: int, array: Any, number: int) -> Any:
        """Statistics of an array; those of another tensor in the same memory, which a reshape, a
        read or an identity shares, as long as that one is held."""
        key = (array.__array_interface__["data"][0], array.nbytes, number)
        known, found = self._measured.get(key, (0, None))
        if known not in self._held:
            found = statistics(array)
            self._measured[key] = identity, found
        return found

    def _description(self, identity: int, tensor: Any) -> dict[str, Any]:
        return {
            "e": "tensor",
            "id": identity,
            "dtype": private.dtype_name(tensor._datatype_enum()),
            "shape": tensor._shape_tuple(),
        }

    def _hold(self, identity: int, tensor: Any, size: int, budget: _Budget) -> bool:
        """Keep a tensor; when the budget is used up, the oldest large ones go."""
        number = tensor._datatype_enum()
        is_array = not private.is_opaque(number) and not private.is_string(number)
        self._held[identity] = (number, array_of(tensor)) if is_array else (None, tensor)
        for oldest in budget.add(identity, size) if size >= _LARGE else ():
            self._held.pop(oldest, None)
        return identity in self._held


def _count(tensor: Any) -> int:
    """Number of elements of an eager tensor."""
    return math.prod(tensor._shape_tuple())
