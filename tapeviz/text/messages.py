"""Read TensorFlow's messages: the words without the marks around them, and the lines in them."""

from __future__ import annotations

import re

_FUNCTION_NODE = re.compile(r"\{\{function_node [^}]*\}\}\s*")
_OP_NAME = re.compile(r"(?<!\s)\s*\[Op:\w+\](?: name:\s*\S*)?\s*$")


def without_node_names(text: str) -> str:
    """A message or a traceback without the ``{{function_node …}}`` of TensorFlow's runtime."""
    return _FUNCTION_NODE.sub("", text)


def without_colours(text: str) -> str:
    """A message without the codes by which Keras 3 makes words bold or coloured in a terminal."""
    return _COLOUR.sub("", text)


_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def converted_lines(message: str, filename: str) -> list[int]:
    """The lines of the snippet that AutoGraph was tracing when it raised, outermost first; empty
    for other messages (``in user code``, TensorFlow 2.15-2.21)."""
    stack, _, _ = message.partition("in user code:")[2].partition("was defined here:")
    return lines_in_stack(stack, filename)


_CONVERTED = re.compile(
    r"^in user code:\n\n(?: {4}File \"[^\n]*\n(?: {8}[^\n]*\n)*)+\n? {4}([A-Za-z_][\w.]*): ?(.*)",
    re.DOTALL,
)


_IN_LAYER = re.compile(
    r"Exception encountered when calling (?:layer )?[^\n]*\n\n(.*?)\n\n"
    r"(?:Arguments|Call arguments) received by ",
    re.DOTALL,
)
"""``inject_argument_info_in_traceback`` of Keras 2.15 and 3.0 to 3.15."""


def raised_inside(kind: str, message: str) -> tuple[str, str]:
    """The type and the message of the exception that a function raised, without the words that
    AutoGraph (``get_message`` in autograph/pyct/error_utils.py, 2.15-2.21) and Keras put around
    it, and without Keras's codes for colours; other messages as they are."""
    message = without_colours(message)
    while True:
        if (found := _CONVERTED.match(message)) is not None:
            kind, message = found[1], re.sub(r"^ {4}", "", found[2], flags=re.MULTILINE).rstrip()
        elif (found := _IN_LAYER.match(message)) is not None:
            message = found[1]
        else:
            return kind, message


def lines_in_stack(stack: str, filename: str) -> list[int]:
    """The lines of a file of this name in the text of a traceback, in its order."""
    own = re.escape(filename.rpartition("/")[2])
    return [int(line) for line in re.findall(rf'File "(?:[^"]*/)?{own}", line (\d+), in', stack)]


def first_words(message: str) -> str:
    """The first line of a message, without the names of nodes and ops and without a full stop."""
    lines = without_node_names(message).strip().splitlines()
    return _OP_NAME.sub("", lines[0]).rstrip(".") if lines else ""


def kernel_words(message: str) -> str:
    """Return the words of the kernel of an op in a compiled function, without a full stop: they
    stand before the name of the node (TensorFlow 2.15-2.21). Empty for other messages."""
    found = re.search(r"^(?! *File )(\S[^\n]*?)\.?\n+\s*\[\[\{\{node ", message, re.MULTILINE)
    return found[1] if found is not None else ""


def suggested_name(traceback: str) -> str:
    """The name that Python's own printing of an uncaught exception proposes for one that is not
    there (3.10 and later: of an attribute or a name; 3.12: of an import); else empty."""
    found = _SUGGESTED.search(traceback)
    return found[1] if found is not None else ""


_SUGGESTED = re.compile(r"Did you mean:? '(?:self\.)?(\w+)'\?\s*$")
