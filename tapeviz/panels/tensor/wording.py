"""Write a line about a tensor, and the Python code of its values."""

from __future__ import annotations

import math

import numpy as np

from ...analysis.inside_words import DOUBT_WORDS, call_around, inside_words
from ...document import Document
from ...graph.words import shape_words
from ...trace.ids import TensorId
from ...trace.stats import Array, Stats

LONGEST_COPY = 200_000


def about_words(document: Document, tensor: TensorId | None, is_gradient: bool) -> str:
    """``loss · round 7``, ``Gradient of loss (step 3) · round 7``."""
    node, number = document.links.node_of_tensor(tensor), document.step
    if number and document.links.selection_at(document.steps[number - 1]).tensor != tensor:
        number = None  # something else was selected since
    if node is not None:
        title = document.links.nodes[node].title
    elif tensor is not None and number:  # the step's tensor has no box
        title = document.steps[number - 1].title
    else:
        return ""
    what = "Gradient of " if is_gradient else ""
    step = f" (step {number})" if number else ""
    return f"{what}{title}{step}{round_words(document)}"


def round_words(document: Document) -> str:
    shown = document.function_calls.shown
    if document.site is None and shown is not None and shown.count > 1:
        return f" · call {shown.number:,}"
    return f" · round {document.round:,}" if document.site is not None else ""


def missing_words(tensor: TensorId | None) -> str:
    if tensor is None:
        return "Click a node, a line or a step to look at its values."
    return "No gradient reached this tensor in the call that is shown."


def unknown_words(document: Document, tensor: TensorId) -> str:
    """Why a value inside of a compiled call is not known."""
    trace = document.trace
    call = call_around(trace, tensor)
    if call is None or call.inside is None or call.inside.has_run:
        words = DOUBT_WORDS["unknown"]
        return f"{words[0].upper()}{words[1:]}."
    return inside_words(trace, call)


HANDLE = "This tensor stands for a list of tensors, a dataset or a variable. It has no elements."


def gone_words(document: Document, tensor: TensorId) -> str:
    """Why the values of a tensor that did not travel cannot be fetched."""
    known = document.trace.tensors.get(tensor)
    if tensor in document.trace.unread:
        return "Nothing read all of the variable here: the snippet looked up some of its rows."
    if document.runs.recording is None or known is None or known.kept:
        return "The values stayed in the run’s process, which is gone."
    return "The values are larger than what is kept in memory of a run: there are statistics only."


def as_code(array: Array) -> str:
    """Python code for the same array, exact to the last bit; of huge ones the middle is left
    out."""
    if array.size > LONGEST_COPY:
        text = np.array_repr(array)
    else:
        with np.printoptions(threshold=array.size + 1, floatmode="unique"):
            text = np.array_repr(array, max_line_width=100)
    for name in ("array(", "nan", "inf"):
        text = text.replace(name, f"np.{name}")
    return text.replace("dtype=", "dtype=np.") if "dtype=" in text else text


def describe(dtype: str, shape: tuple[int | None, ...] | None, stats: Stats | None) -> str:
    """``float32 · 2×3 · min 1 · max 52 · mean 18.3 · finite``."""
    parts = [dtype, shape_words(shape) or "scalar"]
    if stats is not None:
        has_range = shape is None or math.prod(size or 0 for size in shape) > 1
        if has_range and stats.min is not None and stats.max is not None and stats.mean is not None:
            parts += [f"min {stats.min:.4g}", f"max {stats.max:.4g}", f"mean {stats.mean:.3g}"]
        if not stats.has_range:
            parts.append(stats.norm_words)
        wrong = [f"{n} {name}" for n, name in ((stats.nan, "NaN"), (stats.inf, "Inf")) if n]
        parts.append(", ".join(wrong) or "finite")
    return " · ".join(part for part in parts if part)
