"""Explain exceptions of tapes, accumulators and custom gradients."""

from __future__ import annotations

import ast

from ...text.messages import first_words
from ...text.names import dotted
from ...text.statements import read_text
from ...trace.model import Call
from .case import Case


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


def no_tensor(case: Case) -> str:
    call = case.call
    if call is None:
        return ""
    kind = {"float": "a Python number", "int": "a Python number"}.get(case.match[1], "")
    kind = kind or ("a NumPy value" if "numpy" in case.match[1] else f"a {case.match[1]}")
    target, source = case.argument(0, call.method), case.argument(1, call.method)
    is_source = case.match[2] == "_id" and not any(
        operand.kind == "other" for operand in call.targets if operand.text
    )
    which, name = ("source", source) if is_source else ("target", target)
    if "KerasTensor" in kind:
        return (
            f"The {which} {name or 'given'} {_verb(name)} symbolic: it describes an output inside "
            f"of a Keras model, and holds no numbers. Make a tf.keras.Model that gives this output "
            f"beside that of the model, call it in the tape's block, and ask for what it gives."
        )
    if case.match[1] in _losses_made_of_tensors(case):
        return (
            f"The {which} {name or 'given'} is a loss of Keras, and not its value: labels and "
            f"predictions were given where its settings stand. Make the loss first and call it "
            f"then, as in {case.match[1]}()(labels, predictions)."
        )
    if "numpy" not in case.match[1] and case.match[1].strip("_").lower() not in _OF_PYTHON:
        return (
            f"The {which} {name or 'given'} {_verb(name)} {kind}, no tensor or variable. "
            f"A gradient is computed of tensors, by tensors and variables. Of a layer, model or "
            f"module give its variables: {name or 'layer'}.trainable_variables."
        )
    return _left(which, name, kind)


def _losses_made_of_tensors(case: Case) -> set[str]:
    """The classes of losses that the text gives several arguments by position."""
    nodes = ast.walk(case.text.tree) if case.text.tree is not None else ()
    calls = [node for node in nodes if isinstance(node, ast.Call) and len(node.args) > 1]
    paths = [dotted(call.func).rpartition(".") for call in calls]
    return {name for owner, _, name in paths if owner.endswith("losses") and name[:1].isupper()}


_OF_PYTHON = (
    *("bool", "bytes", "complex", "dict", "dictwrapper", "float", "function", "generator", "int"),
    *("list", "listwrapper", "method", "nonetype", "set", "str", "tuple", "tuplewrapper"),
)
"""Types of Python, and those that TensorFlow puts around them in attributes, in small letters."""


def no_batch(case: Case) -> str:
    """A target or source of batch_jacobian that is a single number: TensorFlow looks for the first
    element of its shape, ``[]`` (``batch_jacobian`` in backprop.py, 2.15-2.21)."""
    call = case.call
    if call is None or call.method != "batch_jacobian":
        return ""
    name = case.argument(0, call.method)
    return (
        f"batch_jacobian on line {case.line} needs a target and a source whose first axis counts "
        f"the samples of a batch, and {name or 'the target'} or the source is a single number. "
        f"Use tape.jacobian, which works with any shapes."
    )


def _verb(name: str) -> str:
    return "contains" if name.startswith(("[", "(")) else "is"


def _left(which: str, name: str, kind: str) -> str:
    return (
        f"The {which} {name or 'given'} {_verb(name)} {kind}, no tensor. "
        f"When a value is turned into a number, by .numpy(), float() or int(), it no longer says "
        f"how it was computed. Give the tape the tensor itself, and take its number only to show "
        f"it."
    )


def unpacked_others(case: Case) -> str:
    """Another number of gradients than there are sources."""
    call = case.trace.calls[-1] if case.trace.calls else None
    if call is None or not call.ended or call.line != case.line:
        return ""
    if int(case.match[1]) == len(call.sources):  # something else is unpacked
        return ""
    return (
        f"Line {case.line} unpacks {case.match[1]} gradients, and {call.method}() gives one for "
        f"each source, which are {len(call.sources)} here. "
        f"Write as many names on the left as there are sources, in the same order."
    )


def text_target(case: Case) -> str:
    """A text where the target should be: ``tape.gradient("y", x)``."""
    if case.call is None:
        return ""
    name = case.match[1]
    return (
        f"The target of {case.tape}.{case.call.method} on line {case.line} is the text '{name}', "
        f"no tensor. Give the tensor itself, without the quotes: {name}."
    )


def uncalled_target(case: Case) -> str:
    """A function where its result should be: ``tape.gradient(metric.result, x)``."""
    call = case.call
    target = case.argument(0, call.method) if call is not None else ""
    if not target:
        return ""
    return (
        f"The target {target} on line {case.line} is a function or method, and not what it "
        f"returns. Call it in the tape's block, as in value = {target}(…), and give the tape that "
        f"value."
    )


