"""The nouns of a diagnosis: for each gradient asked for its status, cause, and what it would be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from ..trace.calls import Call, tensors_of
from ..trace.ids import CallId
from .backward.steps import BackwardPass, Flow, WalkStep
from .findings import Finding, Fix, Status
from .rounds.call_sites import NO_ROUNDS, CallSite, Rounds
from .stories import places_alike


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

    @cached_property
    def outcomes(self) -> Mapping[tuple[Status, str], int]:
        """How many findings have a status, and of it the same :attr:`Finding.nonfinite`."""
        return Counter((finding.status, finding.nonfinite) for finding in self.findings)

    @cached_property
    def harmless(self) -> int:
        """How many findings do not flow, as it should be."""
        return sum(finding.is_harmless for finding in self.findings)

    @cached_property
    def bridged(self) -> Finding | None:
        """The first finding that has a gradient across the cut."""
        return next((f for f in self.findings if f.across is not None), None)

    @cached_property
    def first_troubled(self) -> int | None:
        """The place of the first finding that does not flow."""
        found = (place for place, f in enumerate(self.findings) if f.status != "flows")
        return next(found, None)

    @property
    def is_troubled(self) -> bool:
        return self.first_troubled is not None


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
    """All findings of a run. ``errors``: what ended the snippet, or blocks of a page; ``rounds``:
    the calls by call site; ``first``: the call to show first, if it is known."""

    calls: tuple[CallDiagnosis, ...] = ()
    errors: tuple[ExplainedError, ...] = ()
    warnings: tuple[Warned, ...] = ()
    rounds: Rounds = NO_ROUNDS
    first: CallId | None = None

    @property
    def error(self) -> ExplainedError | None:
        """The first error."""
        return self.errors[0] if self.errors else None

    @cached_property
    def _by_id(self) -> Mapping[CallId, CallDiagnosis]:
        return {call.call.id: call for call in self.calls}

    @cached_property
    def _first_shown(self) -> CallDiagnosis | None:
        if self.first is not None:
            return self._by_id[self.first]
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
        """Work out now what panels ask about all findings of a call: a call may have thousands."""
        for group in self.groups:
            if isinstance(group, CallDiagnosis):
                _ = group.alike, group.outcomes, group.harmless, group.bridged

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
        """The named call; without a name the one to show first: in trouble, else the last."""
        return self._first_shown if call is None else self._by_id.get(call)


EMPTY_DIAGNOSIS = Diagnosis()


def _pending(call: Call) -> BackwardPass:
    targets, sources = tensors_of(call.differentiated), tensors_of(call.by)
    return BackwardPass((), Flow(targets=frozenset(targets), sources=frozenset(sources)))
