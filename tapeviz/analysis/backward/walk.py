"""Write the backward pass of a call as rows: gradient functions, sums, and where it stops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from msgspec import structs

from ...text.op_words import function_words
from ...trace.calls import Call, Step
from ...trace.compiled.handed import innermost_loops
from ...trace.ids import OpId, TensorId, VariableId, VersionId
from ...trace.model import Trace
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ..call_facts import CallFacts, name_of
from ..causes.questions import EdgeUnderTest
from ..findings import Finding
from ..flow.ancestry import Position
from ..judging.forward_paths import barrier
from .formulas import formula
from .inner_steps import trouble_of
from .steps import WalkStep

_Kind = Literal["op", "replayed", "inner"]
_PASS_ON = ops_with("branch") | ops_with("loop") | {"Identity"}
"""Ops that hand on what a branch or a turn gave, if they stand inside of an op."""
_PRIMES = ("", "′", "″", "‴")


def walk(facts: CallFacts, findings: Sequence[Finding]) -> tuple[WalkStep, ...]:
    """The rows of the Backprop panel; those at which the pass stops come last.

    Where TensorFlow ran no gradient function at all, the pass up to the cut as it was computed
    after the run.
    """
    call = facts.call
    steps: Sequence[Step] = [step for step in call.steps if step.op is not None]
    kind = "op"
    if not steps and call.replay is not None:
        reached = ops_before_cut(facts)
        steps = [step for step in call.replay.steps if step.op in reached]
        kind = "replayed"
    rows = _Rows(facts.trace, call, kind == "replayed")
    for step in steps:
        rows.add(step)
    for finding in findings:
        rows.stop(finding)
    return rows.finished()


def ops_before_cut(facts: CallFacts) -> frozenset[OpId]:
    """The ops that the gradient reaches from the targets before anything stops it."""
    flow = facts.flow
    waiting: list[Position] = list(facts.paths.targets)
    seen: set[Position] = set()
    ops: set[OpId] = set()
    while waiting:
        position = waiting.pop()
        if position in seen:
            continue
        seen.add(position)
        for edge in flow.into(position):
            if edge.op is not None and edge.kind == "op":
                ops.add(edge.op)
            if barrier(EdgeUnderTest(edge, facts)) is None:
                waiting.append(edge.start)
    return frozenset(ops)


class _Rows:
    """Collects rows and puts a sum after the last share of each fan-out."""

    def __init__(self, trace: Trace, call: Call, is_replayed: bool) -> None:
        self.trace = trace
        self.call = call
        self.is_replayed = is_replayed
        self.taken: list[tuple[Step, Op, _Kind]] = []
        self.passed: dict[int, list[tuple[Step, Op]]] = {}
        """Ops that hand on, by the place of the step that comes after them."""
        self.shares: dict[Position, TensorId] = {}
        """The first share of each gradient; nearly all have no other."""
        self.fans: dict[Position, list[TensorId]] = {}
        """All shares of the others."""
        self.complete: dict[Position, int] = {}
        """For each position the place of the step that gave its last gradient."""
        self.totals: dict[Position, TensorId] = {}
        self.drawn: dict[Position, TensorId] = {}
        """For positions in turns of compiled loops, the tensor that is drawn for them."""
        self.shown: set[Position] = set()
        """The positions among them that are in the turns drawn."""
        self.last: dict[OpId, tuple[int, ...]] = {}
        """The turns drawn of a loop and those around it."""
        self.stops: dict[OpId, WalkStep] = {}
        self.differentiated: set[OpId] = set()
        self.versions_fed: Counter[VariableId] | None = None
        self.words: dict[tuple[str, int, int], tuple[str, str]] = {}
        """Title and formula of the ops of a type, a description and a number of inputs."""
        for operand, result in zip(call.sources, call.results, strict=False):
            if operand.tensor is not None and result is not None:
                self.totals[operand.tensor] = result

    def add(self, step: Step) -> None:
        """Add a gradient function; in place of one whose inside was walked those in there."""
        inner = self.call.inner.get(step.index) if not self.is_replayed else None
        if inner is None or trouble_of(self.trace, step, inner):
            self._add(step, "replayed" if self.is_replayed else "op")
            return
        for inside in inner.steps:
            op = self.trace.op(inside.op)
            if op is not None and op.type in _PASS_ON:
                self.passed.setdefault(len(self.taken), []).append((inside, op))
            elif op is not None and op.inputs:
                self._add(inside, "inner")

    def _add(self, step: Step, kind: _Kind) -> None:
        op = self.trace.op(step.op)
        if op is None:
            return
        for tensor, gradient in zip(self._then(step.made(op), step), step.upstream, strict=False):
            if gradient is not None:
                self.totals.setdefault(tensor, gradient)
        if op.type == "ReadVariableOp":
            return
        inputs = step.taken(op)
        taken = self._then(inputs, step)
        for drawn, tensor, gradient in zip(inputs, taken, step.downstream, strict=False):
            if gradient is not None:
                version = self.trace.reads.get(drawn)
                position = version.id if version else tensor
                if position not in self.shares:
                    self.shares[position] = gradient
                    continue
                self.fans.setdefault(position, [self.shares[position]]).append(gradient)
                self.complete[position] = len(self.taken)
                if tensor != drawn:
                    self.drawn[position] = drawn
                    (self.shown.add if self._is_drawn(step) else self.shown.discard)(position)
        self.differentiated.add(op.id)
        self.taken.append((step, op, kind))

    def _then(self, tensors: tuple[TensorId, ...], step: Step) -> tuple[TensorId, ...]:
        """The tensors in the turns of a step, of which those of the last turns are drawn."""
        loop = (
            innermost_loops(self.trace).get(step.op) if step.turns and step.op is not None else None
        )
        known = loop.turns.get(step.turns) if loop is not None else None
        return tuple([known.get(tensor, tensor) for tensor in tensors]) if known else tensors

    def _is_drawn(self, step: Step) -> bool:
        """Whether a step is in the turns drawn of the loops around it: the last ones."""
        loop = (
            innermost_loops(self.trace).get(step.op) if step.turns and step.op is not None else None
        )
        if loop is None:
            return True
        if loop.op not in self.last:
            self.last[loop.op] = max(loop.turns, default=())
        return step.turns == self.last[loop.op]

    def _row(self, index: int, step: Step, op: Op, kind: _Kind) -> WalkStep:
        key = op.type, id(op.description), len(op.inputs)
        words = self.words.get(key)
        if words is None:
            words = self.words[key] = title_of(self.trace, op), formula(op)
        inputs, outputs = step.taken(op), step.made(op)
        taken, made = inputs, outputs
        if not self._is_drawn(step):
            taken, made = self._then(inputs, step), self._then(outputs, step)
        return WalkStep(
            index=index,
            kind=kind,
            op=op.id,
            title=words[0],
            line=op.line,
            formula=words[1],
            upstream=step.upstream,
            downstream=step.downstream,
            inputs=inputs,
            turns=step.turns,
            taken=taken if taken != inputs else (),
            made=made if made != op.outputs else (),
        )

    def stop(self, finding: Finding) -> None:
        """Add the row of a cut. NaN goes on, and zeros that an op gave are in the op's own row."""
        cause = finding.cause
        op = self.trace.ops.get(cause.op_id) if cause and cause.op_id is not None else None
        if cause is None or op is None or op.id in self.stops or finding.status == "nonfinite":
            return
        if finding.status == "zero" and op.id in self.differentiated:
            return
        version = self.trace.writes.get(op.id)
        position: Position | None = version.id if version else None
        if version is None and op.outputs:
            position = op.outputs[0]
        arrived = self._total(position) if position is not None else None
        self.stops[op.id] = WalkStep(
            index=0,
            kind="stop",
            op=op.id,
            title="assign" if version else title_of(self.trace, op),
            line=cause.line,
            formula="stops here",
            upstream=(arrived,),
            downstream=(),
        )

    def finished(self) -> tuple[WalkStep, ...]:
        sums: dict[int, list[Position]] = {}
        for position in self.shares if self.fans else ():
            if position in self.fans:
                sums.setdefault(self.complete[position], []).append(position)
        rows: list[WalkStep] = []
        passed: list[WalkStep] = []
        for place, (step, op, kind) in enumerate(self.taken):
            passed += [self._row(len(rows), *each, "inner") for each in self.passed.get(place, ())]
            if op.id in self.stops and all(given is None for given in step.downstream):
                continue  # its gradient function gave nothing: the row of the cut tells it
            row = self._row(len(rows), step, op, kind)
            if passed:
                row = structs.replace(row, passed=tuple(passed))
                passed.clear()
            rows.append(row)
            for position in sums.get(place, ()):
                rows.append(self._sum(len(rows), position))
        after = self.passed.get(len(self.taken), ())
        if rows and (passed or after):
            passed += [self._row(rows[-1].index, *each, "inner") for each in after]
            rows[-1] = structs.replace(rows[-1], passed=(*rows[-1].passed, *passed))
        stops = enumerate(self.stops.values(), len(rows))
        return (*rows, *(structs.replace(row, index=index) for index, row in stops))

    def _sum(self, index: int, position: Position) -> WalkStep:
        shares = tuple(self.fans[position])
        line, name = self._line_and_name(position)
        is_elsewhere = position in self.drawn and position not in self.shown
        terms = " + ".join(f"ḡ{_subscript(n + 1)}" for n in range(min(len(shares), 4)))
        return WalkStep(
            index=index,
            kind="sum",
            op=None,
            title=f"Σ at {name}",
            line=line,
            formula=terms + (" + …" if len(shares) > 4 else ""),
            upstream=shares,
            downstream=(self._total(position),),
            at=self._tensor_at(position),
            taken=(position,) if is_elsewhere and isinstance(position, int) else (),
        )

    def _total(self, position: Position) -> TensorId | None:
        """The whole gradient at a position, if TensorFlow ever added it up."""
        if position in self.shares and position not in self.fans:
            return self.shares[position]
        if not isinstance(position, VersionId):
            return self.totals.get(position)
        replay = self.call.replay
        if replay is not None and str(position) in replay.results:
            return replay.results[str(position)]
        is_only_version = self._versions_fed()[position.variable] == 1
        return self.totals.get(TensorId(position.variable)) if is_only_version else None

    def _versions_fed(self) -> Counter[VariableId]:
        """Count, for each variable, its versions that this pass gave a gradient to."""
        if self.versions_fed is None:
            positions = (position for position in self.shares if isinstance(position, VersionId))
            self.versions_fed = Counter(position.variable for position in positions)
        return self.versions_fed

    def _tensor_at(self, position: Position) -> TensorId | None:
        """The tensor at a position: of a variable's version one that was read from it."""
        if not isinstance(position, VersionId):
            return self.drawn.get(position, position)
        reads = self.trace.version(position).reads
        return reads[-1] if reads else None

    def _line_and_name(self, position: Position) -> tuple[int, str]:
        if isinstance(position, VersionId):
            known = self.trace.variables[position.variable]
            version = known.versions[position.number]
            op = self.trace.op(version.op)
            prime = _PRIMES[version.index] if version.index < 4 else f"⁽{version.index}⁾"
            line = op.line if op is not None and op.line else known.site.line
            return line, name_of(self.trace, known.id) + prime
        position = self.drawn.get(position, position)
        op, names = self.trace.maker(position), self.trace.names.get(position, ())
        if op is None:
            return 0, names[0] if names else "a constant"
        return op.line, names[0] if names else title_of(self.trace, op)


def title_of(trace: Trace, op: Op) -> str:
    """The title of an op's row: its type without version marks, or the function's name."""
    if op.is_recorded_operation and op.function:
        return function_words(op.function)
    kind = op.type
    return kind[:-2] if kind.endswith(("V2", "V3")) else kind


def _subscript(number: int) -> str:
    return "".join(chr(0x2080 + int(digit)) for digit in str(number))
