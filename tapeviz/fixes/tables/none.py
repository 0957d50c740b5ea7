"""Which edits are tried for which cause of a gradient that is None, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...analysis.causes.connections.left_tensorflow import LeftTensorFlow
from ...analysis.causes.connections.not_connected import NotConnected
from ...analysis.causes.ops.custom_gradient import CustomGradient
from ...analysis.causes.ops.not_differentiable import IntegerValue, NotDifferentiable
from ...analysis.causes.ops.stop_gradient import StopGradient
from ...analysis.causes.states.assign import Assigned
from ...analysis.causes.states.new_variable import NewVariable
from ...analysis.causes.states.stateful import StatefulObject
from ...analysis.causes.tapes.not_watched import NotWatched
from ...analysis.causes.tapes.outside_tape import OutsideTape
from ...analysis.causes.tapes.replaced_source import ReplacedSource
from ...analysis.findings import Evidence
from ...analysis.python.caught import SkippedByError
from ...trace.model import Failure
from ..integers.codebooks import codebook_loss, pass_on_to_compared
from ..integers.decoding import ctc_loss
from ..integers.draws import score_function, score_of_choice
from ..integers.floats import (
    make_float,
    pass_through_cast,
    soft_logic,
    take_cast_away,
    take_text_away,
    write_floats,
)
from ..integers.lookups import ask_for_rows
from ..integers.positions import LIKELIHOODS, soft_accuracy, soft_ranks, take_values
from ..integers.sorting import sort_softly
from ..integers.tokens import pass_one_hot
from ..model import Edit, FixCase, FixFunction
from ..smooth.activations import SMOOTH_STEP
from ..smooth.argmax import soften_argmax
from ..smooth.branches import weigh_all, weigh_both
from ..smooth.comparisons import soften_bounds, soften_comparison, take_probability
from ..smooth.counts import SOFT_COUNTS, soft_bins
from ..smooth.groups import SOFT_GROUPS
from ..smooth.indices import interpolate, interpolate_edges, move_window, weigh_picked
from ..smooth.outcomes import interpolate_outcome, interpolate_taken
from ..smooth.pooling import pool_softly
from ..smooth.ranges import count_up
from ..smooth.splatting import splat
from ..smooth.suppression import keep_softly
from ..smooth.turns import blend_last_turn, count_part_of_turn
from ..smooth.widths import (
    count_distinct,
    count_softly,
    take_lengths,
    weigh_by_width,
    weigh_by_window,
    weigh_selected,
)
from ..smooth.zeros import SMOOTH_EXTREME
from ..states.assigned_lists import use_new_list
from ..states.assigns import use_new_tensor
from ..states.given_away import ask_before, assign_in_place, keep_first, keep_variable, make_once
from ..states.rebinding import rebind_attribute, rebind_name
from ..states.returned import return_tensor
from ..states.variables import SHALLOW_COPY, keep_in_scope, keep_tensor, use_original
from ..states.weights import call_with_computed_weights, step_by_hand
from ..tapes.both_outputs import give_both
from ..tapes.closures import compute_when_called, keep_value_of_turn, use_shadowed
from ..tapes.entering import enter_again
from ..tapes.functions import (
    differentiate_itself,
    differentiate_rest,
    keep_written,
    loop_in_python,
    pass_upstream,
    return_computed,
)
from ..tapes.kept import compute_anew, compute_in_call
from ..tapes.listed import compute_listed_inside
from ..tapes.moving import compute_target_inside, move_in
from ..tapes.near_misses import (
    ask_for_trainable,
    ask_for_used,
    swap,
    take_zeros,
    use_computed_again,
    use_made_tensor,
    use_the_unused,
)
from ..tapes.parts import ask_for_all_parts, ask_for_whole
from ..tapes.pauses import forget_nothing, record_again
from ..tapes.recomputing import compute_again_inside, compute_default_inside
from ..tapes.returned import keep_beside_text, keep_what_left
from ..tapes.sources import (
    ask_for_bound,
    ask_for_called,
    ask_for_original,
    compute_once,
    use_copy_inside,
)
from ..tapes.threads import call_without_threads
from ..tapes.watching import (
    make_trainable,
    make_variable,
    watch_by_itself,
    watch_first,
    watch_lost,
    watch_values,
)
from ..values.datasets import (
    gather_by_position,
    keep_elements,
    map_in_python,
    reduce_in_python,
    unstack_values,
    walk_generator,
)
from ..values.differences import central_difference
from ..values.estimates import (
    LEAVE_OUT_ROUNDING,
    MIX_ONE_HOT,
    STRAIGHT_THROUGH,
    divide_exactly,
    straight_through_any,
    straight_through_largest,
    straight_through_names,
    straight_through_top,
)
from ..values.filling import blend_window, fill_tensor
from ..values.leaving import (
    CALL_MODEL,
    COMPUTE_LOSS,
    TAKE_VARIABLES,
    call_directly,
    stay_in_tensorflow,
)
from ..values.matrices import list_elements
from ..values.metrics import compute_beside_metric, follow_average
from ..values.objects import keep_in_list, match_keys
from ..values.settings import compute_by_hand
from ..values.stopping import (
    PASS_BACK,
    PASS_TO_LABELS,
    STOP_NOTHING,
    close_after_difference,
    give_identity,
    take_away,
    turn_around,
)
from .errors import edits_for_error


def mend_caught_error(case: FixCase) -> Iterator[Edit]:
    """The edits for an error that was caught on the way from the source, as if it had ended the
    snippet. The target is another one then: the part that it lacked is computed."""
    why = case.cause.evidence.why if isinstance(case.cause.evidence, NotConnected) else None
    if isinstance(why, SkippedByError):
        failure = Failure(why.type, why.message, why.line, "", (why.line,))
        for edit in edits_for_error(replace(case.trace, failure=failure), case.source):
            yield replace(edit, has_other_value=True)


FIXES_FOR_NONE: Mapping[type[Evidence], tuple[FixFunction, ...]] = {
    Assigned: (
        use_new_tensor,
        use_new_list,
        step_by_hand,
        keep_in_scope,
        compute_beside_metric,
        follow_average,
        rebind_name,
        return_tensor,
        rebind_attribute,
    ),
    NewVariable: (keep_tensor, use_original, call_with_computed_weights, SHALLOW_COPY),
    LeftTensorFlow: (
        keep_elements,
        walk_generator,
        map_in_python,
        CALL_MODEL,
        COMPUTE_LOSS,
        TAKE_VARIABLES,
        interpolate_edges,
        interpolate,
        move_window,
        weigh_by_width,
        weigh_by_window,
        count_softly,
        *SOFT_COUNTS,
        SMOOTH_STEP,
        weigh_both,
        blend_last_turn,
        sort_softly,
        soften_argmax,
        pass_one_hot,
        compute_by_hand,
        call_with_computed_weights,
        blend_window,
        list_elements,
        keep_beside_text,
        stay_in_tensorflow,
        interpolate_outcome,
        fill_tensor,
        call_directly,
        keep_what_left,
        straight_through_names,
        score_function,
        score_of_choice,
    ),
    NotWatched: (
        ask_for_trainable,
        watch_first,
        watch_values,
        make_variable,
        watch_by_itself,
        make_trainable,
    ),
    OutsideTape: (
        call_without_threads,
        ask_for_called,
        use_computed_again,
        compute_target_inside,
        record_again,
        forget_nothing,
        compute_in_call,
        compute_anew,
        compute_again_inside,
        compute_default_inside,
        move_in,
        enter_again,
        compute_when_called,
        compute_listed_inside,
    ),
    StopGradient: (
        close_after_difference,
        take_away,
        PASS_BACK,
        PASS_TO_LABELS,
        STOP_NOTHING,
        give_identity,
        codebook_loss,
    ),
    NotDifferentiable: (
        turn_around,
        central_difference,
        pass_on_to_compared,
        MIX_ONE_HOT,
        count_up,
        soft_ranks,
        sort_softly,
        weigh_picked,
        interpolate_edges,
        interpolate,
        splat,
        pool_softly,
        keep_softly,
        count_softly,
        count_distinct,
        weigh_by_width,
        weigh_selected,
        soft_bins,
        *SOFT_COUNTS,
        *SOFT_GROUPS,
        take_probability,
        SMOOTH_STEP,
        STRAIGHT_THROUGH,
        LEAVE_OUT_ROUNDING,
        straight_through_largest,
        divide_exactly,
        soft_accuracy,
        *LIKELIHOODS,
        ctc_loss,
        soften_comparison,
        soften_argmax,
        straight_through_top,
        pass_one_hot,
        score_function,
        take_values,
        take_cast_away,
        interpolate_outcome,
        call_directly,
        straight_through_names,
        straight_through_any,
        score_of_choice,
    ),
    IntegerValue: (
        ask_for_rows,
        interpolate,
        move_window,
        splat,
        weigh_by_width,
        weigh_by_window,
        take_lengths,
        count_distinct,
        *SOFT_COUNTS,
        *SOFT_GROUPS,
        soften_bounds,
        take_text_away,
        take_probability,
        soft_logic,
        soften_comparison,
        pass_through_cast,
        straight_through_names,
        interpolate_taken,
        take_cast_away,
        write_floats,
        interpolate_outcome,
        make_float,
        soften_argmax,
        pass_one_hot,
        take_values,
    ),
    ReplacedSource: (
        CALL_MODEL,
        ask_for_whole,
        ask_for_all_parts,
        compute_once,
        give_both,
        use_copy_inside,
        assign_in_place,
        keep_first,
        ask_before,
        keep_variable,
        make_once,
        watch_lost,
        ask_for_bound,
        ask_for_called,
        ask_for_original,
        compute_anew,
        compute_in_call,
    ),
    NotConnected: (
        mend_caught_error,
        swap,
        keep_value_of_turn,
        use_shadowed,
        compute_target_inside,
        weigh_both,
        weigh_all,
        SMOOTH_EXTREME,
        blend_last_turn,
        count_part_of_turn,
        interpolate_outcome,
        use_made_tensor,
        use_the_unused,
        count_softly,
        give_both,
        ask_for_called,
        ask_for_used,
        ask_for_trainable,
        take_zeros,
    ),
    CustomGradient: (return_computed, differentiate_itself, differentiate_rest, pass_upstream),
    StatefulObject: (
        reduce_in_python,
        loop_in_python,
        keep_written,
        compute_beside_metric,
        keep_in_scope,
        map_in_python,
        unstack_values,
        gather_by_position,
        match_keys,
        keep_in_list,
    ),
}
