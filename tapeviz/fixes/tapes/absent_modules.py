"""Leave out a module that is not installed, with the lines that use it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, ErrorCase
from ..nodes import all_of, bound_names, called_name, dotted, header_nodes, read_names, sole
from ..plan import Plan
from ..source import CstStatement, ParsedSource

_NEEDED = frozenset(
    (
        *("GradientTape", "ForwardAccumulator", "gradient", "gradients", "jacobian"),
        *("batch_jacobian", "jvp", "apply_gradients", "minimize", "fit"),
    )
)
"""The calls for which the snippet was written: no statement with one of them is left out."""


def leave_out_module(case: ErrorCase) -> Iterator[Edit]:
    """``import matplotlib.pyplot as plt`` and ``plt.show()`` go. So does what was computed from the
    module, and what reads that; nothing is offered if a gradient depends on it."""
    module = case.match[1]
    left_out = _using(case.source, module.partition(".")[0])
    plan = Plan(case.source)
    for statement in left_out:
        plan.remove(statement)
    is_used = not all(isinstance(sole(each), cst.Import | cst.ImportFrom) for each in left_out)
    words = "and the lines that use it" if is_used else "which no line uses"
    yield from plan.edits(f"Leave out {module}, {words}")


def _using(source: ParsedSource, module: str) -> list[CstStatement]:
    """The statements that import a module or use it; empty if one of them is needed."""
    names: set[str] = set()
    found: list[CstStatement] = []
    for statement in source.statements:
        if any(outer in found for outer in source.ancestors(statement)):
            continue
        small = sole(statement)
        if isinstance(small, cst.Import | cst.ImportFrom):
            modules = _imported(small)
            if modules == {module}:
                names |= bound_names(statement)
                found.append(statement)
            elif module in modules:
                return []
            continue
        is_simple = isinstance(statement, cst.SimpleStatementLine)
        read = read_names(statement) if is_simple else _read_in_header(statement)
        if not names & read:
            continue
        may_go = isinstance(small, cst.Expr | cst.Assign | cst.AnnAssign | cst.AugAssign)
        if not (may_go or isinstance(statement, cst.For | cst.With | cst.If)):
            return []
        if any(called_name(call) in _NEEDED for call in all_of(statement, cst.Call)):
            return []
        names |= bound_names(statement)
        found.append(statement)
    return found


def _read_in_header(statement: CstStatement) -> frozenset[str]:
    return frozenset(name.value for name in header_nodes(statement, cst.Name))


def _imported(small: cst.Import | cst.ImportFrom) -> set[str]:
    """The first names of the modules that a statement imports."""
    if isinstance(small, cst.Import):
        return {dotted(alias.name).partition(".")[0] for alias in small.names}
    return {dotted(small.module).partition(".")[0]} if small.module is not None else set()
