"""Read in the docstring of a function what it asks of its arguments, for a call that raised."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from ..case import Case
from .signatures import bound_calls

_PARAMETER = re.compile(r" *\*{0,2}(\w+)(?:, [\w., ]*[\w.])?(?: \([^)]*\))?( ?):(?: (.*)|)")
_ASKS = re.compile(
    r"-D\b|\bshape (?:is )?[\[(]|\b(?:must|should|of shape|same shape|rank|ranges?|length"
    r"|square|sorted|lists?|tuples?|sequence|scalar|vector|positive|number of|one of|either"
    r"|permutation)\b",
    re.IGNORECASE,
)
"""Words of a sentence that says what an argument has to be."""
_OF_DTYPES = re.compile(
    r"Must be one of the following types: [^.]*\.|Must have the same type as \w+\."
)
_LONGEST = 260
"""Letters of the sentences on one parameter."""
_MOST_PARAMETERS = 2


def asked_words(case: Case) -> str:
    """``the documentation of tf.tile says of multiples: …`` for the parameters that the call which
    raised was given, first those that the message names; empty if it asks nothing of them."""
    for bound in bound_calls(case):
        held = case.held.get(bound.callee)
        known = sentences(held.says) if held is not None else {}
        said = re.findall(r"(?<=['`\"])\w+(?=['`\"])|\w+_\w+", case.failure.message)
        asked = [name for name in bound.given if known.get(name)]
        first = [n for n in asked if n in said]
        first = first or [n for n in asked if _is_named(n, case.failure.message)]
        first = first or sorted(asked, key=lambda n: isinstance(bound.given[n], ast.Constant))
        if asked:
            named = first[:_MOST_PARAMETERS]
            listed = "; of ".join(f"{name}: {known[name]}" for name in named)
            return f"the documentation of {bound.callee} says of {listed}"
    return ""


def _is_named(parameter: str, message: str) -> bool:
    """Whether a message has the word, ``filter`` for ``filters``, too."""
    return re.search(rf"\b{re.escape(parameter.removesuffix('s'))}s?\b", message) is not None


def sentences(says: str) -> Mapping[str, str]:
    """For each parameter what a docstring asks of it; empty of one that says what it is for only.

    ``says``: the part on the parameters, as TensorFlow and Keras (``name: …``) or NumPy (``name :
    type``, with the words below) write it: each begins a line, and the lines with its words are
    indented more.
    """
    words: dict[str, list[str]] = {}
    name, indent = "", -1
    for line in says.split("\n"):
        depth = len(line) - len(line.lstrip())
        begun = _PARAMETER.fullmatch(line) if indent < 0 or depth == indent else None
        if begun is not None:
            name, indent = begun[1], depth
            words[name] = [(begun[3] or "") + "." * len(begun[2])]
        elif line.strip() and depth <= indent:
            break
        elif name:
            words[name].append(line.strip())
    return {name: "; ".join(_asking("\n".join(lines))) for name, lines in words.items()}


def _asking(text: str) -> Sequence[str]:
    """The sentences of the first paragraph that ask something of an argument, up to a length; of
    more those that say what it must be."""
    plain = " ".join(text.partition("\n\n")[0].replace("`", "").split())
    sentences = re.split(r"(?<=[.!])\s+(?=[A-Z0-9])", _OF_DTYPES.sub("", plain).strip())
    plain_ones = (each for each in sentences if not each.startswith(("If ", "When ")))
    asking = [each.rstrip(".") for each in plain_ones if _ASKS.search(each)]
    kept, length = set[str](), 0
    for sentence in sorted(
        asking, key=lambda each: not re.search(r"\b(must|should)\b", each, re.I)
    ):
        length += len(sentence)
        if length <= _LONGEST:
            kept.add(sentence)
    return [sentence for sentence in asking if sentence in kept]
