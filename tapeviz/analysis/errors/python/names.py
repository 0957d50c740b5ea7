"""Explain exceptions of names that are not defined where they are used."""

from __future__ import annotations

import ast

from ....text.messages import suggested_name
from ....text.names import bound_names
from ....text.statements import read_text
from ....text.trees import lines_of
from ....trace.model import Failure
from ..case import Case


def undefined(case: Case) -> str:
    name = case.match[1]
    failed = _failed_before(case, name)
    if failed is not None:
        return (
            f"Line {case.line} uses the name {name}, which line {failed.line} would have "
            f"defined: it raised {failed.type}. Fix that line first."
        )
    deleted = _deleted_on(case, name)
    if deleted:
        return (
            f"Line {case.line} uses the name {name}, which line {deleted} deleted. "
            f"Delete it after its last use, or leave line {deleted} out."
        )
    if _is_attribute(case, name):
        return (
            f"Line {case.line} uses the name {name}, which nothing before it defines; the class "
            f"around it has an attribute of that name. Methods reach it by self: write self.{name}."
        )
    if near := suggested_name(case.failure.traceback):
        return (
            f"Line {case.line} uses the name {name}, which nothing before it defines. A "
            f"name that is spelt nearly so is {near}: write that, or define {name} before."
        )
    known = {"tf": "import tensorflow as tf", "np": "import numpy as np"}
    known["keras"] = "from tensorflow import keras"
    remedy = known.get(name, "")
    what = f"Add {remedy}." if remedy else "Add its definition above this line, or paste that too."
    return (
        f"Line {case.line} uses the name {name}, which nothing before it defines. "
        f"Such a name often stands in another cell or another part of the page. {what}"
    )


def _is_attribute(case: Case, name: str) -> bool:
    """Whether a class around the line gives ``self`` an attribute of that name."""
    for node in case.nodes(ast.ClassDef):
        if case.line in lines_of(node) and any(
            isinstance(each, ast.Attribute)
            and isinstance(each.ctx, ast.Store)
            and (each.attr, case.text.segment(each.value)) == (name, "self")
            for each in ast.walk(node)
        ):
            return True
    return False


def _failed_before(case: Case, name: str) -> Failure | None:
    """The earlier exception, in another block of the page, that kept a name from being bound."""
    for failure in case.trace.failures:
        if failure == case.failure:
            return None
        statement = case.text.statement(failure.line)
        if statement is not None and any(name in bound_names(each) for each in ast.walk(statement)):
            return failure
    return None


def _deleted_on(case: Case, name: str) -> int:
    """The last line above the failure that deletes a name of its scope: ``del tape``."""
    owner = read_text(case.text).owner
    lines = [
        node.lineno
        for node in case.nodes(ast.Delete)
        if node.lineno < case.line
        if any(isinstance(each, ast.Name) and each.id == name for each in node.targets)
        if owner(node.lineno, name) == owner(case.line, name)
    ]
    return max(lines, default=0)
