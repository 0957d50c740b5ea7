"""A pass for printed results between the code: tensors, arrays, tracebacks, log lines."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from ...text.names import bound_names
from ..facts import read_facts
from ..page import LineEdit, Page, aside
from ..printed import MOST_PRINTED, end_of_object
from ..statements import PastedStatement, read_statements

_WHAT = "output: kept as a comment"
_OF_NUMBERS = (
    *(ast.Constant, ast.Tuple, ast.List, ast.Call, ast.expr_context),
    *(ast.UnaryOp, ast.unaryop),
)
_OF_REPRS = (*_OF_NUMBERS, ast.Dict, ast.Set, ast.keyword, ast.Name)
_LOWER_CASE_CLASSES = frozenset(
    {"array", "deque", "defaultdict", "dtype", "masked_array", "tensor"}
)
_TENSOR_CLASSES = frozenset({"Tensor", "RaggedTensor", "SparseTensor"})

_OBJECT = re.compile(r"^\s*(?:[\[({]+(?:None, |'[^']*': )*)?<[A-Za-z_]")
"""``<tf.Tensor: …``, ``[<tf.Tensor: …``, ``{'w': <tf.Variable …``"""
_TENSOR = re.compile(
    r"<tf\.\w+[: ]|<KerasTensor |<tensorflow\.|<keras\.| object at 0x[0-9A-Fa-f]+>"
)
_ANGLE_END = re.compile(r">[\])}]*\s*$")
_PRINTED_TENSOR = re.compile(r"^\s*tf\.(?:Tensor|RaggedTensor|SparseTensor)\(\s*(?:[\[\d-]|b'|$)")
_PRINTED_SLICES = re.compile(r"\b(?:IndexedSlices|SparseTensor)\(ind(?:ex|ic)es=tf\.Tensor\(")
_UNBRACKETED = re.compile(r"^\s*tf\.\w+:? (?:'[^']*' )?shape=\(.*>?\s*$")
"""``<tf.Tensor: shape=(3,), …>`` after a page took ``<`` for the beginning of a tag."""
_TENSOR_END = re.compile(r"dtype=\w+\)|\)\s*$")
_PROMPT = re.compile(r"^\s*(?:>>>|In ?\[)")
_ARRAY_ROW = re.compile(
    r"^\s*\[+\s*[-+]?(?:\d[\d.e+-]*|nan|inf)(?:\s+[-+]?(?:\d[\d.e+-]*|nan|inf|\.\.\.))*\s*\]*\s*$"
)
_NUMBERS = re.compile(r"^\s*[-+]?\d[\d.e+-]*(?:\s+[-+]?\d[\d.e+-]*)+\s*$")
_TRACEBACK = re.compile(
    r"^\s*(?:-{20,}|Traceback \(most recent call last\):|\S*Error\s+Traceback \(most).*$"
)
_RAISED = re.compile(
    r"^\s*(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|StopIteration)\b(?::.*)?$"
)
_LOG = re.compile(
    r"""^\s*(?:
    \d{4}-\d\d-\d\d[ T]\d\d:\d\d
    |(?:WARNING|INFO|ERROR|FATAL|DEBUG|W|I|E)\s?:\s?(?:tensorflow|absl|root)\b
    |[WIEF]\d{4,8}\s\d\d:\d\d
    |Epoch\ \d+(?:/\d+)?\s*$
    |\d+/\d+\s+(?:\[[=>.\s]*\]|[━╸╺\s]{3,}).*
    |[-_=+|│┃┏┡┣├└━─═┓┩┤┘╇┳┴\s]{8,}$
    |(?:Model|Layer|Total\ params|Trainable\ params|Non-trainable\ params)\b.*[:(].*["\d)]\s*.*$
    )""",
    re.VERBOSE,
)


def set_aside_tracebacks(page: Page) -> Iterator[LineEdit]:
    """Make comments of tracebacks, from ``Traceback`` to the line with the error, in Python's form
    and in IPython's."""
    until = -1
    for index, line in enumerate(page.lines):
        if index > until and _TRACEBACK.match(line):
            until = _traceback_end(page, index)
        if index <= until and line.strip():
            yield aside(page, index, _WHAT)


def _traceback_end(page: Page, first: int) -> int:
    last = min(first + MOST_PRINTED, len(page.lines))
    for index in range(first + 1, last):
        if _PROMPT.match(page.lines[index]):
            return index - 1
        if _RAISED.match(page.lines[index]):
            return index
    return first


def set_aside_output(page: Page) -> Iterator[LineEdit]:
    """Make comments of printed results."""
    until = -1
    statements = [*read_statements(page.lines)]
    defined = frozenset().union(*(read_facts(statement).binds for statement in statements))
    for statement in statements:
        if statement.first <= until:
            continue
        last = _output_end(page, statement, defined)
        if last is None:
            continue
        until = last
        for index in range(statement.first, last + 1):
            if page.lines[index].strip():
                yield aside(page, index, _WHAT)


def _output_end(page: Page, statement: PastedStatement, defined: frozenset[str]) -> int | None:
    """The last line of the output that starts with a statement; None if it is no output."""
    first, line = statement.first, page.lines[statement.first]
    if _PRINTED_TENSOR.match(line):
        end = end_of_object(page.lines, first)
        end = _find(page, first, _TENSOR_END) if end is None else end
        return statement.last if end is None else end
    if _UNBRACKETED.match(line):
        return first
    if statement.tree is not None:
        is_shown = _is_shown(statement.tree) or _is_repr(statement.tree.body[0], defined)
        return statement.last if is_shown else None
    if _RAISED.match(line) or _LOG.match(line):
        return first
    if _OBJECT.match(line) or _TENSOR.search(line) or _PRINTED_SLICES.search(line):
        end = end_of_object(page.lines, first)
        end = _find(page, first, _ANGLE_END) if end is None else end
        return first if end is None else end
    if _ARRAY_ROW.match(line) or _NUMBERS.match(line):
        last = first
        while last + 1 < len(page.lines) and _ARRAY_ROW.match(page.lines[last + 1]):
            last += 1
        return last
    return None


def _find(page: Page, first: int, end: re.Pattern[str]) -> int | None:
    """The first line from ``first`` on where ``end`` is found, in the same paragraph."""
    for index in range(first, min(first + MOST_PRINTED, len(page.lines))):
        line = page.lines[index]
        if not line.strip():
            return None
        if end.search(line):
            return index
    return None


def _is_shown(tree: ast.Module) -> bool:
    """Whether a tree that parses is output: ``array([[1., 2.]], dtype=float32)``, a drawn line."""
    match tree.body[0]:
        case ast.Expr(value=ast.Name(id=name)):
            return len(name) > 7 and not name.strip("_")
        case ast.AnnAssign(value=None, annotation=shown):  # Output: (3, 2)
            parts = list(ast.walk(shown))
            return all(isinstance(part, _OF_NUMBERS) for part in parts) and any(
                isinstance(part, ast.Constant) and isinstance(part.value, (int, float))
                for part in parts
            )
    return False


def accidental_output(tree: ast.Module) -> int:
    """The first line of a printed object that Python reads as code; 0 for none."""
    shown = [each for each in tree.body if isinstance(each, (ast.Expr, ast.AnnAssign))]
    if not any(isinstance(node, ast.Call) for each in shown for node in ast.walk(each)):
        return 0
    defined = frozenset(name for node in ast.walk(tree) for name in bound_names(node))
    return next((each.lineno for each in shown if _is_repr(each, defined)), 0)


def _is_repr(statement: ast.stmt, defined: frozenset[str]) -> bool:
    """Whether a statement is how Python shows an object, ``array([1.], dtype=float32)`` or
    ``[TensorShape([5, 10])]``: it names classes of no import, and nothing but literals."""
    match statement:
        case ast.AnnAssign(value=None, annotation=ast.Call()):  # loss: tf.Tensor(1.0, shape=())
            return True
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(ast.Name("tf"), name), keywords=keywords)
        ) if name in _TENSOR_CLASSES:  # so TensorFlow prints a tensor
            return "shape" in {word.arg for word in keywords}
        case ast.Expr() if "*" not in defined:
            pass
        case _:
            return False
    parts = [*ast.walk(statement.value)]
    functions = {part.func for part in parts if isinstance(part, ast.Call)}
    dtypes = {part.value for part in parts if isinstance(part, ast.keyword)}
    names = [part for part in parts if isinstance(part, ast.Name) and part not in dtypes]
    return (
        bool(functions)
        and all(isinstance(part, _OF_REPRS) for part in parts)
        and all(part in functions for part in names)
        and all(_names_class(part.id) and part.id not in defined for part in names)
        and functions <= {*names}
    )


def _names_class(name: str) -> bool:
    is_builtin = hasattr(builtins, name)
    return (name[:1].isupper() and not is_builtin) or name in _LOWER_CASE_CLASSES
