"""A snippet in, the same with its calls led past us, so that NumPy values can be followed.

For a run of its own, after the one that is shown: what left TensorFlow comes back linked to where
it left (:mod:`.followed`), and the tape sees what TensorFlow would make of the NumPy code.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from sys import _getframe
from typing import Any

import numpy as np

from .. import private
from ..hooks.instrument import CONVERTING
from ..installed import Installed
from ..recording import RecordingContext
from . import followed, tensor_ops
from .followed import Followed, array_from, is_linked, tensor_of, value_of

CALL = "__tapeviz_call__"
# They look at the frame that calls them; a tape's own methods are recognized by who asks.
_LEFT_ALONE = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})
_ASKING = frozenset({"gradient", "jacobian", "batch_jacobian", "jvp", "gradients", "watch"})
# Python's own functions that take whatever they are given.
_CONTAINERS = frozenset(
    {"len", "sum", "max", "min", "abs", "sorted", "zip", "enumerate", "list", "tuple", "dict"}
    | {"map", "filter", "iter", "next", "reversed", "set", "round", "pow", "divmod", "any", "all"}
)
_LEAVING = frozenset({"numpy", "item", "tolist", "__array__"})
_MAKING = frozenset({"zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like"})
_ARRAYS = frozenset({"array", "asarray", "asanyarray", "ascontiguousarray"})
_FLOATS = frozenset({"float16", "float32", "float64", "single", "double"})
NOT_FOLLOWED = "not followed: "


class Rerouted(ast.NodeTransformer):
    """``f(x)`` as ``call(f, x)``."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else None
        if isinstance(node.func, ast.Name) and node.func.id in _LEFT_ALONE:
            return node
        if name in _ASKING:
            return node
        new = ast.Call(ast.Name(CALL, ast.Load()), [node.func, *node.args], node.keywords)
        ast.copy_location(new, node)
        ast.copy_location(new.func, node.func)
        return new


def install(recording: RecordingContext, installed: Installed) -> None:
    """Make the hook a builtin function, and let TensorFlow convert its results to tensors."""
    caller = _Caller(recording)
    setattr(builtins, CALL, caller.call)
    installed.undo(delattr, builtins, CALL)
    installed.replace(private.conversions, "convert", _converting)
    followed.losses.report = caller.lost


def _converting(convert: Callable[..., Any]) -> Callable[..., Any]:
    """``preferred_dtype`` holds for our values as for NumPy's."""

    def converting(value: Any, dtype: Any = None, *args: Any, **named: Any) -> Any:
        if isinstance(value, Followed):
            wanted = dtype if dtype is not None else named.get("preferred_dtype")
            return value.__tf_tensor__(wanted)
        return convert(value, dtype, *args, **named)

    return converting


