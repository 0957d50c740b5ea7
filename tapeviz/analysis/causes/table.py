"""The causes in the order in which they are looked for: a cause is its module and a row here.

Each row is a detector: it gets a question of :mod:`questions` and names a cause or passes. In each
list the first answer holds, so a row says why it stands before those below it.

The line of a cause is the one that a reader would look at to change it:

- An op, a write or a value that leaves TensorFlow cuts the gradient: the innermost line of the
  snippet that ran it. It may stand in a function, in a generator (not in the loop that draws from
  it), or in the function of a replica (not where the strategy runs it). An op of a backward pass
  stands on the line of what it differentiates (:meth:`CallFacts.line_of`).
- The op is sound and ran in the wrong place or once too often (outside of the tape, under an
  earlier tape, on a copy): the line to move, in the function that opened the tape or asked for the
  gradient (:mod:`..python.blocks`). If that line calls the one that ran the op, the sentence names
  both.
- The source is not watched, or is another object than the one used: the line that made it, or that
  gave its name to another one.
- Nothing links source and target: the line that decided so, else that of the gradient call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from ..findings import Cause, Evidence
from .connections import branches, left_tensorflow, not_connected
from .ops import custom_gradient, not_differentiable, stop_gradient
from .questions import EdgeUnderTest, MadeNonfinite, MadeZero, Unlinked, Unwatched
from .states import assign, new_variable, stateful
from .tapes import not_watched, outside_tape, replaced_source
from .values import cancelled, nonfinite, zeros

Question = TypeVar("Question")


class _Causes(NamedTuple):
    edge: tuple[Callable[[EdgeUnderTest], Cause | None], ...]
    unlinked: tuple[Callable[[Unlinked], Cause | None], ...]
    unwatched: tuple[Callable[[Unwatched], Cause | None], ...]
    zero: tuple[Callable[[MadeZero], Cause | None], ...]
    nonfinite: tuple[Callable[[MadeNonfinite], Cause | None], ...]


CAUSES = _Causes(
    edge=(
        stop_gradient.asked_to_stop,  # TensorFlow asks nothing there, whatever the op is
        # The kind of the edge names these, whatever the op's gradient function would give.
        custom_gradient.captured,
        stateful.went_into_metric,  # a metric's variables are written to by assigns as well
        assign.changed_state,
        new_variable.made_variable,
        left_tensorflow.left_tensorflow,
        stateful.looped_over_dataset,  # it is an op without derivative, too
        stateful.went_into_object,
        # Ops that always cut have words of their own, on a tape or off it.
        stop_gradient.stopped,
        not_differentiable.became_whole,
        # The tape did not record the op, so its gradient function was never asked: before that is.
        outside_tape.ran_outside,
        # Who wrote the gradient function can mend it; TensorFlow's own have nothing to mend.
        custom_gradient.gave_none,
        not_differentiable.gave_none,
    ),
    unlinked=(
        branches.in_skipped_branch,  # the graph of the other branch proves it
        # Names and ops of the recording prove it, before what only equal numbers betray.
        replaced_source.replaced,
        stateful.dropped_write,
        assign.copied_values,  # whole arrays that are equal tell more than single numbers
        left_tensorflow.number_came_back,
        left_tensorflow.kept_in_python,  # the tape that it was made on proves it
        not_connected.raised_before_use,  # what an exception skipped could not leave TensorFlow
        left_tensorflow.taken_elsewhere,  # of which nothing was recorded that could be equal
        left_tensorflow.only_steered,  # after a number that came back, which tells more
        not_connected.only_decides,  # the graphs prove it, where the text says nothing more
        not_connected.is_same_slope,  # before the two ends, which are one and the same there
        not_connected.read_late,  # the text shows it, and that a function ran which reads a name
        branches.in_branch_of_python,  # the text shows it, and that nothing there ran
        not_connected.only_form,  # zeros_like in a gradient function is a form as well
        not_connected.form_in_python,  # the text shows it, where nothing was recorded
        not_connected.shadowed_name,  # the text tells more than both ends of what ran
        not_connected.not_connected,  # holds always
    ),
    unwatched=(
        not_differentiable.is_integer,  # watching it would not help
        not_differentiable.gave_no_tangent,  # forward mode watches by itself
        not_watched.watched_late,  # a watch stands in the text: its place is the mistake
        replaced_source.lost_variable,  # a variable was meant, which needs no watch
        not_watched.not_watched,  # holds always
    ),
    zero=(
        zeros.given_zeros,
        cancelled.sound_summands,
        branches.in_other_branch,  # likelier than an op that may be flat inside of it
        zeros.inside_compiled,  # the call itself is linear in nothing, its body tells
        custom_gradient.gave_zeros,  # who wrote it can mend it
        zeros.at_op,  # holds for every op
    ),
    nonfinite=(nonfinite.nonfinite,),
)
KINDS: Mapping[str, type[Evidence]] = {kind.kind: kind for kind in Evidence.__subclasses__()}
"""Each kind of cause by its word."""


def first_cause(
    detectors: Iterable[Callable[[Question], Cause | None]], question: Question
) -> Cause | None:
    """The first answer."""
    answers = (detect(question) for detect in detectors)
    return next((cause for cause in answers if cause is not None), None)
