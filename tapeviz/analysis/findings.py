"""The outcome of one gradient: its status, why it is not there, and edits that mend it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from ..text.line_words import ranges_in_words, ranges_of
from ..text.op_words import friendly
from ..trace.calls import Check
from ..trace.ids import OpId, TensorId
from ..trace.stats import Array
from ..wording import enumerated

Status = Literal["flows", "none", "zero", "nonfinite"]
Link = tuple[TensorId | None, OpId]
"""A value on its way into an op: (tensor, consumer). The tensor is None for a variable's state."""

MOST_OTHERS = 40
"""The number of further cuts that are listed of a gradient: of one in a network of thousands of
blocks each block may have one, and so for the gradient of each block."""


_MOST_FURTHER = 3


class Evidence(ABC):
    """The kind of a cause with what its detector found: a frozen dataclass for each kind.

    ``kind``: the word for it in ``explain --json``, in the pages of explanations and in tests.
    """

    __slots__ = ()
    kind: ClassVar[str]

    @property
    def is_harmless(self) -> bool:
        """Whether the outcome may be as it should be: there is nothing to mend."""
        return False

    @abstractmethod
    def sentence(self, cause: Cause, target: str, source: str) -> str:
        """At most three plain sentences: what happened, where, why, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a gradient is not there: the evidence, and the line to look at.

    ``line`` is the one that a reader would change. Where an op or a call stops the gradient itself
    (no derivative, ``stop_gradient``, a write, a value that leaves, zeros, NaN), it is the
    innermost line of the snippet that ran it, in a helper too. Where only the moment was wrong
    (before or after the tape's block, under an earlier tape), it is the statement that would have
    to move or run again: the one in the function of that block, if there is one. Where the source
    is another object than the one used, it is where that object was made or got its name; where
    nothing links the two, the line that asks.

    ``op``/``op_id``: the op at the cut, where there is one, by TensorFlow's name for its type;
    ``words``: what the snippet calls it, empty if not known. ``links``: the edges that are cut.
    ``is_alone``: no other cut has to be mended for the gradient to arrive. ``is_bypassed``: the
    gradient has another path through the same call, so that nothing has to be mended here.
    """

    evidence: Evidence
    line: int
    code: str
    op: str = ""
    op_id: OpId | None = None
    links: Sequence[Link] = ()
    words: str = ""
    is_probable: bool = False
    is_alone: bool = True
    is_bypassed: bool = False

    @property
    def kind(self) -> str:
        return self.evidence.kind

    @property
    def op_words(self) -> str:
        """The op in the snippet's own words, else by a short name of its type."""
        return self.words or friendly(self.op)

    @property
    def probably(self) -> str:
        """``"probably "`` where the cause is only likely: a word for a sentence about it."""
        return "probably " if self.is_probable else ""

    def message(self, target: str, source: str) -> str:
        """The sentences for the user, for this target and source as they were written."""
        return self.evidence.sentence(self, target, source)


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit of the source that was tried, and the gradient that came out.

    ``diff``: the changed lines with one of context; ``text``: the whole text after the edit.
    ``value``: the gradient in the run of that text (None: there are several, or it did not travel);
    ``is_of_first_call``: of a compiled function, it has the numbers of its first call.
    ``is_estimate``: the text computes another value, or takes another slope, than was written.
    """

    title: str
    diff: str
    text: str
    value: Array | None = field(default=None, compare=False)
    is_estimate: bool = False
    is_of_first_call: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one gradient: for one source of one call.

    ``target``/``source``: as the user wrote them. ``tensor``: the gradient, None for None.
    ``bridged``: the gradient across the cut.
    ``others``: further cuts that lie on the paths, at most :data:`MOST_OTHERS`; ``has_more``: there
    are more.
    ``is_estimated``: the bridged gradient went through what has no slope. ``check``: how it
    compares with finite differences; ``held``: what it holds fixed, in words. ``bridged_value``:
    one that only another run of the snippet gave; ``no_bridge``: why there is none, where one was
    looked for. ``not_tried``: why no fix was
    tried. ``nonfinite``: of that status, what its elements are: ``NaN``, ``Inf`` or both.
    """

    target: str
    source: str
    status: Status
    dtype: str
    shape: tuple[int | None, ...] | None
    tensor: TensorId | None
    cause: Cause | None = None
    others: tuple[Cause, ...] = ()
    has_more: bool = False
    bridged: TensorId | None = None
    is_estimated: bool = False
    check: Check | None = None
    held: str = ""
    bridged_value: Array | None = field(default=None, compare=False)
    no_bridge: str = ""
    not_tried: str = ""
    fixes: tuple[Fix, ...] = ()
    nonfinite: str = ""

    @property
    def is_harmless(self) -> bool:
        """Whether it does not flow, and that is as it should be."""
        is_number = self.status in ("zero", "nonfinite")
        return is_number and self.cause is not None and self.cause.evidence.is_harmless

    @property
    def across(self) -> TensorId | Array | None:
        """The gradient across the cut: a tensor of the recording, or the numbers of another run."""
        return self.bridged if self.bridged_value is None else self.bridged_value

    @property
    def further(self) -> str:
        """The lines on which the gradient is cut besides that of the cause, in sentences.

        Where a gradient across the cut is known that needs no estimate, ops without a slope lie on
        further paths only, and leave nothing to mend.
        """
        return " ".join(filter(None, (self._further_unrecorded(), self._further_cuts())))

    def _further_unrecorded(self) -> str:
        """The other lines that the tape did not record for the same reason."""
        first = self.cause
        if first is None or first.kind != "outside-tape" or self.status != "none":
            return ""
        lines = {each.line for each in self.others if each.evidence == first.evidence}
        ranges = ranges_of(lines - {0, first.line})
        return f"The same holds for {ranges_in_words(ranges, _MOST_FURTHER)}." if ranges else ""

    def _further_cuts(self) -> str:
        known = self.cause.line if self.cause is not None else 0
        passed = {"outside-tape"}
        if self.status == "none" and self.across is not None and not self.is_estimated:
            passed.add("not-differentiable")
        cuts = [cause for cause in reversed(self.others) if cause.kind not in passed]
        words = {cause.line: cause.op_words or cause.code for cause in cuts}
        places = [f"line {n} ({words[n]})" for n in sorted(words) if n and n != known]
        if not places:
            return ""
        if len(places) > _MOST_FURTHER:
            over = "over " if self.has_more else ""
            places[_MOST_FURTHER:] = [f"{over}{len(places) - _MOST_FURTHER} more"]
        listed = enumerated(places)
        if self.status == "zero":
            return f"Another path is cut on {listed}."
        return f"The gradient is cut on {listed}, too."

    @property
    def message(self) -> str:
        """At most three plain sentences. Not kept: a call may have thousands of sources."""
        if self.cause is not None:
            return self.cause.message(self.target, self.source)
        return {
            "flows": "The gradient flows.",
            "zero": "The gradient is connected, and every element of it is exactly 0.",
            "nonfinite": f"The gradient has elements that are {self.nonfinite}.",
            "none": "There is no gradient.",
        }[self.status]
