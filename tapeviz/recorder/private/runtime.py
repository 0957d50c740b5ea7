"""Private names of the eager runtime: ids, modes, op callbacks, running an op by its name."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import tensorflow as tf

from .lookup import find


class _NeverRaised(Exception):
    """Replaces an exception class that is missing."""


pywrap = find(
    "tensorflow.python.pywrap_tfe",
    "steps of the backward pass, custom gradients, reads of variables",
)
backprop = find("tensorflow.python.eager.backprop", "watched variables, sums at a fan-out")
context = find("tensorflow.python.eager.context", "name scopes, replays across a cut")
eager_execute = find("tensorflow.python.eager.execute", "attributes of ops in graphs")
record = find("tensorflow.python.eager.record", "values of variables, replays across a cut")
random_seeds = find("tensorflow.python.framework.random_seed", "repeatable random numbers")
CODE_WITH_CALLBACKS = getattr(
    getattr(eager_execute, "execute_with_callbacks", None), "__code__", None
)
"""Runs each op in the place of ``quick_execute`` while an op callback is there (2.15-2.21)."""

FAST_PATH = "TFE_Py_FastPathExecute"
CALL_FUNCTION = "call_function"

BaseSession = find("tensorflow.python.client.session:BaseSession", "values that a session computed")
Context = find("tensorflow.python.eager.context:Context", "speed")
NotOk: type[BaseException] = find(
    "tensorflow.python.eager.core:_NotOkStatusException", "ops that failed", _NeverRaised
)
Refused: type[Exception] = tf.errors.OpError
add_op_callback = find("tensorflow.python.framework.op_callbacks:add_op_callback", "any op")
remove_op_callback = find(
    "tensorflow.python.framework.op_callbacks:remove_op_callback", "nothing in this run"
)
op_callbacks = sys.modules.get(getattr(add_op_callback, "__module__", ""))
CLEAR_OP_CALLBACKS = "clear_op_callbacks"
framework_ops = find("tensorflow.python.framework.ops", "numbers in names")
NEXT_NUMBER = "uid"
"""Where functions, branches, variables, tables and custom gradients get the number in their names
from (2.15-2.21). Symbolic tensors, which are made in the same module, get their ids there, too."""


ReplicaContext = find(
    "tensorflow.python.distribute.mirrored_run:_MirroredReplicaContext",
    "the lines of what replicas do together",
)
MERGE = "_merge_call"


def next_id() -> int:
    """Take the next number of the counter that tensors have their ids from."""
    return int(pywrap.TFE_Py_UID())


FIRST_ID = 1 << 47
"""In place of the id 0 of a process' first tensor: events mean "no tensor" by 0."""


def id_of(tensor: Any) -> int:
    """The id of an eager tensor in events: TensorFlow's own, but :data:`FIRST_ID` in place of 0."""
    return tensor._id or FIRST_ID


def thread_data() -> Any:
    """The context's thread-local record; ``scope_name`` is the current name scope."""
    try:
        return context.context()._thread_local_data
    except AttributeError:
        return _NoThreadData


_CHOSEN_AT_START = (
    *("_config", "_device_policy", "_default_is_async", "_server_def"),
    "_context_switches",  # begins with whether eager execution is on
)


@contextlib.contextmanager
def without_context() -> Iterator[None]:
    """A script has no context before its first op, or its first question about devices. Until then
    TensorFlow tells of deprecated arguments (``_tmp_in_graph_mode`` of context.py), and
    ``tf.compat.v1.enable_eager_execution(config=…)`` may say how the context works.

    The context that there is, which hooks know, comes back in the place of a new one, and works as
    that would (``_set_context_locked`` of context.py). Seen in 2.15-2.21.
    """
    if not hasattr(context, "_set_context_locked") or not hasattr(context, "_context"):
        yield
        return
    here, set_locked = context._context, context._set_context_locked

    def set_context_locked(made: Any) -> None:
        context._set_context_locked = set_locked
        if not here._initialized:
            for name in _CHOSEN_AT_START:
                setattr(here, name, getattr(made, name))
            here._thread_local_data.is_eager = made._thread_local_data.is_eager
        set_locked(here)

    if here is not None:
        context._context, context._set_context_locked = None, set_context_locked
    try:
        yield
    finally:
        context._set_context_locked = set_locked
        if context._context is None:
            context._context = here


class _NoThreadData:
    """Replaces a record that is missing: no op has a name scope."""

    scope_name = ""
    op_callbacks: ClassVar[list[Any]] = []


def logs_placement() -> bool:
    """Whether TensorFlow prints the device of each op (``set_log_device_placement``)."""
    try:
        return bool(context.context()._log_device_placement)
    except AttributeError:
        return False


def is_eager() -> bool:
    """Whether ops run at once, rather than going into a graph."""
    return bool(tf.executing_eagerly())


def owner_of(kind: type, method: str) -> type:
    """The class that defines a method of ``kind``."""
    return next(base for base in kind.__mro__ if method in vars(base))


def attrs_of_calls() -> tuple[Any, ...]:
    """The attributes with which the runtime is asked to run a function, as a callback gets them."""
    options = context.context().function_call_options.as_attrs()
    return tuple(part for pair in options.items() for part in pair)


def call_op_callbacks(
    callbacks: Sequence[Any], name: str, inputs: Sequence[Any], outputs: Sequence[Any]
) -> None:
    """Report the call of a function as ``execute_with_callbacks`` in execute.py does."""
    attrs = attrs_of_calls() if callbacks else ()
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


def run_op(op_type: str, inputs: Sequence[Any], attrs: Any, count: int) -> Sequence[Any]:
    """Run an op by its name on other tensors; ``count``: of its outputs."""
    pairs = zip((attrs or ())[::2], (attrs or ())[1::2], strict=True)
    given = tuple(part for pair in pairs if pair[1] is not None for part in pair)  # None: default
    found: Sequence[Any] = eager_execute.quick_execute(
        op_type, count, list(inputs), given, context.context()
    )
    return found
