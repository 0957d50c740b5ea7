"""Every private name of TensorFlow that the recorder needs, and small readings of them.

Seen alike on TensorFlow 2.15.1, 2.17.1 and 2.21.0; nowhere else is a private name spelled. Where a
version lacks a name, what needs it is left out, and the recording has a note that says so.
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import tensorflow as tf

from . import functions as functions
from .lookup import MISSING as MISSING
from .lookup import find


class _NeverRaised(Exception):
    """In the place of an exception class that is missing."""


pywrap_tfe = find(
    "tensorflow.python.pywrap_tfe",
    "steps of the backward pass, custom gradients, reads of variables",
)
backprop = find("tensorflow.python.eager.backprop", "watched variables, sums at a fan-out")
context = find("tensorflow.python.eager.context", "name scopes, replays across a cut")
execute = find("tensorflow.python.eager.execute", "attributes of ops in graphs")
record = find("tensorflow.python.eager.record", "values of variables, replays across a cut")
variable_ops = find("tensorflow.python.ops.resource_variable_ops", "values of variables")
tf_stack = find("tensorflow.python.util.tf_stack", "lines of code that AutoGraph made")
traceback_utils = find(
    "tensorflow.python.util.traceback_utils", "plain error messages of TensorFlow"
)

# Modules in which names are replaced while a snippet runs.
pywrap = pywrap_tfe
eager_execute = execute
custom_gradients = find("tensorflow.python.ops.custom_gradient", "names of custom gradients")
graph_gradients = find("tensorflow.python.ops.gradients_util", "tf.gradients")
script_functions = find("tensorflow.python.ops.script_ops", "values that tf.numpy_function took")
conversions = find("tensorflow.python.framework.tensor_conversion_registry", "links through NumPy")
function_graphs = find("tensorflow.python.framework.func_graph", "the inside of compiled functions")
random_seeds = find("tensorflow.python.framework.random_seed", "repeatable random numbers")
AUTOGRAPH_CALLS = "tensorflow.python.autograph.impl.api"
autograph_loader = find(
    "tensorflow.python.autograph.pyct.loader", "removal of code that AutoGraph wrote"
)
GENERATED_FILES = "tempfile"
PUBLIC_GRAPH_GRADIENTS = "tensorflow.python.ops.gradients_impl"

CODE_WITH_CALLBACKS = getattr(getattr(execute, "execute_with_callbacks", None), "__code__", None)
"""Runs each op in the place of ``quick_execute`` while an op callback is there (2.15-2.21)."""

FAST_PATH = "TFE_Py_FastPathExecute"
RECORD_OPERATION = "TFE_Py_TapeSetRecordOperation"
STOP_TAPES = "TFE_Py_TapeSetStopOnThread"
RESTART_TAPES = "TFE_Py_TapeSetRestartOnThread"
RECORD_GRADIENT = "record_gradient"
CUSTOM_GRADIENTS = ("_eager_mode_decorator", "_graph_mode_decorator")
NUMPY_FUNCTION = "py_func_common"
GRADIENTS_OF_GRAPH = "_GradientsHelper"
STEP_OF_GRAPH = "_MaybeCompile"
TRACE_BODY = "func_graph_from_py_func"
RUN_BODY = "call_flat"
CALL_FUNCTION = "call_function"

FunctionScope = find(
    "tensorflow.python.autograph.core.function_wrappers:FunctionScope",
    "names in compiled functions",
)
CompiledFunction = find(
    "tensorflow.python.eager.polymorphic_function.atomic_function:AtomicFunction",
    "the inside of compiled functions",
)
GradientTape = tf.GradientTape
ForwardAccumulator = find("tensorflow.python.eager.forwardprop:ForwardAccumulator", "forward mode")
BaseSession = find("tensorflow.python.client.session:BaseSession", "values that a session computed")
BaseVariable = find("tensorflow.python.ops.resource_variable_ops:BaseResourceVariable", "variables")
ResourceVariable = find(
    "tensorflow.python.ops.resource_variable_ops:ResourceVariable", "reads of variables"
)
DistributedVariable = find(
    "tensorflow.python.distribute.values:DistributedVariable", "distributed variables"
)
RefVariable = find("tensorflow.python.ops.ref_variable:RefVariable", "TF1 ref variables")
IndexedSlices: Any = tf.IndexedSlices
UnreadVariable = find(
    "tensorflow.python.ops.resource_variable_ops:_UnreadVariable",
    "ids of variables that an assign returns",
)
EagerTensor = find("tensorflow.python.framework.ops:EagerTensor", "values of tensors")
EagerMethods = find(
    "tensorflow.python.framework.ops:_EagerTensorBase", "values that left TensorFlow"
)
Tensor: type = tf.Tensor
Context = find("tensorflow.python.eager.context:Context", "speed")
DType: type = tf.dtypes.DType
NotOk: type[BaseException] = find(
    "tensorflow.python.eager.core:_NotOkStatusException", "ops that failed", _NeverRaised
)
Refused: type[Exception] = tf.errors.OpError
FuncGraph = find(
    "tensorflow.python.framework.func_graph:FuncGraph", "the inside of compiled functions"
)

add_op_callback = find("tensorflow.python.framework.op_callbacks:add_op_callback", "ops")
remove_op_callback = find(
    "tensorflow.python.framework.op_callbacks:remove_op_callback", "nothing in this run"
)
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
get_default_graph = find(
    "tensorflow.python.framework.ops:get_default_graph", "calls of functions in functions"
)
op_def_of = find(
    "tensorflow.python.framework.op_def_registry:get", "finite differences in double precision"
)

_RESOURCE, _VARIANT, _STRING = 20, 21, 7
_BUFFERS = frozenset(
    tf.dtypes.as_dtype(name).as_datatype_enum
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
)


framework_ops = find("tensorflow.python.framework.ops", "numbers in names")
NEXT_NUMBER = "uid"
"""Where functions, branches, variables, tables and custom gradients get the number in their names
from (2.15-2.21). Symbolic tensors, which are made in the same module, get their ids there, too."""


def next_id() -> int:
    """Take the next number of the counter that tensors have their ids from."""
    return int(pywrap_tfe.TFE_Py_UID())


FIRST_ID = 1 << 47
"""In place of the id 0 of a process' first tensor: events mean "no tensor" by 0."""


