"""Orders in, what plain Python and TensorFlow make of each snippet out; tapeviz is not involved.

Runs as a process of its own: it loads TensorFlow once, then forks a child for each snippet. In a
``folder`` nothing of TensorFlow's is touched, and the child ends as every Python process ends
(threads, ``atexit``, finalizers). Elsewhere it ends with the snippet's text: taking down all of
TensorFlow's modules costs more than most snippets. With ``keep_results`` the gradient calls are
wrapped, thinly, to keep their results.
``probe`` is there for snippets that want TensorFlow's own word on which tapes hold a tensor.
Orders and answers are pickles.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import io
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
import threading
import traceback
import types
from typing import Any, BinaryIO, NamedTuple

Order = dict[str, Any]
Answer = dict[str, Any]
_RAISED = object()
_AUTOGRAPH_CALLS = "tensorflow.python.autograph.impl.api"
_AUTOGRAPH_FILE = "__autograph_generated_file"
_EVALUATED = "<string>"
"""What eval and exec run: the recorder counts a call in it as one of the line that evaluates it."""


class Private(NamedTuple):
    """Modules of TensorFlow that have no public name."""

    pywrap: Any
    gradients: Any


def _is_the_snippet(frame: Any) -> bool:
    """Whether the snippet's code runs there, or what AutoGraph made of it."""
    while frame is not None and frame.f_globals.get("__name__") == _AUTOGRAPH_CALLS:
        frame = frame.f_back
    name = "" if frame is None else frame.f_globals.get("__name__", "")
    file = frame.f_code.co_filename
    return (name == "__main__" and file != _EVALUATED) or _AUTOGRAPH_FILE in file


class Kept:
    """Results of gradient calls and answers of probes, in their order."""

    def __init__(self, pywrap: Any) -> None:
        self._pywrap = pywrap
        self.calls: list[list[Any]] = []
        self.fetched: dict[int, Any] = {}
        self.probes: list[tuple[str, dict[str, bool]]] = []
        self._local = threading.local()

    def wrap_tapes(self, tape: Any) -> None:
        for method in ("gradient", "jacobian", "batch_jacobian"):
            setattr(tape, method, self._calling(method, getattr(tape, method)))

    def wrap_graphs(self, tf: Any, module: Any) -> None:
        gradients = self._calling("tf.gradients", tf.gradients)
        tf.gradients = tf.compat.v1.gradients = module.gradients = gradients
        session, run = tf.compat.v1.Session, tf.compat.v1.Session.run

        def running(self_: Any, fetches: Any, *args: Any, **named: Any) -> Any:
            values = run(self_, fetches, *args, **named)
            leaves = zip(tf.nest.flatten(fetches), tf.nest.flatten(values), strict=True)
            # Held with its value: an id is only a name while the object lives.
            self.fetched.update((id(symbol), (symbol, value)) for symbol, value in leaves)
            return values

        session.run = running

    def _calling(self, name: str, method: Any) -> Any:
        @functools.wraps(method)
        def calling(*args: Any, **named: Any) -> Any:
            # A jacobian calls gradient itself; so do accumulators, recompute_grad and Keras.
            if getattr(self._local, "jacobian", False) or not _is_the_snippet(sys._getframe(1)):
                return method(*args, **named)
            call = [name, _RAISED]
            self.calls.append(call)
            self._local.jacobian = "jacobian" in name
            try:
                call[1] = method(*args, **named)
            finally:
                self._local.jacobian = False
            return call[1]

        return calling

    def probe(self, name: str, tensor: Any, tapes: dict[str, Any]) -> None:
        """Which of these tapes TensorFlow would have record an op on ``tensor``, one by one."""
        recording = {name: tape._tape for name, tape in tapes.items() if tape._recording}
        answers = dict.fromkeys(tapes, False)
        for tape in recording.values():
            self._pywrap.TFE_Py_TapeSetRemove(tape._tape)
        for word, tape in recording.items():
            self._pywrap.TFE_Py_TapeSetAdd(tape._tape)
            answers[word] = bool(self._pywrap.TFE_Py_TapeSetShouldRecordBackprop([tensor]))
            self._pywrap.TFE_Py_TapeSetRemove(tape._tape)
        for tape in recording.values():
            self._pywrap.TFE_Py_TapeSetAdd(tape._tape)
        self.probes.append((name, answers))


def run(order: Order, tf: Any, private: Private) -> Answer:
    """Run snippets, one after the other, each as ``__main__``; what they print goes where file
    descriptors 1 and 2 go. The answer is about the last; ``values`` are of each."""
    kept = Kept(private.pywrap)
    if order["keep_results"]:
        kept.wrap_tapes(tf.GradientTape)
        kept.wrap_graphs(tf, private.gradients)
    sys.argv = list(order["argv"])
    values = []
    for text in order["texts"]:
        space, ending = _run_one(text, order, kept)
        values.append(_named_values(space, order["wanted"]))
    return {
        **ending,
        "calls": [
            (name, _flat(tf, result, kept.fetched))
            for name, result in kept.calls
            if result is not _RAISED
        ],
        "probes": kept.probes,
        "values": values,
    }


