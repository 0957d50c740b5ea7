"""Explain exceptions about what an operation was given: its dtype, shape, axis or name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from ....text.messages import first_words
from ....text.names import dotted
from ..case import Case
from ..python.documented import asked_words
from ..python.signatures import bound_calls
from .operands import MOST_SHOWN, given_words, held_words, names_read, stored_otherwise

LONG_NAMES = {"float": "float32", "double": "float64", "half": "float16"}
"""Names of dtypes in messages of TensorFlow's C++ code (``DataTypeString``), and in Python."""


def refused_dtype(case: Case) -> str:
    """A tensor of a dtype that an op has no kernel for."""
    found = case.match.groupdict()
    given, allowed = found["given"], found["allowed"]
    op = found.get("op") or called_on_line(case) or "an operation"
    names = [LONG_NAMES.get(each, each) for each in allowed.replace(" ", "").split(",")]
    wanted = next((each for each in ("float32", "int32") if each in names), names[0])
    remedy = ", or write the numbers with a decimal point" if wanted == "float32" else ""
    floats = floats_given(case)
    if wanted == "int32" and len(floats) == 1:
        return float_for_count(case, op, floats[0], f"{', '.join(names)} only")
    if given == "string" and "string" not in names:
        held = [each for each in case.held.values() if re.match("str|<U|object", each.dtype)]
        read = [each.name for each in held if each.name in names_read(case.raised_at or ast.Pass())]
        if len(read) == 1:
            return (
                f"Line {case.line} gives {op} {read[0]}, an array of texts, and it takes numbers. "
                f"Write {read[0]}.astype('float32'), or make numbers of the texts where it is made."
            )
        return (
            f"Line {case.line} gives {op} a tensor of texts, and it takes numbers. Texts become "
            f"numbers by tf.strings.to_number(x, tf.float32), or before by float(text); words are "
            f"given numbers by tf.keras.layers.StringLookup."
        )
    given = LONG_NAMES.get(given, given)
    alike = [*_of_dtype(case, given)]
    what = " or ".join(map(" ".join, alike)) or f"a tensor of dtype {given}"
    x = alike[0][0].removesuffix(",") if len(alike) == 1 else "x"
    return (
        f"Line {case.line} gives {op} {what}, and it takes {', '.join(names)} only. Cast it, as in "
        f"tf.cast({x}, tf.{wanted}){remedy}."
    )


def _of_dtype(case: Case, dtype: str) -> Iterator[tuple[str, str]]:
    """The arguments of the call that raised that are of a dtype, or whole numbers of Python: their
    names, and the words that go on. Those that the op's signature in the message gives the
    attribute which is refused, if the call names its parameters so."""
    attr = re.search(r"for attr '(\w+)'", case.failure.message)
    inputs = re.findall(rf"(\w+):{attr[1]}\b", case.failure.message) if attr is not None else []
    for bound in bound_calls(case):
        named = [node for name, node in bound.given.items() if name in inputs]
        for node in named or bound.given.values():
            held = case.held.get(ast.unparse(node))
            if held is not None and held.dtype == dtype:
                yield f"{held.name},", f"which is of dtype {dtype}"
            elif held is not None and held.type == "int" and dtype == "int32":
                yield f"{held.name},", f"which is {held.value}, a whole number"


def float_for_count(case: Case, callee: str, given: str, takes: str) -> str:
    """Words for a float, a name or a quotient, where whole numbers are needed."""
    held = case.held.get(given)
    what = f"the float {given}" if held is None else f"{given}, which is {held.value}, a float"
    where = "in its place" if held is None else f"where {given} is made"
    return (
        f"Line {case.line} gives {callee} {what}, where it takes {takes}. A division by / gives a "
        f"float also of whole numbers: write // {where}, or int({given})."
    )


def floats_given(case: Case) -> list[str]:
    """The floats that the line gives by a name or a quotient, as an argument or in a list."""
    given: dict[str, None] = {}
    for node in case.nodes_here(ast.expr):
        if isinstance(node, ast.Call):
            parts = [*node.args, *(each.value for each in node.keywords)]
        else:
            parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
        for part in parts:
            held = case.held.get(dotted(part))
            is_quotient = isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div)
            if is_quotient or (held is not None and held.type == "float"):
                given[ast.unparse(part)] = None
    return list(given)


