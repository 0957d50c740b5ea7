"""Parse text: its syntax tree and symbols, or the reason why it has none. Never raises."""

from __future__ import annotations

import ast
import symtable
import warnings
from dataclasses import dataclass

from ..text.trees import parse_module

TOO_DEEP = "too deeply nested"
"""The message of text that is nested more deeply than anything here goes through it; Python may run
it all the same."""


@dataclass(frozen=True, slots=True)
class SyntaxFailure:
    """Python's error message, with its 1-based line and column."""

    line: int
    column: int
    message: str


def parse(text: str) -> ast.Module | SyntaxFailure:
    """The syntax tree of a text, or why it has none."""
    # The warning about a pasted "\d" comes when the text runs.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return parse_module(text)
        except SyntaxError as error:
            return _failure(error)
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return _unreadable(text, error)


def module_symbols(text: str) -> symtable.SymbolTable | None:
    """The symbol table of a text as a module; None if it does not compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return symtable.symtable(text, "<pasted>", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def compile_failure(text: str) -> SyntaxFailure | None:
    """Why a text that parses does not compile (``return`` outside a function), or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            compile(text, "<pasted>", "exec", flags=flags, dont_inherit=True)
        except SyntaxError as error:
            return _failure(error)
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return _unreadable(text, error)
    return None


def _failure(error: SyntaxError) -> SyntaxFailure:
    return SyntaxFailure(max(error.lineno or 1, 1), max(error.offset or 1, 1), error.msg or "")


def _unreadable(text: str, error: Exception) -> SyntaxFailure:
    """The failure for other errors than SyntaxError: a NUL, half a surrogate pair, deep nesting."""
    if isinstance(error, (RecursionError, MemoryError, OverflowError)):
        return SyntaxFailure(1, 1, TOO_DEEP)
    at = next((i for i, char in enumerate(text) if char == "\0" or "\ud800" <= char <= "\udfff"), 0)
    line_start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    line = text.count("\n", 0, at) + text.replace("\r\n", "  ").count("\r", 0, at) + 1
    return SyntaxFailure(
        line, at - line_start + 1, f"invalid character U+{ord(text[at : at + 1] or ' '):04X}"
    )
