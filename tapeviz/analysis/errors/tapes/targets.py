"""Explain exceptions about the targets and sources of a gradient call, and its results."""

from __future__ import annotations

import ast
import re

from ....text.names import dotted
from ....text.statements import read_text
from ....trace.calls import Call
from ..case import Case
from ..python.nones import none_made
from .recording import method_called


def no_tensor(case: Case) -> str:
    call = case.call
    if call is None:
        return ""
    kind = {"float": "a Python number", "int": "a Python number"}.get(case.match[1], "")
    kind = kind or ("a NumPy value" if "numpy" in case.match[1] else f"a {case.match[1]}")
    target, source = case.argument(0, call.method), case.argument(1, call.method)
    is_source = not any(each.kind == "other" for each in call.targets if each.text) and (
        case.match[2] == "_id" or any(each.kind == "other" for each in call.sources)
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
    if call.method != "gradient" and all(each.kind != "other" for each in call.targets):
        return (
            f"{call.method} on line {case.line} takes a single tensor as its target, and {target} "
            f"{_verb(target)} {kind}. Make one tensor of it in the tape's block, as by tf.stack, "
            f"or ask for each of its tensors; for several calls the tape has to be persistent."
        )
    if "numpy" not in case.match[1] and case.match[1].strip("_").lower() not in _PYTHON_TYPES:
        return (
            f"The {which} {name or 'given'} {_verb(name)} {kind}, no tensor or variable. "
            f"A gradient is computed of tensors, by tensors and variables. Of a layer, model or "
            f"module give its variables: {name or 'layer'}.trainable_variables."
        )
    if is_source and kind in ("a NumPy value", "a Python number"):
        x = name if name.isidentifier() else "x"
        return (
            f"The source {name or 'given'} {_verb(name)} {kind}, no tensor. A gradient is computed "
            f"with respect to variables, and to tensors that the tape watches. Make it a tensor "
            f"before the block, {x} = tf.constant({x}), and begin the block with "
            f"{case.tape}.watch({x}); if it is what .numpy() gave, use the tensor itself."
        )
    return _left(which, name, kind)


def _losses_made_of_tensors(case: Case) -> set[str]:
    """The classes of losses that the text gives several arguments by position."""
    calls = [call for call in case.nodes(ast.Call) if len(call.args) > 1]
    paths = [dotted(call.func).rpartition(".") for call in calls]
    return {name for owner, _, name in paths if owner.endswith("losses") and name[:1].isupper()}


_PYTHON_TYPES = (
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
    """Another number of gradients than there are sources, or of names than of parts."""
    call = case.trace.calls[-1] if case.trace.calls else None
    if call is None or not call.ended or call.line != case.line:
        return _unpacked_parts(case)
    if int(case.match[1]) == len(call.sources):  # something else is unpacked
        return ""
    return (
        f"Line {case.line} unpacks {case.match[1]} gradients, and {call.method}() gives one for "
        f"each source, which are {len(call.sources)} here. "
        f"Write as many names on the left as there are sources, in the same order."
    )


def _unpacked_parts(case: Case) -> str:
    """Another number of names on the left than what stands on the right has parts."""
    statement = case.statement
    if not isinstance(statement, ast.Assign) or not any(
        isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == int(case.match[1])
        for target in statement.targets
    ):
        return ""
    if len(code := case.text.segment(statement.value)) > _LONGEST:
        return ""
    got, held = re.search(r"got (\d+)", case.failure.message), case.held.get(code)
    count = int(got[1]) if got is not None else held.size if held is not None else -1
    parts = f"has {count} part{'s' * (count != 1)}" if count >= 0 else "has more parts"
    weights = ""
    if code.endswith("get_weights()"):
        weights = " A layer with use_bias=False has no bias, one that was not called no weights."
    return (
        f"Line {case.line} takes {code} apart into {case.match[1]} names, and it {parts}. "
        f"Print it, or take its parts by their numbers.{weights}"
    )


_LONGEST = 60
"""Letters of an expression that stands in a sentence."""


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
    """A number as target: ``int(y)``; 0 is what ``sum([])`` gives. Or one as source."""
    call = case.call
    if call is not None and call.targets and all(t.kind != "other" for t in call.targets):
        source = case.argument(1, call.method) or "a source"
        return (
            f"{case.tape}.{call.method} is asked for the gradient with respect to {source}, which "
            f"is or contains the Python number {case.match[1]}. A gradient is computed with "
            f"respect to tensors only. Make it one before the tape, as in "
            f"tf.Variable({case.match[1]}), and compute with that."
        )
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
        f"{given} on line {case.line} is a SparseTensor, which holds three tensors: "
        f"indices, values and dense_shape. Only its values have a gradient. Watch and give those, "
        f"as in tape.watch(s.values) and tape.gradient(y, s.values)."
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
    if case.held and (words := none_made(case)):
        return words
    return (
        f"{is_none}. Often a function that computes a loss has no return, the result of print() "
        f"was kept, or another tape gave None. Return the tensor from that function, or see why "
        f"the other gradient is None."
    )


def _gave_none(case: Case, call: Call, name: str) -> Call | None:
    """The gradient call that gave None for the name, if no other statement binds that."""
    text, line = read_text(case.text), case.line
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
    method = method_called(statement.value)
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
