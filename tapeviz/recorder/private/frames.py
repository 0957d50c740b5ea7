"""Private names of AutoGraph's code and of the frames in TensorFlow's messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from os.path import basename
from sys import getrefcount
from threading import get_ident, main_thread
from types import FrameType
from typing import Any

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


def locals_of(frame: FrameType) -> Mapping[str, Any]:
    """The names of a frame and what they are bound to.

    Before Python 3.13 a frame of a function makes a dict at the first read of ``f_locals`` and
    keeps it: later names come last in ``locals()``, and values live on after ``del``. So the dict
    is emptied again, unless it holds what only an earlier read of the snippet's explains.
    """
    names, code = frame.f_locals, frame.f_code
    order = dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars))
    is_fresh = type(names) is dict and [*names] == [name for name in order if name in names]
    if not is_fresh or getrefcount(names) > _OF_FRAME_AND_READER:
        return names
    found = dict(names)
    names.clear()
    return found


_OF_FRAME_AND_READER = 3
"""References: of the frame, of a local name and of the argument of ``getrefcount``."""


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


_ATTRIBUTES: Callable[[BaseException], Mapping[str, Any]]
_ATTRIBUTES = vars(BaseException)["__dict__"].__get__  # whatever the snippet's class makes of it


def line_in_converted(error: BaseException, filename: str) -> int:
    """The innermost line of a file in code that AutoGraph converted, which raised an error; 0
    without, or if code of another file raised it.

    ``_ErrorMetadata`` in autograph/impl/api.py and ``_ErrorMetadataBase`` in
    autograph/pyct/error_utils.py: the innermost frame is the first (2.15-2.21).
    """
    stack = getattr(_ATTRIBUTES(error).get("ag_error_metadata"), "translated_stack", ())
    own = (each for each in stack if each.is_converted or each.filename == filename)
    first = next(own, None)
    return first.lineno if first is not None and first.filename == filename else 0


def as_raised_in_converted(error: BaseException) -> BaseException:
    """The error as the code raised it, in place of that which AutoGraph made of it; its traceback
    goes through the generated code (``to_exception``, 2.15-2.21)."""
    while error.__context__ is not None and "ag_error_metadata" in _ATTRIBUTES(error.__context__):
        error = error.__context__
    return error


def is_generated(file: str) -> bool:
    """Whether AutoGraph wrote a file (``load_source`` in autograph/pyct/loader.py, 2.15-2.21)."""
    return basename(file).startswith("__autograph_generated_file")
