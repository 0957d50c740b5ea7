"""Bring to the front the panel below the graph that a run, a question or a step is about."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QObject

from ..document import Document
from ..trace.model import EMPTY_TRACE
from .stage import Stage


class FrontPanel(QObject):
    """Chooses the panel in front, once for each reason: then it is the user's choice."""

    def __init__(self, document: Document, stage: Stage) -> None:
        super().__init__(stage)
        self._document = document
        self._stage = stage
        self._shown: Literal["", "steps", "question", "failure", "printed"] = ""
        """The reason for which the present run brought a panel to the front last."""
        self._is_stepping = False
        document.run_started.connect(self._begin_anew)
        document.trace_changed.connect(self._turn_to_run)
        document.question_changed.connect(self._turn_to_question)
        document.step_changed.connect(self._turn_to_steps)
        document.comparing.changed.connect(self._turn_to_comparison)

    def _begin_anew(self) -> None:
        self._shown = ""

    def _turn_to_run(self) -> None:
        """Bring the steps to the front when a run has its first ops, the output if it raised, or
        ended without any op and printed something."""
        trace = self._document.trace
        if trace is EMPTY_TRACE:
            self._begin_anew()
        elif trace.failure is not None and self._shown != "failure":
            self._shown = "failure"
            self._stage.bring("output", opens=False)
        elif trace.ops and not self._shown:
            self._shown = "steps"
            self._stage.bring("backprop", opens=False)
        elif not (self._document.is_running or self._shown) and trace.printed:
            self._shown = "printed"
            self._stage.bring("output", opens=False)

    def _turn_to_question(self) -> None:
        """Bring the output to the front while ``input()`` waits for a line."""
        if self._document.runs.question is not None:
            self._shown = "question"
            self._stage.call("output")

    def _turn_to_steps(self) -> None:
        """Unfold the steps when stepping begins; who folds them on the way has them folded."""
        began, self._is_stepping = not self._is_stepping, self._document.step is not None
        if began and self._is_stepping:
            self._stage.open_drawer()

    def _turn_to_comparison(self) -> None:
        """Fold the panels below when a comparison begins, where that gives it more room."""
        if self._document.comparing.awaited:
            self._stage.open_drawer(is_open=False)
