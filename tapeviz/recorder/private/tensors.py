"""Private names of tensors: dtypes, shapes, elements, and links through NumPy."""

from __future__ import annotations

from functools import cache
from types import FrameType
from typing import Any

import numpy as np
import tensorflow as tf

from .lookup import MISSING, find
from .runtime import context

script_functions = find("tensorflow.python.ops.script_ops", "values that tf.numpy_function took")
conversions = find("tensorflow.python.framework.tensor_conversion_registry", "links through NumPy")
NUMPY_FUNCTION = "py_func_common"
_GRADIENT_OF_PYTHON = "eagerly_executed_grad"
FuncRegistry = find(
    "tensorflow.python.ops.script_ops:FuncRegistry", "variables that Python on other threads reads"
)
IndexedSlices: Any = tf.IndexedSlices
LOOK_UP = "get"
EagerTensor = find("tensorflow.python.framework.ops:EagerTensor", "values of tensors")
EagerMethods = find(
    "tensorflow.python.framework.ops:_EagerTensorBase", "values that left TensorFlow"
)
EAGER_ATTRIBUTES = ("_id", "_datatype_enum", "_shape_tuple", "_numpy_internal")
"""Read from each tensor where it is met, for speed: no other private attribute is spelled outside
of this folder. They are C++'s (``EagerTensor_getsetters`` and ``_methods`` in pywrap_tensor.cc)."""
for _name in EAGER_ATTRIBUTES:
    if EagerTensor and not hasattr(EagerTensor, _name):
        MISSING[f"EagerTensor.{_name}"] = "tensors and what is computed from them"
Tensor: type = tf.Tensor
DType: type = tf.dtypes.DType
_PROXIES = ("tensorflow.", "keras.", "tf_keras.")
_RESOURCE, _VARIANT, _STRING = 20, 21, 7
_BUFFERS = frozenset(
    tf.dtypes.as_dtype(name).as_datatype_enum
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
)


def is_instance(value: Any, kinds: Any) -> bool:
    """``isinstance``, which runs no code of the snippet: it asks the value for its ``__class__``,
    and a class with a ``__getattribute__`` of its own answers that itself.

    Proxies of TensorFlow and Keras, such as a model's lists and dicts, count as what they wrap.
    """
    kind = type(value)
    if issubclass(kind, kinds):
        return True
    return kind.__module__.startswith(_PROXIES) and isinstance(value, kinds)


def is_gradient_of_python(frame: FrameType) -> bool:
    """Whether a compiled function computes the gradient of a ``tf.py_function`` there
    (``_EagerPyFuncGrad`` of script_ops.py, 2.15-2.21)."""
    if frame.f_code.co_name != _GRADIENT_OF_PYTHON:
        return False
    return frame.f_globals is vars(script_functions)


def dtype_name(number: int) -> str:
    """TensorFlow's name of a dtype from its enum: ``float32``."""
    return str(tf.dtypes.as_dtype(number).name)


def dtype_size(number: int) -> int:
    """Bytes of one element."""
    return int(tf.dtypes.as_dtype(number).size)


def is_buffer(number: int) -> bool:
    """Python's buffer protocol can give this dtype's memory (not bfloat16, float8, int4)."""
    return number in _BUFFERS


def tensor_from(raw: bytes, number: int, shape: tuple[int, ...]) -> Any:
    """A tensor with these elements."""
    return tensor_of_array(np.frombuffer(raw, _numpy_dtype(number)).reshape(shape), number)


@cache
def _numpy_dtype(number: int) -> Any:
    return tf.dtypes.as_dtype(number).as_numpy_dtype


def tensor_of_array(array: Any, number: int) -> Any:
    """A tensor of this dtype with a copy of the elements, made as ``convert_to_eager_tensor`` of
    constant_op.py does (2.15-2.21). ``tf.constant``, which calls that, takes twice as long.
    """
    ctx = context.context()
    ctx.ensure_initialized()
    return EagerTensor(np.array(array), ctx.device_name, number)


def is_opaque(number: int) -> bool:
    """A resource or variant: there is no array behind it."""
    return number in (_RESOURCE, _VARIANT)


def is_resource(number: int) -> bool:
    return number == _RESOURCE


def is_string(number: int) -> bool:
    return number == _STRING


def shape_of(tensor: Any) -> tuple[int | None, ...] | None:
    """Static shape of any tensor; ``None`` for an unknown rank."""
    shape = tensor.shape
    return None if shape.rank is None else tuple(shape.as_list())


def is_ragged_or_sparse(value: Any) -> bool:
    return is_instance(value, (tf.RaggedTensor, tf.SparseTensor))


def values_of(value: Any) -> Any:
    """The tensor of a ragged or sparse tensor's numbers; else ``None``."""
    if is_ragged_or_sparse(value):
        return value.flat_values if is_instance(value, tf.RaggedTensor) else value.values
    return None


NUMBERS = (bool, int, float, complex, np.ndarray, np.generic)


def tensor_of_number(number: Any) -> Any:
    """A tensor of the dtype that NumPy gives this number or array: float64 for a Python float."""
    return tf.constant(np.asarray(number))


def dense(slices: Any) -> Any:
    """IndexedSlices summed into one tensor, by the op TensorFlow itself uses for it.

    A RaggedTensor where their values are one.
    """
    return sum_of_rows(slices.values, slices.indices, slices.dense_shape[0])


def sum_of_rows(rows: Any, numbers: Any, count: Any) -> Any:
    """Rows added up by their numbers into a tensor of ``count`` rows."""
    return tf.math.unsorted_segment_sum(rows, numbers, count)


def as_dense(gradient: Any) -> Any:
    """A gradient as one tensor."""
    is_sparse = isinstance(gradient, tf.IndexedSlices)
    return dense(gradient) if is_sparse else tf.convert_to_tensor(gradient)


def rows_of_symbolic(slices: Any) -> int:
    """The rows of the tensor that a graph's IndexedSlices stand for; 0 for anything else, and where
    they are not known when it is traced."""
    is_slices = isinstance(slices, tf.IndexedSlices) and slices.dense_shape is not None
    if not is_slices or type(slices.values) is EagerTensor or not tf.is_tensor(slices.values):
        return 0
    shape = tf.get_static_value(slices.dense_shape)
    return 0 if shape is None else int(shape[0])


WIDER = {1: 2, 19: 2, 14: 2, 8: 18}  # DataType: float, half, bfloat16; complex64
