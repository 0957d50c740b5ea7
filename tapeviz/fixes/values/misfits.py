"""Edit the text for an exception: of an op whose tensor does not fit, or of a missing name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import islice

import libcst as cst

from ...analysis.errors.case import Case
from ...analysis.errors.python.old_names import CASTS, RENAMED
from ...analysis.errors.tensors.arguments import LONG_NAMES
from ...analysis.errors.tensors.einsum import fitting_equations
from ...analysis.errors.tensors.operands import axes_added, named_operands, read_shape
from ...analysis.errors.training.keras import present_name
from ...text.messages import converted_lines
from ...text.source import SourceText
from ...trace.model import Trace
from ..forms import matches
from ..model import Edit, ErrorCase
from ..nodes import argument, bare, called_name, dotted, elements, nodes_in
from ..plan import Plan
from ..source import ParsedSource
from ..translation.numpy_words import METHODS, function_for_method

# Messages of TensorFlow 2.15 to 2.21 about two dtypes: of the runtime, of a Python check in front
# of an op, of a graph's op, and of a conversion; they say the first as the one that was wanted.
_TWO_DTYPES = tuple(
    map(
        re.compile,
        (
            r"expected to be an? (\w+) tensor but is an? (\w+) tensor",
            r"with dtype <?(?:dtype: |tf\.)?'?(\w+)'?>?, but got dtype <?(?:dtype: |tf\.)?'?(\w+)",
            r"has type (\w+) that does not match type (\w+)",
            r"requested dtype (\w+) for Tensor with dtype (\w+)",
            r"to EagerTensor of dtype (\w+)()",
            r"Can not cast TensorSpec\(.*?dtype=tf\.(\w+).*? to TensorSpec\(.*?dtype=tf\.(\w+)",
        ),
    )
)


def cast_to_agree(case: ErrorCase) -> Iterator[Edit]:
    """``rows - x`` of integers and floats → ``tf.cast(rows, tf.float32) - x``; likewise calls
    that give integers, such as ``tf.range(3)``.

    All tensors that meet on the line get one dtype: a real one if the other counts; of two real
    ones first the narrower.
    """
    source, pair = case.source, _dtypes_in(case.failure.message)
    if not pair:
        return
    known = _dtypes_by_text(case.trace)
    known |= {held.name: held.dtype for held in case.failure.held if held.dtype}
    operands = (*case.nodes(cst.Name), *case.nodes(cst.Attribute))
    whole = [call for call in case.nodes(cst.Call) if _gives_integers(call)]
    reals = sorted(dtype for dtype in pair if "float" in dtype)
    others = ("bool",) if "expected to be a bool" in case.failure.message else ("float32",)
    for wanted in reals or others:
        plan, cast = Plan(source), set[str]()
        for node in operands:
            code = source.code(node)
            dtype = known.get(code, wanted)
            is_asked = wanted != "bool" or dtype in pair
            if dtype != wanted and is_asked and _meets(source, node):
                plan.replace(node, f"{source.tf}.cast({code}, {source.tf}.{wanted})")
                cast.add(code)
        for call in whole if "float" in wanted else ():
            part = source.parent(call)  # tf.shape(x)[0]
            number: cst.BaseExpression = call
            if isinstance(part, cst.Subscript) and part.value is call:
                number = part
            if _meets(source, number):
                code = source.code(number)
                plan.replace(number, f"{source.tf}.cast({code}, {source.tf}.{wanted})")
                cast.add(code)
        if cast:
            what = ", ".join(sorted(cast))
            yield from plan.edits(f"Cast {what} to {wanted}, the dtype of what it meets")


def assign_in_place(case: ErrorCase) -> Iterator[Edit]:
    """``layer.kernel -= step`` of a variable → ``layer.kernel.assign_sub(step)``."""
    source, plan = case.source, Plan(case.source)
    methods = {cst.AddAssign: "assign_add", cst.SubtractAssign: "assign_sub"}
    for node in case.nodes(cst.AugAssign):
        if (method := methods.get(type(node.operator))) is not None:
            changed = f"{source.code(node.target)}.{method}({source.code(node.value)})"
            plan.replace(node, cst.Expr(cst.parse_expression(changed)))
    yield from plan.edits("Change the variable in place")


def stack_lists(case: ErrorCase) -> Iterator[Edit]:
    """``log_probs * returns`` of lists → ``tf.stack(log_probs) * tf.stack(returns)``."""
    source, plan = case.source, Plan(case.source)
    lists = {held.name for held in case.failure.held if held.type in ("list", "tuple")}
    for node in case.nodes(cst.BinaryOperation):
        for side in (node.left, node.right):
            if source.code(side) in lists:
                plan.replace(side, f"{source.tf}.stack({source.code(side)})")
    yield from plan.edits("Make tensors of the lists")


def begin_with_float(case: ErrorCase) -> Iterator[Edit]:
    """``total = 0`` to which floats are added in a loop → ``total = 0.0``."""
    source = case.source
    named = re.findall(r"'(\w+)' has dtype", case.failure.message)
    plan, changed = Plan(source), dict[str, None]()
    for name in (*case.nodes(cst.Name), *named):
        made = source.bound_to(name)
        if isinstance(made, cst.Integer):
            plan.replace(made, f"{made.value}.0")
            changed[name if isinstance(name, str) else name.value] = None
    yield from plan.edits(f"Begin {', '.join(changed)} with a float")


_OF_INTEGERS = ("shape", "size", "rank", "argmax", "argmin", "argsort", "searchsorted")
_OF_NUMBERS = ("constant", "convert_to_tensor", "range")
"""These give integers where they are given integers, and no dtype."""


def _gives_integers(call: cst.Call) -> bool:
    if called_name(call) in _OF_INTEGERS or (called_name(call) == "where" and len(call.args) == 1):
        return True
    is_plain = called_name(call) in _OF_NUMBERS and not any(arg.keyword for arg in call.args)
    others = (cst.Float, cst.Imaginary, cst.Name)
    given = [each for arg in call.args for each in nodes_in(arg.value)] if is_plain else []
    has_others = any(isinstance(each, others) for each in given)
    return not has_others and any(isinstance(each, cst.Integer) for each in given)


def cast_to_allowed(case: ErrorCase) -> Iterator[Edit]:
    """``tf.sqrt(n)`` of an integer → ``tf.sqrt(tf.cast(n, tf.float32))``: the tensors of the dtype
    that an operation on the line does not take."""
    source, found = case.source, case.match
    taken = [LONG_NAMES.get(each, each) for each in found[2].replace(" ", "").split(",")]
    wanted = next((each for each in ("float32", "int32") if each in taken), taken[0])
    known, given = _dtypes_by_text(case.trace), LONG_NAMES.get(found[1], found[1])
    refused = [
        arg.value
        for call in case.nodes(cst.Call)
        for arg in (call.args if called_name(call) != "cast" else ())
        if isinstance(arg.value, (cst.Name, cst.Attribute))
        and known.get(source.code(arg.value)) == given
    ]
    for chosen in (*([each] for each in reversed(refused)), refused):  # the last alone, …, all
        plan = Plan(source)
        for node in chosen:
            plan.replace(node, f"{source.tf}.cast({source.code(node)}, {source.tf}.{wanted})")
        if chosen:
            names = ", ".join(sorted({source.code(node) for node in chosen}))
            yield from plan.edits(f"Cast {names} to {wanted}")


def multiply_vectors(case: ErrorCase) -> Iterator[Edit]:
    """``tf.matmul(a, b)`` and ``a @ b`` of a vector → ``tf.tensordot(a, b, 1)``."""
    source = case.source
    traced = converted_lines(case.failure.message, case.trace.filename)
    for line in (*traced, *case.lines):
        nodes = (*source.nodes(cst.BinaryOperation, line), *source.nodes(cst.Call, line))
        for node, parts in matches(nodes, *_PRODUCTS):
            factors = ", ".join(source.code(bare(part)) for part in parts)
            plan = Plan(source, {node: f"{source.tf}.tensordot({factors}, 1)"})
            yield from plan.edits("Multiply by tf.tensordot, which takes vectors as well")


def transpose_to_fit(case: ErrorCase) -> Iterator[Edit]:
    """``tf.matmul(a, b)`` and ``a @ b`` of shapes [4, 2] and [4, 3] →
    ``tf.matmul(a, b, transpose_a=True)``; of [4, 2] and [3, 2] → ``transpose_b=True``."""
    source = case.source
    first, second = ([int(size) for size in shape.split(",")] for shape in case.match.groups())
    if len(first) < 2 or len(second) < 2:
        return
    fitting = {"a": first[-2] == second[-2], "b": first[-1] == second[-1]}
    for which in (which for which, fits in fitting.items() if fits):
        nodes = (*case.nodes(cst.BinaryOperation), *case.nodes(cst.Call))
        for node, parts in matches(nodes, *_PRODUCTS):
            factors = ", ".join(source.code(bare(part)) for part in parts)
            plan = Plan(source, {node: f"{source.tf}.matmul({factors}, transpose_{which}=True)"})
            words = {"a": "first", "b": "second"}[which]
            yield from plan.edits(f"Transpose the {words} matrix, so that the shapes fit")


def reorder_letters(case: ErrorCase) -> Iterator[Edit]:
    """``tf.einsum("bi,ji->bj", x, w)`` of shapes [2, 3] and [3, 4] → of ``"bi,ij->bj"``."""
    source = case.source
    shapes = {held.name: held.shape for held in case.failure.held if held.dtype}
    for call in case.nodes(cst.Call):
        equation = argument(call, 0, "equation")
        if called_name(call) == "einsum" and isinstance(equation, cst.SimpleString):
            known = [shapes.get(source.code(arg.value)) for arg in call.args[1:]]
            for fitting in islice(fitting_equations(str(equation.evaluated_value), known), 2):
                plan = Plan(source, {equation: f'"{fitting}"'})
                yield from plan.edits("Name the axes in the order in which they are")


def gather_from_rows(case: ErrorCase) -> Iterator[Edit]:
    """``tf.gather_nd(q, actions)`` of one number for each row →
    ``tf.gather(q, actions, axis=1, batch_dims=1)``."""
    source = case.source
    for call, (tensor, places) in matches(case.nodes(cst.Call), "gather_nd(_a, _b)"):
        taken = f"{source.code(tensor)}, {source.code(places)}, axis=1, batch_dims=1"
        plan = Plan(source, {call: f"{source.tf}.gather({taken})"})
        yield from plan.edits("Take one element of each row")


def stack_target(case: ErrorCase) -> Iterator[Edit]:
    """``tape.jacobian(z, x)`` of ``z = [y, 2 * y]`` → ``z = tf.stack([y, 2 * y])``."""
    source = case.source
    for call in case.calls("jacobian", "batch_jacobian"):
        target = argument(call, 0, "target")
        made = source.bound_to(target) if isinstance(target, cst.Name) else None
        if isinstance(made, (cst.List, cst.Tuple)):
            plan = Plan(source, {made: f"{source.tf}.stack({source.code(made)})"})
            yield from plan.edits("Make one tensor of the targets")


def fit_by_axes(case: ErrorCase) -> Iterator[Edit]:
    """``logits + mask`` of shapes [2, 4, 6, 6] and [2, 6] → ``logits + mask[:, None, None]``."""
    source, failure = case.source, case.failure
    explained = Case(case.trace, failure, failure, SourceText(source.text), case.match)
    first, other = map(read_shape, case.match.groups())
    named = named_operands(explained, first, other)
    for name, index, _ in axes_added(explained, named or ("", ""), (first, other)):
        kinds = (cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.BinaryOperation)
        nodes = [node for kind in kinds for node in case.nodes(kind)]
        operand = name[1:-1] if name.startswith("(") else name
        found = [node for node in nodes if source.code(node) == operand]
        plan = Plan(source, dict.fromkeys(found, f"{name}{index}"))
        yield from plan.edits(f"Add axes to {name}: {name}{index}")


_PRODUCTS = ("_a @ _b", "matmul(_a, _b)")


def _dtypes_in(message: str) -> set[str]:
    for pattern in _TWO_DTYPES:
        if found := pattern.search(message):
            return {LONG_NAMES.get(each, each) for each in found.groups() if each}
    return set()


def _dtypes_by_text(trace: Trace) -> dict[str, str]:
    """The dtype of the last tensor that each name was bound to."""
    known: dict[str, str] = {}
    for tensor, names in trace.names.items():
        named = trace.variable(tensor) or trace.tensors.get(tensor)
        if named is not None:
            known |= dict.fromkeys(names, named.dtype)
    return known


def _meets(source: ParsedSource, node: cst.BaseExpression) -> bool:
    """Whether it is an operand, or among several arguments of one of TensorFlow's functions."""
    above = source.parent(node)
    if isinstance(above, (cst.BinaryOperation, cst.Comparison, cst.ComparisonTarget)):
        return True
    call = source.parent(above) if isinstance(above, cst.Arg) else None
    if not isinstance(call, cst.Call) or called_name(call) == "cast":
        return False
    return len(call.args) > 1 or isinstance(call.func, cst.Name)  # f(x) of the snippet


