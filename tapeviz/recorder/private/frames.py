"""Private names of AutoGraph's code and of the frames in TensorFlow's messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from threading import get_ident, main_thread

import tensorflow as tf

from .lookup import find

tf_stack = find("tensorflow.python.util.tf_stack", "lines of code that AutoGraph made")
traceback_utils = find(
    "tensorflow.python.util.traceback_utils", "plain error messages of TensorFlow"
)

AUTOGRAPH_CALLS = "tensorflow.python.autograph.impl.api"
TENSOR_ARRAYS = "tensorflow.python.ops.tensor_array_ops"
TENSORS = "tensorflow.python.framework.ops"
DATASETS = "tensorflow.python.data.ops.dataset_ops"
autograph_loader = find(
    "tensorflow.python.autograph.pyct.loader", "removal of code that AutoGraph wrote"
)
GENERATED_FILES = "tempfile"
FunctionScope = find(
    "tensorflow.python.autograph.core.function_wrappers:FunctionScope",
    "names in compiled functions",
)
StackFilter: type = find(
    "tensorflow.python.util.tf_stack:StackTraceFilter", "plain error messages of TensorFlow", object
)


class _WithoutFiles(StackFilter):  # type: ignore[misc]
    """Leaves frames of some files out of what TensorFlow says about where an op was made."""

    def __init__(self, files: frozenset[str]) -> None:
        super().__init__()
        self._files = files

    def get_filtered_filenames(self) -> frozenset[str]:
        return self._files | frozenset(self.parent.get_filtered_filenames())


@contextmanager
def without_files(files: frozenset[str]) -> Iterator[None]:
    """Leave these files out of TensorFlow's messages: "Detected at node", "in user code"."""
    before = getattr(traceback_utils, "_EXCLUDED_PATHS", None)
    if before is not None:
        traceback_utils._EXCLUDED_PATHS = (*before, *files)
    try:
        with nullcontext() if StackFilter is object else _WithoutFiles(files):
            yield
    finally:
        if before is not None:
            traceback_utils._EXCLUDED_PATHS = before


CALLER_OF_LOG = (
    find("tensorflow.python.platform.tf_logging", "the place of TensorFlow's log lines"),
    "_get_caller",
)
"""The function by which ``tf.get_logger()`` finds the line that logs (2.15-2.21)."""

run_as_it_is = find(
    "tensorflow.python.autograph.impl.api:autograph_artifact",
    "AutoGraph in layers that predict calls",
    tf.autograph.experimental.do_not_convert,
)
"""Marks a function that AutoGraph shall call as it is. Functions that it calls in turn are
converted or not as without the mark, which ``do_not_convert`` would change (2.15-2.21)."""


_main_thread = main_thread()


def autograph_lines() -> Mapping[tuple[str, int], tuple[str, int, str]]:
    """The origins of lines of generated code, while AutoGraph's code runs on this thread.

    ``(file, line)`` to ``(file, line, function)``: ``StackTraceMapper`` in autograph/impl/api.py.
    """
    stacks = getattr(tf_stack, "_source_mapper_stacks", {})
    thread = get_ident()
    own = stacks.get(thread)
    lines: Mapping[tuple[str, int], tuple[str, int, str]]
    lines = own[-1].get_effective_source_map() if own else {}
    if not lines and thread != _main_thread.ident:
        # A replica's thread runs code that AutoGraph made on the main thread, which waits for it.
        waiting = stacks.get(_main_thread.ident)
        lines = waiting[-1].get_effective_source_map() if waiting else {}
    return lines


def autograph_running() -> Sequence[object]:
    """A list that grows beyond one element while AutoGraph's code runs on this thread."""
    stacks = getattr(tf_stack, "_source_mapper_stacks", None)
    return stacks[get_ident()] if stacks is not None else ()
