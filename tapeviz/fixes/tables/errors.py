"""Which edits are tried for an error that ended the snippet, the likeliest first."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

from ...analysis.errors.case import innermost_line
from ...trace.model import Trace
from ..model import Edit, ErrorFixFunction
from ..source import ParsedSource
from ..tapes import keras_calls, raising, slips
from ..tapes.absent_modules import leave_out_module
from ..tapes.both_outputs import give_symbolic
from ..values.filling import bind_new_tensor
from ..values.misfits import (
    cast_to_agree,
    cast_to_allowed,
    give_tensors,
    multiply_vectors,
    transpose_to_fit,
    use_functions_for_methods,
    use_present_names,
)

_log = logging.getLogger(__name__)

ERROR_FIXES: tuple[ErrorFixFunction, ...] = (
    leave_out_module,
    raising.make_persistent,
    raising.give_pairs,
    raising.watch_value,
    raising.take_sparse_values,
    raising.hand_values,
    raising.make_tensor,
    raising.keep_tensor,
    raising.ask_for_given,
    give_symbolic,
    raising.use_jacobian,
    raising.make_dense,
    raising.compute_by_hand,
    raising.leave_out_parentheses,
    keras_calls.name_weight,
    keras_calls.compute_on_tape,
    keras_calls.call_model,
    bind_new_tensor,
    slips.spell_keyword,
    slips.add_self,
    slips.return_last,
    slips.spell_attribute,
    slips.say_in_tensorflow,
    slips.print_in_graph,
    slips.ask_for_variables,
    slips.call_super,
    slips.spell_key,
    slips.make_loss,
    give_tensors,
    use_functions_for_methods,
    use_present_names,
    cast_to_agree,
    cast_to_allowed,
    multiply_vectors,
    transpose_to_fit,
)
"""For an error of the text, and for one that an edit brings where a gradient was missing."""


def edits_for_error(trace: Trace, source: ParsedSource) -> Iterator[Edit]:
    """The edits that may mend the error that ended the snippet."""
    trace = _raised_inside(trace)
    for fix in ERROR_FIXES:
        try:
            yield from fix(trace, source)
        except Exception:
            _log.exception("the fix %r failed", fix)


def _raised_inside(trace: Trace) -> Trace:
    """The trace with the line on which TensorFlow raised as that of its error: of a function that
    it traces, or runs compiled, the traceback ends at the call."""
    failure = trace.failure
    if failure is None:
        return trace
    line = innermost_line(trace, failure)
    lines = (*failure.lines, line) if line not in failure.lines else failure.lines
    return replace(trace, failure=replace(failure, line=line, lines=lines))
