"""Give the elements of a tensor, asked of the run's process where they did not travel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from ..trace.ids import TensorId
from ..trace.ops import Tensor
from ..trace.values import TensorPart
from .pipeline import RunHandle

if TYPE_CHECKING:
    from .document import Document

MOST_HELD = 16
"""Answers of the run's process that are held here at a time: each may be 16 MB."""
_Key = tuple[TensorId, tuple[int, ...] | None]
"""A tensor, and the index of the slice of it that was asked for; None: all of it."""


class Values(QObject):
    """The values of one document's trace."""

    fetched = Signal(object)
    """The id of a tensor that was asked for; inside of compiled calls it is beyond 32 bits."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._held: dict[_Key, Any] = {}
        self._held_of: RunHandle | None = None

    def forget(self) -> None:
        """Let the answers of the last run go, and its recording."""
        self._held, self._held_of = {}, None

    def value_of(self, tensor: TensorId) -> Any:
        """The tensor's array, None when it did not travel; then :meth:`fetch` asks for it."""
        fetched = self._answers().get((tensor, None))
        return self._document.trace.value(tensor) if fetched is None else fetched

    def fetch(self, tensor: TensorId) -> bool:
        """Ask for a value that did not travel; False: it cannot be had."""
        return self._ask(tensor, None, lambda run: run.fetch_tensor(tensor))

    def part_of(self, tensor: TensorId, index: tuple[int, ...]) -> TensorPart | None:
        """A slice of a large tensor, None when it was not fetched; then :meth:`fetch_part` asks."""
        found: TensorPart | None = self._answers().get((tensor, index))
        return found

    def fetch_part(self, tensor: TensorId, shape: tuple[int, ...], index: tuple[int, ...]) -> bool:
        """Ask for the slice at ``index`` of a tensor that is looked at in ``shape``; False: it
        cannot be had."""
        return self._ask(tensor, index, lambda run: run.fetch_part(tensor, shape, index))

    def _answers(self) -> dict[_Key, Any]:
        """The answers of the process that the trace came from."""
        run = self._document.runs.recording
        if run is not self._held_of:
            self._held, self._held_of = {}, run
        return self._held

    def _ask(
        self, tensor: TensorId, index: tuple[int, ...] | None, question: Callable[[RunHandle], Any]
    ) -> bool:
        run, trace = self._document.runs.recording, self._document.trace
        known = trace.tensors.get(tensor)
        if run is None or known is None or tensor in trace.unread or not _may_be_held(known):
            return False
        work = partial(question, run)
        self._document.background.submit("fetch", work, partial(self._keep, (tensor, index)))
        return True

    def _keep(self, key: _Key, answer: Any) -> None:
        if answer is not None:
            held = self._answers()
            held[key] = answer
            for old in list(held)[:-MOST_HELD]:
                del held[old]
            self.fetched.emit(key[0])


def _may_be_held(tensor: Tensor) -> bool:
    """Whether the run's process may have the elements of a tensor: what a gradient call returned is
    held although it was none of the tensors that are when it was made."""
    return not tensor.is_handle and (tensor.kept or bool(tensor.size))
