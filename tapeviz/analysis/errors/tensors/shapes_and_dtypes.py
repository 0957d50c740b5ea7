"""Explain exceptions about values, shapes and dtypes."""

from __future__ import annotations

import ast
import re
from math import prod

from ....text.messages import kernel_words
from ....text.names import called_name, dotted, targets_of
from ....text.trees import parse_expression
from ....trace.ids import VariableId
from ..case import Case
from ..python.operators import sign_of
from ..python.signatures import bound_calls
from ..raised_inside import reached_words
from .arguments import LONG_NAMES, called_on_line, float_for_count, floats_given
from .operands import (
    OPERATORS,
    OperandShape,
    differing_axis,
    elementwise_remedy,
    given_words,
    held_phrase,
    held_words,
    named_operands,
    names_read,
    read_shape,
)


def shapes(case: Case) -> str:
    first, other = (_spaced(shape) for shape in case.match.groups()[:2])
    name = _op_named(case.failure.message) or called_on_line(case)
    if not name and isinstance(case.raised_at, ast.BinOp):
        name = sign_of(case.raised_at.op)
    name = name or "the operation"
    is_product = "matmul" in name.lower() or "Matrix size" in case.failure.message
    sizes = (read_shape(first), read_shape(other))
    named = named_operands(case, *sizes, OPERATORS.get(name, ast.operator))
    remedy = "" if is_product else elementwise_remedy(case, named or ("", ""), sizes)
    if named is None:
        got = f"{name} got the shapes {first} and {other}, which do not fit"
        held = ", ".join(held_words(case, case.statement))
        if given := given_words(case) if isinstance(case.raised_at, ast.Call) else ():
            held, remedy = f"it was called with {', '.join(given)}", "Look at what it was given"
        remedy = remedy or "Use tf.reshape, tf.transpose or tf.expand_dims on what is meant"
        remedy = f"{remedy.rstrip('.')}; {held}." if held else f"{remedy.rstrip('.')}."
    else:
        words = [each or "a value" for each in named]
        got = f"{name} got {words[0]} of shape {first} and {words[1]} of shape {other}"
        remedy = (_product_that_fits(case, named, sizes) if is_product else remedy) or (
            _cut_short(case, named)
        )
        remedy = remedy or (
            "Use tf.reshape, tf.transpose or tf.expand_dims on the one that is meant otherwise."
        )
    if "labels_size=" in case.failure.message and sizes[1] == (1, sizes[0][0]):
        remedy = (
            f"Labels that are class numbers are for "
            f"tf.nn.sparse_softmax_cross_entropy_with_logits; here they need one row for each "
            f"sample, as tf.one_hot(labels, {sizes[0][-1]}) gives."
        )
    if "are incompatible" in case.failure.message:  # TensorShape.assert_is_compatible_with
        rule = "both must have equally many axes, each of one length in both"
    elif is_product:
        axis = "first axis" if len(sizes[1]) < 3 else "last axis but one"
        rule = f"the last axis of the first must be as long as the {axis} of the second"
    else:
        rule = "each axis, counted from the last, must be equal in both, or 1 in one of them"
        if (differing := differing_axis(*sizes)) is not None:
            rule += f"; here {differing[0]} meets {differing[1]}"
    return f"On line {case.line} {got}. For {name}, {rule}. {remedy}"


def _op_named(message: str) -> str:
    """The op that a message names: one that ran eagerly, one that is put into a graph, or the node
    of a compiled function; empty if it names none."""
    found = (
        re.search(r"\[Op:(?!__)(\w+)\]", message)
        or re.search(r"'\{\{node [^}]*\}\} = (\w+)\[", message)
        or re.search(r"\{\{node (?:[^}]*/)?([A-Za-z]\w*?)(?:_\d+)?\}\}", message)
    )
    return found[1] if found else ""


