"""Move through the steps of the backward pass that is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .document import Document


class Stepping:
    """Chooses how many steps of one document's call are walked: :attr:`Document.step`."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def go_to(self, step: int | None) -> None:
        """Walk this many steps, at most all of them, and select the last; None: show the whole
        flow."""
        document = self._document
        step = None if step is None else max(0, min(step, len(document.steps)))
        if step != document.step:
            document.show_step(step)

    def first(self) -> None:
        self.go_to(1 if self._document.steps else None)

    def back(self) -> None:
        step = self._document.step
        self.go_to((len(self._document.steps) if step is None else step) - 1)

    def forward(self) -> None:
        self.go_to((self._document.step or 0) + 1)

    def last(self) -> None:
        self.go_to(len(self._document.steps))

    def to_selection(self) -> bool:
        """Go to the next step at the selection, after the last to the first; returns False without
        one."""
        document = self._document
        numbers = document.links.steps_of(document.selection.nodes)
        if not numbers:
            document.say("The backward pass has no step at what is selected")
            return False
        now = document.step or 0
        self.go_to(next((number for number in numbers if number > now), numbers[0]))
        return True
