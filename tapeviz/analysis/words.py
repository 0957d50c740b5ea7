"""A cause in, what to tell the user out: what happened, where, why, and what to do."""

from __future__ import annotations

from collections.abc import Callable

from ..trace.op_kinds import ops_with
from .model import Cause

Words = Callable[[Cause, str, str], str]


def _op(cause: Cause) -> str:
    """The op in the snippet's own words, else by TensorFlow's name for its type."""
    return cause.detail.get("words", cause.op)


def _probably(cause: Cause) -> str:
    return "probably " if cause.is_probable else ""


def _assign(cause: Cause, target: str, source: str) -> str:
    name = cause.detail.get("variable", "a variable")
    return (
        f"Line {cause.line} {_probably(cause)}writes a value into the variable {name}; "
        f"a tape records operations on tensors, and a write to a variable is not one. "
        f"So {target} depends on {name}, but nothing links {name} back to {source}. "
        f"Use the assigned tensor itself instead of reading it back from {name}."
    )


def _new_variable(cause: Cause, target: str, source: str) -> str:
    name = cause.detail.get("variable", "a new variable")
    return (
        f"Line {cause.line} makes a new tf.Variable ({name}) out of a computed value. "
        f"A variable starts from a copy of the number and does not remember where it came from, "
        f"so the way back to {source} ends there. "
        f"Make variables before the tape, and keep the computed value a tensor."
    )


def _left(cause: Cause, target: str, source: str) -> str:
    how = cause.detail.get("how", "numpy")
    return (
        f"On line {cause.line} the value {_probably(cause)}leaves TensorFlow ({_leaving(how)}) "
        f"and comes back as a plain number. "
        f"The tape sees only a constant, which has no link to {source}. "
        f"Stay with tf operations between {source} and {target}."
    )


def _leaving(how: str) -> str:
    known = {
        "numpy": "by .numpy()",
        "float": "by float()",
        "int": "by int()",
        "complex": "by complex()",
        "index": "as an index",
        "array": "into a NumPy array",
        "item": "by .item()",
        "tolist": "by .tolist()",
        "format": "into text",
        "str": "into text",
        "predict": "by predict(), which gives NumPy arrays",
        "get_weights": "by get_weights(), which gives NumPy arrays",
        "predict_on_batch": "by predict_on_batch(), which gives NumPy arrays",
        "evaluate": "by evaluate(), which gives plain numbers",
        "test_on_batch": "by test_on_batch(), which gives plain numbers",
        "train_on_batch": "by train_on_batch(), which gives plain numbers",
        "numpy_function": "into tf.numpy_function",
        "buffer": "into a NumPy function",
    }
    return known.get(how, f"into {how}" if "." in how else f"by {how}")


def _stateful(cause: Cause, target: str, source: str) -> str:
    what = {
        "dataset": "a dataset, which gives out copies of what it was made from",
        "metric": "a metric, which keeps it in variables",
        "array": "a TensorArray, and what write() gives back is dropped",
    }.get(cause.detail.get("what", ""), "an object that keeps a copy of it")
    return (
        f"Line {cause.line} puts the value into {what}. "
        f"A tape follows tensors from op to op, not through the state of an object, so the way "
        f"from {target} back to {source} ends there. "
        f"{_instead_of_object(cause.detail.get('what', ''))}"
    )


def _instead_of_object(what: str) -> str:
    return {
        "metric": "Compute the loss with tf operations, and give the metric its result.",
        "array": "Keep the result: ta = ta.write(…).",
        "dataset": "Compute with the tensor itself, and keep datasets for the input.",
    }.get(what, "Compute with the tensor itself.")


