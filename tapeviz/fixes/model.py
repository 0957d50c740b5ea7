"""The nouns of a repair: a finding with the text that led to it, and an edit that may mend it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypedDict

import libcst as cst

from ..analysis.causes.connections.left_tensorflow import LeftTensorFlow
from ..analysis.findings import Cause, Finding
from ..trace.calls import Call
from ..trace.model import Failure, Trace
from .nodes import Node, all_of, called_name, read_names
from .source import ParsedSource

ESTIMATE = "Estimate: "
"""How the title of an edit begins by which a value or a slope becomes another."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A whole new text, and in a few words what it does.

    An edit is kept if the gradient then arrives with the shape that it should have, the target
    keeps its value, and the gradient is the one across the cut, where that is known. Each
    ``has_other_…`` excuses the edit from a part of this:

    ``is_estimate``: the target or the gradient differs from what was written; the user is told.
    A title that begins with :data:`ESTIMATE` sets it.
    ``has_other_shape``: the gradient is asked for by another tensor, of another shape.
    ``has_other_value``: the target changes on purpose: the one that was written was a mistake.
    ``has_other_slope``: the gradient differs on purpose from the one across the cut.
    ``gives_zeros``: the gradient is zero, for the target does not depend on the source.
    ``parts``: for each source the subscript that picks its part of the result (``[0]``), or "".
    ``asks_once``: a single source is asked for now, of which all those before are parts.
    ``asks_fewer``: the source is no longer asked for; the gradients by the others stay.
    ``is_fallback``: shown only where no other edit is good: it raised until a second edit was made
    for the error that it brought, or takes ``tf.function`` off.
    ``is_last``: edits for the cuts on other paths are tried before it, and without it.
    """

    title: str
    new_text: str
    is_estimate: bool = False
    parts: tuple[str, ...] = ()
    has_other_shape: bool = False
    has_other_value: bool = False
    has_other_slope: bool = False
    gives_zeros: bool = False
    asks_once: bool = False
    asks_fewer: bool = False
    is_fallback: bool = False
    is_last: bool = False

    def __post_init__(self) -> None:
        if self.title.startswith(ESTIMATE):
            object.__setattr__(self, "is_estimate", True)

    def followed_by(self, second: Edit, new_text: str) -> Edit:
        """This edit and a second one, which mends another cut; ``new_text``: with both."""
        title, also = self.title, second.title
        if also != title:
            if title.startswith(ESTIMATE):
                also = also.removeprefix(ESTIMATE)
            title = f"{title}; {also[0].lower()}{also[1:]}"
        estimate = self.is_estimate or second.is_estimate
        parts, is_fallback = self.parts or second.parts, self.is_fallback or second.is_fallback
        return Edit(title, new_text, estimate, parts, is_fallback=is_fallback)


class EditFlags(TypedDict, total=False):
    """The fields of an :class:`Edit` behind its text, as keywords."""

    is_estimate: bool
    parts: tuple[str, ...]
    has_other_shape: bool
    has_other_value: bool
    has_other_slope: bool
    gives_zeros: bool
    asks_once: bool
    asks_fewer: bool
    is_fallback: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class ErrorCase:
    """An exception that ended the snippet: what ran, and the source to be edited.

    ``match``: of the pattern that stands with the fix in ``tables/errors.py``.
    """

    trace: Trace
    source: ParsedSource
    failure: Failure
    match: re.Match[str]

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of the snippet that it came through."""
        return self.failure.lines or (self.failure.line,)

    def calls(self, *names: str) -> Iterator[cst.Call]:
        """The calls of functions or methods of these names on those lines."""
        for line in self.lines:
            yield from self.source.calls(line, *names)

    def nodes(self, kind: type[Node], *lines: int) -> list[Node]:
        """The nodes of a kind in the statement that raised, or in those on these lines; without
        those in the body of a compound one."""
        return self.source.nodes(kind, *(lines or (self.failure.line,)))


@dataclass(frozen=True, slots=True)
class FixCase:
    """A gradient that is not there: what ran, which call, why, and the source to be edited.

    ``is_there_at_times``: it is there in other rounds of the same call.
    """

    trace: Trace
    call: Call
    finding: Finding
    cause: Cause
    source: ParsedSource
    is_there_at_times: bool = False

    @property
    def recorder(self) -> str:
        """The noun for the recorder of the call: a tape or an accumulator."""
        return "accumulator" if self.call.is_forward else "tape"

    @property
    def target(self) -> str:
        """The target by its name in the snippet, or ``the target``."""
        names = [operand.text for operand in self.call.targets]
        is_named = len(names) == 1 and names[0].replace(".", "").isidentifier()
        return names[0] if is_named else "the target"

    def lines(self, *kinds: str) -> tuple[int, ...]:
        """The lines of the cause and of the further cuts of its kind (or of these kinds)."""
        wanted = kinds or (self.cause.kind,)
        causes = (self.cause, *self.finding.others)
        return tuple(dict.fromkeys(cause.line for cause in causes if cause.kind in wanted))

    def calls(self, *names: str) -> Iterator[cst.Call]:
        """The calls of functions or methods of these names on the lines of the cause."""
        for line in self.lines():
            yield from self.source.calls(line, *names)

    def nodes(self, kind: type[Node]) -> list[Node]:
        """The nodes of a kind in the statements on the lines of the cause, without those in the
        body of a compound one."""
        return self.source.nodes(kind, *self.lines())

    def calls_given(self, *names: str) -> Iterator[cst.Call]:
        """As :meth:`calls`, and where TensorFlow called the function around the cause by itself,
        the calls that are given it, or a function that takes it."""
        yield from self.calls(*names)
        evidence, source = self.cause.evidence, self.source
        if not isinstance(evidence, LeftTensorFlow) or evidence.how != "thread":
            return
        functions = all_of(source.module, cst.FunctionDef)
        called = {f.name.value for f in functions if source.covers(f, self.cause.line)}
        called |= {f.name.value for f in functions if called & read_names(f)}
        for call in all_of(source.module, cst.Call):
            if called_name(call) in names and any(called & read_names(arg) for arg in call.args):
                yield call


FixFunction = Callable[[FixCase], Iterator[Edit]]
ErrorFixFunction = Callable[[ErrorCase], Iterator[Edit]]


def raised_call(trace: Trace) -> Call | None:
    """The gradient call that raised what ended the snippet, or the first block of a page that was
    ended; None if something else raised it."""
    failure = trace.failure
    call = next((call for call in trace.calls if not call.ended), None)
    if failure is None or call is None:
        return None
    return call if call.site.line in (failure.line, *failure.lines) else None
