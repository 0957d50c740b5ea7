"""Write the short texts in the table of a backward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..analysis.model import WalkStep
from ..graph.words import shape_words
from ..trace.model import Array, Call, Replay, Step, TensorId, Trace
from ..trace.op_kinds import ops_with
from .parts.numbers import gradient_text, scalar_text

LONGEST = 26
SHORT = 10
"""Most characters of a single gradient, and of each of several."""
STEP_WORDS = {
    "op": "TensorFlow ran the gradient function of this op",
    "sum": "Several ops used this value: their shares are added",
    "stop": "The backward pass ends here",
    "inner": "Inside of a compiled op, whose gradients TensorFlow keeps to itself: computed again, "
    "after the run, by the gradient function of this op",
    "replayed": "Computed by TensorFlow from the recording, after the run",
}
_AGREEMENT = {
    "equal": "; they add up to TensorFlow’s own gradients, bit for bit",
    "near": "; they add up to TensorFlow’s own gradients, but for rounding",
    "differs": "; they do not add up to TensorFlow’s own gradients",
    "unknown": "",
}
ValueOf = Callable[[TensorId], Array | None]


def upstream_words(trace: Trace, step: WalkStep, value_of: ValueOf) -> str:
    """The upstream gradients of a step; for a sum the number of its shares."""
    if step.kind == "sum":
        return f"{len(step.upstream)} shares"
    return gradients_words(trace, step.upstream, value_of)


def gradients_words(trace: Trace, tensors: Sequence[TensorId | None], value_of: ValueOf) -> str:
    """The gradients of a step, at most four of them; ``–`` where there is none."""
    there = [tensor for tensor in tensors if tensor is not None]
    if not there:
        return "–"
    if len(there) == 1:
        return gradient_words(trace, there[0], value_of)
    texts = [gradient_words(trace, tensor, value_of, SHORT) for tensor in there[:4]]
    return " , ".join(texts) + (" …" if len(there) > 4 else "")


def gradient_words(
    trace: Trace, tensor: TensorId, value_of: ValueOf, longest: int = LONGEST
) -> str:
    """The elements of a gradient if they are few, else the value that all have, else shape and
    norm."""
    known = trace.tensors.get(tensor)
    value = value_of(tensor)
    shape = shape_words(known.shape) if known else ""
    if value is not None and value.size > 1 and bool((value == value.flat[0]).all()):
        only = scalar_text(value.flat[0], 8)
        return f"zeros {shape}" if not value.flat[0] else f"{only} · ones {shape}"
    text = gradient_text(value, trace.stats(tensor), longest)
    if text.startswith("[") or not shape:
        return text or "scalar"
    return f"{shape} · {text}" if text and longest > SHORT else shape


def inner_words(trace: Trace, call: Call) -> str:
    """Say how the steps inside of compiled ops are known; empty if none are shown."""
    if not call.inner:
        return ""
    found = {_agreement(trace, call.steps[at], replay) for at, replay in call.inner.items()}
    worst = next(word for word in ("differs", "unknown", "near", "equal") if word in found)
    return f"Steps inside of compiled code were computed after the run{_AGREEMENT[worst]}."


def _agreement(trace: Trace, step: Step, inner: Replay) -> str:
    """How the sums of the steps inside of an op compare with what TensorFlow gave."""
    op = trace.op(step.op)
    if op is None or op.type in ops_with("branch"):  # the inputs of a branch are what it gave
        return "unknown"
    found = set()
    for tensor, given in zip(op.inputs, step.downstream, strict=False):
        value, other = trace.value(given), trace.value(inner.results.get(str(tensor)))
        if value is None or other is None or value.shape != other.shape:
            continue
        slack = 1e-5 * float(np.max(np.abs(value), initial=0.0))
        is_near = np.allclose(value, other, 1e-5, slack, True)
        is_same = value.tobytes() == other.tobytes()
        found.add("equal" if is_same else "near" if is_near else "differs")
    return next((word for word in ("differs", "near", "equal") if word in found), "unknown")