def _not_watched(cause: Cause, target: str, source: str) -> str:
    how = cause.detail.get("how")
    if how == "late":
        return (
            f"Line {cause.line} watches {source} only after it had been used. "
            f"A tape follows a tensor from the moment it is watched. "
            f"Call watch before the first operation that uses {source}."
        )
    if how == "non-trainable":
        return (
            f"{source} (line {cause.line}) is a variable with trainable=False. "
            f"A tape watches only trainable variables by itself. "
            f"Call watch on it inside the tape's block, or make it trainable."
        )
    if how == "tape":
        return (
            f"Line {cause.line} makes the tape with watch_accessed_variables=False, so it follows "
            f"no variable by itself, and no one asked it to watch {source} "
            f"(line {cause.detail['made']}). Call watch on {source} inside the tape's block, or "
            f"leave the argument out."
        )
    if how == "unread":
        return (
            f"{source} (line {cause.line}) was read while the tape did not record, so the tape "
            f"does not follow it. Call watch on it inside the tape's block."
        )
    return (
        f"{source} (line {cause.line}) is a plain tensor, and no one asked the tape to watch it. "
        f"Tapes follow trainable variables by themselves, other tensors only after watch. "
        f"Call watch({source}) at the start of the tape's block, or make it a tf.Variable."
    )


def _outside(cause: Cause, target: str, source: str) -> str:
    if cause.detail.get("where") == "reset":
        return (
            f"Line {cause.line} resets the tape: it forgets all that it has recorded, line "
            f"{cause.detail['ran']} among it. So this step between {source} and {target} is "
            f"missing. Take the reset away, or do it before line {cause.detail['ran']}."
        )
    where = {
        "before": "before the tape's block began",
        "after": "after the tape's block had ended",
        "stop_recording": "while the tape did not record (stop_recording)",
        "paused": "while recording was stopped",
    }.get(cause.detail.get("where", ""), "outside the tape's block")
    return (
        f"Line {cause.line} ran {where}. "
        f"A tape knows only what runs while it records, so this step between {source} and "
        f"{target} is missing. Move the line into the tape's block."
    )


def _stop(cause: Cause, target: str, source: str) -> str:
    if "others" in cause.detail:
        return (
            f"Line {cause.line} calls tf.stop_gradient on one way from {target} back to {source}, "
            f"and the other ways are cut, too. "
            f"It passes the value on and no gradient: take it away, or mend another way."
        )
    return (
        f"Line {cause.line} calls tf.stop_gradient, and every way from {target} back to {source} "
        f"leads through it. It passes the value on and keeps every gradient back. "
        f"Take it away, or take it off the part that {source} should learn from."
    )


_PLACES = ops_with("position")
_QUESTIONS = ops_with("question")
_FORMS = ops_with("shape")
_DRAWS = ops_with("draw")


def _flat(cause: Cause, target: str, source: str) -> str:
    every = "One way" if "others" in cause.detail else "Every way"
    rest = ", and the other ways are cut, too" if "others" in cause.detail else ""
    return (
        f"{every} from {source} to {target} leads through {_op(cause)} on line {cause.line}{rest}. "
        f"{_why_flat(cause)} "
        f"Use a smooth operation in its place, or estimate its gradient with tf.custom_gradient."
    )


def _why_flat(cause: Cause) -> str:
    op, error = cause.op, cause.detail.get("error", "")
    if "no entry" in error or "LookupError" in error:
        return f"TensorFlow has no gradient function for {op}."
    if op in _PLACES:
        return "It gives positions, and a position jumps from one whole number to the next."
    if op in _QUESTIONS:
        return "It answers true or false, and in between there is nothing to follow."
    if op in _FORMS:
        return "It looks at how many elements there are, not at their values."
    if op in _DRAWS or op.startswith(("Random", "StatelessRandom")):
        return "It draws at random, and a draw has no derivative."
    return "It jumps from value to value and is level in between, so there is no slope to follow."


def _integer(cause: Cause, target: str, source: str) -> str:
    dtype = cause.detail.get("dtype", "integer")
    if dtype == "string":
        return (
            f"On line {cause.line} the value becomes text. "
            f"Text has no derivative, and a number read from it is a new one to the tape. "
            f"Keep the value a float tensor on the way to {target}."
        )
    if cause.op:
        return (
            f"Line {cause.line} turns the value into {dtype}. "
            f"Gradients exist for real and complex numbers only, so the tape stops here. "
            f"Leave that out on the way to {target}, or stay with a float dtype."
        )
    return (
        f"On line {cause.line} the value is of dtype {dtype}. "
        f"Gradients exist for real and complex numbers only, so the tape stops here. "
        f"Use a float dtype such as tf.float32 (write 3.0 for 3)."
    )


