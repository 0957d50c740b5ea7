"""Name the colour of a Python token in a theme."""

from __future__ import annotations

from collections.abc import Iterator

from pygments.lexers.python import PythonLexer  # type: ignore[import-untyped]
from pygments.token import Comment, Keyword, Name, Number, Operator, String  # type: ignore[import-untyped]

ROLES = (
    (Comment, "code_comment"),
    (String, "code_string"),
    (Number, "code_number"),
    (Keyword, "code_keyword"),
    (Operator.Word, "code_keyword"),
    (Name.Builtin.Pseudo, "code_keyword"),
    (Name.Decorator, "code_keyword"),
)


def role_of(token: object) -> str:
    """The theme's name for a token type; ``""`` for plain text."""
    return next((role for parent, role in ROLES if token in parent), "")


def tokens(text: str) -> Iterator[tuple[object, str]]:
    """The tokens of a text and their types; together they are the text."""
    for _, token, value in PythonLexer(stripnl=False, ensurenl=False).get_tokens_unprocessed(text):
        yield token, value


def coloured_lines(text: str) -> list[list[tuple[str, str]]]:
    """The pieces of each line, (role, text); the role ``""`` is plain text."""
    lines: list[list[tuple[str, str]]] = [[]]
    for token, value in tokens(text):
        role = role_of(token)
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append((role, part))
    return lines
