"""Find the op that turned a gradient into zeros, or into NaN or infinity.

From the source the steps that fed it are followed upstream, as long as what they received was
spoiled already; the op that received a sound gradient and gave a spoiled one is the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from ...trace.calls import Operand, Step
from ...trace.ids import TensorId, VariableId
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ...trace.stats import Stats
from ..call_facts import CallFacts
from ..status import is_zero

NORMALISING = ops_with("normalises")
# Where the gradient of one input is zero, by the op's own slope, by its mask or its predicate.
_CHOOSING = ops_with("clips", "mask", "switch")
_FLAT = ops_with("flat")
_SELECTING = ops_with("selects")
# They move elements about: a part that is zero was so before.
_MOVES = ops_with("moves")
_CONTROL_FLOW = ops_with("branch", "loop")
_NO_REAL_NUMBERS = ("int", "uint", "bool", "variant", "resource")
_IsSpoiled = Callable[[Stats | None], bool]
_Spoiler = tuple[Step | None, Op]


def is_nonfinite(stats: Stats | None) -> bool:
    return stats is not None and stats.nonfinite > 0


def has_inside(op: Op) -> bool:
    """Whether an op runs other ops: the call of a compiled function, a loop, a conditional."""
    return op.is_compiled_call or op.type in _CONTROL_FLOW


def last_in_body(facts: CallFacts, op: Op, types: Collection[str]) -> Op | None:
    """The last op of these types in the body, for the backward pass comes to it first.

    Ops of gradient calls do not count.
    """
    body = (facts.trace.ops[number] for number in op.body)
    suspects = [op for op in body if op.type in types and op.call is None and op.line]
    return suspects[-1] if suspects else None


def spoiling_op(facts: CallFacts, source: Operand) -> Op | None:
    """The op that made zeros out of something on the path to this source."""
    found = spoiling(facts, source, is_zero)
    return found[1] if found else None


def was_given(
    facts: CallFacts, is_spoiled: _IsSpoiled, how_many: Callable[[Iterable[bool]], bool]
) -> bool:
    """Whether the pass began with such numbers (``all`` or ``any``) as ``output_gradients``."""
    given = [each.tensor for each in facts.call.output_gradients if each.tensor is not None]
    return bool(given) and how_many(is_spoiled(facts.trace.stats(tensor)) for tensor in given)


def is_even(facts: CallFacts, step: Step) -> bool:
    """Whether the upstream gradient is the same along the last axis, where a softmax sums to 1."""
    upstream = step.upstream[0] if step.upstream else None
    value = facts.trace.value(upstream)
    return value is not None and value.ndim > 0 and bool((value == value[..., :1]).all())


def spoiling(facts: CallFacts, source: Operand, is_spoiled: _IsSpoiled) -> _Spoiler | None:
    """The step that spoiled it (None: sound shares that add up to a spoiled sum) and its op."""
    key = (source.tensor, is_spoiled.__name__)
    if key not in facts.spoilers:
        fed = [tensor for tensor in read_tensors(facts, source) if facts.feeding.of(tensor)]
        if len(fed) == 2:  # the handle of a variable is fed by the read, and by nothing else
            fed.reverse()
        facts.spoilers[key] = _look_upstream(facts, fed, is_spoiled)
    return facts.spoilers[key]


def _look_upstream(
    facts: CallFacts, waiting: list[TensorId], is_spoiled: _IsSpoiled
) -> _Spoiler | None:
    """A tensor that all paths upstream go through answers for all that lead to it: in a deep
    network those of most sources soon join into one path."""
    seen: set[TensorId] = set()
    passed: list[tuple[TensorId | None, str]] = []
    candidates: list[tuple[Step, Op]] = []
    sound: list[Op] = []
    emptied: list[tuple[Step, Op]] = []
    while waiting:
        tensor = waiting.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        if not (candidates or sound or emptied) and all(other in seen for other in waiting):
            passed.append((tensor, is_spoiled.__name__))
            if passed[-1] in facts.spoilers:
                found = facts.spoilers[passed[-1]]
                break
        feeders = facts.feeding.of(tensor)
        for step, op, gradient in feeders:
            stats = facts.trace.stats(gradient)
            is_lacking = stats is None and is_spoiled is is_zero and len(feeders) == 1
            is_spoiled_there = is_lacking or is_spoiled(stats)
            if is_spoiled_there and takes_nothing(facts, op):
                emptied.append((step, op))
            is_list = facts.dtype(gradient) == "variant"
            if (is_list or is_spoiled_there) and _is_received(facts, step, op, is_spoiled):
                waiting.extend(op.outputs)
            elif is_spoiled_there:
                candidates.append((step, op))
            else:
                sound.append(op)
    else:
        found = (None, sound[0]) if sound else None
        if candidates:  # what only picked a part out made no zeros, where another op did
            made = [pair for pair in candidates if pair[1].type not in _MOVES] or candidates
            made = [pair for pair in made if not _chose_other(facts, *pair)] or made
            found = _before_moves(facts, *min(made, key=lambda pair: pair[0].index))
        found = emptied[0] if emptied else found
    facts.spoilers.update(dict.fromkeys(passed, found))
    return found


def _chose_other(facts: CallFacts, step: Step, op: Op) -> bool:
    """Whether the op chose between two values and handed the gradient on to the other one: where
    that one is made from the source as well, something after it made zeros there."""
    given = [facts.trace.stats(gradient) for gradient in step.downstream if gradient is not None]
    return op.type in _SELECTING and any(stats and not is_zero(stats) for stats in given)


def _is_received(facts: CallFacts, step: Step, op: Op, is_spoiled: _IsSpoiled) -> bool:
    """Whether the step was given such a gradient: NaN in any, or zeros in all that are numbers.

    One of which nothing is known counts as zero where the op cannot have made the zeros itself.
    """
    given = [facts.trace.stats(gradient) for gradient in _numbers_given(facts, step, op)]
    if is_spoiled is not is_zero:
        return any(map(is_spoiled, given))
    if all(stats is not None for stats in given):
        return bool(given) and all(map(is_zero, given))
    can_be_flat = op.type in _CHOOSING | _FLAT or has_inside(op)
    can_be_flat |= any(is_zero(facts.trace.stats(tensor)) for tensor in op.inputs)
    return bool(given) and all(
        is_zero(stats) or (stats is None and not can_be_flat) for stats in given
    )


def _numbers_given(facts: CallFacts, step: Step, op: Op) -> Iterator[TensorId]:
    """The gradients that the step was given. What is in a list (``TensorList``) is not seen: in its
    place those that were given to the steps which the list comes from."""
    waiting, seen = [(step, op)], set[TensorId]()
    while waiting:
        step, op = waiting.pop()
        for gradient in step.upstream:
            if gradient is not None and not facts.dtype(gradient).startswith(_NO_REAL_NUMBERS):
                yield gradient
        for tensor in op.outputs:
            if facts.dtype(tensor) == "variant" and tensor not in seen:
                seen.add(tensor)
                waiting.extend((before, user) for before, user, _ in facts.feeding.of(tensor))


def takes_nothing(facts: CallFacts, op: Op) -> bool:
    """Whether the op takes nothing of what it was given, as a mask that is False everywhere."""
    known = facts.trace.tensors
    given, taken = (known.get(side[0]) if side else None for side in (op.outputs, op.inputs))
    return given is not None and taken is not None and given.size == 0 and bool(taken.size)


def _before_moves(facts: CallFacts, step: Step, op: Op) -> _Spoiler:
    """The step that made a part of its gradient zero, where this one only picked that part out.

    ``tf.reduce_max(tf.stack([a, b]))``: the gradient of the stack is zero for ``a`` alone.
    """
    found = step, op
    while op.type in _MOVES:
        feeders = [feeder for tensor in op.outputs for feeder in facts.feeding.of(tensor)]
        if len(feeders) != 1:
            return found
        step, op, _ = feeders[0]
    return (step, op) if op.type in _CHOOSING or has_inside(op) else found


def read_tensors(facts: CallFacts, source: Operand) -> list[TensorId]:
    """The source itself; of a variable every tensor read from it that got a gradient."""
    if source.tensor is None:
        return []
    return [source.tensor, *facts.reads.get(VariableId(source.tensor), ())]