def _replaced(cause: Cause, target: str, source: str) -> str:
    words = {
        "copy": (
            f"Line {cause.line} makes a new tensor from what {target} was computed from; "
            f"{target} does not depend on the new one. "
            f"Ask for the gradient of the original, and slice or copy the result."
        ),
        "lost": (
            f"{source} was a tf.Variable until line {cause.line} gave its name to a plain tensor. "
            f"Tapes follow trainable variables by themselves, other tensors only after watch. "
            f"Change the variable in place with {source}.assign(…), so that it stays one."
        ),
        "cloned": (
            f"Line {cause.line} makes a copy that has variables of its own, and {target} was "
            f"computed with those of the copy. A change of {source} would not change {target}. "
            f"Ask for the variables of the copy, or compute with the original."
        ),
        "kept": (
            f"Line {cause.line} ran under an earlier tape, and its result was kept until now. "
            f"Each tape knows only what ran in its own block, so it sees a constant here. "
            f"Compute it again inside the block."
        ),
        "made-again": (
            f"Line {cause.line} makes a new layer or variable each time it runs, so {target} was "
            f"computed with other weights than {source}. "
            f"Make it once, outside of what is called again and again, and keep it."
        ),
    }
    return words.get(
        cause.detail.get("how", ""),
        f"Line {cause.line} gives the name {source} to another tensor, and {target} was computed "
        f"from the one before it. The gradient asked for is that of the new tensor. "
        f"Keep the first tensor under a name of its own and ask for that.",
    )


def _not_connected(cause: Cause, target: str, source: str) -> str:
    words = {
        "constant": (
            f"{target} is a constant: no operation on any tensor made it. "
            f"A number that Python chose, say by an if, has no derivative. "
            f"Compute {target} from {source} with tf operations."
        ),
        "swapped": (
            f"{source} was computed from {target}, not the other way round. "
            f"gradient(target, sources) takes what was computed first, then what it was computed "
            f"from. Swap the two."
        ),
        "statistics": (
            f"{target} was not computed from {source}, which is not trainable: it only keeps "
            f"statistics. Ask for trainable_variables."
        ),
    }
    return words.get(
        cause.detail.get("how", ""),
        f"{target} was not computed from {source}. {_two_ends(cause, target, source)}",
    )


def _two_ends(cause: Cause, target: str, source: str) -> str:
    """Where the way from the source ends, and what the target is made from."""
    reaches, line = cause.detail.get("reaches"), cause.detail.get("target_line")
    place = f"{target} (line {line})" if line and line != "0" else target
    made_from = cause.detail.get("made_from") or "constants"
    other = f"{place} is made from {made_from} alone"
    if not reaches:
        return (
            f"Nothing that ran while the tape recorded uses {source}, and {other}. "
            f"Use {source} on the way to {target}, or ask for what {target} is made from."
        )
    if cause.detail.get("decides"):
        return (
            f"{source} reaches {reaches} (line {cause.detail['reaches_line']}), which decides what "
            f"runs and gives no number; {other}. "
            f"Compute {target} from {source} itself."
        )
    return (
        f"{source} reaches {reaches} (line {cause.detail['reaches_line']}) and nothing after it; "
        f"{other}. Use {reaches} on the way to {target}, if that was meant."
    )


def _custom(cause: Cause, target: str, source: str) -> str:
    name = cause.detail.get("function", "the function")
    if cause.detail.get("how") == "captured":
        return (
            f"{name} brings its own gradient, and what it makes of {source} it uses without being "
            f"given it as an argument. TensorFlow asks such a function for the gradients of its "
            f"arguments and variables only. Make it an argument of {name}."
        )
    return (
        f"The tf.custom_gradient function {name} gave None for this input (line {cause.line}). "
        f"TensorFlow takes what that function returns as it is. "
        f"Return a gradient for every input that should have one."
    )


def _saturated(cause: Cause, target: str, source: str) -> str:
    return (
        f"{_op(cause)} on line {cause.line} is {_probably(cause)}flat at these values, so what "
        f"arrives there is multiplied by a slope of exactly 0. "
        f"The gradient is connected, but nothing of it reaches {source}. "
        f"Keep the values inside the range where {_op(cause)} has a slope."
    )


