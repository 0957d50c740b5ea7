"""Explain exceptions of attributes that an object or module does not have."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from ..case import Case
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
    given = sorted(set(_attributes(kind)))
    near = difflib.get_close_matches(name, given, n=1)
    if name in _MODULE_PROPERTIES and not kind.bases:
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


_MODULE_PROPERTIES = ("trainable_variables", "variables", "non_trainable_variables")
"""Properties of ``tf.Module`` (2.15-2.21)."""


def _attributes(kind: ast.ClassDef) -> Iterator[str]:
    for node in ast.walk(kind):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.FunctionDef):
            yield node.name


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
