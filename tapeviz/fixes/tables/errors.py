"""Which edits are tried for an error that ended the snippet, the likeliest first."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace

from ...analysis.errors.case import innermost_line
from ...analysis.errors.python.modules import NO_MODULE
from ...analysis.errors.tensors.shapes_and_dtypes import NOT_A_MATRIX
from ...trace.model import Trace
from ..model import Edit, ErrorCase, ErrorFixFunction
from ..source import ParsedSource
from ..states.variables import hold_in_tensor
from ..tapes import keras_calls, raising, slips
from ..tapes.absent_modules import leave_out_module
from ..tapes.both_outputs import give_symbolic
from ..tapes.kept import compute_when_read
from ..values import given, graph_blocks
from ..values.filling import bind_new_tensor
from ..values.misfits import (
    assign_in_place,
    begin_with_float,
    cast_to_agree,
    cast_to_allowed,
    fit_by_axes,
    gather_from_rows,
    give_tensor,
    give_tensors,
    multiply_vectors,
    reorder_letters,
    stack_lists,
    stack_target,
    transpose_to_fit,
    use_functions_for_methods,
    use_present_names,
)

_log = logging.getLogger(__name__)

ERROR_FIXES: tuple[tuple[str, ErrorFixFunction], ...] = (
    (rf"^(?:{NO_MODULE})", leave_out_module),
    (r"(?i)non-persistent", raising.make_persistent),
    (r"", raising.give_pairs),
    (r"values to unpack", slips.bracket_pair),
    (r"partially known TensorShape", slips.ask_at_run_time),
    (r"truth value of an array|from_tensor_slices\(\)", slips.slice_together),
    (r"", raising.watch_value),
    (r"Type SparseTensor is not supported as a gradient", raising.take_sparse_values),
    (
        r"has no attribute 'ndim'|must accept keyword argument 'variables'"
        r"|must be a Tensor, got <class '[\w.]*Variable'>",
        raising.hand_values,
    ),
    (r"only supports singleton tf\.Variables|tried to create variables", hold_in_tensor),
    (r"", raising.make_tensor),
    (r"numpy|ndarray|'float'|_id|float object", raising.keep_tensor),
    (r"KerasTensor", raising.ask_for_given),
    (r"KerasTensor", give_symbolic),
    (r"", raising.use_jacobian),
    (r"IndexedSlices", raising.make_dense),
    (r"no entry for: (\w+)", raising.compute_by_hand),
    (r"object is not callable", raising.leave_out_parentheses),
    (r"", keras_calls.name_weight),
    (r"'(?:minimize|compute_gradients)'", keras_calls.compute_on_tape),
    (r"IteratorGetNext", keras_calls.call_model),
    (
        r"'[\w.]*(?:Tensor|Variable)' object does not support item assignment"
        r"|only integer scalar arrays can be converted to a scalar index",
        bind_new_tensor,
    ),
    (
        r"(?:[Gg]ot an unexpected keyword argument|not recognized: \{|passed to \w+: \{)\s?'(\w+)'",
        slips.spell_keyword,
    ),
    (r"\b(\w+)\.(\w+)\(\) takes \w+ positional arguments? but \d+", slips.add_self),
    (r"None", slips.return_last),
    (r"'([\w.]+)'(?: object)? has no attribute '(\w+)'", slips.spell_attribute),
    (r"numpy\(\) is only|symbolic tf\.Tensor", slips.say_in_tensorflow),
    (
        r"Tensor'? object has no attribute 'numpy'|numpy\(\) is only available"
        r"|(?:float|int)\(\) argument must be .*, not '\w*Tensor'",
        slips.print_in_graph,
    ),
    (r"has no attribute '_id'", slips.ask_for_variables),
    (
        r"In layer '(\w+)', you forgot to call `super\(\)\.__init__\(\)`"
        r"|'(\w+)' object has no attribute",
        slips.call_super,
    ),
    (r"^KeyError: ", slips.spell_key),
    (r"'str' object is not callable\s*$", slips.make_loss),
    (r"Expected an instance of (?:list|tuple), got <tf\.", give_tensor),
    (r"cannot mix tensors and non-tensors", give_tensors),
    (r"Tensor'? object has no attribute '(\w+)'", use_functions_for_methods),
    (
        r"module '(?P<module>(?:tensorflow|keras)[\w.]*)' has no attribute '(?P<name>\w+)'",
        use_present_names,
    ),
    (r"int\d+.*float|float.*int\d+", begin_with_float),
    (r"has no setter|can't set attribute", assign_in_place),
    (r"can't multiply sequence|unsupported operand .*'list'", stack_lists),
    (r"", cast_to_agree),
    (
        r"Value (?:for attr '\w+' of|passed to parameter '\w+' has DataType) (\w+) (?:is )?not in "
        r"(?:the )?list of allowed values: (\w+(?:, \w+)*)",
        cast_to_allowed,
    ),
    (NOT_A_MATRIX, multiply_vectors),
    (r"In\[0\]: \[([\d,]+)\], In\[1\]: \[([\d,]+)\]", transpose_to_fit),
    (r"\[Op:Einsum\]|= Einsum\[", reorder_letters),
    (r"index innermost dimension length must be <= params rank", gather_from_rows),
    (r"Incompatible shapes: (\[[\d,]+\]) vs\. (\[[\d,]+\])", fit_by_axes),
    (r"Incompatible shapes|Dimensions must be equal", given.reduce_other_axis),
    (
        r"Incompatible shapes|Dimensions must be equal",
        given.written(
            r"\.batch\(([^()]+)\)",
            r".batch(\1, drop_remainder=True)",
            "Leave out a last batch that is smaller",
            everywhere=True,
        ),
    ),
    (r"", slips.reorder_arguments),
    (
        r"'float' object cannot be interpreted as an integer|to EagerTensor of dtype int",
        given.divide_whole,
    ),
    (r"takes \w+ positional arguments? but \d+", given.make_object),
    (r"[Ee]xpected .*\['.*\].*\['.*\]", slips.write_expected),
    (
        r"Incompatible shapes|Dimensions must be equal|same shape|must have rank|labels.*logits",
        given.written(
            r"return_sequences=True",
            "return_sequences=False",
            "Let the layer give its last step alone",
            everywhere=True,
        ),
    ),
    (
        r"target\.shape=\(\w+,\), output\.shape=\(\w+, \d+\)",
        given.written(
            r"(?<=[\"'.])(categorical_crossentropy)|\b(CategoricalCrossentropy)\b",
            lambda found: f"sparse_{found[1]}" if found[1] else f"Sparse{found[2]}",
            "Use the loss for labels that are class numbers",
            everywhere=True,
        ),
    ),
    (
        r"optimizers\.legacy.? is not supported",
        given.written(
            r"\boptimizers\.legacy\.",
            "optimizers.",
            "Use the optimizer of the same name of Keras 3",
            everywhere=True,
        ),
    ),
    (
        r"Cannot (?:batch tensors with different shapes|add tensor to the batch)",
        given.written(
            r"\.batch\(",
            ".padded_batch(",
            "Fill up the short elements of a batch with zeros",
            everywhere=True,
        ),
    ),
    (r"InaccessibleTensorError|is out of scope", graph_blocks.unroll_loop),
    (r"InaccessibleTensorError|is out of scope", compute_when_read),
    (
        r"<lambda>\(\) takes 1 positional argument but \d+ were given",
        given.written(r"lambda (\w+):", r"lambda *\1:", "Take all parts of an element as a tuple"),
    ),
    (r"'(?:list|tuple)' object has no attribute 'shape'", stack_target),
    (
        r"'(?:list|tuple)' object has no attribute 'shape'",
        given.written(r"([\w.]+)\.shape\[0\]", r"len(\1)", "Take the length of the list"),
    ),
    (
        r"must be (?:an? )?(?:list|tuple|sequence|vector)|should be a (?:list|sequence)",
        given.put_into_list,
    ),
    (
        r"expected (?:min_)?ndim=\d+, found ndim=|must have either 3 or 4 dim|Invalid input shape"
        r"|logits should be a matrix|Can not cast TensorSpec\(shape",
        given.add_axis,
    ),
    (
        r"'(?P<name>\w+)' has shape (?P<before>\(.*?\)) before the loop, but shape "
        r"(?P<after>\(.*?\)) after",
        graph_blocks.let_shape_vary,
    ),
    (
        r"'(?P<name>\w+)' must (?:be defined before the loop|also be initialized in the)",
        graph_blocks.begin_before,
    ),
    (
        r"'(?P<name>\w+)' has dtype (?:float.* but dtype int|int.* but dtype float)",
        graph_blocks.divide_whole_in_branch,
    ),
    (r"Unknown variable: <", keras_calls.make_own_optimizer),
    (r"A KerasTensor cannot be used as input to a TensorFlow function", keras_calls.wrap_in_layer),
    (r"never been called and thus has no defined output", keras_calls.take_first_output),
    (r"expected to return (\d+) gradients?, but returned (\d+)", raising.return_as_many),
    (r"evenly divi", given.split_last_axis),
    (r"Passed in object <Variable path=", raising.watch_nothing),
    (r"slice index \d+ of dimension (\d+) out of bounds", given.stop_at_last),
    (r"Ranks of all input tensors should match", given.keep_axes),
    (
        r"missing (?:a required argument|\d+ required positional arguments?): '(\w+)'",
        given.give_default,
    ),
    (r"UnboundLocalError: (?:cannot access )?local variable '(\w+)'", given.declare_outer),
    (r"Could not interpret [\w ]+ identifier: (\w+)", given.spell_word),
)
"""A pattern of ``Type: message`` (TensorFlow 2.15 to 2.21, Keras 2 and 3, Python 3.10 to 3.13), and
the fix that is tried where it is found. For an error of the text, and for one that an edit brings
where a gradient was missing."""


def edits_for_error(trace: Trace, source: ParsedSource) -> Iterator[Edit]:
    """The edits that may mend the error that ended the snippet."""
    trace = _raised_inside(trace)
    failure = trace.failure
    if failure is None:
        return
    said = f"{failure.type}: {failure.message}"
    for pattern, fix in ERROR_FIXES:
        match = re.search(pattern, said)
        if match is None:
            continue
        try:
            yield from fix(ErrorCase(trace, source, failure, match))
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