def _flat_op(cause: Cause, target: str, source: str) -> str:
    return (
        f"{_op(cause)} on line {cause.line} has a derivative of 0 everywhere, and TensorFlow gives "
        f"zeros for it rather than None. So nothing of the gradient reaches {source}. "
        f"Use a smooth operation there, or give it an estimate by tf.custom_gradient."
    )


def _cancelled(cause: Cause, target: str, source: str) -> str:
    return (
        f"At line {cause.line} ({_op(cause) or 'a sum'}) contributions of opposite sign add up to "
        f"exactly 0. The gradient of {target} by {source} is zero because {target} does not "
        f"change when {source} does, as with the sum of a softmax. "
        f"Differentiate something that does depend on {source}."
    )


def _by_zero(cause: Cause, target: str, source: str) -> str:
    if cause.detail.get("how") == "given":
        return (
            f"The output_gradients given on line {cause.line} are all 0. "
            f"The backward pass starts from them, so everything it computes is 0."
        )
    if cause.detail.get("how") == "empty":
        return (
            f"{_op(cause)} on line {cause.line} takes no element at all of what it is given. "
            f"So {target} is made from nothing of {source}, and the gradient is 0 everywhere. "
            f"Look at the mask or the indices there."
        )
    return (
        f"{_op(cause)} on line {cause.line} {_probably(cause)}multiplies by a value that is 0 "
        f"everywhere. "
        f"The gradient is multiplied by the same zeros on its way to {source}. "
        f"Look at the weight or mask that is 0 there."
    )


def _nonfinite(cause: Cause, target: str, source: str) -> str:
    how, value = cause.detail.get("how"), cause.detail.get("value")
    if cause.is_probable:
        return (
            f"NaN or infinity comes from inside a compiled function or a loop, probably from "
            f"{_op(cause)} on line {cause.line}: at some values its result or its slope is "
            f"infinite or undefined. Keep its input away from those, or run the function with "
            f"tf.config.run_functions_eagerly(True) to see each value."
        )
    op = f"{_op(cause)} on line {cause.line}"
    if "number" in cause.detail:
        op = f"In call {cause.detail['number']} of {cause.detail['calls']}, {op}"
    if how == "given":
        return (
            f"The output_gradients given on line {cause.line} are NaN or infinite. "
            f"The backward pass starts from them, and so it spreads to {source}."
        )
    if how == "input":
        return (
            f"{op} works with a value that is NaN or infinite already: {cause.detail['origin']}. "
            f"Its backward pass is the first that brings this into the gradient, and from there it "
            f"spreads to {source}. Look for the value's own cause first."
        )
    if how == "overflow":
        return (
            f"The gradient that {op} gives is too large for {cause.detail['dtype']}, which ends at "
            f"{cause.detail['most']}, and becomes infinite. From there it spreads to {source}. "
            f"Scale the loss down, or compute this part in float32."
        )
    got = f" got {value}, where its" if value else "'s"
    if how == "output":
        return (
            f"{op}{got} result is NaN or infinite, and its backward pass is the first to give "
            f"such numbers. From there they spread to {source}. "
            f"Keep its input where the result is finite."
        )
    remedy = "Keep its input away from that point."
    if how == "masked":
        remedy = (
            "What arrives there is 0, as behind a tf.where that takes its other branch, but 0 "
            "times infinity is NaN: choose a harmless input before the operation, too."
        )
    return (
        f"{op}{got} slope is infinite or undefined: its backward pass is the first to turn finite "
        f"numbers into NaN or infinity. From there they spread to {source}. {remedy}"
    )


WORDS: dict[str, Words] = {
    "saturated": _saturated,
    "flat-op": _flat_op,
    "cancelled": _cancelled,
    "multiplied-by-zero": _by_zero,
    "nonfinite": _nonfinite,
    "assign": _assign,
    "stateful": _stateful,
    "new-variable": _new_variable,
    "left-tensorflow": _left,
    "not-watched": _not_watched,
    "outside-tape": _outside,
    "stop-gradient": _stop,
    "not-differentiable": _flat,
    "integer": _integer,
    "replaced-source": _replaced,
    "not-connected": _not_connected,
    "custom-gradient": _custom,
}


def explain(cause: Cause, target: str, source: str) -> str:
    """At most three plain sentences about this cause, for this target and source."""
    words = WORDS.get(cause.kind)
    return words(cause, target, source) if words else ""