def use_functions_for_methods(case: ErrorCase) -> Iterator[Edit]:
    """``p.sum()`` of a tensor, which has no such method → ``tf.reduce_sum(p)``."""
    source, name = case.source, case.match[1]
    plan = Plan(source)
    for call in source.calls(case.failure.line, name) if name in METHODS else ():
        if isinstance(call.func, cst.Attribute):
            plan.replace(call, partial(function_for_method, source))
    title = f"Use TensorFlow's function for {name}, a method that tensors do not have"
    yield from plan.edits(title)


def give_tensor(case: ErrorCase) -> Iterator[Edit]:
    """``loss_fn([1.0], x)`` → of ``tf.constant([1.0])``, where Keras wants no list."""
    source = case.source
    plan = Plan(source)
    for given in case.nodes(cst.Arg):
        if isinstance(given.value, (cst.List, cst.Tuple)):
            plan.replace(given.value, f"{source.tf}.constant({source.code(given.value)})")
    yield from plan.edits("Give Keras a tensor in place of a list")


def give_tensors(case: ErrorCase) -> Iterator[Edit]:
    """``model([states, actions])`` of an array and a tensor, which a Keras model refuses → of
    tensors (``Layer.__call__`` of Keras 3)."""
    source = case.source
    plan = Plan(source)
    for given in case.nodes(cst.Arg):
        for each in elements(given.value):
            plan.replace(each, f"{source.tf}.convert_to_tensor({source.code(each)})")
    yield from plan.edits("Give the model tensors alone, no array beside a tensor")


