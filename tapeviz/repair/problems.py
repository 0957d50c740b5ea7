"""Say in plain words what to do about one of Python's syntax errors."""

from __future__ import annotations

import keyword
import re

from .page import Page, SyntaxProblem
from .parsing import SyntaxFailure, parse
from .scanning import scan
from .sentences import mistyped_keyword
from .statements import read_statements

_ELSEWHERE = re.compile(r" \(detected at line \d+\)| on line \d+")
"""Numbers of lines in Python's messages: those of the piece of text that was parsed."""
_BEGINS_STATEMENT = re.compile(
    r"[A-Za-z_][\w.]*(?:\s*,\s*[A-Za-z_][\w.]*)*\s*[-+*/]?=(?!=)|(?:with|for|while|def|class|import|from"
    r"|print|return|del|@)\b"
)
_PAIR = dict(zip("([{)]}", ")]}([{", strict=True))


def find_problem(page: Page, failure: SyntaxFailure, lines_before: int = 0) -> SyntaxProblem:
    """The problem of the first statement that does not parse by itself, else that of ``failure``.

    ``lines_before``: the number of lines of the pasted text above ``page``.
    """
    # Python reports an unterminated quote even if there is another error above it.
    for statement in read_statements(page.lines):
        if statement.first + 1 >= failure.line:
            break
        own = statement.failure
        if own is not None and own.line <= statement.text.count("\n") + 1:
            margin = statement.indent if own.line == 1 else 0
            failure = SyntaxFailure(statement.first + own.line, own.column + margin, own.message)
            break
    line = min(failure.line, len(page.lines))
    column = _pasted_column(page, line, failure.column)
    return SyntaxProblem(line + lines_before, column, _say(page, failure))


def _say(page: Page, failure: SyntaxFailure) -> str:
    """Python's own words (3.10 to 3.13), and others where it says no more than where."""
    message = _ELSEWHERE.sub("", failure.message)
    if message == "invalid syntax":
        return _say_near(page, failure)
    return f"Python cannot read this: {message}{'' if message.endswith('?') else '.'}"


def _say_near(page: Page, failure: SyntaxFailure) -> str:
    line = page.lines[min(failure.line, len(page.lines)) - 1]
    opened = scan(line[: failure.column - 1]).after.brackets
    near = re.match(r"\w+|\S", line[failure.column - 1 :])
    first = re.match(r"\s*([A-Za-z]+)\b(?!\s*[=.(\[,])", line)
    meant = mistyped_keyword(first[1]) if first else None
    if first and meant:
        return f"“{first[1]}” is no word of Python: is “{meant}” meant?"
    if near is not None and not near[0].isascii():
        return f"“{near[0]}” is no code: put a # before it, or remove it."
    if near is None:
        return "This line is not complete: something is missing at its end."
    if opened:
        pair = _PAIR[opened[-1]]
        return f"Before “{near[0]}”, the bracket {opened[-1]} is still open: is a {pair} missing?"
    head, rest = line[: failure.column - 1].rstrip(), line[failure.column - 1 :]
    if _BEGINS_STATEMENT.match(rest) and not isinstance(parse(head.strip()), SyntaxFailure):
        return f"A statement begins at “{near[0]}”: put it on a line of its own."
    if re.search(r"[\w)\]}'\"]$", head) and re.match(r"[\w'\"]", rest):
        before = re.findall(r"\w+|\S", head)[-1]
        if not (keyword.iskeyword(before) or keyword.iskeyword(near[0])):
            return (
                f"Something is missing between “{before}” and “{near[0]}”: an operator such "
                "as * or **, or a comma. If this is no code, put a # before it."
            )
    return f"Python cannot read this line from “{near[0]}” on. If it is no code, put a # before it."


def _pasted_column(page: Page, line: int, column: int) -> int:
    """The column in the pasted line, whose margin a repair may have changed."""
    now, pasted = page.lines[line - 1], page.pasted[line - 1]
    if now == pasted:
        return column
    rest = now[column - 1 :]
    if rest and pasted.endswith(rest):
        return len(pasted) - len(rest) + 1
    return min(column, len(pasted) + 1)