def _run_one(text: str, order: Order, kept: Kept) -> tuple[dict[str, Any], Answer]:
    """The values that the snippet leaves under its names; its exception, as values and as Python
    shows it, and its exit status."""
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=order["filename"], __builtins__=sys.modules["builtins"])
    if order["probes"]:
        module.__dict__["probe"] = kept.probe
    sys.modules["__main__"] = module
    ending: Answer = {"failure": None, "status": None, "traceback": ""}
    hook = sys.excepthook  # before Python 3.11 a package that pytest needs puts in another
    try:
        exec(compile(text, order["filename"], "exec", dont_inherit=True), module.__dict__)
    except SystemExit as leaving:
        ending["status"] = leaving.code
        if isinstance(leaving.code, str):
            print(leaving.code, file=sys.stderr)  # as the interpreter does on its way out
    except BaseException as error:
        line = _line(error, order["filename"])
        ending["failure"] = (type(error).__name__, str(error), line)
        _without_this_file(error)
        if sys.excepthook is not hook:
            sys.excepthook(type(error), error, error.__traceback__)
        elif not os.path.isfile(order["filename"]):
            ending["traceback"] = "".join(traceback.format_exception(error))
        else:
            with contextlib.redirect_stderr(io.StringIO()) as printed:
                sys.__excepthook__(type(error), error, error.__traceback__)
            ending["traceback"] = printed.getvalue()
    return module.__dict__, ending


def _without_this_file(error: BaseException) -> None:
    """Take the frames above the snippet's own out of the traceback."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace


def _line(error: BaseException, filename: str) -> int:
    """The innermost line of the snippet, as a reader of the traceback finds it."""
    if isinstance(error, SyntaxError) and error.filename == filename:
        return error.lineno or 0
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _flat(tf: Any, result: Any, fetched: dict[int, Any]) -> list[Any]:
    """``(dtype, shape, bytes)`` of each leaf; None for None, ``"symbolic"`` without a value."""
    return [_value(tf, leaf, fetched) for leaf in tf.nest.flatten(result)]


def _value(tf: Any, leaf: Any, fetched: dict[int, Any]) -> Any:
    if leaf is None:
        return None
    if id(leaf) in fetched:
        leaf = fetched[id(leaf)][1]
    elif isinstance(leaf, tf.IndexedSlices):
        if not hasattr(leaf.values, "numpy"):
            return "symbolic"
        leaf = tf.convert_to_tensor(leaf)
    elif isinstance(leaf, tf.RaggedTensor):
        leaf = leaf.flat_values
    if hasattr(leaf, "numpy"):
        leaf = leaf.numpy()
    if not hasattr(leaf, "tobytes"):
        return "symbolic"
    return leaf.dtype.name, leaf.shape, leaf.tobytes()


def _named_values(space: dict[str, Any], wanted: list[str]) -> dict[str, Any]:
    return {name: _as_numpy(space[name]) for name in wanted if name in space}


def _as_numpy(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_as_numpy(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_numpy(item) for key, item in value.items()}
    return value.numpy() if hasattr(value, "numpy") else value


def _in_child(order: Order, folder: str, tf: Any, private: Private) -> None:
    """The forked process: everything it has to say goes into files."""
    for number, name in ((1, "out"), (2, "err")):
        descriptor = os.open(f"{folder}/{name}", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(descriptor, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # None of these is closed in the end, or Python would say that nobody had.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    # Line by line, so that what a C library prints stands where a reader of a terminal finds it.
    sys.stdout = open(1, "w", 1, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", closefd=False, errors="backslashreplace")  # noqa: SIM115
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's "&" ignores it
    random.seed()
    os.makedirs(f"{folder}/here")
    os.chdir(order["folder"] or f"{folder}/here")
    sys.path[0] = os.getcwd()
    with open(order["filename"], "w", encoding="utf-8") as file:
        file.write(order["texts"][-1])
    answer = run(order, tf, private)
    with open(f"{folder}/answer", "wb") as file:
        pickle.dump(answer, file)
    if not order["folder"]:
        sys.stdout.flush()
        sys.stderr.flush()
        _remove_generated_code()
        os._exit(0)


def _remove_generated_code() -> None:
    """Remove the files of AutoGraph's code, as TensorFlow does where ``atexit`` is reached."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_AUTOGRAPH_FILE):
            with contextlib.suppress(OSError, AttributeError):
                os.remove(str(module.__file__))


def _answer(order: Order, tf: Any, private: Private) -> Answer:
    folder = tempfile.mkdtemp(prefix="plain-")
    pid = os.fork()
    if pid == 0:
        _in_child(order, folder, tf, private)
        raise SystemExit  # up to the top, so that Python ends as it does
    _, status = os.waitpid(pid, 0)
    found: Answer = {"died": os.waitstatus_to_exitcode(status)}
    for name in ("out", "err"):
        with open(f"{folder}/{name}", encoding="utf-8", newline="") as file:
            found[name] = file.read()
    if os.path.exists(f"{folder}/answer"):
        with open(f"{folder}/answer", "rb") as file:
            found |= pickle.load(file)
    shutil.rmtree(folder, ignore_errors=True)
    return found


def serve(orders: BinaryIO, answers: BinaryIO) -> None:
    """Answer orders until they end."""
    import keras
    import numpy  # noqa: F401
    import tensorflow as tf
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.ops import gradients_impl

    with contextlib.suppress(ImportError):
        import keras._tf_keras.keras  # noqa: F401
    with contextlib.suppress(ImportError):
        from tensorflow.python.util import pywrap_xla_ops

        pywrap_xla_ops.get_cpu_kernel_names()  # what else each child registers with its first op
    _ = tf.keras
    private = Private(pywrap_tfe, gradients_impl)
    gc.freeze()  # a child's last collection would go through all of TensorFlow: a second each
    while True:
        try:
            order = pickle.load(orders)
        except EOFError:
            return
        pickle.dump(_answer(order, tf, private), answers)
        answers.flush()


if __name__ == "__main__":
    replies = os.dup(1)
    os.dup2(2, 1)  # whatever an import prints must not stand between the answers
    serve(sys.stdin.buffer, open(replies, "wb", closefd=False))  # noqa: SIM115
