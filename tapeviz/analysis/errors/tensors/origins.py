"""Say where the values that an exception is about were made."""

from __future__ import annotations

import ast
import re

from ....text.names import called_name, calls_in, dotted, names_in, pairs_of, targets_of
from ....text.statements import read_text
from ....text.trees import lines_of
from ..case import Assigning, Case
from .operands import held_phrase, names_read

_ABOUT_VALUES = re.compile(
    r"shape|zero|dim|rank|siz|ax[ie]s|square|equal|length|type|attribute|element|number of|unpack"
    r"|sequence|JSON|integer|\[\d|filename|path",
    re.IGNORECASE,
)
"""Messages about what values are."""


def is_about_values(case: Case) -> bool:
    """Whether an exception is about values that the snippet made; not about what a call returned,
    whatever it was given."""
    is_of_call = isinstance(getattr(case.statement, "value", None), ast.Call)
    if is_of_call and "unpack" in case.failure.message and "zip(" not in case.code:
        return False
    return case.failure.type == "KeyError" or _ABOUT_VALUES.search(case.failure.message) is not None


_MOST = 2
_LONGEST = 64
"""The letters of an expression that stands in a sentence."""


def made_words(case: Case, words: str) -> str:
    """`` cov is made on line 4 as tf.matmul(x, y), from x of shape (20, 3).`` for the values that
    an explanation names; empty if it is about something else, or says their lines itself."""
    names = names_read(case.raised_at) or names_read(case.statement)
    made = [
        made
        for name in (names if is_about_values(case) else ())
        if _is_meant(case, name, words) and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", words)
        for line, made in [_made(case, name)]
        if made and not re.search(rf"\b[Ll]ine {line}\b", words)
    ]
    return f" {'; '.join(made[:_MOST])}." if made else ""


def _is_meant(case: Case, name: str, words: str) -> bool:
    """Whether a name meant a tensor, a list or a dict, zero, or what the words blame; in a compiled
    function nothing is known of its names."""
    held = case.held.get(name)
    if held is None:
        return not case.held
    is_asked = f"'{held.type}' object" in case.failure.message or held.value in ("0", "0.0")
    is_asked |= held.type == "str" and re.search("file|path", case.failure.message) is not None
    return bool(held.dtype) or held.size >= 0 or is_asked or f"{name}, which is" in words


def _made(case: Case, name: str) -> tuple[int, str]:
    """The line that gave a name its value, and a sentence about it; 0 where it is not known."""
    binding = case.last_binding(name)
    begun = ast.unparse(value) if (value := getattr(binding, "value", None)) is not None else ""
    if (binding is None or begun in ("[]", "{}", "list()")) and (filled := _filled(case, name)):
        return filled
    if binding is None:
        return _given(case, name)
    return _bound(case, binding, name) if _ran_last(case, binding, name) else (0, "")


def _bound(case: Case, binding: Assigning, name: str) -> tuple[int, str]:
    """The line of a statement that gives a name its value, and a sentence about it."""
    if isinstance(binding, ast.For):
        return binding.lineno, f"{name} comes from the loop on line {binding.lineno}"
    said = f"{name} is made on line {binding.lineno}"
    pairs = dict(pairs_of(binding)) if isinstance(binding, ast.Assign) else {name: binding.value}
    value = pairs.get(name)
    code = case.text.segment(value) if value is not None else ""
    if value is None or len(code) > _LONGEST or code in ("", "[]", "{}") or "\n" in code:
        return binding.lineno, said
    parts = [
        f"{read} of shape {tuple(held.shape)}"
        if held.shape
        else f"{read}, {held_phrase(case, held)}"
        for read in sorted(names_in(value))
        if (held := case.held.get(read)) is not None
        if (held.dtype and held.shape) or (held.type in ("list", "tuple") and held.kinds)
        if (later := case.last_binding(read)) is None or later.lineno < binding.lineno
    ]
    of = f", from {' and '.join(parts[:_MOST])}" if parts else ""
    return binding.lineno, f"{said} as {code}{of}"


def _filled(case: Case, name: str) -> tuple[int, str] | None:
    """The only line that appends to a list, and a sentence about it; None of an empty list."""
    owner, held = read_text(case.text).owner, case.held.get(name)
    found = [
        call
        for call in case.nodes(ast.Call)
        if dotted(call.func) in (f"{name}.append", f"{name}.extend")
        if "." in name or owner(call.lineno, name) == owner(case.line, name)
    ]
    code = case.text.segment(found[0]) if len(found) == 1 else ""
    if not 0 < len(code) <= _LONGEST or (held is not None and held.size == 0):
        return None
    return found[0].lineno, f"{name} is filled on line {found[0].lineno} by {code}"


def _ran_last(case: Case, binding: Assigning, name: str, line: int = 0) -> bool:
    """Whether an assignment gave the name the value that it had at the failure: by the recording,
    else since it stands in no branch or loop but those around the failure, which does not run
    again after a statement below that gives the name another value."""
    line = line or case.line
    scope = read_text(case.text).owner
    seen = [each.site.line for each in case.trace.bindings if each.name == name]
    seen = [each for each in seen if scope(each, name) == scope(line, name)]
    if seen:
        return seen[-1] in lines_of(binding)
    is_rebound = any(
        each.lineno > line and name in map(dotted, targets_of(each))
        for each in case.nodes(ast.stmt)
    )
    for node in case.nodes(ast.stmt):
        for body in (getattr(node, field, ()) for field in ("body", "orelse", "handlers")):
            inside = range(body[0].lineno, (body[-1].end_lineno or 0) + 1) if body else range(0)
            if line in inside and is_rebound and not isinstance(node, (ast.If, ast.With)):
                return False
            if binding.lineno in inside and line not in inside:
                return False
    return True


def _given(case: Case, name: str) -> tuple[int, str]:
    """The line that calls the function around the failure, and what it gives to a parameter."""
    around = [each for each in case.nodes(ast.FunctionDef) if case.line in lines_of(each)]
    names = [each.arg for each in around[-1].args.args] if around else []
    for line in (*reversed(case.outer.lines), case.outer.line) if name in names else ():
        said = set[str]()
        for call in calls_in(case.text.statement(line)):
            if called_name(call) == around[-1].name:
                is_bound = isinstance(call.func, ast.Attribute) and names[0] == "self"
                given = {each.arg: each.value for each in call.keywords if each.arg}
                if not any(isinstance(each, ast.Starred) for each in call.args):
                    given |= dict(zip(names[is_bound:], call.args, strict=False))
                said.add(case.text.segment(given[name]) if name in given else "")
        if said:  # of several calls it is not known which one ran
            code = said.pop()
            if not code or said or len(code) > _LONGEST or code == name:
                return 0, ""
            made, binding = "", case.last_binding(code, line=line)
            if binding is not None and _ran_last(case, binding, code, line):
                made = f", and {_bound(case, binding, code)[1]}"
            return line, f"{name} is {code} of line {line}{made}"
    return 0, ""
