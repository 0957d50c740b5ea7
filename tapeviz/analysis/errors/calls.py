"""Explain exceptions of calls: arguments that are not there, attributes that nobody gave."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Sequence
from typing import TypeVar

from ...text.names import called_name, targets_of
from ...text.statements import read_text
from .arguments import RENAMED_KEYWORDS
from .case import Case

_Node = TypeVar("_Node", bound=ast.AST)
KEYWORDS_OF_TAPES = {
    "GradientTape": ("persistent", "watch_accessed_variables"),
    "gradient": ("target", "sources", "output_gradients", "unconnected_gradients"),
    "jacobian": ("target", "sources", "unconnected_gradients", "experimental_use_pfor"),
}
_FUNCTIONS = {
    **{
        name: f"tf.reduce_{name}(t)" for name in ("sum", "mean", "max", "min", "prod", "any", "all")
    },
    "std": "tf.math.reduce_std(t)",
    "var": "tf.math.reduce_variance(t)",
    "argmax": "tf.argmax(t)",
    "argmin": "tf.argmin(t)",
    "abs": "tf.abs(t)",
    "reshape": "tf.reshape(t, shape)",
    "view": "tf.reshape(t, shape)",
    "flatten": "tf.reshape(t, [-1])",
    "ravel": "tf.reshape(t, [-1])",
    "T": "tf.transpose(t)",
    "transpose": "tf.transpose(t)",
    "permute": "tf.transpose(t, axes)",
    "squeeze": "tf.squeeze(t)",
    "unsqueeze": "tf.expand_dims(t, axis)",
    "dot": "tf.tensordot(a, b, 1)",
    "matmul": "tf.matmul(a, b)",
    "mm": "tf.matmul(a, b)",
    "astype": "tf.cast(t, dtype)",
    "float": "tf.cast(t, tf.float32)",
    "clip": "tf.clip_by_value(t, low, high)",
    "clamp": "tf.clip_by_value(t, low, high)",
    "copy": "tf.identity(t)",
    "clone": "tf.identity(t)",
    "size": "tf.size(t)",
    "item": "float(t)",
    "tolist": "t.numpy().tolist()",
    "detach": "tf.stop_gradient(t)",
    **{name: f"tf.{name}(t)" for name in ("exp", "sqrt", "tanh", "sigmoid", "round", "pow")},
    "log": "tf.math.log(t)",
    "cumsum": "tf.cumsum(t)",
    "backward": "tape.gradient(t, sources)",
}
"""Functions of TensorFlow in place of methods of arrays and of the tensors of PyTorch."""


def tensor_method(case: Case) -> str:
    """A method that arrays of NumPy or tensors of PyTorch have, and TensorFlow's have not."""
    name = case.match["name"]
    if name not in _FUNCTIONS:
        return ""
    kind = "a variable" if "Variable" in case.match["owner"] else "a tensor"
    return (
        f"Line {case.line} asks {kind} for {name}, which arrays or the tensors of other libraries "
        f"have, and TensorFlow's have not. Write {_FUNCTIONS[name]} in its place."
    )


def own_attribute(case: Case) -> str:
    """An attribute that the snippet's class never gives its objects."""
    owner, name = case.match["owner"], case.match["name"]
    kind = next((each for each in _nodes(case, ast.ClassDef) if each.name == owner), None)
    if kind is None:
        return ""
    given = sorted(set(_attributes(kind)))
    near = difflib.get_close_matches(name, given, n=1)
    if name in _OF_MODULES and not kind.bases:
        return (
            f"Line {case.line} asks an object of the class {owner} (line {kind.lineno}) for "
            f"{name}, which a class has from tf.Module only. Write class {owner}(tf.Module):, and "
            f"super().__init__() first in its __init__."
        )
    mend = (
        f"It has {near[0]}: write that, or give it {name} in __init__."
        if near
        else f"Give it in __init__, as self.{name} = …, before it is used."
    )
    return (
        f"Line {case.line} asks an object of the class {owner} (line {kind.lineno}) for {name}, "
        f"and nothing gives it that. {mend}"
    )


_OF_MODULES = ("trainable_variables", "variables", "non_trainable_variables")
"""Properties of ``tf.Module`` (2.15-2.21)."""


def _attributes(kind: ast.ClassDef) -> Iterator[str]:
    for node in ast.walk(kind):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.FunctionDef):
            yield node.name


