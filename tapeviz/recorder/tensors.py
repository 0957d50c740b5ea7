"""Tensors that events name in; ``tensor`` events, the bytes that travel and those kept out."""

from __future__ import annotations

import json
import math
from collections import deque
from typing import Any

from . import private
from .values import raw_bytes, statistics, texts_of

_LARGE = 1 << 16


class Tensors:
    """Every tensor seen so far. ``kept``: by id, those whose elements can still be asked for."""

    def __init__(self, value_limit: int, value_budget: int, keep_budget: int) -> None:
        self.kept: dict[int, Any] = {}
        self.seen: set[int] = set()
        self.offset = 0
        self._limit = value_limit
        self._budget = value_budget
        self._keep_budget = keep_budget
        self._kept_bytes = 0
        self._large: deque[tuple[int, int]] = deque()
        self._forms: dict[Any, tuple[str, int]] = {}
        self._blob: list[Any] = []
        self._stayed: set[int] = set()

    def see(self, identity: int, tensor: Any, lines: list[str]) -> None:
        """Write the ``tensor`` event of an eager tensor that was not seen before. Hot."""
        self.seen.add(identity)
        key = (tensor._datatype_enum(), tensor._shape_tuple())
        try:
            form, size = self._forms[key]
        except KeyError:
            form, size = self._forms[key] = self._form(*key)
        if size >= 0 and self.offset + size <= self._budget:
            self.kept[identity] = tensor
            lines.append(f'{{"e":"tensor","id":{identity}{form}{self.offset}}}')
            self._blob.append(tensor)
            self.offset += size
        else:
            self._see_slowly(identity, tensor, lines)

    def see_symbolic(self, identity: int, tensor: Any, lines: list[str]) -> None:
        """Write the ``tensor`` event of a graph's tensor: it has a dtype and a shape, no value."""
        self.seen.add(identity)
        event: dict[str, Any] = {"e": "tensor", "id": identity, "dtype": tensor.dtype.name}
        shape = private.shape_of(tensor)
        if shape is not None:
            event["shape"] = shape
        if private.is_resource(tensor.dtype.as_datatype_enum):
            event["handle"] = True
        lines.append(json.dumps(event))

    def see_array(self, identity: int, array: Any, lines: list[str]) -> None:
        """Write the ``tensor`` event of a value that exists as a NumPy array only."""
        self.seen.add(identity)
        event = {"e": "tensor", "id": identity, "dtype": array.dtype.name}
        event["shape"] = array.shape
        if array.dtype.kind in "biufc" and array.nbytes + self.offset <= self._budget:
            self._travel(event, array.tobytes())
        elif array.dtype.kind in "OSU":
            event["dtype"] = "string"
            event["text"] = [
                one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one)
                for one in array.ravel()
            ]
        lines.append(json.dumps(event))

    def send_value(self, identity: int, tensor: Any, lines: list[str], limit: int) -> None:
        """Send a tensor's elements though it is larger than others that travel."""
        if identity not in self._stayed or _count(tensor) > limit:
            return
        self._stayed.discard(identity)
        event = self._description(identity, tensor)
        self.kept[identity] = tensor
        event["kept"] = True
        self._travel(event, raw_bytes(tensor))
        lines.append(json.dumps(event))

    def take_blob(self) -> bytes:
        """The bytes to be sent since the last call."""
        parts, self._blob = self._blob, []
        try:
            # EagerTensors give their memory by the buffer protocol: one copy, in C.
            return b"".join(parts)
        except (TypeError, ValueError, BufferError):
            return b"".join(one if isinstance(one, bytes) else raw_bytes(one) for one in parts)

    def _travel(self, event: dict[str, Any], raw: bytes) -> None:
        event["at"], event["nbytes"] = self.offset, len(raw)
        self._blob.append(raw)
        self.offset += len(raw)

    def _form(self, number: int, shape: tuple[int, ...]) -> tuple[str, int]:
        """What events of small tensors of a dtype and shape have in common, and their size."""
        count = math.prod(shape)
        if count > self._limit or private.is_opaque(number) or private.is_string(number):
            return "", -1
        size = count * private.dtype_size(number)
        text = f',"dtype":"{private.dtype_name(number)}","shape":{list(shape)}'
        return f'{text},"nbytes":{size},"kept":true,"at":', size if private.is_buffer(
            number
        ) else -1

    def _see_slowly(self, identity: int, tensor: Any, lines: list[str]) -> None:
        event = self._description(identity, tensor)
        number = tensor._datatype_enum()
        if private.is_opaque(number):
            self.kept[identity] = tensor
            if private.is_resource(number):
                event["handle"] = True
            lines.append(json.dumps(event))
            return
        count = _count(tensor)
        if private.is_string(number):
            if count <= self._limit:
                event["text"] = texts_of(tensor)
        else:
            raw = raw_bytes(tensor) if count <= self._limit else b""
            if count <= self._limit and self.offset + len(raw) <= self._budget:
                self._travel(event, raw)
            else:
                event["stats"] = statistics(tensor)
                self._stayed.add(identity)
        if self._keep(identity, tensor, count * private.dtype_size(number)):
            event["kept"] = True
        lines.append(json.dumps(event))

    def _description(self, identity: int, tensor: Any) -> dict[str, Any]:
        return {
            "e": "tensor",
            "id": identity,
            "dtype": private.dtype_name(tensor._datatype_enum()),
            "shape": tensor._shape_tuple(),
        }

    def _keep(self, identity: int, tensor: Any, size: int) -> bool:
        """Keep a tensor; when the budget is used up, the oldest large ones go."""
        self.kept[identity] = tensor
        if size < _LARGE:
            return True
        self._large.append((identity, size))
        self._kept_bytes += size
        while self._kept_bytes > self._keep_budget and self._large:
            oldest, its_size = self._large.popleft()
            self._kept_bytes -= its_size
            self.kept.pop(oldest, None)
        return identity in self.kept


def _count(tensor: Any) -> int:
    """Number of elements of an eager tensor."""
    return math.prod(tensor._shape_tuple())
