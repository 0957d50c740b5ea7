"""Where in the blob of a recording the elements of its tensors begin."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping

import numpy as np

from .ids import TensorId


class Places(Mapping[TensorId, int]):
    """Tensor → offset, as two sorted columns: nearly every tensor of a recording has an entry, of
    16 bytes in place of a dictionary's 100, and few are looked up."""

    def __init__(self, places: Mapping[TensorId, int]) -> None:
        count = len(places)
        tensors = np.fromiter(places, np.int64, count)
        offsets = np.fromiter(places.values(), np.int64, count)
        order = np.argsort(tensors)
        self._tensors = array("q", tensors[order].tobytes())
        self._offsets = array("q", offsets[order].tobytes())

    def __getitem__(self, tensor: TensorId) -> int:
        offset = self.get(tensor)
        if offset is None:
            raise KeyError(tensor)
        return offset

    def get(self, tensor: TensorId, default: int | None = None) -> int | None:  # type: ignore[override]
        at = bisect_left(self._tensors, tensor)
        if at < len(self._tensors) and self._tensors[at] == tensor:
            return self._offsets[at]
        return default

    def __contains__(self, tensor: object) -> bool:
        return isinstance(tensor, int) and self.get(TensorId(tensor)) is not None

    def __iter__(self) -> Iterator[TensorId]:
        return map(TensorId, self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)
