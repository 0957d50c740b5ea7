"""Read TensorFlow's messages: the words without the marks around them, and the lines in them."""

from __future__ import annotations

import re

_FUNCTION_NODE = re.compile(r"\{\{function_node [^}]*\}\}\s*")
_OP_NAME = re.compile(r"(?<!\s)\s*\[Op:\w+\](?: name:\s*\S*)?\s*$")


def without_node_names(text: str) -> str:
    """A message or a traceback without the ``{{function_node …}}`` of TensorFlow's runtime."""
    return _FUNCTION_NODE.sub("", text)


def converted_lines(message: str, filename: str) -> list[int]:
    """The lines of the snippet that AutoGraph was tracing when it raised, outermost first; empty
    for other messages (``in user code``, TensorFlow 2.15-2.21)."""
    return lines_in_stack(message.partition("in user code:")[2], filename)


_CONVERTED = re.compile(
    r"^in user code:\n\n(?: {4}File \"[^\n]*\n(?: {8}[^\n]*\n)*)+\n? {4}([A-Za-z_][\w.]*): ?(.*)",
    re.DOTALL,
)


def raised_in_converted(message: str) -> tuple[str, str] | None:
    """The type and the message of the exception that code converted by AutoGraph raised, without
    AutoGraph's words around it; None for other messages (``get_message`` in
    autograph/pyct/error_utils.py, 2.15-2.21)."""
    found = None
    while (match := _CONVERTED.match(message)) is not None:
        message = re.sub(r"^ {4}", "", match[2], flags=re.MULTILINE).rstrip()
        found = match[1], message
    return found


def lines_in_stack(stack: str, filename: str) -> list[int]:
    """The lines of a file of this name in the text of a traceback, in its order."""
    own = re.escape(filename.rpartition("/")[2])
    return [int(line) for line in re.findall(rf'File "(?:[^"]*/)?{own}", line (\d+), in', stack)]


def first_words(message: str) -> str:
    """The first line of a message, without the names of nodes and ops and without a full stop."""
    lines = without_node_names(message).strip().splitlines()
    return _OP_NAME.sub("", lines[0]).rstrip(".") if lines else ""


def suggested_name(traceback: str) -> str:
    """The name that Python's own printing of an uncaught exception proposes for one that is not
    there (3.10 and later: of an attribute or a name; 3.12: of an import); else empty."""
    found = _SUGGESTED.search(traceback)
    return found[1] if found is not None else ""


_SUGGESTED = re.compile(r"Did you mean:? '(?:self\.)?(\w+)'\?\s*$")