def _product_that_fits(
    case: Case, named: tuple[str, str], sizes: tuple[OperandShape, OperandShape]
) -> str:
    """A proposal of a factor in another form, which fits the other one; empty if none is found.
    ``named``, ``sizes``: the factors as the line has them, and their shapes."""
    (first, other), (shape, beside) = named, sizes
    if first and not other and len(beside) > 1:
        return (
            f"Make {first} with {beside[-2]} elements along its last axis, or what it is "
            f"multiplied with, such as a layer's weight, for {shape[-1]}."
        )
    if not (first and other):
        return ""
    whole = prod(size or 0 for size in shape[1:])
    if len(shape) > 2 == len(beside) and whole == beside[0]:
        return f"{first} fits with its last axes in one: tf.reshape({first}, [-1, {whole}])."
    if len(shape) == len(beside) > 1 and shape[:-2] == beside[:-2]:
        if beside[-1] == shape[-2] and len(shape) == 2:
            return f"The other way round they fit: tf.matmul({other}, {first})."
        if beside[-1] == shape[-1]:
            return f"{other} fits transposed: tf.matmul({first}, {other}, transpose_b=True)."
        if beside[-2] == shape[-2]:
            return f"{first} fits transposed: tf.matmul({first}, {other}, transpose_a=True)."
    held = case.held.get(other)
    if held is not None and held.type.endswith("Variable"):
        wanted = [*beside[:-2], shape[-1], *beside[-1:]]
        return f"If {first} is right, make {other} with the shape {wanted}, or reshape {first}."
    return ""


def _cut_short(case: Case, named: tuple[str, str]) -> str:
    """Words for an operand ``table[:n]`` of a tensor that has less than n rows: a slice beyond the
    end is shorter."""
    for name in filter(None, named):
        node = parse_expression(f"({name})")
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Slice)
            and node.slice.upper
            and not (node.slice.lower or node.slice.step)
        ):
            held, end = (
                case.held.get(ast.unparse(each)) for each in (node.value, node.slice.upper)
            )
            count = re.fullmatch(r"\d+", held_phrase(case, end)) if end is not None else None
            rows = held.shape[0] if held is not None and held.shape else None
            if held is not None and rows is not None and count and int(count[0]) > rows:
                return (
                    f"{held.name} has {rows} rows, and {name} asks for {count[0]}: a "
                    f"slice beyond the end gives what is there. Make {held.name} longer, or the "
                    f"other operand shorter."
                )
    return ""


def reshaped(case: Case) -> str:
    """A reshape to another number of elements than the tensor has."""
    count, wanted = map(int, case.match.groups())
    bound = next(bound_calls(case), None)
    given = bound.given.get("tensor") if bound is not None else None
    held = case.held.get(ast.unparse(given)) if given is not None else None
    shape = tuple(held.shape or ()) if held is not None else ()
    what = f"{count} elements"
    if held is not None and shape:
        what = f"{held.name}, of shape {shape} and with {count} elements,"
    several = "a multiple of " if "requires a multiple" in case.failure.message else ""
    remedy = "Print the tensor's shape just before, and write -1 for the axis that may vary."
    if prod(size or 0 for size in shape) == count and len(shape) > 1:
        whole = count // (shape[0] or 1)
        remedy = f"Each of the {shape[0]} rows along its first axis has {whole} elements."
    return (
        f"Line {case.line} reshapes {what} into a shape for {several}{wanted}. A reshape keeps "
        f"every element and adds none. {remedy}"
    )


def selected(case: Case) -> str:
    """``tf.where`` whose condition and values cannot be broadcast to one shape."""
    sizes = [read_shape(shape) for shape in case.match.groups()]
    bound = next(bound_calls(case), None)
    given = [bound.given.get(name) for name in ("condition", "x", "y")] if bound else [None] * 3
    names = [case.text.segment(each) if each is not None else "" for each in given]
    for i, k in ((0, 1), (0, 2), (1, 2)):
        if differing_axis(sizes[i], sizes[k]) is not None:
            words = [
                f"{name or what} of shape {list(size)}"
                for name, what, size in zip(names, ("the condition", "x", "y"), sizes, strict=True)
            ]
            remedy = elementwise_remedy(case, (names[i], names[k]), (sizes[i], sizes[k]))
            return (
                f"Line {case.line} selects by {words[0]} from {words[1]} and {words[2]}. Each "
                f"axis, counted from the last, must be equal in all, or 1. {remedy}"
            ).strip()
    return ""


