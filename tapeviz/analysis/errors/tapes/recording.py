"""Explain exceptions of tapes that do not record, and of what they are told to watch."""

from __future__ import annotations

import ast

from ..case import Case


def second_use(case: Case) -> str:
    call, tape = case.call, case.tape
    before = [
        other
        for other in case.trace.calls
        if call is not None and other.id < call.id and other.tape == call.tape
    ]
    if not before:
        return (
            f"{tape} was asked for a gradient before it had recorded anything. "
            f"A tape records what runs inside its with block, and no such block was entered. "
            f"Put the computation into with tf.GradientTape() as tape:, and ask when it is done."
        )
    where = f"line {before[-1].line}"
    where = "this same line" if before[-1].line == case.failure.line else where
    return (
        f"{tape} was asked for a second gradient, after the one on {where}. "
        f"A tape forgets what it recorded as soon as it has answered once. "
        f"Ask for all sources in one call, as in tape.gradient(y, [a, b]), or make the tape with "
        f"tf.GradientTape(persistent=True)."
    )


def _watched(case: Case) -> str:
    """The argument of ``watch`` on the failing line, as it is written."""
    return case.argument(0, "watch") or "what was given"


def symbolic_watch(case: Case) -> str:
    return (
        f"{_watched(case)} is the model's symbolic input: it describes what will be fed, and holds "
        f"no numbers. A tape can only watch tensors with values. "
        f"Watch the tensor that you call the model with: tape.watch(x), then model(x)."
    )


def keras_watch(case: Case) -> str:
    return (
        f"{_watched(case)} is a Keras variable, an object around TensorFlow's own variable, which "
        f"watch does not know. A trainable one needs no watch: the tape follows it by itself. "
        f"For others write tape.watch(v.value)."
    )


def no_tensor_watch(case: Case) -> str:
    return (
        f"{_watched(case)} is of the Python type {case.match[1]}, and a tape can only watch "
        f"tensors. "
        f"A plain number or array takes no part in TensorFlow's operations until it is converted. "
        f"Make it a tensor first, as in x = tf.constant(3.0), then watch x."
    )


def never_entered(case: Case) -> str:
    return (
        f"Line {case.line} uses a tape that is not recording. "
        f"A tape starts with its block, as in with tf.GradientTape() as tape:. "
        f"Move the line into the block."
    )


def not_recording(case: Case) -> str:
    """``reset`` or ``stop_recording`` of a tape that was not entered, has ended or is paused."""
    asked = case.calling("reset") or case.calling("stop_recording")
    method = method_called(asked)
    name = case.text.segment(method.value) if method is not None else ""
    tapes = [tape for tape in case.trace.tapes.values() if name and tape.name == name]
    ends = {tape.intervals[-1].why_end if tape.intervals else "" for tape in tapes}
    if ends == {""}:
        return never_entered(case)
    called = f"{method.attr}()" if method is not None else "a method"
    does = "forgets what was recorded so far, and records on" if "reset" in called else "pauses it"
    begin = f"Line {case.line} calls {called} of a tape that does not record"
    pause, is_inside = _blocks_around(case, name)
    if pause:
        return (
            f"{begin}, for stop_recording() on line {pause} pauses it. "
            f"{called} {does}, so call it before that block or after it."
        )
    if ends == {"exit"} and not is_inside:
        why = "for its block has ended"
    elif ends == {"gradient"}:
        why = "for it has given a gradient, and it is not persistent"
    else:
        why = "as before and after its block, while it is paused, or when it has given a gradient"
    return (
        f"{begin}, {why}. {called} {does}, so it belongs in the block. "
        f"Leave the line out here; for another recording open another tape."
    )


def method_called(node: ast.AST | None) -> ast.Attribute | None:
    """The ``tape.gradient`` of ``tape.gradient(y, x)``; None for other nodes."""
    called = node.func if isinstance(node, ast.Call) else None
    return called if isinstance(called, ast.Attribute) else None


def _blocks_around(case: Case, tape: str) -> tuple[int, bool]:
    """The line of the innermost block around the failure that pauses a tape of that name, 0
    without; and whether the failure is in a block that enters such."""
    lines, pause, is_inside = case.failure.lines or (case.failure.line,), 0, False
    blocks: list[ast.With | ast.AsyncWith] = [*case.nodes(ast.With), *case.nodes(ast.AsyncWith)]
    for node in blocks:
        first, last = node.body[0].lineno, node.body[-1].end_lineno or 0
        if not any(first <= line <= last for line in lines):
            continue
        for item in node.items:
            entered = item.context_expr
            method = method_called(entered)
            if method is not None and method.attr == "stop_recording":
                pause = max(pause, node.lineno if case.text.segment(method.value) == tape else 0)
            bound = item.optional_vars or entered
            is_inside |= case.text.segment(bound) == tape
    return pause, is_inside