def id_of(tensor: Any) -> int:
    """The id that an eager tensor goes by in events: TensorFlow's own, but for the first one's."""
    return tensor._id or FIRST_ID


def register_gradient_function(function: Any) -> None:
    """Make every tape call ``function`` for each op it recorded."""
    pywrap.TFE_Py_RegisterGradientFunction(function)


def is_any_tape_recording() -> bool:
    """Whether a tape or accumulator of this thread would record an op now."""
    return not pywrap_tfe.TFE_Py_TapeSetIsEmpty()


def register_jvp_function(function: Any) -> None:
    """Make every forward accumulator call ``function`` for each op."""
    pywrap_tfe.TFE_Py_RegisterJVPFunction(function)


def thread_data() -> Any:
    """The context's thread-local record; ``scope_name`` is the current name scope."""
    try:
        return context.context()._thread_local_data
    except AttributeError:
        return _NoThreadData


class _NoThreadData:
    """In the place of a record that is missing: no op has a name scope."""

    scope_name = ""
    op_callbacks: ClassVar[list[Any]] = []


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
    """A tensor with these elements; called in eager mode or after the run."""
    dtype = tf.dtypes.as_dtype(number)
    array = np.frombuffer(raw, dtype.as_numpy_dtype).reshape(shape)
    with context.eager_mode():
        return tf.constant(array, dtype)


def tensor_of_array(array: Any, number: int) -> Any:
    """A tensor with the elements of an array that TensorFlow gave for one of this dtype."""
    with context.eager_mode():
        return tf.constant(array, tf.dtypes.as_dtype(number))


def size_behind(handle: Any) -> int:
    """Bytes of the variable behind a handle; 0 where it does not tell."""
    data = getattr(handle, "_handle_data", None)
    if data is None or not data.is_set or len(data.shape_and_type) != 1:
        return 0
    about = data.shape_and_type[0]
    return int(math.prod(dimension.size for dimension in about.shape.dim)) * dtype_size(about.dtype)


