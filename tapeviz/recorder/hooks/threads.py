"""Threads that the snippet starts, and TensorFlow's own that run Python: their ops are seen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from sys import _getframe, exc_info
from typing import Any

from .. import private
from ..installed import Installed, clean
from ..recording import RecordingContext

_READS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd")
_START = "_set_ident"
"""The method that ``threading.Thread`` calls first on a new thread (Python 3.10-3.13).
It has returned when the snippet's function runs, and so leaves no frame above that."""
_MAKE_HOOK = "_make_invoke_excepthook"
"""The function of ``threading`` that makes what a new thread calls when an error ends it
(Python 3.10-3.13)."""


def install(
    recording: RecordingContext, installed: Installed, callback: Callable[..., Any]
) -> None:
    """TensorFlow calls back on the thread that asked for it alone: ask on each."""
    numbers = count(1)

    def wrap(start: Callable[..., Any]) -> Callable[..., Any]:
        def starting(self: threading.Thread) -> None:
            start(self)
            if isinstance(self, threading._DummyThread):  # stands for one that others started
                return
            with recording.shielded("a thread"):
                recording.local.state = (0, False, next(numbers))
                private.add_op_callback(callback)

        return starting

    if hasattr(threading.Thread, _START):
        installed.replace(threading.Thread, _START, wrap)
    if hasattr(threading, _MAKE_HOOK):
        installed.replace(threading, _MAKE_HOOK, _cleaning)
    installed.replace(
        private.ReplicaContext, private.MERGE, lambda merge: _on_lines_of_replicas(recording, merge)
    )
    if private.add_op_callback:
        _see_python_functions(recording, installed, callback, numbers)
        _see_reads(recording, installed, callback)


def _on_lines_of_replicas(
    recording: RecordingContext, merge_call: Callable[..., Any]
) -> Callable[..., Any]:
    """Let ops of a merge stand on the line of the replica that waits for it.

    A merge, as the write of an aggregated variable, runs on the thread that called
    ``strategy.run`` (``_merge_call`` in mirrored_run.py, 2.15-2.21).
    """
    here = recording.guarded(recording.here)

    def waiting(self: Any, merge: Callable[..., Any], *args: Any) -> Any:
        waits_at = here(_getframe(1))

        def merging(*args: Any, **named: Any) -> Any:
            with recording.sites.standing_for(here(_getframe(1)), waits_at):
                return merge(*args, **named)

        return merge_call(self, merging if waits_at else merge, *args)

    return waiting


def _cleaning(make: Callable[[], Callable[..., None]]) -> Callable[[], Callable[..., None]]:
    """An error that ends a thread is shown by a function in C, frame by frame."""

    def making() -> Callable[..., None]:
        invoke = make()

        def invoke_excepthook(thread: threading.Thread) -> None:
            clean(exc_info()[1])
            invoke(thread)

        return invoke_excepthook

    return making


def _see_python_functions(
    recording: RecordingContext,
    installed: Installed,
    callback: Callable[..., Any],
    numbers: Iterator[int],
) -> None:
    """``tf.py_function`` in a compiled function runs on a thread of TensorFlow's.

    Where its gradient may be asked for, ``EagerFunc`` opens a tape around it (script_ops.py,
    2.15-2.21): ops are seen while that records. The list is changed here, not by
    ``remove_op_callback``, which ends the callbacks of all threads with those of this one.
    """
    local = recording.local

    def pushing(push: Callable[..., Any]) -> Callable[..., Any]:
        def pushed(self: Any) -> None:
            with recording.shielded("a thread of TensorFlow"):
                callbacks = private.thread_data().op_callbacks
                if callback not in callbacks and not local.hidden:
                    local.seen_for = (self, local.state)
                    local.state = (local.state[0], False, next(numbers))
                    callbacks.append(callback)
            push(self)  # that tells the thread on which the tape records

        return pushed

    def popping(pop: Callable[..., Any]) -> Callable[..., Any]:
        def popped(self: Any) -> None:
            pop(self)
            if local.seen_for is None or local.seen_for[0] is not self:
                return
            with recording.shielded("a thread of TensorFlow"):
                (_, local.state), local.seen_for = local.seen_for, None
                private.thread_data().op_callbacks.remove(callback)

        return popped

    installed.replace(private.GradientTape, private.PUSH_TAPE, pushing)
    installed.replace(private.GradientTape, private.POP_TAPE, popping)


def _see_reads(
    recording: RecordingContext, installed: Installed, callback: Callable[..., Any]
) -> None:
    """Datasets and compiled functions call Python on threads of TensorFlow's, where no tape is.

    ``FuncRegistry`` looks it up there (script_ops.py, 2.15-2.21): what would be around the call
    would stand in the tracebacks that TensorFlow shows. Only the reads of variables
    are recorded there, once for each line: their values have left.
    """
    reported: set[tuple[int, int]] = set()

    def ran(
        op_type: Any,
        inputs: Sequence[Any],
        attrs: Any,
        outputs: Any,
        op_name: Any,
        graph: Any = None,
    ) -> Any:
        if op_type in _READS and not recording.local.hidden and graph is None:
            with recording.shielded("a variable that a thread of TensorFlow reads"):
                handle, site = inputs[0], recording.here_when_called(_getframe(1))
                key = (recording.id(handle), site)
                if site and key not in reported:
                    reported.add(key)
                    fields = {"e": "left", "tensor": key[0], "how": "thread", "site": site}
                    recording.emit(fields, [handle])
        return outputs if len(private.thread_data().op_callbacks) > 1 else None

    def looking(look: Callable[..., Any]) -> Callable[..., Any]:
        def looked_up(self: Any, *args: Any) -> Any:
            with recording.shielded("a thread of TensorFlow"):
                callbacks = private.thread_data().op_callbacks
                if not (recording.local.hidden or callback in callbacks or ran in callbacks):
                    callbacks.append(ran)
                    installed.undo(callbacks.remove, ran)
            return look(self, *args)

        return looked_up

    if private.FuncRegistry:
        installed.replace(private.FuncRegistry, private.LOOK_UP, looking)
