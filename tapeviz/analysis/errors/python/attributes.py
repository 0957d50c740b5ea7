"""Explain exceptions of attributes that an object or module does not have."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from ....text.messages import suggested_name
from ..case import Case
from ..tensors.operands import held_phrase
from .old_names import GONE, NEW_NAMES, OTHER_NAMES

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
    kind = next((each for each in case.nodes(ast.ClassDef) if each.name == owner), None)
    if kind is None:
        return ""
    held = (key for each in case.held.values() if each.type == owner for key in each.keys)
    given = sorted({*_attributes(kind), *held} - {name})
    near = difflib.get_close_matches(name, given, n=1)
    if name in _MODULE_PROPERTIES and not kind.bases:
        return (
            f"Line {case.line} asks an object of the class {owner} (line {kind.lineno}) for "
            f"{name}, which a class has from tf.Module only. Write class {owner}(tf.Module):, and "
            f"super().__init__() first in its __init__."
        )
    if not near and (left_out := _without_super(kind)) and name not in _attributes(kind):
        return (
            f"Line {case.line} asks an object of the class {owner} for {name}. The __init__ of "
            f"{owner} (line {left_out.lineno}) does not call super().__init__(), by which "
            f"{ast.unparse(kind.bases[0])} sets up its objects. Write that as its first line."
        )
    if giver := _giver(kind, name):
        runs = "Call it before, or give the attribute in __init__."
        known = ("__init__", *(_RUN_BY_KERAS if kind.bases else ()))
        meant = difflib.get_close_matches(giver.name, known, n=1)
        if meant and giver.name not in known:
            runner = "Keras" if meant[0] in _RUN_BY_KERAS else "Python"
            runs = (
                f"{runner} runs a method named {meant[0]} by itself, and none named {giver.name}."
            )
        return (
            f"Line {case.line} asks an object of the class {owner} (line {kind.lineno}) for "
            f"{name}, which its method {giver.name} (line {giver.lineno}) gives it, and that has "
            f"not done so. {runs}"
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


def lacking(case: Case) -> str:
    """An attribute that a value of another class than the snippet's does not have: what the value
    is, and what was meant."""
    kind, name = case.match["owner"].rpartition(".")[2], case.match["name"]
    asked = [node.value for node in case.nodes_here(ast.Attribute) if node.attr == name]
    asked = [node for node in asked if case.type_of(node) in (kind, "")]
    asked = [node for node in asked if case.type_of(node)] or asked
    code = case.text.segment(asked[0]) if len(asked) == 1 else ""
    held = case.held.get(ast.unparse(asked[0])) if len(asked) == 1 else None
    near, remedy = suggested_name(case.failure.traceback), ""
    if held is not None and held.size >= 0 and name in held.keys:
        remedy = f"A dict gives what it holds by brackets: {code}['{name}']."
    elif "function" in kind or "method" in kind:
        is_own = len(asked) == 1 and isinstance(asked[0], ast.Attribute)
        remedy = f"Its parentheses are missing: {code}().{name}." if is_own else ""
    elif name.startswith(("assign", *_OF_TENSORS)):
        remedy = _of_tensors(case, kind, code, name)
    elif near:
        remedy = f"A name that is spelt nearly so is {near}."
    phrase = held_phrase(case, held) if held is not None else ""
    if not code and remedy:
        asks = f"asks a value of type {kind} for {name}"
        return f"Line {case.line} leads to code that {asks}. {remedy}"
    is_plain = not phrase or "shape" in phrase or "keys" in phrase
    what = f"of type {kind}" if is_plain else f"which is {phrase}"
    said = f"Line {case.line} asks {code}, {what}, for {name}, which it does not have."
    return f"{said} {remedy}".strip() if code else ""


def _of_tensors(case: Case, kind: str, code: str, name: str) -> str:
    """Words for an attribute of tensors that a key of a dict, a container or a number is asked for;
    empty for other values. ``code``: empty where it is not on the line."""
    made, held = case.last_binding(code), case.held.get(code)
    looped = case.held.get(ast.unparse(made.iter)) if isinstance(made, ast.For) else None
    if isinstance(made, ast.For) and looped is not None and looped.keys and looped.size >= 0:
        return (
            f"The loop on line {made.lineno} goes over {looped.name}, a dict, and that gives its "
            f"keys. Take {looped.name}[{code}], or go over {looped.name}.items()."
        )
    kinds = [each.partition(" ")[0] for each in held.kinds] if held is not None else []
    having = {"ndim": ("Tensor",)}.get(name, ("Variable", "Tensor"))
    having = ("Variable",) if name.startswith("assign") else having
    if held is not None and kinds and all(each.endswith(having) for each in kinds):
        key = repr(held.keys[0]) if held.keys else "0"
        return f"What it holds are tensors, which have it: {code}[{key}].{name}."
    if kind not in ("list", "tuple", "int", "float", "bool") or name.startswith("assign"):
        return ""
    if name == "numpy":
        return "It is a value of Python already: leave out .numpy()."
    return f"Tensors and arrays have it: tf.constant({code or 'value'}) makes a tensor of it."


_OF_TENSORS = ("numpy", "shape", "dtype", "ndim", "get_shape")


_MODULE_PROPERTIES = ("trainable_variables", "variables", "non_trainable_variables")
"""Properties of ``tf.Module`` (2.15-2.21)."""


def _without_super(kind: ast.ClassDef) -> ast.FunctionDef | None:
    """The ``__init__`` of a class with a base, if it calls no other ``__init__``."""
    for function in kind.body if kind.bases else ():
        if isinstance(function, ast.FunctionDef) and function.name == "__init__":
            nodes = list(ast.walk(function))
            calls = any(isinstance(n, ast.Attribute) and n.attr == "__init__" for n in nodes)
            return None if calls else function
    return None


_RUN_BY_KERAS = ("build", "call")
"""Methods of a layer or model that Keras calls (``Layer.__call__``, 2.15-3.15)."""


def _giver(kind: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """The only method of a class that gives its object such an attribute, but ``__init__``."""
    found = [
        method
        for method in kind.body
        if isinstance(method, ast.FunctionDef)
        if any(
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and node.attr == name
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
            for node in ast.walk(method)
        )
    ]
    return found[0] if len(found) == 1 and found[0].name != "__init__" else None


def _attributes(kind: ast.ClassDef) -> Iterator[str]:
    for node in ast.walk(kind):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id  # a field of a dataclass


def old_name(case: Case) -> str:
    name = case.match[2]
    advice = NEW_NAMES.get(name)
    if case.match[1].startswith("experimental"):  # TF1 had none of these modules
        return (
            f"tf.{case.match[1]} has no {name} in version {case.trace.tensorflow}: it has some of "
            f"NumPy's functions. {advice or 'Look for one that does the same in tf.math.'}"
        )
    path = ".".join(part for part in ("tf", case.match[1], name) if part)
    if advice is None and name in OTHER_NAMES:
        return (
            f"TensorFlow {case.trace.tensorflow} has no {path}. What NumPy, PyTorch or tf.nn call "
            f"so is tf.{OTHER_NAMES[name]}: write that on line {case.line}."
        )
    if advice is None:
        return ""
    if name in GONE:
        return f"TensorFlow {case.trace.tensorflow} has no {path}. {advice}"
    return (
        f"{path} belongs to TensorFlow 1; version {case.trace.tensorflow} does not have it. "
        f"{advice} "
        f"Old programs as a whole can run with import tensorflow.compat.v1 as tf and "
        f"tf.disable_v2_behavior()."
    )


def name_of_numpy(case: Case) -> str:
    """A function that NumPy dropped, whose message does not say what takes its place; that of most
    dropped names does (``_expired_attrs_2_0`` of NumPy 2)."""
    name = case.match["name"]
    new = _NEW_IN_NUMPY.get(name)
    if new is None:
        return ""
    return (
        f"Line {case.line} uses np.{name}, which new versions of NumPy do not have any more. "
        f"Write np.{new}, which does the same."
    )


_NEW_IN_NUMPY = {
    "alltrue": "all",
    "cumproduct": "cumprod",
    "in1d": "isin",
    "msort": "sort",
    "product": "prod",
    "row_stack": "vstack",
    "sometrue": "any",
    "trapz": "trapezoid",
}
"""Functions that NumPy 2.0 to 2.4 dropped, and their new names."""


def near_name(case: Case) -> str:
    """A name that an object or module lacks, where Python knows one that is spelt nearly so."""
    name, near = case.match["name"], suggested_name(case.failure.traceback)
    if not near:
        return ""
    owner = f"{case.match['owner']} does not have" if case.match["owner"] else "nothing defines"
    return f"Line {case.line} uses {name}, which {owner}. A name that is spelt nearly so is {near}."


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
