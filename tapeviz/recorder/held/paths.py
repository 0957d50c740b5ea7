"""An expression of the snippet → its value in a frame, and the parameters of what can be called.

Only names, attributes and elements by a number or a key are looked up, where Python itself or
TensorFlow keeps them: nothing of the snippet's Python is called.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from contextlib import suppress
from inspect import Signature, signature
from types import (
    BuiltinFunctionType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np
import tensorflow as tf

from ..private import is_instance, locals_of

_PACKAGES = ("tensorflow", "keras", "tf_keras")
_OF_PYTHON = (GetSetDescriptorType, MemberDescriptorType)
"""Descriptors by which Python itself keeps the ``__dict__`` of an object."""
_WITHOUT_ATTRIBUTES = (tf.Tensor, tf.Variable, np.generic, np.ndarray, list, tuple, dict)
_OF_KERAS = ("layers", "shape")
"""Properties of Keras's classes that run no op, and no code of the snippet's layers."""


def value_of(node: ast.expr, frame: FrameType) -> Any:
    """Return the value of an expression; raises LookupError where it cannot be looked up."""
    if isinstance(node, ast.Name):
        for space in (locals_of(frame), frame.f_globals, frame.f_builtins):
            if node.id in space:
                return space[node.id]
    elif isinstance(node, ast.Attribute):
        return _attribute(value_of(node.value, frame), node.attr)
    elif isinstance(node, ast.Subscript):
        return _element(value_of(node.value, frame), _index(node.slice, frame))
    raise LookupError


def _index(node: ast.expr, frame: FrameType) -> int | str:
    value: Any
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -int(_index(node.operand, frame))
    value = node.value if isinstance(node, ast.Constant) else value_of(node, frame)
    if type(value) not in (int, str):
        raise LookupError
    return value  # type: ignore[no-any-return]


def _element(value: Any, index: int | str) -> Any:
    for known in (dict, list, tuple):
        if is_instance(value, known):
            kind: Any = type(value) if is_of_tensorflow(type(value)) else known
            return kind.__getitem__(value, index)
    raise LookupError


def _attribute(value: Any, name: str) -> Any:
    if is_instance(value, ModuleType):
        return vars(value)[name]  # not getattr, by which TensorFlow loads some of its modules
    own = attributes_of(value)
    if name in own:
        return own[name]
    if name == "shape" and is_instance(value, _WITHOUT_ATTRIBUTES[:4]):
        return value.shape
    is_class = is_instance(value, type)
    kind = value if is_class else type(value)
    found = _static(kind, name)
    if isinstance(found, (classmethod, staticmethod)):
        function = found.__func__
        return function if isinstance(found, staticmethod) else MethodType(function, kind)
    if type(found) is FunctionType:
        return found if is_class else MethodType(found, value)
    if type(found) is MethodDescriptorType and kind in (list, dict, str, set, tuple):
        return found.__get__(value)
    if (
        type(found) is property
        and name in _OF_KERAS
        and _package(found.fget.__module__) in _PACKAGES
    ):
        return found.fget(value)  # type: ignore[misc]
    raise LookupError


def _static(kind: type, name: str) -> Any:
    """Return the value that a class or its bases hold under a name, unbound; None without."""
    spaces = map(vars, type.mro(kind) if kind is type else kind.__mro__)
    return next((each[name] for each in spaces if name in each), None)


def attributes_of(value: Any) -> Mapping[str, Any]:
    """The attributes that an object itself has, as its ``__dict__`` holds them."""
    if is_instance(value, (*_WITHOUT_ATTRIBUTES, type, ModuleType)):
        return {}
    kept = _static(type(value), "__dict__")
    own = kept.__get__(value) if type(kept) in _OF_PYTHON else None  # no property of the snippet
    return own if type(own) is dict else {}


def is_of_tensorflow(kind: type) -> bool:
    """Whether a class is one of TensorFlow's or Keras's own."""
    return _package(kind.__module__) in _PACKAGES


def _package(module: object) -> str:
    return module.partition(".")[0] if type(module) is str else ""


def parameters_of(value: Any) -> tuple[str, dict[str, int]] | None:
    """The parameters of a call of the value as Python writes them, ``(x, /, axis=0, *, name=0)``:
    each default is 0, and there are no annotations; and the defaults that are whole numbers. Empty
    if they are not known, None if it cannot be called. Of a layer of Keras those of its method
    ``call``."""
    function = _function(value)
    if function is None:
        return None
    with suppress(Exception):
        known = signature(function)
        given = [
            each.replace(
                annotation=each.empty, default=each.empty if each.default is each.empty else 0
            )
            for each in known.parameters.values()
        ]
        defaults = ((name, each.default) for name, each in known.parameters.items())
        return str(Signature(given)), {name: n for name, n in defaults if type(n) is int}
    return "", {}


def documented_parameters(value: Any) -> str:
    """The part of the docstring of what can be called that is on its parameters, with its
    indentation: of a function, or of the class that makes an object. Empty if it has none."""
    function = value if is_instance(value, type) else _function(value)
    if type(function) is MethodType:
        function = function.__func__
    text = _static(function, "__doc__") if is_instance(function, type) else function.__doc__
    found = _PARAMETERS.search(text) if type(text) is str else None
    return found[1][:_LONGEST_PART] if found is not None and text is not None else ""


_PARAMETERS = re.compile(r"^ *(?:Args?|Arguments|Parameters):?[ \t]*\n(?: *-+\n)?(.*)", re.S | re.M)
"""How TensorFlow and Keras, and NumPy (with a line below), begin what they say of parameters."""
_LONGEST_PART = 6000


def _function(value: Any) -> Any:
    """Return the function that runs when the value is called; None if it is not known."""
    kind = type(value)
    if kind in (FunctionType, MethodType, BuiltinFunctionType, np.ufunc):
        return value
    if is_instance(value, type):
        made = _static(value, "__init__")
        return MethodType(made, value) if type(made) is FunctionType else value
    called = _static(kind, "__call__")
    if called is None or is_instance(value, tf.types.experimental.GenericFunction):
        return value if called is not None else None
    if any(each.__name__ == "Layer" and is_of_tensorflow(each) for each in kind.__mro__):
        called = _static(kind, "call")
    if type(called) is FunctionType:
        return MethodType(called, value)
    return value if is_of_tensorflow(kind) or kind.__module__ in ("numpy", "functools") else None