def axis_out_of_range(case: Case) -> str:
    """An axis that a tensor does not have: some messages have its number first, some its rank."""
    numbers = {key: number for key, number in case.match.groupdict().items() if number}
    axis = next(number for key, number in numbers.items() if key.startswith("axis"))
    rank = int(next(number for key, number in numbers.items() if key.startswith("rank")))
    have = "has no axis, since it is a single number"
    if rank:
        have = "has axis 0 only" if rank == 1 else f"has axes 0 to {rank - 1}"
    return (
        f"Line {case.line} names axis {axis} of a tensor that {have}. "
        f"Axes are counted from 0, or from the last one by -1, -2 and so on. "
        f"Look at the axis that is given, or print the tensor's shape just before."
    )


def refused(case: Case) -> str:
    """An op that cannot work with what it was given, in the words of its kernel or shape function,
    with what the names on the line held."""
    call, statement, message = case.call, case.statement, case.failure.message
    if statement is None or (call is not None and call.line == case.line):
        return ""
    said = first_words(message.rpartition("Error: ")[2] if "in user code:" in message else message)
    said = re.sub(r" for '?\{\{node .*", "", said)
    node = re.search(r"\{\{node (?:[^}]*/)?([^}]+)\}\}\]*\s*\[Op:IteratorGetNext\]", message)
    if node is not None:
        lines = (each.line for each in case.trace.ops.values() if each.name == node[1])
        where = f" on line {line}" if (line := next(lines, 0)) else ""
        return (
            f"Line {case.line} takes an element of a dataset, and {node[1]}{where}, which helps to "
            f"make it, could not work with what it got: {said}. Look at the values that the "
            f"dataset is made from, or take its steps away one by one."
        )
    callee = called_on_line(case)
    op = case.match["op"] or callee or "an operation"
    if not said or callee.rpartition(".")[2].startswith("assert"):
        return ""  # a check of the snippet, whose message says all
    is_of_form = re.search(r"shape|type|dim", said)
    where = " Print the shapes and dtypes just before." if is_of_form else ""
    shapes = re.search(r"with input shapes: (.+?)\.(?:\s|$)", message)
    if shapes and not case.held:
        where = f" There its inputs have the shapes {shapes[1]}."
    elif given := given_words(case):
        where = f" It was called with {', '.join(given)}."
    elif held := [*islice(held_words(case, statement), MOST_SHOWN)]:
        where = f" There {', '.join(held)}."
    other = stored_otherwise(case)
    said, asked = re.sub(r"(?<!\bvs)\. ", "; ", said), "" if other else asked_words(case)
    words = f"Line {case.line} runs {op}, which cannot work with what it got: {said}.{where}"
    words = f"{words.removesuffix('.')}; {asked}." if asked else words
    return f"{words} {other}".strip()


def called_on_line(case: Case) -> str:
    """The function that raised, or the only one that the line calls."""
    raised = case.raised_at
    calls = [raised] if raised is not None else case.calls
    names = {dotted(call.func) for call in calls if isinstance(call, ast.Call)}
    return names.pop() if len(names) == 1 else ""


def no_index(case: Case) -> str:
    """An index of a tensor that is no whole number, slice or scalar tensor."""
    several = case.match["shape"] or case.match["list"]
    if several is None:
        return (
            f"Line {case.line} picks elements by {case.match['other']}. An index of a tensor is a "
            f"whole number, a slice or an integer tensor. Cast a float one by tf.cast(i, tf.int32)."
        )
    kind = "a tensor of several whole numbers, of shape" if case.match["shape"] else "the list"
    return (
        f"Line {case.line} picks elements by {kind} {several}, and the brackets of a tensor take "
        f"single ones. tf.gather(x, places, axis=1, batch_dims=1) picks one from each row, "
        f"tf.gather(x, places) rows, tf.gather_nd elements by several axes."
    )