NOT_A_MATRIX = (
    r"In\[[01]\] ndims must be [>=]= 2|Shape must be rank 2 but is rank [01] for .*MatMul"
    r"|In\[0\] and In\[1\] has different ndims: .*MatMul"
)
"""MatMul with oneDNN, in a graph, and without oneDNN (TensorFlow 2.15-2.21)."""


def dtypes(case: Case) -> str:
    kinds = [case.match[1], case.match[2]]
    if "string" in kinds:
        return (
            f"Line {case.line} combines numbers with a tensor of strings. Make numbers of the "
            f"strings first: tf.strings.to_number(text), or in tf.io.decode_csv by the defaults of "
            f"its columns. No gradient passes strings."
        )
    floats = [LONG_NAMES.get(kind, kind) for kind in kinds if kind[:3] not in ("int", "uin")]
    wanted = next((kind for kind in kinds if kind.startswith("complex")), "float32")
    wanted = floats[0] if len(floats) == 1 else wanted
    if all("int" in kind for kind in kinds):
        wanted = max(kinds, key=lambda kind: int(re.sub(r"\D", "", kind) or 32))
    if any("float" in kind for kind in kinds) and (begun := _begun_whole(case)):
        name, line, number = begun
        return (
            f"Line {case.line} combines {name}, which line {line} begins with the whole number "
            f"{number}, with a tensor of floats. TensorFlow makes an integer tensor of it in a "
            f"compiled function, and never converts dtypes by itself. Begin with {number}.0."
        )
    names = [_named_by_dtype(case, kind) for kind in kinds]
    words = [f"{_article(kinds[0])} tensor", f"{_article(kinds[1])} one"]
    dtypes_in_full = [LONG_NAMES.get(kind, kind) for kind in kinds]
    if names[0] != names[1]:
        known = zip(names, dtypes_in_full, words, strict=True)
        words = [f"{name} of dtype {dtype}" if name else word for name, dtype, word in known]
    wanted = "bool" if kinds[0] == "bool" and "expected to be" in case.failure.message else wanted
    at = dtypes_in_full.index(wanted) if wanted in dtypes_in_full else -1
    other = names[1 - at] if at >= 0 and names[0] != names[1] else ""
    return (
        f"Line {case.line} combines {words[0]} with {words[1]}. TensorFlow never converts dtypes "
        f"by itself. Make both of one dtype: tf.cast({other or '…'}, tf.{wanted}), or "
        f"dtype=tf.{wanted} where {'it is' if other else 'they are'} made."
    )


def _begun_whole(case: Case) -> tuple[str, int, int] | None:
    """The name that the line adds to, the line that begins it with a whole number, and that; None
    without."""
    statement = case.statement
    name = dotted(statement.target) if isinstance(statement, ast.AugAssign) else ""
    binding = case.last_binding(name) if name else None
    made = getattr(binding, "value", None)
    if binding is None or not isinstance(made, ast.Constant) or type(made.value) is not int:
        return None
    return name, binding.lineno, made.value


def _named_by_dtype(case: Case, kind: str) -> str:
    """The only name in the expression that raised whose value has a dtype; else empty."""
    names = names_read(case.raised_at or case.statement)
    dtype = LONG_NAMES.get(kind, kind)
    found = [name for name in names if name in case.held and case.held[name].dtype == dtype]
    return found[0] if len(found) == 1 else ""


def _article(dtype: str) -> str:
    return f"an {dtype}" if dtype.startswith("int") else f"a {dtype}"


def literal_dtype(case: Case) -> str:
    floats = floats_given(case)
    raised = case.raised_at
    is_combined = isinstance(raised, ast.BinOp) or case.sides() is not None
    if "int" in case.match[2] and len(floats) == 1 and not is_combined:
        callee = called_name(raised) if isinstance(raised, ast.Call) else "a function"
        return float_for_count(case, callee, floats[0], "whole numbers")
    return (
        f"Line {case.line} combines {case.match[1]} with a tensor of dtype "
        f"{case.match[2]}, which cannot hold it. A tensor made from whole numbers is an integer "
        f"one, and those have no gradients either. "
        f"Write the numbers with a decimal point, as in tf.Variable(3.0)."
    )