def unknown_keyword(case: Case) -> str:
    callee, name = case.match["callee"].removesuffix(".__init__"), case.match["name"]
    own = _parameters(case, callee)
    if name in RENAMED_KEYWORDS and not own:
        return (
            f"Line {case.line} gives {callee} an argument {name}, as old versions had it. "
            f"Write {RENAMED_KEYWORDS[name]}= in its place."
        )
    known = KEYWORDS_OF_TAPES.get(callee.rpartition(".")[2]) or own
    near = difflib.get_close_matches(name, known, n=1)
    mend = f"Write {near[0]}= in its place." if near else "Leave it out, or look up its name."
    return f"Line {case.line} gives {callee} an argument {name}, which it does not take. {mend}"


def _parameters(case: Case, callee: str) -> Sequence[str]:
    """The parameters of a function or class of the snippet."""
    made = _definition(case, callee) or _definition(case, f"{callee}.__init__")
    given = made.args if made is not None else None
    return [each.arg for each in (*given.args, *given.kwonlyargs)] if given is not None else ()


def wrong_count(case: Case) -> str:
    """More arguments by position than there are parameters: often ``self`` is not among these."""
    callee, takes, given = (case.match[name] for name in ("callee", "takes", "given"))
    made = _definition(case, callee)
    names = [each.arg for each in made.args.args] if made is not None else []
    is_method = made is not None and "." in callee and not made.decorator_list
    if is_method and made is not None and names[:1] not in (["self"], ["cls"]):
        written = f"def {made.name}({', '.join(['self', *names])})"
        return (
            f"Line {made.lineno} defines the method {made.name} without self. Python gives a "
            f"method its object as the first argument. Write {written}."
        )
    counted = " (the object of a method counts as one)" if "." in callee else ""
    name = callee.removesuffix(".__init__")
    return (
        f"Line {case.line} gives {name} {given} arguments by position, and it takes {takes}"
        f"{counted}. Leave out what is too much, or give it by name."
    )


def missing_argument(case: Case) -> str:
    callee, names = case.match["callee"], case.match["names"].strip().rstrip(".")
    if callee.endswith("Loss.__call__"):
        return (
            f"Line {case.line} calls a loss without {names}. A loss takes the labels first and "
            f"then the predictions, as in loss_fn(y, model(x))."
        )
    if "'self'" in names:
        kind = callee.partition(".")[0]
        return (
            f"Line {case.line} calls {callee} on the class, and not on an object of it. Make an "
            f"object first, as in {kind.lower()} = {kind}(…)."
        )
    return (
        f"Line {case.line} calls {callee.removesuffix('.__init__')} without {names}, which it "
        f"needs. Give it there, or a default where it is defined."
    )


def none_given(case: Case) -> str:
    """None where a tensor should be, as a function without a return gives it, or the text."""
    statement, line = case.text.statement(case.line), case.line
    if statement is None:
        return ""
    owner = read_text(case.text).owner
    read = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    assigns = [each for each in _nodes(case, ast.Assign) if each.lineno <= line]
    for assign in sorted(assigns, key=lambda each: -each.lineno):  # the last one before
        names = {
            target.id
            for target in targets_of(assign)
            if isinstance(target, ast.Name) and target.id in read
            if owner(assign.lineno, target.id) == owner(line, target.id)
        }
        if not names:
            continue
        name = sorted(names)[0]
        if isinstance(assign.value, ast.Constant) and assign.value.value is None:
            return (
                f"Line {line} works with {name}, which is None: line {assign.lineno} gives it "
                f"None. Give it a tensor there, or leave line {line} out when it is None."
            )
        made = isinstance(assign.value, ast.Call) and _definition(case, called_name(assign.value))
        if made and not _returns(made):
            return (
                f"Line {line} works with {name}, which is None: {made.name} (line {made.lineno}) "
                f"returns nothing to line {assign.lineno}. End it with a return of what it "
                f"computes."
            )
        if assign.lineno < line and assign.col_offset <= statement.col_offset:
            read -= names  # in no branch of its own, so it ran since those before it
    return ""


def _returns(made: ast.FunctionDef) -> bool:
    kinds = (ast.Yield, ast.YieldFrom)
    return any(
        isinstance(node, kinds) or (isinstance(node, ast.Return) and node.value is not None)
        for node in ast.walk(made)
    )


def _definition(case: Case, path: str) -> ast.FunctionDef | None:
    """The last definition of a function, or of ``Class.method``, in the snippet."""
    owner, _, name = path.rpartition(".")
    homes: list[ast.AST] = [case.text.tree] if case.text.tree is not None else []
    if owner:
        last = owner.rpartition(".")[2]
        homes = [each for each in _nodes(case, ast.ClassDef) if each.name == last]
    found = [
        node
        for home in homes
        for node in ast.walk(home)
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    return found[-1] if found else None


def _nodes(case: Case, kind: type[_Node]) -> Iterator[_Node]:
    for node in ast.walk(case.text.tree) if case.text.tree is not None else ():
        if isinstance(node, kind):
            yield node
