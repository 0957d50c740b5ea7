"""Runs in a process of its own: imports TensorFlow once, then forks a child for each snippet.

A child connects back to the tests, runs one snippet (recorded or plain) and answers questions.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import os
import signal
import sys
import tempfile
import traceback
import types
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import Any

from loading import NAME, load_recorder

_PR_SET_PDEATHSIG = 1


class Without:
    """A module or class of TensorFlow's without one of its names; writing to it writes to that."""

    def __init__(self, whole: Any, lacking: str, instead: Any = None) -> None:
        object.__setattr__(self, "_parts", (whole, lacking, instead))

    def __getattribute__(self, name: str) -> Any:
        whole, lacking, instead = object.__getattribute__(self, "_parts")
        if name != lacking:
            return getattr(whole, name)
        if instead is None:
            raise AttributeError(name)
        return instead

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_parts")[0], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(object.__getattribute__(self, "_parts")[0], name)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return object.__getattribute__(self, "_parts")[0](*args, **named)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, object.__getattribute__(self, "_parts")[0])


def recorder_without(names: str, folder: Path) -> Any:
    """The recorder as it is loaded where TensorFlow lacks these names, each of them ``module``,
    ``module:attribute``, or ``module:Class.attribute``."""
    modules = [name.partition(":")[0] for name in names.split()]
    whole = {module: sys.modules.get(module) for module in modules}
    for name in names.split():
        _take_away(name)
    for loaded in [loaded for loaded in sys.modules if loaded.startswith(f"{NAME}.")]:
        del sys.modules[loaded]
    recorder = load_recorder(folder)
    sys.modules.update({module: known for module, known in whole.items() if known is not None})
    return recorder


def _take_away(name: str) -> None:
    module, _, attribute = name.partition(":")
    owner, _, member = attribute.partition(".")
    known: Any = sys.modules.get(module)
    if member:
        lacking = Without(getattr(known, owner), member)
        sys.modules[module] = Without(known, owner, lacking)  # type: ignore[assignment]
    elif attribute and known is not None:
        sys.modules[module] = Without(known, attribute)  # type: ignore[assignment]
    else:
        sys.modules[module] = None  # type: ignore[assignment]


def main(address: str, folder: str) -> None:
    import tensorflow  # noqa: F401

    with contextlib.suppress(ImportError):
        import keras
    with contextlib.suppress(ImportError):
        import keras._tf_keras.keras  # noqa: F401
    with contextlib.suppress(ImportError):
        from tensorflow.python.util import pywrap_xla_ops

        pywrap_xla_ops.get_cpu_kernel_names()  # what else each child registers with its first op
    recorder = load_recorder(Path(folder))
    gc.freeze()  # children share these pages as long as nobody counts through them
    orders = Client(address, "AF_UNIX")
    while True:
        try:
            order = orders.recv()
        except EOFError:
            return
        while _reap():
            pass
        if os.fork() == 0:
            orders.close()
            _end_with_the_server()
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's "&" ignores it
            status = 1
            try:
                if order["lacking"]:
                    recorder = recorder_without(order["lacking"], Path(folder))
                _serve(order, recorder, Client(address, "AF_UNIX"))
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)


def _end_with_the_server() -> None:
    """A snippet that never ends must not outlive the tests."""
    with contextlib.suppress(OSError, AttributeError):  # Linux alone has it
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _reap() -> bool:
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    return False


def _serve(order: dict[str, Any], recorder: Any, tests: Connection) -> None:
    lines: list[str] = []
    blob = bytearray()

    def send(batch: list[str], raw: bytes) -> None:
        lines.extend(batch)
        blob.extend(raw)
        if order.get("live"):
            tests.send({"lines": list(batch), "blob": raw})

    out, err = io.StringIO(), io.StringIO()
    tests.send(os.getpid())
    os.chdir(order["folder"] or tempfile.mkdtemp())
    signal.setitimer(signal.ITIMER_REAL, order["timeout"])  # it ends the process
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        if order["record"]:
            recorder.run(order["source"], order["filename"], order["argv"], order["options"], send)
        else:
            _run_plainly(order)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    tests.send(
        {
            "lines": lines,
            "blob": bytes(blob),
            "out": out.getvalue(),
            "err": err.getvalue(),
            "values": _values(order["wanted"]),
        }
    )
    while True:
        try:
            name, arguments = tests.recv()
        except EOFError:
            return
        tests.send(recorder.answer(name, arguments))


def _run_plainly(order: dict[str, Any]) -> None:
    import keras
    import numpy
    import tensorflow

    Path(order["filename"]).write_text(order["source"], encoding="utf-8")  # as a script has it
    module = types.ModuleType("__main__")
    provided = {"tf": tensorflow, "np": numpy, "keras": keras}
    for name in order["options"].get("provide", ()):
        module.__dict__[name] = provided[name]
    module.__dict__["__file__"] = order["filename"]
    sys.modules["__main__"] = module
    sys.argv = order["argv"]
    with contextlib.suppress(Exception, SystemExit):
        code = compile(order["source"], order["filename"], "exec", dont_inherit=True)
        exec(code, module.__dict__)


def _values(wanted: list[str]) -> dict[str, Any]:
    """Bytes of the tensors, or the ``repr`` of other values, that a snippet left under names."""
    space = vars(sys.modules["__main__"])
    found = {}
    for name in wanted:
        value = space.get(name, "(missing)")
        found[name] = value.numpy().tobytes() if hasattr(value, "numpy") else repr(value)
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
