"""Take from TensorFlow's messages the marks that its runtime puts around the words."""

from __future__ import annotations

import re

_FUNCTION_NODE = re.compile(r"\{\{function_node [^}]*\}\}\s*")
_OP_NAME = re.compile(r"\s*\[Op:\w+\](?: name:\s*\S*)?\s*$")


def without_node_names(text: str) -> str:
    """A message or a traceback without the ``{{function_node …}}`` of TensorFlow's runtime."""
    return _FUNCTION_NODE.sub("", text)


def first_words(message: str) -> str:
    """The first line of a message, without the names of nodes and ops and without a full stop."""
    lines = without_node_names(message).strip().splitlines()
    return _OP_NAME.sub("", lines[0]).rstrip(".") if lines else ""
