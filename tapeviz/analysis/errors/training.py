"""Explain exceptions of optimizers, layers and models."""

from __future__ import annotations

from .case import Case

_NOT_CONNECTED = (
    "The loss is not connected to these variables on the tape. "
    "Look at the gradients of this run: each None is explained with the line that cuts it."
)


def no_pairs(case: Case) -> str:
    if "apply_gradients" not in case.code:
        return ""
    if "got 0" in case.failure.message:
        return _nothing_applied(case)
    return (
        "apply_gradients was not given pairs of a gradient and its variable. "
        "An optimizer has to know which gradient belongs to which variable. "
        "Write optimizer.apply_gradients(zip(gradients, variables))."
    )


def _nothing_applied(case: Case) -> str:
    """An empty list: no variables were asked for, or all gradients were None and left out."""
    calls = [call for call in case.trace.calls if call.ended]
    if calls and not calls[-1].sources:
        return (
            f"apply_gradients was given an empty list: the list of variables that line "
            f"{calls[-1].line} takes the gradients of is empty. A model that does not know the "
            f"shape of its input has no variables before its first call: read "
            f"model.trainable_variables after that call, or give it a tf.keras.Input(shape)."
        )
    if calls and set(calls[-1].results) == {None}:
        return (
            "apply_gradients was given an empty list: every gradient is None, and was left out. "
            + _NOT_CONNECTED
        )
    return (
        "apply_gradients was given an empty list. It needs at least one pair of a gradient and its "
        "variable."
    )


def no_gradients(case: Case) -> str:
    return (
        "Every gradient that the optimizer was given is None, so there is nothing to apply. "
        + _NOT_CONNECTED
    )


def none_used(case: Case) -> str:
    if case.missing is None:
        return ""
    call, missing = case.missing
    return (
        f"Line {case.failure.line} uses a gradient that is None: line {call.line} gave none for "
        f"{', '.join(missing[:3]) or 'its source'}. "
        f"None means that the tape found no way from the target back to the source. "
        f"The explanation of that gradient names the line where the way is cut."
    )


def no_source(case: Case) -> str:
    return (
        f"Line {case.failure.line} asks a layer or model for something that it gets only when it "
        f"is first called with data. Call it once on an input, or give it tf.keras.Input(shape) "
        f"first."
    )


def no_method(case: Case) -> str:
    """A method of optimizers that Keras 3 dropped."""
    owner, name = case.match[1], case.match[2]
    if name not in ("minimize", "get_gradients", "compute_gradients", "get_updates"):
        return ""
    return (
        f"Optimizers of Keras 3 have no {name}, and {owner} is one of them: they apply gradients, "
        f"they do not compute any. "
        f"Compute the loss inside with tf.GradientTape() as tape:, take tape.gradient(loss, "
        f"variables), then call optimizer.apply_gradients(zip(gradients, variables))."
    )
