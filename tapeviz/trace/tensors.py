"""The noun for a tensor. A recording has hundreds of thousands: see :class:`Tensor`."""

from __future__ import annotations

import msgspec

from .ids import TensorId

Shape = tuple[int | None, ...] | None
"""``None``: of unknown rank; a dimension that is ``None`` is unknown."""


class TensorKind(msgspec.Struct, frozen=True, gc=False):
    """The traits that a tensor shares with many others: all of them hold one object.

    ``form``: dtype and shape. ``kept``: the process of the run has its value.
    """

    form: tuple[str, Shape]
    kept: bool = False
    is_handle: bool = False


class Tensor(msgspec.Struct, frozen=True, gc=False):
    """A tensor by TensorFlow's own id, in 32 bytes. Its value: :meth:`Trace.value`."""

    id: TensorId
    kind: TensorKind

    @property
    def form(self) -> tuple[str, Shape]:
        """Its dtype and shape."""
        return self.kind.form

    @property
    def dtype(self) -> str:
        return self.kind.form[0]

    @property
    def shape(self) -> Shape:
        return self.kind.form[1]

    @property
    def kept(self) -> bool:
        return self.kind.kept

    @property
    def is_handle(self) -> bool:
        return self.kind.is_handle

    @property
    def size(self) -> int | None:
        """Number of elements; ``None`` when a dimension is unknown."""
        size = 1
        for dimension in self.shape if self.shape is not None else (None,):
            if dimension is None:
                return None
            size *= dimension
        return size
