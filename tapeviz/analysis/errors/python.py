"""Explain exceptions of Python and its modules, and those about old names."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping

from ...text.names import bound_names, targets_of
from ...text.statements import read_text
from ...trace.model import Failure
from .calls import none_given
from .case import Case
from .old_names import NEW_NAMES


def undefined(case: Case) -> str:
    name = case.match[1]
    failed = _failed_before(case, name)
    if failed is not None:
        return (
            f"Line {case.failure.line} uses the name {name}, which line {failed.line} would have "
            f"defined: it raised {failed.type}. Fix that line first."
        )
    deleted = _deleted_on(case, name)
    if deleted:
        return (
            f"Line {case.failure.line} uses the name {name}, which line {deleted} deleted. "
            f"Delete it after its last use, or leave line {deleted} out."
        )
    if _is_attribute(case, name):
        return (
            f"Line {case.line} uses the name {name}, which nothing before it defines; the class "
            f"around it has an attribute of that name. Methods reach it by self: write self.{name}."
        )
    known = {"tf": "import tensorflow as tf", "np": "import numpy as np"}
    known["keras"] = "from tensorflow import keras"
    remedy = known.get(name, "")
    what = f"Add {remedy}." if remedy else "Add its definition above this line, or paste that too."
    return (
        f"Line {case.failure.line} uses the name {name}, which nothing before it defines. "
        f"Such a name often stands in another cell or another part of the page. {what}"
    )


def _is_attribute(case: Case, name: str) -> bool:
    """Whether a class around the line gives ``self`` an attribute of that name."""
    for node in ast.walk(case.text.tree) if case.text.tree is not None else ():
        if not isinstance(node, ast.ClassDef):
            continue
        if node.lineno <= case.line <= (node.end_lineno or 0) and any(
            isinstance(each, ast.Attribute)
            and isinstance(each.ctx, ast.Store)
            and (each.attr, case.text.segment(each.value)) == (name, "self")
            for each in ast.walk(node)
        ):
            return True
    return False


def _failed_before(case: Case, name: str) -> Failure | None:
    """The earlier exception, in another block of the page, that kept a name from being bound."""
    for failure in case.trace.failures:
        if failure == case.failure:
            return None
        statement = case.text.statement(failure.line)
        if statement is not None and any(name in bound_names(each) for each in ast.walk(statement)):
            return failure
    return None


def keyboard(case: Case) -> str:
    return (
        f"Line {case.failure.line} waits for something to be typed, and a snippet runs without a "
        f"keyboard here. Put the value into the text in place of the call of input()."
    )


def old_name(case: Case) -> str:
    name = case.match[2]
    advice = NEW_NAMES.get(name)
    if case.match[1].startswith("experimental"):  # TF1 had none of these modules
        return (
            f"tf.{case.match[1]} has no {name} in version {case.trace.tensorflow}: it has some of "
            f"NumPy's functions. {advice or 'Look for one that does the same in tf.math.'}"
        )
    path = ".".join(part for part in ("tf", case.match[1], name) if part)
    if advice is None:
        return ""
    return (
        f"{path} belongs to TensorFlow 1; version {case.trace.tensorflow} does not have it. "
        f"{advice} "
        f"Old programs as a whole can run with import tensorflow.compat.v1 as tf and "
        f"tf.disable_v2_behavior()."
    )


def misspelt(case: Case) -> str:
    name = case.match[1]
    if name.startswith("hessian"):
        return (
            "A tape has no method for second derivatives. Open a tape inside of another one, take "
            "g = inner.gradient(y, x) in the outer block, and then outer.jacobian(g, x)."
        )
    right = {"gradients": "gradient", "jacobians": "jacobian", "grad": "gradient"}.get(name)
    if right is None:
        return ""
    return (
        f"A tape has no method {name}. The one that computes gradients is called {right}. "
        f"Write tape.{right}(target, sources)."
    )


def too_few(case: Case) -> str:
    call = case.calling("gradient", "jacobian", "batch_jacobian")
    if call is None:
        return ""
    return (
        f"Line {case.line} does not say what the gradient is wanted for. "
        f"A tape needs the target, which is differentiated, and the sources, by which. "
        f"Write tape.gradient(loss, [x]), with the tensors or variables you want to change."
    )


def own_key(case: Case) -> str:
    """A key that a dict which stands in the text does not have."""
    key = case.failure.message.strip("'\"")
    statement = case.text.statement(case.line)
    for node in ast.walk(statement) if statement is not None else ():
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
            continue
        made = _dict_named(case, node.value.id)
        keys = [each.value for each in made.keys if isinstance(each, ast.Constant)] if made else []
        if made is None or not keys or key in map(str, keys):
            continue
        return (
            f"Line {case.line} asks {node.value.id} for the key {key!r}, and that dict (line "
            f"{made.lineno}) has {', '.join(map(repr, keys))}. Write one of these."
        )
    return ""


def _dict_named(case: Case, name: str) -> ast.Dict | None:
    """The last dict above the failure that a name is bound to."""
    assigns = [
        node
        for node in (ast.walk(case.text.tree) if case.text.tree is not None else ())
        if isinstance(node, ast.Assign) and node.lineno <= case.line
        if any(isinstance(target, ast.Name) and target.id == name for target in targets_of(node))
    ]
    last = max(assigns, key=lambda node: node.lineno, default=None)
    return last.value if last is not None and isinstance(last.value, ast.Dict) else None


def no_key(case: Case) -> str:
    """A missing key: the result of a gradient call has the structure of its sources."""
    calls = [call for call in case.trace.calls if call.ended]
    if not calls or not case.line:
        return ""
    call = calls[-1]
    names = {binding.name for binding in case.trace.bindings if binding.site.line == call.line}
    if not any(f"{name}[" in case.code for name in names):
        return ""
    return (
        f"Line {case.line} looks for a gradient that the call on line {call.line} did not return. "
        f"gradient() gives back the structure of its sources: one gradient for each source given "
        f"there, and no more. Add the missing source to that call."
    )


def no_place(case: Case) -> str:
    """An element of a list beyond its end, asked for by a number in the text; not an error that a
    function of a library raised, whatever it was given."""
    files = re.findall(r'^ +File "(.*?)", line', case.failure.traceback, re.MULTILINE)
    if files and files[-1] != case.trace.filename:
        return ""
    statement = case.text.statement(case.line)
    found = [
        node
        for node in (ast.walk(statement) if statement is not None else ())
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
    ]
    if len(found) != 1 or not isinstance(found[0].slice, (ast.Constant, ast.Name)):
        return ""
    owner, index = case.text.segment(found[0].value), case.text.segment(found[0].slice)
    return (
        f"Line {case.line} takes element {index} of {owner}, which is shorter than that. Elements "
        f"are counted from 0. Print len({owner}) just before."
    )


def called(case: Case) -> str:
    """Parentheses after what is no function: an attribute that holds a list, or a name that the
    snippet gave to a value, as ``sum = 0``."""
    line, made_of = case.line, case.match[1]
    kind = next((words for end, words in _KINDS.items() if made_of.endswith(end)), made_of)
    statement = case.text.statement(line)
    calls = (
        [node for node in ast.walk(statement) if isinstance(node, ast.Call)] if statement else []
    )
    plain = [
        call
        for call in calls
        if isinstance(call.func, ast.Attribute) and not call.args and not call.keywords
    ]
    are_known = all(isinstance(call.func, (ast.Name, ast.Attribute)) for call in calls)
    named = [
        (call.func.id, made)
        for call in calls
        if isinstance(call.func, ast.Name)
        if (made := _last_value(case, call.func.id))
    ]
    article = "an" if kind == "int" else "a"
    written = [(name, at) for name, at in named if _is_text(case, at)]
    if made_of == "str" and len(written) == 1:
        name, at = written[0]
        return (
            f"Line {line} calls {name}, which is a text since line {at}. Keras knows such words in "
            f"model.compile only. Make the function or object itself, as in "
            f"tf.keras.losses.get({name}) for a loss, or give its name without quotes."
        )
    results = [call.func for call in calls if isinstance(call.func, ast.Call)]
    if len(results) == 1 and not named and made_of in _OF_TENSORS:
        return (
            f"Line {line} calls {case.text.segment(results[0])}, which is {article} {kind} and no "
            f"function: its parentheses are closed, and others follow. "
            f"Leave out the second pair, or write * between them where a product is meant."
        )
    if len(named) == 1 and named[0][1] == line and not plain:
        return (
            f"Line {line} calls {named[0][0]} and gives the same name to what comes back. When it "
            f"ran again, {named[0][0]} was no function any more but {article} {kind}. "
            f"Give the result another name."
        )
    if len(named) == 1 and not plain:
        name, made = named[0]
        own = f"Python's own function {name}" if hasattr(builtins, name) else "the function"
        return (
            f"Line {line} calls {name}, but line {made} made it {article} {kind}, and that cannot "
            f"be called. {own[0].upper()}{own[1:]} cannot be reached any more. "
            f"Use another name on line {made}."
        )
    if len(plain) != 1 or named or not are_known:  # layers[0](x): any of them may be meant
        return ""
    words = case.text.segment(plain[0].func)
    return (
        f"Line {line} calls {words}, which holds {article} {kind} and is no function. "
        f"Leave out the parentheses: {words}."
    )


def _deleted_on(case: Case, name: str) -> int:
    """The last line above the failure that deletes a name of its scope: ``del tape``."""
    owner = read_text(case.text).owner
    lines = [
        node.lineno
        for node in (ast.walk(case.text.tree) if case.text.tree is not None else ())
        if isinstance(node, ast.Delete) and node.lineno < case.failure.line
        if any(isinstance(each, ast.Name) and each.id == name for each in node.targets)
        if owner(node.lineno, name) == owner(case.failure.line, name)
    ]
    return max(lines, default=0)


def _is_text(case: Case, line: int) -> bool:
    """Whether the statement on a line gives a text to what it binds."""
    made = getattr(case.text.statement(line), "value", None)
    return isinstance(made, ast.Constant) and isinstance(made.value, str)


_KINDS = {"Tensor": "tensor", "Variable": "tf.Variable", "ndarray": "NumPy array"}
"""The ends of the names of classes, and words for those."""
_OF_TENSORS = ("EagerTensor", "SymbolicTensor", "ndarray")


def _last_value(case: Case, name: str) -> int:
    """The line that gave a tensor to a name last; else the last line above the failure that gives
    a value to it, as no def or import does."""
    bound = [each.site.line for each in case.trace.bindings if each.name == name]
    if bound and case.match[1] in _OF_TENSORS:
        return bound[-1]
    tree = case.text.tree
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt)) if tree else ()
    makers = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For)
    lines = [
        statement.lineno
        for statement in statements
        if isinstance(statement, makers) and statement.lineno < case.line
        if any(
            isinstance(target, ast.Name) and target.id == name for target in targets_of(statement)
        )
    ]
    return max(lines, default=0)


_SIGNS: Mapping[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "/": ast.Div,
    "//": ast.FloorDiv,
    "%": ast.Mod,
    "**": ast.Pow,
    "@": ast.MatMult,
}
_REMEDIES: Mapping[str, str] = {
    **dict.fromkeys(
        ("tuple", "list"),
        "A function or layer with several results gives them all at once (an LSTM with "
        "return_state, tf.math.top_k, gradient of a list). Take one of them by its number, or make "
        "one tensor of them by tf.stack.",
    ),
    "dict": "Take one of its entries, by its key.",
    "NoneType": "A function without return gives None, and so does the call of a layer without "
    "one. Return the value there.",
    "str": "Make a number of it first: float(text), or tf.strings.to_number for a tensor.",
    **dict.fromkeys(
        ("function", "method", "type", "builtin_function_or_method"),
        "It is not called: parentheses with its arguments behind it are missing.",
    ),
}


def operands(case: Case) -> str:
    """``h ** 2`` of a tuple: an operand that is no number and no tensor."""
    sides = [case.match["first"].rpartition(".")[2], case.match["other"].rpartition(".")[2]]
    side = next((index for index, kind in enumerate(sides) if kind in _REMEDIES), None)
    if side is None:
        return ""
    kind, name = sides[side], _operand(case, case.match["sign"], side)
    if kind != "NoneType":
        what = f"{name}, which is a {kind}" if name else f"something that is a {kind}"
    elif words := none_given(case):  # where it is known whence it came
        return words
    else:
        what = f"{name}, which is None" if name else "None"
    return f"Line {case.line} computes with {what}. {_REMEDIES[kind]}"


def _operand(case: Case, sign: str, side: int) -> str:
    """The left (0) or right (1) operand of the only such operator on the line, as it is written."""
    statement = case.text.statement(case.line)
    operator = _SIGNS.get(sign.removesuffix("="))
    found = [
        (node.left, node.right)
        for node in (ast.walk(statement) if statement is not None else ())
        if isinstance(node, ast.BinOp) and operator is not None and isinstance(node.op, operator)
    ]
    if isinstance(statement, ast.AugAssign):
        found.append((statement.target, statement.value))
    return case.text.segment(found[0][side]) if len(found) == 1 else ""
