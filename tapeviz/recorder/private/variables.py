"""Private names of variables: the handle behind each, reads and writes."""

from __future__ import annotations

import sys
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np
import tensorflow as tf

from .lookup import find
from .runtime import NotOk, pywrap
from .tensors import EagerTensor, dtype_size, is_instance

variable_ops = find("tensorflow.python.ops.resource_variable_ops", "values of variables")
BaseVariable = find("tensorflow.python.ops.resource_variable_ops:BaseResourceVariable", "variables")
ResourceVariable = find(
    "tensorflow.python.ops.resource_variable_ops:ResourceVariable", "reads of variables"
)
"""A ``tf.Variable`` of just this class is read by the C++ fast path itself, by its handle alone."""
DistributedVariable = find(
    "tensorflow.python.distribute.values:DistributedVariable", "distributed variables"
)
RefVariable = find("tensorflow.python.ops.ref_variable:RefVariable", "TF1 ref variables")
UnreadVariable = find(
    "tensorflow.python.ops.resource_variable_ops:_UnreadVariable",
    "ids of variables that an assign returns",
)


def size_behind(handle: Any) -> int:
    """Bytes of the variable behind a handle; 0 where they are not known: of strings, and of a shape
    that may change."""
    dtype, shape = behind(handle)
    if not dtype or shape is None or -1 in shape:
        return 0
    return prod(shape) * dtype_size(dtype)


def behind(handle: Any) -> tuple[int, tuple[int, ...] | None]:
    """The dtype's enum and the shape of the variable behind a handle; 0 and () if it has none. -1
    stands for a dimension that may change, None for any shape."""
    data = getattr(handle, "_handle_data", None)
    if data is None or not data.is_set or len(data.shape_and_type) != 1:
        return 0, ()
    about = data.shape_and_type[0]
    shape = tuple(dimension.size for dimension in about.shape.dim)
    return int(about.dtype), None if about.shape.unknown_rank else shape


def handle_of(value: Any) -> Any:
    """The handle tensor of a ``tf.Variable`` or what wraps one; else ``None``.

    Only types and plain attributes are looked at: properties such as Keras's ``value`` may run ops,
    and so may any attribute of a distributed variable.
    """
    if is_instance(value, BaseVariable):
        return value._handle
    if is_instance(value, RefVariable):  # of the first kind: a graph's tensor
        return value._variable
    if is_instance(value, DistributedVariable):
        with suppress(ValueError):  # outside the replicas: that of the first one
            return value.handle
        return handle_of(value._values[0])
    # hasattr() would ask a metaclass of the snippet's.
    if not any("_should_act_as_resource_variable" in vars(kind) for kind in type(value).__mro__):
        return None
    space = getattr(value, "__dict__", {})
    inner = space.get("_value", space.get("_variable"))  # Keras 3; AutoCastVariable of Keras 2
    return None if inner is None else handle_of(inner)


def read_handle(handle: Any, dtype: int) -> Any:
    """The value of the variable behind a handle, as NumPy sees TensorFlow's own memory; ``None`` if
    it has no value. ``dtype``: its enum. Tapes record the read unless they are stopped."""
    try:
        value = variable_ops.gen_resource_variable_ops.read_variable_op(handle, dtype)
    except (NotOk, tf.errors.OpError):
        return None
    held = value._numpy_internal()
    return np.array(held, object) if isinstance(held, bytes) else held  # bytes: a single string


_WRITES = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")


def writes_variable(op_type: str) -> bool:
    """Whether an op of this type changes the variable that is its first input."""
    return op_type in _WRITES or op_type.startswith(
        ("ResourceScatter", "ResourceApply", "ResourceSparseApply", "ResourceStridedSliceAssign")
    )


_DRAWS = ("Rng", "StatefulStandard", "StatefulUniform", "StatefulTruncated", "StatefulRandom")


def draws_from_variable(op_type: str) -> bool:
    """Whether an op of this type draws random numbers by the state in a variable, and moves it."""
    return op_type.startswith(_DRAWS)


# What an eager op of these types does to a variable is seen by no traced function. Callbacks get
# bytes where the op did not go the fast path (the ``…_eager_fallback`` functions, 2.15-2.21).
WRITES_OF_VARIABLES = frozenset(
    kind
    for name in dir(tf.raw_ops)
    if writes_variable(name) or draws_from_variable(name)
    for kind in (name, name.encode())
)


def new_variable(variable: Any) -> tuple[Any, dict[str, Any], Any]:
    """The handle of a variable that was just made, what is known of it, and its initial value.

    The handle is None for a variable without one of its own, the initial value where it is no
    tensor.
    """
    handle = variable._handle
    if handle is None or isinstance(variable, UnreadVariable):
        return None, {}, None
    shape, initial = variable._shape, variable._initial_value
    about = {
        "name": variable._handle_name.removesuffix(":0"),
        "dtype": variable._dtype.name,
        "shape": None if shape.rank is None else shape.as_list(),
        "trainable": bool(variable._trainable),
    }
    return handle, about, initial if isinstance(initial, tf.Tensor) else None


def variable_name(variable: Any) -> str:
    """The name or, in Keras 3, the path that a variable goes by."""
    path = getattr(variable, "__dict__", {}).get("_path")
    return str(path or variable.name)


def read(execute_fast: Any, ctx: Any, variable: Any) -> Any:
    """Read a variable as ``ReadVariableOp`` and ``MaybeWatchVariable`` in pywrap_tfe_src.cc do.

    Python's ``variable_accessed`` asks the distribution strategy first, in eleven calls.
    """
    if variable._trainable:
        pywrap.TFE_Py_TapeVariableAccessed(variable)
        pywrap.TFE_Py_VariableWatcherVariableAccessed(variable)
    return execute_fast(ctx, "ReadVariableOp", None, variable._handle, "dtype", variable._dtype)


def keras_model() -> Any:
    """The ``Model`` class of the Keras that is loaded; a Keras that is not loaded stays so."""
    for name in ("keras", "tf_keras"):
        model = getattr(sys.modules.get(name), "Model", None)
        if model is not None:
            return model
    return None


def keras_backend() -> Any:
    """The module by which Keras 3 makes arrays of tensors; None without it."""
    backend = sys.modules.get("keras.src.backend")
    return backend if hasattr(backend, "convert_to_numpy") else None


def is_tensor_like(value: Any) -> bool:
    """An eager tensor, or a variable of TensorFlow or Keras."""
    if isinstance(value, (EagerTensor, BaseVariable)):
        return True
    return hasattr(type(value), "_should_act_as_resource_variable") and hasattr(value, "numpy")