def assigned_tensor(case: Case) -> str:
    if re.search(r"\.(?:learning_rate|lr)\.assign", case.code) and _counts_steps(case):
        return (
            f"Line {case.line} sets the learning rate of an optimizer that was made with a "
            f"schedule, which computes the rate anew at each step. Make the optimizer with a "
            f"number, as in Adam(0.1), to set it later; or change the schedule."
        )
    return _changed(case, is_variable="Variable" in case.match[0])


def _counts_steps(case: Case) -> bool:
    """Whether the line read how many steps an optimizer has made, as a schedule does to give the
    rate (``BaseOptimizer._get_current_learning_rate`` and the variable ``iteration`` of Keras 3.0
    to 3.15; in Keras 2 ``learning_rate`` is a variable all the same)."""
    variables = case.trace.variables
    read = (
        variables.get(VariableId(handle))
        for op in case.trace.ops.values()
        if op.line == case.line
        for handle in op.inputs
    )
    return any(each is not None and each.name.endswith("/iteration") for each in read)


def _changed(case: Case, *, is_variable: bool) -> str:
    if is_variable:
        return (
            f"Line {case.line} writes into a tf.Variable by =, and a variable is changed by its "
            f"methods only. Write v[…].assign(value) for some elements, v.assign(value) for all; "
            f"no gradient follows such a write to the value."
        )
    return (
        f"Line {case.line} tries to change a tensor, and tensors never change: only a tf.Variable "
        f"has a state. If the name meant one before, change that in place, v.assign_sub(…); else "
        f"compute a new tensor (tf.tensor_scatter_nd_update changes single elements), which also "
        f"keeps the gradient."
    )


def beyond_axis(case: Case) -> str:
    """A place that an axis of a tensor or an array does not have."""
    index, axis, *sizes = (int(each) for each in case.match.groups() if each)
    taken = case.elements_taken
    held = case.held.get(ast.unparse(taken[0].value)) if len(taken) == 1 else None
    begin = f"Line {case.line} takes element {index} along axis {axis}"
    shape = held.shape if held is not None and held.shape else ()
    size = shape[axis] if axis < len(shape) else next(iter(sizes), None)
    if size is None:
        return (
            f"{begin}, and the tensor is shorter than that. Elements are counted from 0. Print its "
            f"shape just before."
        )
    owner = (
        f"{held.name}, whose shape is {tuple(shape)}" if held is not None and shape else "an array"
    )
    return (
        f"{begin} of {owner}: it has {size} elements there, counted from 0, or from the end by -1, "
        f"-2 and so on."
    )


def picked_by_many(case: Case) -> str:
    """A tensor of several elements where Python takes one whole number: ``x[mask] = 0`` of a
    tensor, which it tries as it would with a list, or ``layers[mask]`` of a list."""
    statement = case.statement
    targets = targets_of(statement) if statement is not None else ()
    written = next((each for each in targets if isinstance(each, ast.Subscript)), None)
    name = case.text.segment(written.value) if written is not None else ""
    bound = [each for each in case.trace.bindings if each.name == name]
    held = [tensor for tensor, text in bound[-1].tensors if text == name] if bound else []
    if written is not None and (held or not bound):
        return _changed(case, is_variable=any(map(case.trace.variables.get, map(VariableId, held))))
    if not any(each.lineno == case.line for each in case.nodes_here(ast.Subscript)):
        return (
            f"Line {case.line} gives a tensor or array of several elements where Python takes one "
            f"whole number, as range() does. Give one of its elements, as in int(n[0])."
        )
    return (
        f"Line {case.line} takes one element of a Python list, by a tensor or array that has "
        f"several elements. An index of a list is one whole number. "
        f"Make the list a tensor: tf.gather(tf.stack(values), indices), or "
        f"tf.boolean_mask(tf.stack(values), mask)."
    )


