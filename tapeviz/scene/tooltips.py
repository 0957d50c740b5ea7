"""Write the plain text of the tooltips of nodes, tensors and causes."""

from __future__ import annotations

from collections.abc import Iterable

from ..analysis.findings import Cause
from ..analysis.inside_words import DOUBT_WORDS, doubt_about, inside_words, run_words
from ..analysis.model import CallDiagnosis
from ..graph.model import Node
from ..trace.ids import TensorId
from ..trace.model import Trace
from ..trace.stats import Stats
from .parts.numbers import type_text
from .text import clean, shorten

_LONGEST = 120


def node_tooltip(node: Node, trace: Trace, has_stats: bool = True) -> str:
    """Title, subtitle, value and line of the snippet.

    ``has_stats``: include the statistics of an array, which read every element.
    """
    lines = [clean(node.title)]
    if node.subtitle:
        lines.append(clean(node.subtitle))
    if node.role == "group" and node.name not in ("", node.title):
        lines.append(f"named {clean(node.name)} by Keras")
    if node.tensor is not None:
        lines.append(tensor_words(node.tensor, trace, has_stats))
    op = trace.op(node.op)
    if node.role == "group" and op is not None and op.runs:
        lines += [run_words(trace, op), inside_words(trace, op)]
    else:
        lines.append(DOUBT_WORDS.get(doubt_about(trace, node.tensor), ""))
    if node.role in ("op", "group") and not node.is_recorded:
        lines.append("no tape recorded it")
    lines.append(source_line(trace, node.line))
    return "\n".join(_unique(lines))


def tensor_words(tensor: TensorId, trace: Trace, has_stats: bool = True) -> str:
    """``y: float32 2×2, min 0, max 4, mean 1.5``; of a single element its value."""
    known = trace.tensors.get(tensor)
    if known is None:
        return ""
    name = next(iter(trace.names.get(tensor, ())), "")
    words = type_text(known.dtype, known.shape)
    if known.size == 1:
        value = trace.value(tensor)
        if value is not None and value.size:
            words += f" = {shorten(str(value.flat[0]), 40)}"
    elif has_stats:
        words += stats_words(trace.stats(tensor))
    return f"{clean(name)}: {words}" if name else words


def stats_words(stats: Stats | None) -> str:
    """``, min 0, max 4, mean 1.5, 2 NaN``; ``, norm 52.4`` or ``, norm ≈ 52.4`` where no more is
    known."""
    if stats is None:
        return ""
    known = ("min", stats.min), ("max", stats.max), ("mean", stats.mean)
    words = "".join(f", {name} {value:.4g}" for name, value in known if value is not None)
    if not stats.has_range:
        words = f", {stats.norm_words}"
    words += f", {stats.nan} NaN" if stats.nan else ""
    return words + (f", {stats.inf} infinite" if stats.inf else "")


def source_line(trace: Trace, line: int) -> str:
    """``line 5: x.assign(patch)``; empty without a line."""
    lines = trace.source.split("\n")
    if not 0 < line <= len(lines):
        return f"line {line}" if line else ""
    return f"line {line}: {shorten(lines[line - 1].strip(), _LONGEST, 'end')}"


def cause_tooltip(cause: Cause, shown: CallDiagnosis, trace: Trace) -> str:
    """The cause in words, and the line to look at."""
    message = next((f.message for f in shown.findings if f.cause == cause), "")
    line = source_line(trace, cause.line)
    if not line and cause.code:
        line = clean(cause.code)
    return "\n".join(_unique([clean(message) or f"cut: {cause.kind}", line]))


def _unique(lines: Iterable[str]) -> list[str]:
    return [line for line in dict.fromkeys(lines) if line]