def behind(handle: Any) -> tuple[int, tuple[int, ...]]:
    """The dtype's enum and the shape of the variable behind a handle; 0 and () if it has none."""
    data = getattr(handle, "_handle_data", None)
    if data is None or not data.is_set or len(data.shape_and_type) != 1:
        return 0, ()
    about = data.shape_and_type[0]
    return int(about.dtype), tuple(dimension.size for dimension in about.shape.dim)


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


def values_of(value: Any) -> Any:
    """The tensor of a ragged or sparse tensor's numbers; else ``None``."""
    if isinstance(value, tf.RaggedTensor):
        return value.flat_values
    return value.values if isinstance(value, tf.SparseTensor) else None


def handle_of(value: Any) -> Any:
    """The handle tensor of a ``tf.Variable`` or what wraps one; else ``None``.

    Only types and plain attributes are looked at: properties such as Keras's ``value`` may run ops,
    and so may any attribute of a distributed variable.
    """
    if isinstance(value, BaseVariable):
        return value._handle
    if isinstance(value, RefVariable):  # of the first kind: a graph's tensor
        return value._variable
    if isinstance(value, DistributedVariable):
        with contextlib.suppress(ValueError):  # outside the replicas: that of the first one
            return value.handle
        return handle_of(value._values[0])
    if not hasattr(type(value), "_should_act_as_resource_variable"):
        return None
    space = getattr(value, "__dict__", {})
    inner = space.get("_value", space.get("_variable"))  # Keras 3; AutoCastVariable of Keras 2
    return None if inner is None else handle_of(inner)


def is_eager() -> bool:
    """Whether ops run at once, rather than going into a graph."""
    return bool(tf.executing_eagerly())


def graph_behind(function: Any) -> Any:
    """The graph that an ``AtomicFunction`` was made of; ``None`` if that is gone."""
    return function._cached_graph


def captured_ids(graph: Any) -> frozenset[int]:
    """Ids of the eager tensors that a function's graph takes from outside by itself."""
    outer = (tensor for tensor, _ in graph.captures)
    return frozenset(id_of(tensor) for tensor in outer if isinstance(tensor, EagerTensor))


def graph_being_built() -> Any:
    """The graph that ops go into; ``None`` if they run at once."""
    return None if is_eager() else get_default_graph()


def newest_call(graph: Any, outputs: Sequence[Any]) -> Any:
    """The op that was just put into a graph to run a function and give these outputs."""
    if outputs:
        return outputs[0].op
    calls = ("PartitionedCall", "StatefulPartitionedCall")
    return next((op for op in reversed(graph.get_operations()) if op.type in calls), None)


def is_stateful(op: Any) -> bool:
    """Whether an op in a graph does more than compute its outputs from its inputs."""
    return bool(op.op_def.is_stateful)


CONTROL_FLOW = frozenset(
    {"If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase"}
    | {"PartitionedCall", "StatefulPartitionedCall"}
)


def has_gradient_of_its_own(op: Any) -> bool:
    """Whether an op in a graph is the end of a ``custom_gradient`` function."""
    return "_gradient_op_type" in op.node_def.attr


def attrs_of(op: Any) -> tuple[Any, ...]:
    """The attributes of an op in a graph, as an eager op of the type would have them."""
    found: list[Any] = []
    for attribute in op.op_def.attr:
        with contextlib.suppress(ValueError):
            found += [attribute.name, _plain(op.get_attr(attribute.name))]
    return tuple(found)


def _plain(value: Any) -> Any:
    if isinstance(value, tf.DType):
        return value.as_datatype_enum
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "unknown_rank"):  # a TensorShapeProto
        shape = tf.TensorShape(value)
        return None if shape.rank is None else shape.as_list()
    return value


def constant_of(op: Any) -> Any:
    """The tensor that a ``Const`` in a graph gives."""
    return tf.constant(tf.make_ndarray(op.get_attr("value")))


def read_handle(handle: Any) -> Any:
    """The value of the variable behind a handle; ``None`` if it has none or is no variable."""
    data = getattr(handle, "_handle_data", None)
    if data is None or not data.is_set or len(data.shape_and_type) != 1:
        return None
    try:
        with record.stop_recording():
            return variable_ops.gen_resource_variable_ops.read_variable_op(
                handle, data.shape_and_type[0].dtype
            )
    except NotOk:
        return None
    except tf.errors.OpError:
        return None