def plain_number(case: Case) -> str:
    """A number as target: ``int(y)``; 0 is what ``sum([])`` gives."""
    call = case.call
    target = case.argument(0, call.method) if call is not None else ""
    if not target:
        return ""
    if float(case.match[1]):
        return _left("target", target, f"the Python number {case.match[1]}")
    return (
        f"The target {target} is the Python number 0, no tensor: nothing was computed that a "
        f"gradient could come from. A sum of no elements gives 0 (of an empty list, as "
        f"model.losses of layers without a regularizer is, or in a loop that never ran). "
        f"Look at what should have been added to it, or ask only where there is something."
    )


def sparse(case: Case) -> str:
    sources = case.argument(1, "gradient", "jacobian", "batch_jacobian")
    given = f"The target or the source {sources}" if sources else "The target or a source"
    return (
        f"{given} on line {case.failure.line} is a SparseTensor, which holds three tensors: "
        f"indices, values and dense_shape. Only its values have a gradient. Watch and give those, "
        f"as in tape.watch(s.values) and tape.gradient(y, s.values)."
    )


def symbolic_watch(case: Case) -> str:
    given = case.argument(0, "watch") or "what was given"
    return (
        f"{given} is the model's symbolic input: it describes what will be fed, and holds no "
        f"numbers. A tape can only watch tensors with values. "
        f"Watch the tensor that you call the model with: tape.watch(x), then model(x)."
    )


def keras_watch(case: Case) -> str:
    given = case.argument(0, "watch") or "what was given"
    return (
        f"{given} is a Keras variable, an object around TensorFlow's own variable, which watch "
        f"does not know. A trainable one needs no watch: the tape follows it by itself. "
        f"For others write tape.watch(v.value)."
    )


def no_tensor_watch(case: Case) -> str:
    given = case.argument(0, "watch") or "what was given"
    return (
        f"{given} is of the Python type {case.match[1]}, and a tape can only watch tensors. "
        f"A plain number or array takes no part in TensorFlow's operations until it is converted. "
        f"Make it a tensor first, as in x = tf.constant(3.0), then watch x."
    )


def never_entered(case: Case) -> str:
    return (
        f"Line {case.failure.line} uses a tape that is not recording. "
        f"A tape starts with its block, as in with tf.GradientTape() as tape:. "
        f"Move the line into the block."
    )


def not_recording(case: Case) -> str:
    """``reset`` or ``stop_recording`` of a tape that was not entered, has ended or is paused."""
    asked = case.calling("reset") or case.calling("stop_recording")
    method = _method(asked)
    name = case.text.segment(method.value) if method is not None else ""
    tapes = [tape for tape in case.trace.tapes.values() if name and tape.name == name]
    ends = {tape.intervals[-1].why_end if tape.intervals else "" for tape in tapes}
    if ends == {""}:
        return never_entered(case)
    called = f"{method.attr}()" if method is not None else "a method"
    does = "forgets what was recorded so far, and records on" if "reset" in called else "pauses it"
    begin = f"Line {case.failure.line} calls {called} of a tape that does not record"
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


def _method(node: ast.AST | None) -> ast.Attribute | None:
    """The method that a call is of."""
    called = node.func if isinstance(node, ast.Call) else None
    return called if isinstance(called, ast.Attribute) else None


def _blocks_around(case: Case, tape: str) -> tuple[int, bool]:
    """The line of the innermost block around the failure that pauses a tape of that name, 0
    without; and whether the failure is in a block that enters such."""
    lines, pause, is_inside = case.failure.lines or (case.failure.line,), 0, False
    for node in ast.walk(case.text.tree) if case.text.tree is not None else ():
        if not isinstance(node, (ast.With, ast.AsyncWith)):
            continue
        first, last = node.body[0].lineno, node.body[-1].end_lineno or 0
        if not any(first <= line <= last for line in lines):
            continue
        for item in node.items:
            entered = item.context_expr
            method = _method(entered)
            if method is not None and method.attr == "stop_recording":
                pause = max(pause, node.lineno if case.text.segment(method.value) == tape else 0)
            bound = item.optional_vars or entered
            is_inside |= case.text.segment(bound) == tape
    return pause, is_inside


def output_gradients(case: Case) -> str:
    """Output gradients of another shape than the target, which the backward pass multiplies."""
    call, trace = case.call, case.trace
    if call is None or call.ended:
        return ""
    for target, given in zip(call.target_tensors, call.output_gradients, strict=False):
        known = [trace.tensors.get(each) for each in (target, given.tensor) if each is not None]
        shapes = [each.shape for each in known if each is not None and each.shape is not None]
        if len(shapes) == 2 and shapes[0] != shapes[1]:
            wanted, got = (str(list(shape)) for shape in shapes)
            return (
                f"The output_gradients that line {case.line} gives have shape {got}, and the "
                f"target has shape {wanted}. There has to be one number for each element of the "
                f"target: the gradient is that of their weighed sum. "
                f"Give a tensor of the target's shape, as in tf.ones_like(y)."
            )
    return ""


