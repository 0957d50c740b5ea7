"""Say in plain words what to do about one of Python's syntax errors."""

from __future__ import annotations

import keyword
import re
import unicodedata

from .page import Page, SyntaxProblem
from .parsing import SyntaxFailure, parse
from .scanning import scan
from .sentences import mistyped_keyword
from .statements import read_statements

# (pattern in Python's message (3.10 to 3.13), our words); the first that is found is used.
_WORDS: tuple[tuple[str, str], ...] = (
    (
        r"'(.)' was never closed",
        "The bracket {0} opened here is never closed: add the missing {pair}.",
    ),
    (
        r"closing parenthesis '(.)' does not match opening parenthesis '(.)' on line (\d+)",
        "This {0} does not close the {1} opened on line {2}: one of the two is wrong.",
    ),
    (
        r"closing parenthesis '(.)' does not match opening parenthesis '(.)'",
        "This {0} does not close the {1} opened before it: one of the two is wrong.",
    ),
    (r"unmatched '(.)'", "This {0} closes nothing: remove it, or add the {pair} that it closes."),
    (
        r"unterminated triple-quoted",
        "This text in triple quotes never ends: add the three closing quotes.",
    ),
    (r"unterminated", "This text in quotes does not end on its line: add the closing quote."),
    (r"expected ':'", "A colon is missing here, before the lines that belong to this one."),
    (
        r"expected an indented block after (.+?) on line (\d+)",
        "Line {1} ({0}) needs at least one indented line below it: indent this one, or add pass.",
    ),
    (r"expected an indented block", "The line above needs an indented line below it."),
    (r"unexpected indent", "This line is indented, and no line above asks for it: move it left."),
    (
        r"unindent does not match",
        "This line's indentation matches no line above: align it with the one it belongs to.",
    ),
    (r"inconsistent use of tabs", "Tabs and spaces are mixed here: indent with spaces."),
    (r"Missing parentheses in call to '(\w+)'", "{0} needs brackets in Python 3: write {0}(…)."),
    (
        r"Perhaps you forgot a comma|forgot a comma",
        "Something is missing between these two: a comma, an operator or a closing bracket.",
    ),
    (
        r"Maybe you meant '==' or ':='|Maybe you meant '=='",
        "A single = cannot stand here: write == to compare.",
    ),
    (
        r"cannot assign to (.+?)(?: here.*)?$",
        "Nothing can be assigned to {0}: only a name, an item or an attribute stands left of =.",
    ),
    (
        r"invalid (?:non-printable )?character .*?U\+([0-9A-Fa-f]+)",
        "The character {char} has no meaning in Python: replace or remove it.",
    ),
    (r"unexpected character after line continuation", "Nothing may follow a \\ on its line."),
    (r"invalid decimal literal", "A number runs into letters here: put an operator between."),
    (
        r"'(return|yield|await|async \w+)' outside",
        "{0} stands outside a function: indent it into one.",
    ),
    (r"'(break|continue)'.* loop", "{0} stands outside a loop: indent it into one."),
    (r"unexpected EOF", "The text ends in the middle of a statement: something is not closed."),
    (r"too deeply nested|recursion|too many nested", "This is nested too deeply for Python."),
    (
        r"too many statically nested",
        "More than 20 blocks stand in each other: Python allows no more.",
    ),
    (r"f-string: (.+)", "Inside the f-string: {0}."),
    (r"(?:positional argument follows.*)", "An argument without a name cannot follow a named one."),
)
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
    return SyntaxProblem(line + lines_before, column, _say(page, failure, lines_before))


def _say(page: Page, failure: SyntaxFailure, lines_before: int) -> str:
    message = re.sub(
        r"on line (\d+)", lambda found: f"on line {int(found[1]) + lines_before}", failure.message
    )
    for pattern, words in _WORDS:
        found = re.search(pattern, message)
        if found:
            groups = [group or "" for group in found.groups()]
            first = groups[0] if groups else ""
            return words.format(*groups, pair=_PAIR.get(first, ""), char=_character(first))
    if failure.message.startswith("invalid syntax"):
        return _say_near(page, failure)
    return f"Python cannot read this: {failure.message}."


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


def _character(code: str) -> str:
    if not re.fullmatch("[0-9A-Fa-f]{1,6}", code) or int(code, 16) > 0x10FFFF:
        return code
    char = chr(int(code, 16))
    name = unicodedata.name(char, f"U+{code}").lower()
    return f"{char} ({name})" if char.isprintable() else name


def _pasted_column(page: Page, line: int, column: int) -> int:
    """The column in the pasted line, whose margin a repair may have changed."""
    now, pasted = page.lines[line - 1], page.pasted[line - 1]
    if now == pasted:
        return column
    rest = now[column - 1 :]
    if rest and pasted.endswith(rest):
        return len(pasted) - len(rest) + 1
    return min(column, len(pasted) + 1)
