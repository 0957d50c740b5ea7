"""Name the operands of the line that raised, and what they held."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, islice, permutations

import numpy as np

from ....text.names import calls_in, dotted
from ....text.statements import head_of, read_text
from ....text.trees import parse_expression
from ....trace.compiled.raised import eager_op_that_raised
from ....trace.events import HeldValue
from ....trace.ids import TensorId, VariableId
from ....trace.model import Trace
from ..case import Case
from ..python.documented import asked_words
from ..python.signatures import bound_calls, shape_in_pieces, without_names

OperandShape = Sequence[int | None]
MOST_SHOWN = 4
"""Elements of a value, and names, that stand in a sentence."""
MOST_GIVEN = 6
"""Arguments of a call that stand in a sentence."""
_OF_OPERANDS = frozenset({"ReadVariableOp", "Const", "Cast"})
KEYS_SHOWN = 8
"""Keys of a dict that stand in a sentence."""
_LONGEST = 40
"""The letters of an expression that stands in a sentence."""


def read_shape(text: str) -> tuple[int | None, ...]:
    """The shape that a message has as ``[3,2]``, ``(3, 2)`` or ``[?,2]``."""
    sizes = text.strip("[]() ").replace(" ", "").split(",")
    return tuple(int(size) if size.lstrip("-").isdigit() else None for size in sizes if size)


OPERATORS: Mapping[str, type[ast.operator]] = {
    **dict.fromkeys(("Add", "AddV2"), ast.Add),
    "Sub": ast.Sub,
    "Mul": ast.Mult,
    **dict.fromkeys(("RealDiv", "Div"), ast.Div),
    "FloorDiv": ast.FloorDiv,
    "Pow": ast.Pow,
    **dict.fromkeys(("MatMul", "BatchMatMulV2"), ast.MatMult),
}
"""The operators of Python that run these ops."""


def named_operands(
    case: Case, first: OperandShape, other: OperandShape, kind: type[ast.operator] = ast.operator
) -> tuple[str, str] | None:
    """The expressions on the line that have these two shapes, as the line has them; an empty one
    where it is not found, as for a list of numbers. None if neither is, or several have a shape.
    ``kind``: the operator that may have raised."""
    is_told = case.failure.span.column >= 0 or kind is not ast.operator
    if is_told and (sides := case.sides(kind)) is not None:
        words = [case.text.segment(side) for side in sides]
        held = [case.held.get(ast.unparse(side)) for side in sides]
        fit = zip(held, (first, other), strict=True)
        if all(h is None or h.shape is None or _is_same(h.shape, shape) for h, shape in fit):
            left, right = (each if len(each) <= _LONGEST else "" for each in words)
            return left, right
    for node in case.nodes_here(ast.BinOp) if case.held else ():
        if isinstance(node.op, kind):
            held = [case.held.get(ast.unparse(side)) for side in (node.left, node.right)]
            fit = zip(held, (first, other), strict=True)
            if all(h is not None and h.shape == [*shape] for h, shape in fit):
                return case.text.segment(node.left), case.text.segment(node.right)
    known = [(words, shape) for words, shape in shapes_on_line(case)]
    found = [
        list(dict.fromkeys(words for words, shape in known if _is_same(shape, wanted)))
        for wanted in (first, other)
    ]
    if len(first) == len(other) and _is_same(first, other):
        return None
    if not any(found) or any(len(each) > 1 for each in found) or found[0] == found[1]:
        return None  # both stand for the call of a library whose inside raised
    return "".join(found[0]), "".join(found[1])


def differing_axis(
    first: OperandShape, other: OperandShape
) -> tuple[int | None, int | None] | None:
    """The sizes along the last axis in which two shapes cannot be broadcast; None if there is
    none."""
    for size, beside in zip(reversed(first), reversed(other), strict=False):
        if None not in (size, beside) and size != beside and 1 not in (size, beside):
            return size, beside
    return None


def elementwise_remedy(
    case: Case, named: tuple[str, str], sizes: tuple[OperandShape, OperandShape]
) -> str:
    """Words for what makes two operands fit each other element by element: another form of one of
    them, else where they are made. Empty if nothing is known. ``named``: empty for one whose words
    are not known."""
    (first, other), (shape, beside) = named, sizes
    if forms := [*axes_added(case, named, sizes)]:
        words = (f"{name}{index}, of shape {form}" for name, index, form in forms)
        return f"{', or '.join(words)}, fits; else look what each axis means."
    for name, own, opposite in ((other, beside, shape), (first, shape, beside)):
        if name and len(own) == 2 and differing_axis(own[::-1], opposite) is None:
            return f"{name} fits transposed: tf.transpose({name}); else look what each axis means."
    if len(shape) != len(beside):
        return ""
    from_end = 0 if any(named) else len(shape)  # a message may leave the axis of the batch out
    axes = [
        str(axis - from_end)
        for axis, (a, b) in enumerate(zip(shape, beside, strict=True))
        if a != b and not {a, b} & {1, None}
    ]
    along = f"{'axis' if len(axes) == 1 else 'axes'} {' and '.join(axes)}"
    return f"One of them has to be made with another size along {along}."


def axes_added(
    case: Case, named: tuple[str, str], sizes: tuple[OperandShape, OperandShape]
) -> Iterator[tuple[str, str, OperandShape]]:
    """Yield up to two indices with axes of one element by which the operand of fewer axes can be
    broadcast to the other one: ``("x", "[:, None]", [4, 1, 3])``. In place of a longer expression
    it is the only name in there that has its shape."""
    for (name, own), (_, opposite) in permutations(zip(named, sizes, strict=True)):
        node = parse_expression(f"({name})") if name else ast.Constant(None)
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            held = (case.held[each] for each in names_read(node) if each in case.held)
            alike = [each.name for each in held if each.dtype and each.shape == [*own]]
            name = alike[0] if len(alike) == 1 else name and f"({name})"
        for index, form in islice(_with_axes(own, opposite), 2 if name else 0):
            yield name, index, form


def _with_axes(own: OperandShape, opposite: OperandShape) -> Iterator[tuple[str, OperandShape]]:
    """``[:, None]`` and ``[4, 1, 3]``: a shape with axes of one element added, where it can be
    broadcast to another one with more axes."""
    rank, missing = len(opposite), len(opposite) - len(own)
    for added in combinations(range(rank), missing) if missing > 0 and rank <= _MOST_AXES else ():
        sizes = iter(own)
        shape = [1 if axis in added else next(sizes) for axis in range(rank)]
        if differing_axis(shape, opposite) is None:
            last = max(added)
            index = ["None" if axis in added else ":" for axis in range(last + 1)]
            code = "..., None" if missing == 1 and last == rank - 1 else ", ".join(index)
            yield f"[{code}]", shape


_MOST_AXES = 5


def shapes_on_line(case: Case) -> Iterator[tuple[str, OperandShape]]:
    """The names on the line that mean tensors, and what ops on the line gave, with their shapes."""
    trace, statement = case.trace, case.statement
    if statement is None:
        return
    meant = {name: tensor for tensor, name in _last_meant(trace)}
    for node in ast.walk(statement):
        kinds = (ast.Name, ast.Attribute, ast.Subscript)
        is_read = isinstance(node, kinds) and isinstance(node.ctx, ast.Load)
        path = ast.unparse(node) if is_read else ""
        if path in case.held:
            held = case.held[path]
            if held.dtype and held.shape is not None:
                yield case.text.segment(node), held.shape
            continue
        tensor = meant.get(path)
        if tensor is not None and (shape := _shape(trace, tensor)) is not None:
            yield path, shape
    failed = eager_op_that_raised(trace)
    unfinished = failed.site.frames[0].span if failed is not None and failed.site.frames else None
    for op in trace.ops.values():
        if op.call is None and op.line == case.line and op.site.frames and op.outputs:
            if op.site.frames[0].span == unfinished:  # inside of the call that gave nothing
                continue
            if op.type in _OF_OPERANDS:  # it has the place of the op that it is for
                continue
            words = case.text.expression_at(op.site.frames[0].span)
            if words and len(words) <= _LONGEST and "\n" not in words:
                shape = _shape(trace, op.outputs[0])
                if shape is not None:
                    yield words, shape


def _last_meant(trace: Trace) -> Iterator[tuple[TensorId, str]]:
    """The tensors that names were given, the last of each name at the end."""
    for binding in trace.bindings:
        yield from binding.tensors


def _shape(trace: Trace, tensor: TensorId) -> OperandShape | None:
    known = trace.variables.get(VariableId(tensor)) or trace.tensors.get(tensor)
    return known.shape if known is not None else None


def _is_same(shape: OperandShape, wanted: OperandShape) -> bool:
    return len(shape) == len(wanted) and all(
        size == other or None in (size, other) for size, other in zip(shape, wanted, strict=True)
    )


def held_words(case: Case, code: ast.AST | None) -> Iterator[str]:
    """Yield ``g has shape (2,) and dtype float32`` for each name in the code (of a loop: in its
    head) that means a tensor or a variable; ``g is [1. 2.] (shape (2,))`` for a small value of a
    tensor; ``i is 3``, ``layers is a list of 3 elements`` for other values that were recorded."""
    trace = case.trace
    for name in names_read(code):
        held = case.held.get(name)
        if held is not None and (words := _words_of_held(case, held)):
            yield words
            continue
        text = read_text(case.text)
        root = name.partition(".")[0]
        scope = text.owner(case.line, root)
        meant = [
            (tensor, f"what the {binding.value} {name} holds" if binding.value else name)
            for binding in trace.bindings
            for tensor, words in binding.tensors
            if words == name and text.owner(binding.site.line, root) == scope
            if held is None or held.type == binding.value  # a ragged or sparse tensor
        ]
        if meant and (phrase := _phrase(case, meant[-1][0])):
            yield f"{meant[-1][1]} {_verb(phrase)} {phrase}"


def names_read(code: ast.AST | None) -> Sequence[str]:
    """The names in the code, and names with dots, in alphabetical order; of a statement with a body
    those of its head; none of None."""
    parts = head_of(code) if isinstance(code, ast.stmt) else (code,)
    nodes = (node for part in parts if part is not None for node in ast.walk(part))
    is_changed = isinstance(code, ast.AugAssign)
    return sorted(
        {
            dotted(node)
            for node in nodes
            if isinstance(node, (ast.Name, ast.Attribute))
            if is_changed or isinstance(node.ctx, ast.Load)
        }
    )


def _words_of_held(case: Case, held: HeldValue) -> str:
    phrase = held_phrase(case, held)
    return f"{held.name} {_verb(phrase)} {phrase}" if phrase else ""


def _verb(phrase: str) -> str:
    return "has" if phrase.startswith(("shape ", "unknown shape", "the keys ")) else "is"


def held_phrase(case: Case, held: HeldValue) -> str:
    """The value of a name, for a sentence: ``3``, ``a list of 3 elements``, ``shape (2,) and dtype
    float32``; empty if little is known of it."""
    if held.tensor and (phrase := _phrase(case, TensorId(held.tensor))):
        return phrase
    if held.value:
        return f"{held.value} (shape {tuple(held.shape)})" if held.shape else held.value
    if held.dtype:
        return _form(case, held.shape, held.dtype)
    if held.keys and held.size >= 0:
        shown = ", ".join(held.keys[:KEYS_SHOWN])
        more = f" and {held.size - KEYS_SHOWN} more" if held.size > KEYS_SHOWN else ""
        return f"the keys {shown}{more}"
    if held.size < 0:
        return "a text" if held.type == "str" else ""
    elements = "1 element" if held.size == 1 else f"{held.size} elements"
    kinds = f": {', '.join(held.kinds[:MOST_SHOWN])}" if len(held.kinds) > 1 else ""
    return f"a {held.type} of {elements}{kinds}"


def held_at_failure(case: Case) -> str:
    """Say what the call that raised gave to each parameter, or what the names in the expression
    meant, for an exception of which nothing else is known."""
    statement, raised = case.statement, case.raised_at
    if statement is None:
        return ""
    for bound in () if isinstance(statement, ast.Raise) else bound_calls(case):
        if words := without_names(case, bound):
            return words
        if given := given_words(case):
            words = f"Line {case.line} calls {bound.callee} with {', '.join(given)}."
            more = shape_in_pieces(case, bound) or stored_otherwise(case)
            asked = asked_words(case)
            return f"{words} {more}" if more else f"{words[:-1]}; {asked}." if asked else words
    held = [*islice(held_words(case, raised or statement), MOST_SHOWN)]
    if not held and raised is not None:  # what is taken apart there stands beside it
        raised, held = None, [*islice(held_words(case, statement), MOST_SHOWN)]
    if not held:
        return ""
    code = case.text.segment(raised) if raised is not None else ""
    is_exact = bool(code) and case.failure.span.column >= 0
    at = f" at {code}" if is_exact and len(code) <= _LONGEST else ""
    words = f"When line {case.line} raised this{at}, {', '.join(held)}."
    read = (each for each in names_read(raised or statement) if each in case.held)
    begun = (each for each in read if case.held[each].value in ("0", "0.0"))
    return " ".join(dict.fromkeys(filter(None, (words, *map(partial(never_filled, case), begun)))))


def never_filled(case: Case, name: str) -> str:
    """A sentence about the loop that would have changed a number or filled a list, and never ran:
    it goes over something empty."""
    for loop in case.nodes(ast.For):
        looped = case.held.get(ast.unparse(loop.iter))
        if looped is None or looped.size or loop.lineno > case.line:
            continue
        inside = [node for each in loop.body for node in ast.walk(each)]
        changed = {dotted(node.target) for node in inside if isinstance(node, ast.AugAssign)}
        changed |= {dotted(node.func).rpartition(".")[0] for node in calls_in(loop)}
        owner = read_text(case.text).owner
        if name in changed and owner(loop.lineno, name) == owner(case.line, name):
            return f"The loop on line {loop.lineno} goes over {looped.name}, which is empty."
    return ""


def given_words(case: Case) -> Sequence[str]:
    """``k = 4``, ``population = data (a list of 3 elements)``, ``axis = 0 by default``: what the
    call that raised gives to each parameter; first those that the message names. Empty where they
    are not known."""
    bound = next(bound_calls(case), None)
    if bound is None:
        return ()
    said = re.findall(r"(?<=['`\"])\w+(?=['`\"])", case.failure.message)
    computed = dict(shapes_on_line(case))
    words, unknown = list[str](), list[str]()
    named = sorted(bound.given.items(), key=lambda each: each[0] not in said)
    for name, given in (*named, *(("", each) for each in bound.spread)):
        code, held = case.text.segment(given), case.held.get(ast.unparse(given))
        phrase = held_phrase(case, held) if held is not None else ""
        if not phrase and code in computed:
            phrase = f"shape {tuple(computed[code])}"
        if not phrase and len(unknown) < MOST_SHOWN:
            unknown += islice(held_words(case, given), MOST_SHOWN)
        shown = code if len(code) <= _LONGEST else "…"
        shown += f" ({phrase})" if phrase else ""
        words.append(shown if name in ("", code) else f"{name} = {shown}")
    words = words[:MOST_GIVEN]
    words += [
        f"{name} = {number} by default"
        for name, number in bound.by_default.items()
        if name in said or name.endswith(("axis", "axes", "dim", "dims"))
    ]
    return [*words, *dict.fromkeys(unknown[:MOST_SHOWN])]


def stored_otherwise(case: Case) -> str:
    """Words for a ragged or sparse tensor given to the call that raised, for functions of plain
    tensors do not take all of them."""
    for name in names_read(case.raised_at or case.statement):
        held = case.held.get(name)
        if held is not None and held.type in _PLAIN_FORMS:
            return f"{name} is a {held.type}: {_PLAIN_FORMS[held.type].format(name)}"
    return ""


_PLAIN_FORMS = {
    "RaggedTensor": "its rows have different lengths. {0}.to_tensor() fills the short ones with "
    "zeros, and gives a plain tensor.",
    "SparseTensor": "it keeps only some elements. tf.sparse has functions for it, such as "
    "tf.sparse.sparse_dense_matmul; tf.sparse.to_dense({0}) gives a plain tensor.",
}


def _phrase(case: Case, tensor: TensorId) -> str:
    trace = case.trace
    variable = trace.variables.get(VariableId(tensor))
    known = variable or trace.tensors.get(tensor)
    if known is None or known.shape is None:
        return ""
    value = trace.value(tensor) if variable is None else None
    if value is not None and 0 < value.size <= MOST_SHOWN:
        if not value.ndim:
            return str(value[()])
        elements = np.array2string(value, separator=", ").replace("\n", "")
        return f"{elements} (shape {tuple(value.shape)})"
    return _form(case, known.shape, known.dtype)


def _form(case: Case, shape: OperandShape | None, dtype: str) -> str:
    """``shape (2,) and dtype int32``; without float32 where the message is not about dtypes."""
    words = "unknown shape" if shape is None else f"shape {tuple(shape)}"
    is_usual = dtype == "float32" and not _ABOUT_DTYPES.search(case.failure.message)
    return words if is_usual else f"{words} and dtype {dtype}"


_ABOUT_DTYPES = re.compile(
    r"dtype|DataType|float|u?int\d|double|half|\bbool|string|complex|\bcast\b|\btypes?\b|convert"
)


def concerned(case: Case, names: Sequence[str]) -> Sequence[str]:
    """The names whose value has a shape that the message has, but for the length of its first axis,
    that of the batch; all where no value has."""
    found = re.findall(r"\[[\d?, ]+\]|\((?:\d+|None),[\dNone, ]*\)", case.failure.message)
    said = [read_shape(each) for each in found]
    shapes = {name: case.held[name].shape for name in names if name in case.held}
    alike = [
        name
        for name, shape in shapes.items()
        if shape and any(_is_same(shape, s) or (s[1:] and _is_same(shape[1:], s[1:])) for s in said)
    ]
    return alike or names
