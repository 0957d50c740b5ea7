"""The nouns of a diagnosis: for each gradient asked for its status, cause, and what it would be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import ClassVar, Literal, NamedTuple

import msgspec

from ..text.op_words import friendly
from ..trace.model import Array, Call, CallId, Check, OpId, TensorId, tensors_of
from .backward.turns import Parts, TurnRows
from .rounds.call_sites import NO_ROUNDS, CallSite, Rounds
from .stories import places_alike

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

    @abstractmethod
    def sentence(self, cause: Cause, target: str, source: str) -> str:
        """At most three plain sentences: what happened, where, why, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a gradient is not there: the evidence, and the line to look at.

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
    def across(self) -> TensorId | Array | None:
        """The gradient across the cut: a tensor of the recording, or the numbers of another run."""
        return self.bridged if self.bridged_value is None else self.bridged_value

    @property
    def further(self) -> str:
        """The lines on which the gradient is cut besides that of the cause, in a sentence.

        Where a gradient across the cut is known that needs no estimate, ops without a slope lie on
        further paths only, and leave nothing to mend.
        """
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
        listed = " and ".join(filter(None, (", ".join(places[:-1]), places[-1])))
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


class WalkStep(msgspec.Struct, frozen=True, gc=False):
    """A row of the backward pass, as the Backprop panel shows it and the graph lights it.

    ``kind``: ``op`` (TensorFlow ran a gradient function), ``sum`` (shares added at a fan-out),
    ``stop`` (the pass ends here: a cut), ``replayed`` (computed by TensorFlow after the run),
    ``inner`` (inside of a compiled function, loop or branch: computed again after the run).
    ``upstream``/``downstream``: gradients in and out, None where there is none.
    ``inputs``: the tensors that ``downstream`` has the gradients of; of a sum or a stop none.
    ``formula``: of the op, in terms of ``ḡ`` (upstream), inputs a, b, … and output y.
    """

    index: int
    kind: Literal["op", "sum", "stop", "replayed", "inner"]
    op: OpId | None
    title: str
    line: int
    formula: str
    upstream: tuple[TensorId | None, ...]
    downstream: tuple[TensorId | None, ...]
    inputs: tuple[TensorId, ...] = ()
    at: TensorId | None = None
    """For a ``sum``: the tensor whose gradient is complete now."""
    turns: tuple[int, ...] = ()
    """The turns of the compiled loops around the op, outermost loop first, from 0."""
    taken: tuple[TensorId, ...] = ()
    made: tuple[TensorId, ...] = ()
    """``inputs`` (of a sum ``at``) and the outputs that ``upstream`` is of, where these are not
    those of the op drawn: in another turn of a loop, of a conditional with several outputs."""
    passed: tuple[WalkStep, ...] = ()
    """Rows of ops before this one (of the last row also after it) that only hand a gradient on."""

    @property
    def summed(self) -> TensorId | None:
        """The tensor whose gradient a sum completes (``at``), as it was in the sum's turn."""
        return self.taken[0] if self.kind == "sum" and self.taken else self.at

    @property
    def walked(self) -> list[tuple[Link, TensorId]]:
        """The edges that this step walks, from the op to its inputs, with the gradient on each."""
        op = self.op
        if op is None:
            return []
        pairs = zip(self.inputs, self.downstream, strict=False)
        return [((tensor, op), given) for tensor, given in pairs if given is not None]

    @property
    def rows(self) -> tuple[WalkStep, ...]:
        """The step and those that it passed."""
        return (*self.passed, self)


@dataclass(frozen=True, slots=True)
class Flow:
    """The edges that the gradient of one call passed, and those at which it stopped.

    ``walked``: edges that a gradient passed, with its norm (None unknown); ``cuts``: edges where it
    stops, each with its cause; ``bridges``: edges that only the bridged gradient passes.
    ``gradients``: for each tensor the gradient that reached it (the last running sum).
    """

    walked: Mapping[Link, float | None] = field(default_factory=dict)
    cuts: Mapping[Link, Cause] = field(default_factory=dict)
    bridges: Mapping[Link, float | None] = field(default_factory=dict)
    gradients: Mapping[TensorId, TensorId] = field(default_factory=dict)
    targets: frozenset[TensorId] = frozenset()
    sources: frozenset[TensorId] = frozenset()


EMPTY_FLOW = Flow()