def no_registry(case: Case) -> str:
    """An op without gradient function, run eagerly, or inside of a compiled function, as is the
    model by ``predict`` of Keras 2 (TensorFlow 2.15)."""
    op, asked = case.match[case.match.lastindex or 0], case.op_differentiated
    ran = [found for found in case.trace.ops.values() if found.type == op and found.line]
    found = asked if asked is not None and asked.type == op and asked.line else None
    found = found or (ran[-1] if ran else None)
    where = f"line {found.line}" if found is not None else "an earlier line"
    predict = case.calling("predict", line=found.line) if found is not None else None
    if predict is not None and predict.args and op == "IteratorGetNext":
        given = case.text.segment(predict.args[0])
        model = case.text.segment(predict.func).rpartition(".")[0]
        return (
            f"predict on {where} runs the model over a dataset that it makes of {given}, and no "
            f"gradient passes a dataset. Call the model itself in its place: {model}({given})."
        )
    return (
        f"{where[0].upper()}{where[1:]} runs the operation {op}, and the gradient has to pass "
        f"through it. TensorFlow has no gradient function for {op}, so it cannot go on. "
        f"Use other operations there, wrap that line in tf.custom_gradient, or put "
        f"tf.stop_gradient around it if its gradient is not needed."
    )


def custom_pair(case: Case) -> str:
    if "custom_gradient" not in case.trace.source:
        return ""
    return (
        "A function under tf.custom_gradient has to return two things: its value, and a function "
        "that computes the gradient. This one returned something else. "
        "End it with return value, grad, where grad takes the upstream gradient dy."
    )


def inside_gradient(case: Case) -> str:
    """An exception of a gradient function, the snippet's own or TensorFlow's; only where nothing
    else is known."""
    call, op = case.call, case.op_differentiated
    if call is None or not case.line:  # no line: the process ended
        return ""
    if call.line == case.line:
        said = first_words(case.failure.message).partition(". ")[0]
        return (
            f"{case.words_of(op)} on line {op.line} gave its value, and now its gradient function "
            f"raised this, while {call.method} on line {call.line} went back through it: {said}. "
            f"TensorFlow's function for the gradient of {op.type} cannot work with what the op was "
            f"given there. Give it another form or dtype, or compute the same by other operations."
            if op is not None and op.line and said
            else ""
        )
    return (
        f"Line {case.line} raised this while the backward pass ran that {call.method} on line "
        f"{call.line} asked for. TensorFlow runs a custom gradient function only then, not when "
        f"the value is computed. Call it by hand, with a tensor of ones, to try it."
    )


def no_target(case: Case) -> str:
    call = case.call
    if call is None:
        return ""
    name = case.argument(0, call.method)
    is_none = f"The target of {case.tape}.{call.method}, {name or 'the target'}, is None"
    if (inner := _gave_none(case, call, name)) is not None:
        return (
            f"{is_none}, as {inner.method} on line {inner.line} gave None. "
            f"Fix that one first: what is said about it there tells why."
        )
    return (
        f"{is_none}. Often a function that computes a loss has no return, the result of print() "
        f"was kept, or another tape gave None. Return the tensor from that function, or see why "
        f"the other gradient is None."
    )


def _gave_none(case: Case, call: Call, name: str) -> Call | None:
    """The gradient call that gave None for the name, if no other statement binds that."""
    text, line = read_text(case.text), case.failure.line
    for scope in text.outer_scopes(text.home(text.scope(line), name)):
        if writers := text.writers(scope, name):
            break
        if text.is_parameter(scope, name):
            return None
    else:
        return None
    if len(writers) > 1 or text.is_parameter(scope, name):
        return None
    statement = case.text.statement(writers[0].first)
    if not isinstance(statement, ast.Assign):
        return None
    ran = [each for each in case.trace.calls if each.id < call.id and each.line in writers[0].lines]
    method = _method(statement.value)
    if not ran or method is None or method.attr != ran[-1].method:
        return None
    return ran[-1] if ran[-1].ended and _is_none(statement.targets[0], name, ran[-1]) else None


def _is_none(target: ast.expr, name: str, call: Call) -> bool:
    """Whether the assignment of the call's results to ``target`` gives None to the name."""
    names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return len(names) == len(call.results) and any(
        isinstance(each, ast.Name) and each.id == name and result is None
        for each, result in zip(names, call.results, strict=True)
    )


def no_sources(case: Case) -> str:
    call = case.call
    name = case.argument(1, call.method) if call is not None else ""
    if call is None or not name:
        return ""
    return (
        f"The sources of {case.tape}.{call.method}, {name}, contain None where a tensor or "
        f"variable should be. A gradient can only be asked for what took part in the computation. "
        f"Give the tensors or variables themselves, such as model.trainable_variables."
    )


def unpacked(case: Case) -> str:
    call = case.trace.calls[-1] if case.trace.calls else None
    if call is None or not call.ended or call.line != case.line or len(call.sources) != 1:
        return ""
    name = call.sources[0].text or "one source"
    return (
        f"Line {case.line} unpacks several gradients, and only one came back: that of {name}. "
        f"gradient() returns what has the structure of its sources, so a single source gives a "
        f"single tensor. Give a list of sources, one for each name on the left."
    )