def use_present_names(case: ErrorCase) -> Iterator[Edit]:
    """``tf.log(x)``, which TensorFlow 2 calls ``tf.math.log``; every such name in the text, as the
    next one would raise as well. Likewise losses that Keras 3 calls by other names."""
    source, found = case.source, case.match
    renamed = _Renaming(source.tf, found["name"], present_name(found["module"], found["name"]))
    changed = source.module.visit(renamed)
    if renamed.names and isinstance(changed, cst.Module):
        yield Edit(f"Use the present names: {', '.join(renamed.names)}", changed.code)


class _Renaming(cst.CSTTransformer):
    """``names``: the new ones, each once. ``lacking``, ``loss``: the name that Keras lacks, and its
    present one with that of the class."""

    def __init__(self, tf: str, lacking: str, loss: tuple[str, str] | None) -> None:
        super().__init__()
        self._tf, self._lacking, self._loss = tf, lacking, loss
        self.names: dict[str, None] = {}

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        owner, name = dotted(original_node.value), original_node.attr.value
        new = ""
        if self._loss is not None:
            if name == self._lacking and f".{owner}".endswith((".losses", ".metrics")):
                new = f"{owner}.{self._loss[0]}"
        elif owner == self._tf and name in RENAMED:
            new = f"{self._tf}.{RENAMED[name]}"
        if not new:
            return updated_node
        self.names[new] = None
        return cst.parse_expression(new)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        owner, _, name = dotted(original_node.func).rpartition(".")
        arguments = updated_node.args
        is_cast = self._loss is None and owner == self._tf and name in CASTS
        if not is_cast or len(arguments) != 1 or arguments[0].star or arguments[0].keyword:
            return updated_node
        self.names[f"{self._tf}.cast"] = None
        dtype = cst.Arg(cst.parse_expression(f"{self._tf}.{CASTS[name]}"))
        given = arguments[0].with_changes(
            comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        )
        function = cst.parse_expression(f"{self._tf}.cast")
        return updated_node.with_changes(func=function, args=[given, dtype])