_WRITES = ("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")


def writes_variable(op_type: str) -> bool:
    """Whether an op of this type changes the variable that is its first input."""
    return op_type in _WRITES or op_type.startswith(
        ("ResourceScatter", "ResourceApply", "ResourceSparseApply", "ResourceStridedSliceAssign")
    )


# What an eager op of these types does to a variable is seen by no traced function.
WRITES_OF_VARIABLES = frozenset(
    name
    for name in dir(tf.raw_ops)
    if writes_variable(name) or name.startswith(("Rng", "StatefulStandard", "StatefulUniform"))
)


def written(op_type: str, held: Any, value: Any) -> Any:
    """The value of a variable after a write to ``held``; ``None`` if that is not known."""
    if op_type == "AssignVariableOp":
        return value
    if op_type not in _WRITES:
        return None
    return held + value if op_type == "AssignAddVariableOp" else held - value


def variable_name(variable: Any) -> str:
    """The name or, in Keras 3, the path that a variable goes by."""
    path = getattr(variable, "__dict__", {}).get("_path")
    return str(path or variable.name)


def is_plain_variable(kind: type) -> bool:
    """A ``tf.Variable`` that the C++ fast path reads by itself, and only by its handle."""
    return kind is ResourceVariable


def read(execute_fast: Any, ctx: Any, variable: Any) -> Any:
    """Read a variable as ``ReadVariableOp`` and ``MaybeWatchVariable`` in pywrap_tfe_src.cc do."""
    if variable._trainable:
        backprop.tape.variable_accessed(variable)
    return execute_fast(ctx, "ReadVariableOp", None, variable._handle, "dtype", variable._dtype)


def constant_array(attrs: Sequence[Any]) -> Any:
    """The elements of a graph's constant, from the attributes of its op."""
    value = dict(zip(attrs[::2], attrs[1::2], strict=False))["value"]
    return tf.make_ndarray(value.tensor)


NUMBERS = (bool, int, float, complex, np.ndarray, np.generic)


def tensor_of_number(number: Any) -> Any:
    """A tensor of the dtype that NumPy gives this number or array: float64 for a Python float."""
    return tf.constant(np.asarray(number))


def dense(slices: Any) -> Any:
    """IndexedSlices summed into one tensor, by the op TensorFlow itself uses for it.

    A RaggedTensor where their values are one.
    """
    return tf.math.unsorted_segment_sum(slices.values, slices.indices, slices.dense_shape[0])


StackFilter: type = find(
    "tensorflow.python.util.tf_stack:StackTraceFilter",
    "plain error messages of TensorFlow",
    object,
)


class _WithoutFiles(StackFilter):  # type: ignore[misc]
    """Leaves frames of some files out of what TensorFlow says about where an op was made."""

    def __init__(self, files: frozenset[str]) -> None:
        super().__init__()
        self._files = files

    def get_filtered_filenames(self) -> frozenset[str]:
        return self._files | frozenset(self.parent.get_filtered_filenames())


@contextlib.contextmanager
def without_files(files: frozenset[str]) -> Iterator[None]:
    """TensorFlow's own messages name none of these files: "Detected at node", "in user code"."""
    before = getattr(traceback_utils, "_EXCLUDED_PATHS", None)
    if before is not None:
        traceback_utils._EXCLUDED_PATHS = (*before, *files)
    try:
        with contextlib.nullcontext() if StackFilter is object else _WithoutFiles(files):
            yield
    finally:
        if before is not None:
            traceback_utils._EXCLUDED_PATHS = before


CALLER_OF_LOG = (
    find("tensorflow.python.platform.tf_logging", "the place of TensorFlow's log lines"),
    "_get_caller",
)
"""Where ``tf.get_logger()`` asks for the place of a line (2.15-2.21)."""

do_not_convert = tf.autograph.experimental.do_not_convert