def no_ndim(case: Case) -> str:
    """A ``tf.Variable`` asked for ``ndim``: on the line itself, or by a function that it calls."""
    asked = [
        case.text.segment(node.value)
        for node in case.nodes_here(ast.Attribute)
        if node.attr == "ndim" and node.lineno == case.line
    ]
    if asked:
        return (
            f"Line {case.line} asks {' or '.join(dict.fromkeys(asked))} for ndim, which a tensor "
            f"has and a tf.Variable has not. Both know it by their shape: {asked[0]}.shape.rank."
        )
    return (
        f"Line {case.line} hands a tf.Variable to a function that asks its argument for ndim, "
        f"which a tensor has and a tf.Variable has not; those of keras.ops do so. "
        f"Hand it the value, as in keras.ops.argmax(tf.convert_to_tensor(w))."
    )


def assigned_shape(case: Case) -> str:
    """A value of another shape than the variable's; a list with one gradient has an axis more."""
    name = case.argument(0, "assign", "assign_add", "assign_sub")
    if name and any(words == f"{name}[0]" for b in case.trace.bindings for _, words in b.tensors):
        return (
            f"Line {case.line} gives a variable the list {name}, which becomes a tensor with an "
            f"axis more. gradient() of a list of sources gives a list. Take its element, {name}[0]."
        )
    return (
        f"Line {case.line} gives a variable a value of another shape than its own. "
        f"A variable keeps the shape that it was made with. "
        f"Give a value of that shape, or make the variable with shape=tf.TensorShape(None)."
    )


def _spaced(shape: str) -> str:
    return re.sub(r", *(?=[^)\]])", ", ", shape)


def raised_in_function(case: Case) -> str:
    """An op raised while a compiled function ran. TensorFlow 2.15 to 2.21 names it in the message:
    ``Detected at node 'Reshape' defined at``, then the stack that it was traced in. Where the
    kernel of an eager op cannot be made, the node has the name of the op itself."""
    message = case.failure.message
    if re.search(r"NodeDef: \{\{node (\w+)\}\}; Op<name=\1;", message):
        return ""
    found = re.search(r"Detected at node '?([^'\s]+)'? defined at|\{\{node ([^}]+)\}\}", message)
    name = (found[1] or found[2]) if found else ""
    if not name:
        return ""
    where = f" on line {case.line}" if case.traced_lines else ""
    line, said = case.failure.line, kernel_words(message)
    raised = f"The op {name}{where} raised inside of the compiled function that line {line} calls"
    raised += f": {said}." if said else "."
    if reached_words(case.trace):
        return raised
    return (
        f"{raised} TensorFlow gives nothing back of a call that raised, so the values inside of "
        f"this call are not known. tf.config.run_functions_eagerly(True) at the top runs the "
        f"function op by op: then they are, and the error names its own line."
    )


def carried(case: Case) -> str:
    """A variable of a loop in a compiled function that comes out in another form. A shape may
    become less exact, if ``shape_invariants`` say so; the number of axes stays
    (``_shape_invariant_to_type_spec`` and ``_check_shapes_compat`` in while_v2.py, 2.15-2.21)."""
    name, form, before, after = (case.match[key] for key in ("name", "form", "before", "after"))
    if form == "dtype":
        mend = "Begin with the dtype that it has after a turn, as by tf.cast before the loop"
    elif "unknown" in after or "None" in after:
        mend = (
            f"If the loop keeps it, end each turn by {name} = tf.ensure_shape({name}, {before}); "
            f"if not, say by tf.autograph.experimental.set_loop_options(shape_invariants=…) which "
            f"axis varies, or collect in a tf.TensorArray"
        )
    else:
        mend = (
            "To collect a value of each turn use a tf.TensorArray, ta = ta.write(i, value), and "
            "ta.stack() after the loop"
        )
        if len(read_shape(after)) == len(read_shape(before)):
            mend += "; or say by shape_invariants which axis varies, with None for its length"
    return (
        f"The loop on line {case.line} changes the {form} of {name}, which was {before} "
        f"before it and is {after} after a turn. In a compiled function what a "
        f"loop carries keeps its {form}, for the loop is traced once for all turns. {mend}."
    )