class _Caller:
    def __init__(self, recording: RecordingContext) -> None:
        self._recording = recording
        self._noted: set[str] = set()

    def lost(self, what: str) -> None:
        """Note where something could not be followed, once for each line."""
        frame: Any = _getframe()
        while frame is not None and not self._recording.is_snippet(frame):
            frame = frame.f_back
        words = f"{NOT_FOLLOWED}{frame.f_lineno if frame is not None else 0} {what}"
        if words not in self._noted:
            self._noted.add(words)
            self._recording.emit({"e": "note", "message": words})

    def call(self, function: Any, /, *args: Any, **named: Any) -> Any:
        """The result of ``function(*args, **named)``, linked to its tensor where possible."""
        owner: Any = getattr(function, "__self__", None)
        name = getattr(function, "__name__", "")
        if private.is_tensor_like(owner) and name in _LEAVING:
            return Followed(function(*args, **named), tensor_ops.as_tensor(owner))
        if name == "predict" and hasattr(owner, "predict_step"):
            return Followed(function(*args, **named), owner(args[0], training=False))
        if name == "get_weights" and hasattr(owner, "weights"):
            weights = zip(function(), owner.weights, strict=True)
            return [Followed(value, tensor_ops.as_tensor(weight)) for value, weight in weights]
        module = getattr(function, "__module__", None) or type(owner).__module__ or ""
        is_of_keras = module.split(".")[0] in ("keras", "tf_keras")
        if is_of_keras and name in CONVERTING and len(args) == 1 and not is_linked(args):
            return Followed(function(*args), tensor_ops.as_tensor(args[0]))
        if function is float or function is int:
            return self._number(function, *args)
        if function is isinstance:
            return isinstance(value_of(args[0]), args[1])
        if function in (math.sqrt, math.pow, math.log) or module == "math":
            return self._math(function, args)
        is_draw = module.startswith("numpy.random")  # it takes nothing but real arrays
        if isinstance(function, np.ufunc) or (module.split(".")[0] == "numpy" and not is_draw):
            return self._numpy(function, name, args, named)
        if module.split(".")[0] in ("tensorflow", "keras", "tf_keras"):
            return self._tensorflow(function, name, args, named)
        if self._is_own(function, owner, module, name):
            return function(*args, **named)
        result = function(*map(value_of, args), **value_of(named))
        has_tensor = is_linked(args) or any(map(private.is_tensor_like, args))
        if has_tensor and isinstance(result, (int, float, np.ndarray, np.generic, list)):
            self.lost(f"{name or 'a call'}()")
        return result

    @staticmethod
    def _is_own(function: Any, owner: Any, module: str, name: str) -> bool:
        if module == "__main__" or isinstance(owner, Followed):
            return True
        if module == "builtins" and name in _CONTAINERS:
            return True
        return type(owner) in (list, dict, set, tuple)

    def _number(self, kind: Any, *args: Any) -> Any:
        result = kind(*map(value_of, args))
        given = args[0] if args else None
        is_known = is_linked(given) or private.is_tensor_like(given)
        if not is_known:
            return result
        if kind is int:
            self.lost("int()")
            return result
        return Followed(result, tensor_ops.reshaped(tensor_of(given), []))

    def _math(self, function: Any, args: Any) -> Any:
        result = function(*map(value_of, map(_plain, args)))
        linked = tuple(map(_linked, args))
        if not is_linked(linked):
            return result
        name = {"pow": "power", "fabs": "absolute"}.get(function.__name__, function.__name__)
        inverse = f"arc{name[1:]}"  # of math.atan2
        name = inverse if name.startswith("a") and hasattr(np, inverse) else name
        return followed.followed(result, name, linked, {})

    def _numpy(self, function: Any, name: str, args: Any, named: Any) -> Any:
        args = tuple(map(_linked, args))
        if name in _ARRAYS:
            if is_linked(args[:1]):
                return array_from(*args, **named)
            result = function(*map(value_of, args), **value_of(named))
            return Followed(result) if isinstance(args[0], (list, tuple)) else result
        if name in _FLOATS and is_linked(args):
            return Followed(function(value_of(args[0])), tensor_of(args[0]))
        if name in _MAKING and not is_linked(args):
            return Followed(function(*map(value_of, args), **value_of(named)))
        return function(*args, **named)

    def _tensorflow(self, function: Any, name: str, args: Any, named: Any) -> Any:
        if name in ("numpy_function", "py_function"):
            return self._python_function(*args, **named)
        if name == "constant" and is_linked(args[:1]):
            plain = function(value_of(args[0]), *args[1:], **named)
            return array_from(args[0]).__tf_tensor__(plain.dtype)
        dtype = tensor_ops.float_dtype_among(args)
        args = tuple(_entering(arg, dtype) for arg in args)
        return function(*args, **{key: _entering(item, dtype) for key, item in named.items()})

    def _python_function(self, func: Any, inp: Any, Tout: Any, **named: Any) -> Any:
        given = [
            Followed(tensor_ops.as_tensor(item).numpy(), tensor_ops.as_tensor(item)) for item in inp
        ]
        result = func(*given)
        if isinstance(Tout, (list, tuple)):
            kinds = zip(result, Tout, strict=True)
            return [array_from(item).__tf_tensor__(kind) for item, kind in kinds]
        return array_from(_linked(result)).__tf_tensor__(Tout)


def _plain(given: Any) -> Any:
    return float(given) if private.is_tensor_like(given) else given


def _linked(given: Any) -> Any:
    """Tensors as the arrays that NumPy takes them for, linked."""
    if private.is_tensor_like(given):
        tensor = tensor_ops.as_tensor(given)
        return Followed(np.asarray(tensor), tensor)
    if type(given) in (list, tuple):
        return type(given)(map(_linked, given))
    return given


def _entering(given: Any, dtype: Any) -> Any:
    """Linked values as tensors, others as plain values."""
    if isinstance(given, Followed):
        if given.tensor is None:
            return given.value
        return given.__tf_tensor__(dtype if type(given.value) is float else None)
    if type(given) in (list, tuple):
        return type(given)(_entering(item, dtype) for item in given)
    return given