def autograph_lines() -> Mapping[tuple[str, int], tuple[str, int, str]]:
    """Where lines of generated code came from, while AutoGraph's code runs on this thread.

    ``(file, line)`` to ``(file, line, function)``: ``StackTraceMapper`` in autograph/impl/api.py.
    """
    stacks = getattr(tf_stack, "_source_mapper_stacks", {})
    own = stacks.get(threading.get_ident())
    lines: Mapping[tuple[str, int], tuple[str, int, str]]
    lines = own[-1].get_effective_source_map() if own else {}
    if not lines and threading.current_thread() is not threading.main_thread():
        # A replica's thread runs code that was made on the thread that waits for it.
        waiting = stacks.get(threading.main_thread().ident)
        lines = waiting[-1].get_effective_source_map() if waiting else {}
    return lines


def keras_model() -> Any:
    """The ``Model`` class of the Keras that is loaded; a Keras that is not loaded stays so."""
    for name in ("keras", "tf_keras"):
        model = getattr(sys.modules.get(name), "Model", None)
        if model is not None:
            return model
    return None


def owner_of(kind: type, method: str) -> type:
    """The class that defines a method of ``kind``."""
    return next(base for base in kind.__mro__ if method in vars(base))


@contextlib.contextmanager
def without_op_callbacks() -> Iterator[list[Any]]:
    """No callback is told of the ops of this thread; those that would have been are given."""
    data = thread_data()
    callbacks, data.op_callbacks = data.op_callbacks, []
    try:
        yield callbacks
    finally:
        data.op_callbacks = callbacks


def tell_op_callbacks(
    callbacks: Sequence[Any], name: str, inputs: Sequence[Any], outputs: Sequence[Any]
) -> None:
    """Tell of the call of a function as ``execute_with_callbacks`` in execute.py does."""
    options = context.context().function_call_options.as_attrs()
    attrs = tuple(part for pair in options.items() for part in pair)
    for callback in callbacks:
        callback(name, tuple(inputs), attrs, outputs, None)


def reword(error: Any, words: Callable[[str], str]) -> None:
    """Change the message of an error that TensorFlow raised."""
    error._message = words(error._message)
    error.args = tuple(words(arg) if isinstance(arg, str) else arg for arg in error.args)


@contextlib.contextmanager
def quiet_eager_mode() -> Iterator[None]:
    """Ops run at once whatever mode the snippet left, and no tape records them."""
    with context.eager_mode(), record.stop_recording():
        yield


def ones_like(tensor: Any) -> Any:
    """The gradient that a target starts with; for a handle: of the variable's shape and dtype."""
    if is_resource(tensor._datatype_enum()):
        shape = variable_ops.variable_shape(tensor)
        return tf.ones(shape, tensor._handle_data.shape_and_type[0].dtype)
    return tf.ones_like(tensor)


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


WIDER = {1: 2, 19: 2, 14: 2, 8: 18}  # DataType: float, half, bfloat16; complex64


def run_op(op_type: str, inputs: Sequence[Any], attrs: Any, count: int) -> Sequence[Any]:
    """Run an op by its name on other tensors; ``count``: of its outputs."""
    pairs = zip((attrs or ())[::2], (attrs or ())[1::2], strict=True)
    given = tuple(part for pair in pairs if pair[1] is not None for part in pair)  # None: default
    found: Sequence[Any] = execute.quick_execute(
        op_type, count, list(inputs), given, context.context()
    )
    return found


def wider_attrs(op_type: str, attrs: Any) -> Any:
    """The attributes with each real or complex dtype in double precision."""
    known = op_def_of(op_type)
    types = (
        {attribute.name for attribute in known.attr if attribute.type in ("type", "list(type)")}
        if known
        else ()
    )
    wide = list(attrs or ())
    for place in range(0, len(wide), 2):
        if wide[place] in types:
            wide[place + 1] = _widest(wide[place + 1])
    return tuple(wide)


def _widest(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_widest(item) for item in value)
    return WIDER.get(value, value)


def is_tensor_like(value: Any) -> bool:
    """An eager tensor, or a variable of TensorFlow or Keras."""
    if isinstance(value, (EagerTensor, BaseVariable)):
        return True
    return hasattr(type(value), "_should_act_as_resource_variable") and hasattr(value, "numpy")
