"""The explanations of errors: ``resources/errors.txt`` → a pattern and its words, or the function
that has the words, for each row."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ...files.resources import resource
from .case import OUT_OF_A_LOOP, Explain
from .python.modules import NO_MODULE
from .tensors.shapes_and_dtypes import NOT_A_MATRIX
from .training.keras import OLD_METHOD

PARTS = {
    # ``Net.call()``, also of a class that a function made (``main.<locals>.Net.call()``)
    "CALLEE": r"(?<![\w.<>])(?:[\w.<>]*<locals>\.)?(?P<callee>[\w.]+)\(\)",
    "SHAPE": r"(\[[\d,? ]*\]|\([\d,None ]*\))",
    # Messages of TensorFlow and Keras that do not name the function which takes no such keyword.
    "NO_KEYWORD": (
        r"Got an unexpected keyword argument|not recognized: \{|is not a valid argument, kwargs "
        r"should|Unrecognized keyword argument|Keyword argument not understood"
        r"|Binding inputs to tf\.function failed due to `got an unexpected keyword"
    ),
    "NO_MODULE": NO_MODULE,
    "NOT_A_MATRIX": NOT_A_MATRIX,
    "OLD_METHOD": OLD_METHOD,
    "OUT_OF_A_LOOP": OUT_OF_A_LOOP,
    "THE_IF": (
        "The if on line {line} depends on a tensor, so a compiled function holds both of its "
        "branches, and"
    ),
}
"""Parts that several rows or other modules have too: ``{NAME}`` in a row stands for it."""


@cache
def explanations() -> tuple[tuple[str, str | Explain], ...]:
    """The rows of ``resources/errors.txt``, in the order in which they are asked."""
    paragraphs = resource("errors.txt").read_text(encoding="utf-8").split("\n\n")
    return tuple(read_row(each) for each in paragraphs if not each.startswith("#"))


def read_row(paragraph: str) -> tuple[str, str | Explain]:
    """Read the pattern, and the words or the function, of a paragraph."""
    for name, part in PARTS.items():
        paragraph = paragraph.replace(f"{{{name}}}", part)
    lines = paragraph.splitlines()
    pattern = "".join(line for line in lines if not line.startswith(" "))
    words = " ".join(line.strip() for line in lines if line.startswith(" "))
    if not words.startswith("-> "):
        return pattern, words
    module, _, name = words[3:].rpartition(".")
    explain: Explain = getattr(import_module(f".{module}", __package__), name)
    return pattern, explain
