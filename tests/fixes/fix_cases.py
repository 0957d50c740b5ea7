"""Fix cases made by hand: a text, a kind and a line in, what the fix functions take out."""

from __future__ import annotations

import ast
import itertools
from dataclasses import fields
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from tapeviz.analysis.causes.table import KINDS
from tapeviz.analysis.findings import Cause, Evidence, Finding
from tapeviz.fixes.model import FixCase
from tapeviz.fixes.source import ParsedSource
from tapeviz.trace.calls import Call, Operand
from tapeviz.trace.ids import CallId, OpId, TapeId, TensorId, VariableId
from tapeviz.trace.model import Interval, Tape, Trace
from tapeviz.trace.variables import Variable

from ..traces import op_at, site_at, tensor_of

TAPE = TapeId(1)
OP = OpId(7)


def fix_case(
    text: str,
    kind: str | Evidence,
    line: int,
    *,
    op: str = "",
    other_lines: tuple[int, ...] = (),
    shapes: dict[str, tuple[int, ...]] | None = None,
    input_shape: tuple[int, ...] = (),
) -> FixCase:
    """The last gradient call of the text did not get a gradient for its first source.

    ``kind``: also alone, for the likeliest evidence of that kind.
    """
    evidence = evidence_of(kind)[-1] if isinstance(kind, str) else kind
    tree = ast.parse(text)
    asked = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and _is_asking(n)][-1]
    block = next(n for n in ast.walk(tree) if isinstance(n, ast.With))
    assert isinstance(asked.func, ast.Attribute)
    tape = ast.unparse(asked.func.value)
    given = asked.args[1]
    sources = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
    operands = tuple(
        Operand(ast.get_source_segment(text, operand) or "", TensorId(100 + i), "tensor")
        for i, operand in enumerate(sources)
    )
    call = Call(
        CallId(1),
        "gradient",
        TAPE,
        (Operand(ast.unparse(asked.args[0]), TensorId(99), "tensor"),),
        operands,
        (),
        "none",
        site_at(asked.lineno, asked.col_offset),
        True,
        20,
        21,
        (None,) * len(operands),
        ended=True,
    )
    cause = Cause(evidence, line, text.splitlines()[line - 1].strip(), op, OP)
    others = tuple(Cause(evidence, line, "", op) for line in other_lines)
    finding = Finding(
        "y", operands[0].text, "none", "float32", (), None, cause=cause, others=others
    )
    trace = Trace(
        text,
        ops={OP: op_at(line, OP, "Op", [50], (), when=5)},
        tensors={TensorId(50): tensor_of(input_shape)},
        tapes={TAPE: _tape(tape, block.lineno)},
        calls=(call,),
        variables={
            VariableId(200 + i): Variable(
                VariableId(200 + i), name, "float32", shape, True, None, site_at(1), "", 0
            )
            for i, (name, shape) in enumerate((shapes or {}).items())
        },
        names={TensorId(200 + i): (name,) for i, name in enumerate(shapes or {})},
    )
    return FixCase(trace, call, finding, cause, source_of(text))


def evidence_of(kind: str) -> list[Evidence]:
    """Evidence of a kind: one for each choice of words that its fields may have."""
    made = KINDS[kind]
    hints = get_type_hints(made)
    choices = [_values(hints[field.name]) for field in fields(made)]  # type: ignore[arg-type]
    return [made(*values) for values in itertools.product(*choices)]


def _values(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Literal:
        return get_args(hint)
    known = {str: ("f",), int: (1,), bool: (False, True)}
    return known.get(hint, (None,))


@cache
def source_of(text: str) -> ParsedSource:
    return ParsedSource(text)


def _is_asking(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr == "gradient"


def _tape(name: str, line: int) -> Tape:
    interval = Interval(1, 10, "enter", "exit", site_at(line), site_at(line))
    return Tape(TAPE, name, False, True, site_at(line), "gradient", 0, (interval,))
