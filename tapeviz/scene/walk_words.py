"""Write the short texts in the table of a backward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from ..analysis.backward.inner_steps import agreement, trouble_of
from ..analysis.backward.steps import Parts, WalkStep
from ..graph.words import shape_words
from ..trace.calls import Call
from ..trace.ids import TensorId
from ..trace.model import Trace
from ..trace.stats import Array
from ..trace.tapes import is_handle
from ..wording import counted
from .parts.numbers import gradient_text, rounded_text, scalar_text
from .walk_rows import Row

LONGEST = 26
SHORT = 10
"""Most characters of a single gradient, and of each of several."""
NARROW = 14
"""Most characters of the elements of a gradient in a place with little room."""
MOST_PARTS = 8
"""Sources named in the row of a turn; all of 10,000 take Qt 0.2 s to measure."""
MOST_GIVEN = 4
"""Gradients of a step that are shown; an op may give thousands."""
STEP_WORDS = {
    "op": "TensorFlow ran the gradient function of this op",
    "sum": "Several ops used this value: their shares are added",
    "stop": "The backward pass ends here",
    "inner": "Inside of a compiled op, whose gradients TensorFlow keeps to itself: computed again, "
    "after the run, by the gradient function of this op",
    "replayed": "Computed by TensorFlow from the recording, after the run",
}
SEPARATOR = " , "
"""Between the gradients of a step."""
_AGREEMENT = {
    "equal": "; they add up to TensorFlow’s own gradients, bit for bit",
    "near": "; they add up to TensorFlow’s own gradients, but for rounding",
    "unknown": "",
}
ValueOf = Callable[[TensorId], Array | None]


def upstream_words(
    trace: Trace, step: WalkStep, value_of: ValueOf, *, is_narrow: bool = False
) -> str:
    """The upstream gradients of a step; for a sum the number of its shares."""
    if step.kind == "sum":
        return f"{len(step.upstream)} shares"
    return gradients_words(trace, step.upstream, value_of, is_narrow=is_narrow)


def gradients_words(
    trace: Trace,
    tensors: Sequence[TensorId | None],
    value_of: ValueOf,
    *,
    is_narrow: bool = False,
) -> str:
    """The gradients of a step, at most four of them; ``–`` where there is none. ``is_narrow``: for
    a place with little room, with three digits of each number, and no shape beside a number."""
    there = list(islice((tensor for tensor in tensors if tensor is not None), MOST_GIVEN + 1))
    if not there:
        return "–"
    words = partial(_narrow_words if is_narrow else gradient_words, trace, value_of=value_of)
    if len(there) == 1:
        return words(there[0])
    texts = [words(tensor, longest=SHORT) for tensor in there[:MOST_GIVEN]]
    return SEPARATOR.join(texts) + (" …" if len(there) > MOST_GIVEN else "")


class TurnWords(NamedTuple):
    """The texts in the row of a folded turn, or of several turns that were left out.

    ``given``: the part of each source's gradient that its steps give: ``24 % of ∂W, 23 % of ∂U``.
    """

    op: str
    upstream: str
    steps: str
    given: str
    line: str


def turn_words(
    trace: Trace, row: Row, steps: Sequence[WalkStep], parts: Parts | None, value_of: ValueOf
) -> TurnWords:
    """The texts of a row of turns. Raises ValueError if it is that of a step."""
    if row.turns is None:
        raise ValueError("the row of a step")
    rows = range(row.first, row.last + 1)
    parts_given = parts.of(rows, MOST_PARTS + 1) if parts is not None else []
    percents = ((source, float(f"{100 * part:.2g}")) for source, part in parts_given[:MOST_PARTS])
    shares = (f"{percent:g} % of ∂{source}" for source, percent in percents)
    given = ", ".join(shares)  # in a narrow cell the name is cut, not the number
    given += " …" if len(parts_given) > MOST_PARTS else ""
    line = str(row.turns.line) if row.turns.line else ""
    if not row.turn:
        hidden = counted(len(row.places), "turn")
        return TurnWords(f"… {hidden}", "", "show them", given, line)
    upstream = gradients_words(trace, steps[row.first].upstream, value_of)
    op = f"turn {row.turn:,} of {row.turns.total:,}"
    return TurnWords(op, upstream, counted(len(rows), "step"), given, line)


def gradient_words(
    trace: Trace, tensor: TensorId, value_of: ValueOf, longest: int = LONGEST
) -> str:
    """The elements of a gradient if they are few, else the value that all have, else shape and
    norm."""
    known = trace.tensors.get(tensor)
    if known is not None and is_handle(known.dtype):
        return "list" if known.dtype == "variant" else known.dtype
    value = value_of(tensor)
    shape = shape_words(known.shape) if known else ""
    if value is not None and value.size > 1 and bool((value == value.flat[0]).all()):
        only = scalar_text(value.flat[0], 8)
        return f"zeros {shape}" if not value.flat[0] else f"{only} · ones {shape}"
    text = gradient_text(value, trace.stats(tensor), longest)
    if text.startswith("[") or not shape:
        return text or "scalar"
    return f"{shape} · {text}" if text and longest > SHORT else shape


def _narrow_words(trace: Trace, tensor: TensorId, value_of: ValueOf, longest: int = LONGEST) -> str:
    """The words of :func:`gradient_words` in a short form: ``0.00264``, ``all 0.25``, ``norm
    52.4``."""
    value, words = value_of(tensor), gradient_words(trace, tensor, value_of, longest)
    if value is not None and value.dtype.kind == "f" and value.size:
        if value.ndim and value.size > 1 and bool((value == value.flat[0]).all()):
            return f"all {value.flat[0]:.3g}" if value.flat[0] else words
        if value.ndim == 0:
            return min(scalar_text(value[()]), f"{value[()]:.3g}", key=len)
    if value is not None and words.startswith("["):
        return rounded_text(value, NARROW) or gradient_text(value, trace.stats(tensor), NARROW)
    return words.rpartition(" · ")[2]


def inner_words(trace: Trace, call: Call) -> str:
    """Say how the steps inside of compiled ops are known; empty if none are shown."""
    found = {
        agreement(trace, call.steps[at], inner)
        for at, inner in call.inner.items()
        if not trouble_of(trace, call.steps[at], inner)
    }
    worst = next((word for word in ("unknown", "near", "equal") if word in found), "")
    if not worst:
        return ""
    return f"Steps inside of compiled code were computed after the run{_AGREEMENT[worst]}."
