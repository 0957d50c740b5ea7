"""Write the titles and subtitles of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..text.op_words import friendly, function_words
from ..trace.ids import TensorId, VariableId
from ..trace.model import Trace
from ..trace.ops import Op
from ..trace.sites import Site
from ..trace.state import writes_state
from ..trace.variables import Variable, Version
from ..wording import counted

_PRIMES = ("", "′", "″", "‴")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LONGEST_NUMBER = 9
_Rank = tuple[bool, bool, int, bool]
_WRITES = {"AssignAddVariableOp": "assign_add", "AssignSubVariableOp": "assign_sub"}


def write_word(op_type: str) -> str:
    """A word for a write of this op type: ``assign_add``, ``scatter update``, ``Adam``."""
    if op_type.startswith("ResourceScatter"):
        kind = op_type.removeprefix("ResourceScatter").removeprefix("Nd")
        return f"scatter {kind.lower() or 'update'}"
    if "Apply" in op_type:
        return op_type.removeprefix("Resource").removeprefix("Sparse").removeprefix("Apply")
    return _WRITES.get(op_type, "assign")


def shape_words(shape: Sequence[int | None] | None) -> str:
    """``2×3``; ``?`` for an unknown size or rank; empty for a scalar."""
    if shape is None:
        return "?"
    return "×".join("?" if size is None else str(size) for size in shape)


def joined(parts: Iterable[str]) -> str:
    return " · ".join(part for part in parts if part)


def line_words(line: int) -> str:
    return f"line {line}" if line else ""


def version_name(name: str, index: int) -> str:
    """``x``, ``x′``, ``x″``, ``x‴``, then ``x⁽⁴⁾``."""
    if index < len(_PRIMES):
        return name + _PRIMES[index]
    return f"{name}⁽{str(index).translate(_SUPERSCRIPTS)}⁾"


def ranked_names(trace: Trace) -> dict[TensorId, tuple[str, ...]]:
    """The names of each tensor, the best one first.

    The name by which a gradient of it was asked for comes first, as the diagnosis says it. Plain
    names (``y``) come before those with keys (``c[0]``), then names bound by fewer nested calls
    before others: the name of a caller says more than that of a parameter. Of calls in a compiled
    function not all are known: names bound where the tensor was made come before those.
    """
    asked = {target.tensor: target.text for call in trace.calls for target in call.targets}
    ranks: dict[TensorId, dict[str, _Rank]] = {}
    for binding in trace.bindings:
        depth, function = len(binding.site.frames), _function_of(binding.site)
        for tensor, name in binding.tensors:
            known = ranks.setdefault(tensor, {})
            maker = trace.maker(tensor)
            is_others = maker is None or _function_of(maker.site) != function
            rank = (asked.get(tensor) != name, not name.isidentifier(), depth, is_others)
            known[name] = min(rank, known.get(name, rank))

    def rank_of(tensor: TensorId) -> Callable[[str], _Rank]:
        known = ranks.get(tensor, {})
        return lambda name: known.get(name, (True, True, 0, True))

    return {
        tensor: names if len(names) == 1 else tuple(sorted(names, key=rank_of(tensor)))
        for tensor, names in trace.names.items()
    }


def _function_of(site: Site) -> str:
    return site.frames[0].function if site.frames else ""


def user_name(trace: Trace, tensor: TensorId) -> str:
    """The first of a tensor's names in the snippet; empty if it has none (``_`` is none)."""
    return next((name for name in trace.names.get(tensor, ()) if name != "_"), "")


def version_words(
    trace: Trace, version: Version, name: str, first: int = 0, is_written: bool = True
) -> tuple[str, str]:
    """Title and subtitle of a version of the variable ``name``.

    ``first``: the first version in the picture; ``is_written``: the write that made this version
    is in the picture.
    """
    variable = trace.variables[version.variable]
    title = version_name(name, version.index - first)
    shape = shape_words(variable.shape)
    if version.index == 0:
        return title, joined(("Variable", shape))
    if not is_written:
        return title, updates_words(variable, version.index)
    line = version_line(trace, version)
    return title, joined((f"after line {line}" if line else "after assign", shape))


def updates_words(variable: Variable, updates: int) -> str:
    """The subtitle of a variable whose writes are not in the picture."""
    return joined((f"after {counted(updates, 'update')}", shape_words(variable.shape)))


def version_line(trace: Trace, version: Version) -> int:
    """The line that made this version: of its write, or of the variable's creation."""
    if version.index and version.op is not None and version.op in trace.ops:
        return trace.ops[version.op].line
    return trace.variables[version.variable].site.line


def op_words(trace: Trace, op: Op, kind: str = "") -> tuple[str, str]:
    """Title and subtitle of an op; the title is the user's name of its output, else its type.

    ``kind``: the type that it is drawn as, if not as its own.
    """
    names = [name for name in (user_name(trace, output) for output in op.outputs) if name]
    tensor = trace.tensors.get(op.outputs[0]) if op.outputs else None
    shape = shape_words(tensor.shape) if tensor is not None else ""
    kind = function_words(op.function) or friendly(kind or op.type)
    if names:
        return ", ".join(dict.fromkeys(names)), joined((kind, shape))
    return kind, joined((shape, line_words(op.line)))


UNNAMED = ("constant", "Const")
"""Titles of constants that have no name, as a value and as an op."""


def constant_words(trace: Trace, tensor: TensorId) -> tuple[str, str]:
    """Title and subtitle of a value that no op made; the title is its name, else its value."""
    known = trace.tensors.get(tensor)
    shape = shape_words(known.shape) if known is not None else "?"
    name = user_name(trace, tensor)
    number = number_words(trace, tensor)
    if name:
        return name, shape or number or "constant"
    return (number, "") if number else (UNNAMED[0], shape)


def number_words(trace: Trace, tensor: TensorId) -> str:
    """A scalar as text; empty for other tensors, and if the value stayed in the kernel."""
    known = trace.tensors.get(tensor)
    if known is None or known.shape != ():
        return ""
    value = trace.value(tensor)
    if value is None:
        return ""
    text = str(value[()])
    if len(text) > _LONGEST_NUMBER and value.dtype.kind == "f":
        return f"{float(np.float64(value[()])):.4g}"
    return text if len(text) <= 2 * _LONGEST_NUMBER else text[: 2 * _LONGEST_NUMBER] + "…"


def is_assign(trace: Trace, op: Op) -> bool:
    """Whether the op writes the state of a variable that the trace knows."""
    return bool(op.inputs) and writes_state(op.type) and VariableId(op.inputs[0]) in trace.variables
