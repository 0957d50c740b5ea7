"""Record ops as TensorFlow runs them, as rows of the log. The hot path of the recorder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import _getframe, exc_info
from typing import Any

import numpy as np

from .. import private
from ..installed import Installed
from ..recording import RecordingContext
from . import threads
from .graph_ops import put_into_graph

# Between this callback and the snippet stand at least our fast path and the generated op function.
_DEPTH = 3
# So many rows are encoded in one go while the snippet waits: two threads that want the interpreter
# at once slow each other more. Not more of them, as rows hold tensors: what is freed soon is made
# again of memory that the processor has at hand (1.5 times a plain run; with 3,000 rows 1.75).
MANY = 300


def install(recording: RecordingContext, installed: Installed) -> None:
    """See every op of this thread, and variable reads that C++ would do by itself."""
    callback = recording.on_op = make_callback(recording)
    with recording.shielded("ops"):
        private.add_op_callback(callback)
        installed.undo(private.remove_op_callback, callback)
    installed.replace(
        private.op_callbacks, private.CLEAR_OP_CALLBACKS, lambda clear: _clearing(callback, clear)
    )
    threads.install(recording, installed, callback)
    installed.replace(
        private.pywrap, private.FAST_PATH, lambda run: _fast_path(recording, run, callback)
    )
    for name, paused in ((private.STOP_TAPES, True), (private.RESTART_TAPES, False)):
        installed.replace(private.pywrap, name, _pausing(recording, paused))


def make_callback(recording: RecordingContext) -> Callable[..., Any]:
    """The callback that TensorFlow calls after each op."""
    append, here, local = recording.append, recording.sites.here, recording.local
    late, anywhere = recording.here_when_called, recording.here
    generated = private.autograph_running()  # tf.map_fn runs AutoGraph's code eagerly, too
    scopes, getframe = private.thread_data(), _getframe
    rows, log = recording.log.rows, recording.log
    callbacks = scopes.op_callbacks  # TensorFlow adds to this very list, and to one on each thread
    writes, written = private.WRITES_OF_VARIABLES, recording.kept_calls.written

    def ran(
        op_type: Any,
        inputs: Sequence[Any],
        attrs: Any,
        outputs: Sequence[Any],
        op_name: Any = None,
        graph: Any = None,
    ) -> Any:
        state = local.state
        if graph is None:
            if not local.hidden:
                append(
                    (
                        op_type,
                        inputs,
                        attrs,
                        tuple(outputs),  # a TensorArray forgets elements of this very list
                        here(getframe(_DEPTH)) or (state[2] and late(getframe(_DEPTH)))
                        if len(generated) < 2
                        else anywhere(getframe(_DEPTH)),
                        scopes.scope_name,
                        state,
                    )
                )
                if op_type in writes:
                    written.add(private.id_of(inputs[0]))
                if len(rows) > MANY:
                    log.catch_up()
        elif not local.hidden:
            try:
                put_into_graph(recording, op_type, inputs, attrs, outputs, graph)
            except Exception:
                recording.log.complain("an op of a graph")
        # The snippet's own callbacks are given what this one returns (invoke_op_callbacks,
        # TensorFlow 2.15-2.21); alone it changes nothing.
        return outputs if len(scopes.op_callbacks if state[2] else callbacks) > 1 else None

    return ran


def _clearing(callback: Callable[..., Any], clear: Callable[[], None]) -> Callable[[], None]:
    """``clear_op_callbacks``: it leaves every second one, for it walks the list that it empties,
    and must not count ours, which stays the first."""
    scopes = private.thread_data()

    def clearing() -> None:
        callbacks = scopes.op_callbacks
        if callback not in callbacks:
            clear()
            return
        callbacks.remove(callback)
        try:
            clear()
        finally:
            left, callbacks[:] = callbacks[:], []
            private.add_op_callback(callback)
            callbacks += left

    return clearing


def _fast_path(
    recording: RecordingContext, run: Callable[..., Any], callback: Callable[..., Any]
) -> Callable[..., Any]:
    """``TFE_Py_FastPathExecute``, but variables are read before it, where the callback sees it.

    Callbacks of the snippet's own do not: C++ calls none where it reads a variable by itself.
    """
    scopes = private.thread_data()
    ordinary: set[type] = {
        *(private.EagerTensor, private.Context, str, int, float, bool, bytes, type(None)),
        *(np.float32, np.float64, np.int32, np.int64, np.bool_, private.DType),
    }
    are_ordinary, not_ok = ordinary.issuperset, private.NotOk

    def execute(*args: Any) -> Any:
        if not are_ordinary(map(type, args)):
            args = replaced(args)
        try:
            return run(*args)
        except not_ok:
            refused(args)
            raise

    def replaced(args: tuple[Any, ...]) -> tuple[Any, ...]:
        found, callbacks = list(args), scopes.op_callbacks
        try:
            if len(callbacks) > 1:
                scopes.op_callbacks = [callback]
            for at, arg in enumerate(args):
                if type(arg) not in ordinary:
                    found[at] = _replaced(run, args[0], arg)
            return tuple(found)
        except not_ok:  # a variable without a value, say: TensorFlow shall report it its own way
            return args
        except Exception:
            recording.log.complain("reading a variable")
            return args
        finally:
            if len(callbacks) > 1:
                scopes.op_callbacks = callbacks

    @recording.guarded
    def refused(args: tuple[Any, ...]) -> None:
        if recording.local.hidden:
            return
        fields = {"type": args[1], "error": str(exc_info()[1])}
        fields |= {"site": recording.here(_getframe(3)), "call": recording.local.state[0]}
        inputs = [arg for arg in args[3:] if isinstance(arg, private.EagerTensor)]
        recording.log_row((recording.encoder.failed_op, fields, inputs))

    return execute


def _replaced(run: Callable[..., Any], ctx: Any, arg: Any) -> Any:
    """A variable's value for the variable; a copy for an array that the snippet may yet change.

    C++ lets a tensor share an aligned array's memory, and ours is read later.
    """
    kind = type(arg)
    if kind is private.ResourceVariable:
        return private.read(run, ctx, arg)
    if kind is np.ndarray:
        return arg.copy()
    if (kind is list or kind is tuple) and private.ResourceVariable in map(type, arg):
        return kind([_replaced(run, ctx, item) for item in arg])
    return arg


def _pausing(recording: RecordingContext, paused: bool) -> Callable[..., Any]:
    """Recording stops, or goes on, on this thread."""

    def wrapped(turn: Callable[..., Any]) -> Callable[..., Any]:
        def turned(*args: Any) -> Any:
            call, _, thread = recording.local.state
            recording.local.state = (call, paused, thread)
            return turn(*args)

        return turned

    return wrapped