class BackwardPass(NamedTuple):
    """The backward pass of one call: the rows of the Backprop panel, and where the gradient went.

    ``turns``: stretches of rows that go back through a loop; ``parts``: if there are any, what
    each row gives to gradients that are sums.
    """

    steps: tuple[WalkStep, ...] = ()
    flow: Flow = EMPTY_FLOW
    turns: tuple[TurnRows, ...] = ()
    parts: Parts | None = None


def _pending(call: Call) -> BackwardPass:
    targets, sources = tensors_of(call.differentiated), tensors_of(call.by)
    return BackwardPass((), Flow(targets=frozenset(targets), sources=frozenset(sources)))


@dataclass(frozen=True)
class CallDiagnosis:
    """The findings about the gradients that one call asked for.

    ``backward_pass()`` is computed at the first call and kept: of thousands of rounds few are
    looked at. ``is_pending``: it is long and still being computed, and has no steps here yet.
    """

    call: Call
    findings: tuple[Finding, ...]
    backward_pass: Callable[[], BackwardPass] = field(
        default=BackwardPass, compare=False, repr=False
    )
    is_pending: bool = field(default=False, compare=False)

    @property
    def steps(self) -> tuple[WalkStep, ...]:
        return self.backward_pass().steps

    @property
    def flow(self) -> Flow:
        return self.backward_pass().flow

    def work_out(self) -> None:
        """Compute the backward pass now, which takes seconds if it is long."""
        self.backward_pass()

    @cached_property
    def alike(self) -> tuple[tuple[int, ...], ...]:
        """The places of the findings, those together that tell the same story."""
        return tuple(places_alike(self.findings))

    @property
    def is_troubled(self) -> bool:
        return any(finding.status != "flows" for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Warned:
    """Numbers that look right and are wrong, or a recording that lacks something (``line`` 0).

    ``calls``: the gradient calls that it is about, in their order.
    """

    kind: str
    line: int
    message: str
    calls: tuple[CallId, ...] = ()


@dataclass(frozen=True, slots=True)
class ExplainedError:
    """The exception that ended the snippet, and what to do about it.

    ``command``: what to type into a terminal to install a module that was missing, or empty.
    """

    type: str
    message: str
    line: int
    explanation: str
    fixes: tuple[Fix, ...] = ()
    command: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """``errors``: what ended the snippet, or blocks of a page; ``rounds``: the calls by call
    site."""

    calls: tuple[CallDiagnosis, ...] = ()
    errors: tuple[ExplainedError, ...] = ()
    warnings: tuple[Warned, ...] = ()
    rounds: Rounds = NO_ROUNDS

    @property
    def error(self) -> ExplainedError | None:
        """The first error."""
        return self.errors[0] if self.errors else None

    @cached_property
    def _by_id(self) -> Mapping[CallId, CallDiagnosis]:
        return {call.call.id: call for call in self.calls}

    @cached_property
    def _first_shown(self) -> CallDiagnosis | None:
        troubled = (call for call in self.calls if call.is_troubled)
        return next(troubled, self.calls[-1] if self.calls else None)

    @cached_property
    def groups(self) -> tuple[CallSite | CallDiagnosis, ...]:
        """Call sites of several rounds, and calls that are the only ones of their site.

        In the order of their first calls.
        """
        found: dict[int, CallSite | CallDiagnosis] = {}
        for call in self.calls:
            group = self.site_of(call) or call
            found.setdefault(id(group), group)
        return tuple(found.values())

    def compare_findings(self) -> None:
        """Work out now which sources tell the same story: cards ask for it."""
        for group in self.groups:
            if isinstance(group, CallDiagnosis):
                group.alike  # noqa: B018

    def without_pass(self, call: CallDiagnosis) -> Diagnosis:
        """The diagnosis with the findings of this call, but not yet where its gradient went."""
        pending = replace(call, backward_pass=partial(_pending, call.call), is_pending=True)
        calls = tuple(pending if known is call else known for known in self.calls)
        return replace(self, calls=calls)

    def round(self, site: CallSite, number: int) -> CallDiagnosis:
        """The diagnosis of one round (from 1) of a call site."""
        return self.calls[site.places[number - 1]]

    def site_of(self, call: CallDiagnosis | None) -> CallSite | None:
        """The call site of a call; None if it has only one round."""
        site = self.rounds.site_of(call.call.id) if call is not None else None
        return site if site is not None and len(site) > 1 else None

    def call(self, call: CallId | None) -> CallDiagnosis | None:
        """The named call; without a name the first troubled one, else the last."""
        return self._first_shown if call is None else self._by_id.get(call)


EMPTY_DIAGNOSIS = Diagnosis()
