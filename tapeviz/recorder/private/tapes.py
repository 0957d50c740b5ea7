"""Private names of tapes and gradient functions, and the gradients that a pass starts with."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from .lookup import find
from .runtime import pywrap
from .tensors import is_resource
from .variables import variable_ops

custom_gradients = find("tensorflow.python.ops.custom_gradient", "names of custom gradients")
graph_gradients = find("tensorflow.python.ops.gradients_util", "tf.gradients")
PUBLIC_GRAPH_GRADIENTS = "tensorflow.python.ops.gradients_impl"

RECORD_OPERATION = "TFE_Py_TapeSetRecordOperation"
STOP_TAPES = "TFE_Py_TapeSetStopOnThread"
RESTART_TAPES = "TFE_Py_TapeSetRestartOnThread"
RECORD_GRADIENT = "record_gradient"
CUSTOM_GRADIENTS = ("_eager_mode_decorator", "_graph_mode_decorator")
PUSH_TAPE, POP_TAPE = "_push_tape", "_pop_tape"
PUSH_ACCUMULATOR, POP_ACCUMULATOR = "_push_accumulator", "_pop_accumulator"
GRADIENTS_OF_GRAPH = "_GradientsHelper"
STEP_OF_GRAPH = "_MaybeCompile"
GradientTape = tf.GradientTape
ForwardAccumulator = find("tensorflow.python.eager.forwardprop:ForwardAccumulator", "forward mode")
gradient_function = find(
    "tensorflow.python.eager.backprop:_gradient_function", "steps of the backward pass"
)
jvp_function = find("tensorflow.python.eager.forwardprop:_jvp_dispatch", "forward mode")
aggregate = find(
    "tensorflow.python.eager.backprop:_aggregate_grads", "sums in replays across a cut"
)
watched_parts = find(
    "tensorflow.python.eager.backprop:_extract_tensors_and_variables", "watched tensors"
)
flatten_with_paths = find(
    "tensorflow.python.util.nest:flatten_with_tuple_paths", "operands of gradient calls"
)


def register_gradient_function(function: Any) -> None:
    """Make every tape call ``function`` for each op it recorded."""
    pywrap.TFE_Py_RegisterGradientFunction(function)


def is_any_tape_recording() -> bool:
    """Whether a tape or accumulator of this thread would record an op now."""
    return not pywrap.TFE_Py_TapeSetIsEmpty()


def register_jvp_function(function: Any) -> None:
    """Make every forward accumulator call ``function`` for each op."""
    pywrap.TFE_Py_RegisterJVPFunction(function)


def ones_like(tensor: Any) -> Any:
    """The gradient that a target starts with; for a handle: of the variable's shape and dtype.
    ``None`` for text."""
    if is_resource(tensor._datatype_enum()):
        shape = variable_ops.variable_shape(tensor)
        return tf.ones(shape, tensor._handle_data.shape_and_type[0].dtype)
    return None if tensor.dtype == tf.string else tf.ones_like(tensor)


def one_at(element: int, like: Any) -> Any:
    """One at an element, counted flat, and zero elsewhere."""
    flat = tf.one_hot(element, like.shape.num_elements(), dtype=like.dtype)
    return tf.reshape(flat, like.shape)


def zeros_like(tensor: Any) -> Any:
    """The gradient of an output that none arrived at."""
    if is_resource(tensor._datatype_enum()):
        shape = variable_ops.variable_shape(tensor)
        return tf.zeros(shape, tensor._handle_data.shape_and_type[0].dtype)
    return tf.zeros_like(tensor)
