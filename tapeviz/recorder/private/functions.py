"""TensorFlow's private names for functions as the runtime knows them: ``FunctionDef`` protos.

Seen alike on TensorFlow 2.15.1 and 2.21.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import tensorflow as tf

from .lookup import find

_INSIDE = "the inside of compiled functions"
FunctionDef = find("tensorflow.core.framework.function_pb2:FunctionDef", _INSIDE)
context = find("tensorflow.python.eager.context", _INSIDE)
_cancellation = find("tensorflow.python.eager.cancellation", _INSIDE)
_op_def_of = find("tensorflow.python.framework.op_def_registry:get", _INSIDE)
VARIANT, RESOURCE, BOOL, INT64, INT32 = 21, 20, 10, 9, 3
CONTAINER = "tapeviz"
"""The runtime knows variables of our own by this and their names."""
_CALLS_PYTHON = "PyFuncStateless"
_python_functions = find("tensorflow.python.ops.script_ops:_py_funcs", _INSIDE)


def definition(name: str) -> Any:
    """A copy of the ``FunctionDef`` of that name; ``None`` if the runtime has none."""
    try:
        found = context.context().get_function_def(name)
    except (tf.errors.OpError, ValueError):
        return None
    copy = FunctionDef()
    copy.CopyFrom(found)
    return copy


def register(function: Any) -> None:
    """Let the runtime know a function by the name in its signature."""
    context.context().add_function_def(function)


def call(
    name: str, inputs: Sequence[Any], count: int, *, is_optimized: bool = True
) -> Sequence[Any]:
    """Call a function of the runtime with eager tensors; ``count``: of its outputs.

    Where it is not ``is_optimized`` Grappler is left out, which takes most of the time of a first
    call: each op is run as it was written.
    """
    ctx = context.context()
    options = ctx.function_call_options
    if not is_optimized:
        config = ctx.config
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        config.allow_soft_placement = True
        ctx.function_call_options = context.FunctionCallOptions(config_proto=config)
    try:
        found: Sequence[Any] = ctx.call_function(name.encode(), list(inputs), count)
    finally:
        ctx.function_call_options = options
    return found or ()


def optimized_graphs(run: Callable[[], Any]) -> tuple[Any, list[Any]]:
    """The result of ``run``, and the optimized graphs of the functions that it called first.

    TensorFlow optimizes a function at its first call; one that ran before is not among them.
    """
    ctx = context.context()
    ctx.enable_graph_collection()
    try:
        result = run()
        found = ctx.export_run_metadata()
    finally:
        ctx.disable_graph_collection()
    return result, [graph.post_optimization_graph for graph in found.function_graphs]


def optimized_of_dataset(name: str, inputs: Sequence[Any], count: int) -> Any:
    """The graph that TensorFlow makes of a function that a dataset runs, by optimizing it; ``None``
    if it hands out none. The function does not run.

    Whatever the options are, it folds no constants and changes no layouts in one
    (``CapturedFunction::Instantiate`` of tensorflow/core/data/captured_function.cc, 2.15-2.21).
    ``inputs``: what matters are their dtypes, and the variables behind handles; ``count``: of
    outputs.
    """
    ctx = context.context()
    config = type(ctx.config)()
    rewriting = config.graph_options.rewrite_options
    rewriting.layout_optimizer = rewriting.constant_folding = _OFF
    cancelled = _cancellation.CancellationManager()
    cancelled.start_cancel()

    def optimize() -> None:
        within = _cancellation.CancellationManagerContext(cancelled)
        with suppress(tf.errors.CancelledError), within:
            ctx.call_function(name.encode(), list(inputs), count)
        tf.raw_ops.Identity(input=inputs[0])  # the next op that runs hands out what was collected

    tf.raw_ops.Identity(input=inputs[0])  # its own graph is made now
    options = ctx.function_call_options
    ctx.function_call_options = context.FunctionCallOptions(config_proto=config)
    try:
        _, graphs = optimized_graphs(optimize)
    finally:
        ctx.function_call_options = options
    return graphs[0] if graphs else None


_OFF = 2
"""``RewriterConfig.OFF``."""


def nothing(dtype: int) -> Any:
    """A tensor of this dtype; of variants an empty TensorList."""
    if dtype == VARIANT:
        return tf.raw_ops.EmptyTensorList(
            element_shape=-1, max_num_elements=-1, element_dtype=tf.int32
        )
    return tf.zeros([], tf.dtypes.as_dtype(dtype))


def is_inexact(dtype: int) -> bool:
    """Whether numbers of this dtype are rounded: floats and complex numbers."""
    of_tensors = tf.dtypes.as_dtype(dtype)
    return bool(of_tensors.is_floating or of_tensors.is_complex)


def bytes_of_element(dtype: int) -> int:
    return int(tf.dtypes.as_dtype(dtype).size)


def op_def(op_type: str) -> Any:
    """The ``OpDef`` of a type; ``None`` for one that TensorFlow does not know."""
    return _op_def_of(op_type)


@cache
def can_repeat(op_type: str | bytes) -> bool:
    """Whether an op of this type gives the same on the same inputs, whenever it runs, and does
    nothing else. Not one that calls Python."""
    name = op_type.decode() if isinstance(op_type, bytes) else op_type
    about = op_def(name) if _op_def_of else None
    return about is not None and not about.is_stateful and name != _CALLS_PYTHON


def keeps_result(token: bytes) -> bool:
    """Whether TensorFlow keeps what a ``tf.py_function`` gives (``tape_cache`` of
    tensorflow/python/ops/script_ops.py, 2.15-2.21): once a graph has its gradient."""
    function = _python_functions._funcs.get(token.decode()) if _python_functions else None
    return bool(getattr(function, "_support_graph_mode_gradient", False))


def new_variable(dtype: int, shape: Sequence[int | None] | None, name: str) -> Any:
    """The handle of a variable that nobody else knows. ``shape``: None for any."""
    sizes = None if shape is None else [None if size == -1 else size for size in shape]
    return tf.raw_ops.VarHandleOp(
        dtype=tf.dtypes.as_dtype(dtype), shape=sizes, shared_name=name, container=CONTAINER
    )


def set_variable(handle: Any, value: Any) -> None:
    tf.raw_ops.AssignVariableOp(resource=handle, value=value)


def read_variable(handle: Any, dtype: int) -> Any:
    return tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.dtypes.as_dtype(dtype))


def vector(numbers: Sequence[int]) -> Any:
    """Whole numbers as a tensor."""
    return tf.constant(numbers, tf.int32, [len(numbers)])


def bytes_of(tensor: Any) -> int:
    """The memory of a tensor; of a TensorList or another variant, without what it refers to."""
    if tensor.dtype != tf.variant:
        return int(tensor.shape.num_elements() * tensor.dtype.size)
    try:
        return _BYTES_OF_ELEMENT * int(tf.raw_ops.TensorListLength(input_handle=tensor))
    except tf.errors.InvalidArgumentError:  # no list, but an optional, a dataset …
        return _BYTES_OF_ELEMENT


_BYTES_OF_ELEMENT = 32
"""``sizeof(tensorflow::Tensor)``."""


def list_item(tensor: Any, index: int, dtype: int) -> Any:
    """An element of a TensorList."""
    return tf.raw_ops.TensorListGetItem(
        input_handle=tensor, index=index, element_shape=-1, element_dtype=dtype
    )


def unstage(name: str, dtypes: Sequence[int]) -> Iterator[Sequence[Any]]:
    """Take out what ops of type ``Stage`` put aside by this name, in any order."""
    kinds = [tf.dtypes.as_dtype(dtype) for dtype in dtypes]
    for _ in range(int(tf.raw_ops.StageSize(dtypes=kinds, shared_name=name))):
        yield tf.raw_ops.Unstage(dtypes=kinds, shared_name=name)


def clear_staged(name: str, dtypes: Sequence[int]) -> None:
    """Drop what ops of type ``Stage`` put aside by this name."""
    kinds = [tf.dtypes.as_dtype(dtype) for dtype in dtypes]
    tf.raw_ops.StageClear(dtypes=kinds, shared_name=name)
