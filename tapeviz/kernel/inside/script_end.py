"""Do what Python does at the end of a script: wait for threads, then run ``atexit`` functions.

Functions that ipykernel or TensorFlow registered before the snippet began are forgotten. They would
never run anyway, since a kernel is killed.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import logging
import sys
import threading
import types
import weakref
from collections.abc import Mapping
from typing import Any

_LAST = frozenset({"last_exc", "last_type", "last_value", "last_traceback"})
_CHECKPOINTS = "tensorflow.python.checkpoint."


def forget_exit_functions() -> None:
    """Let ``atexit`` know only the functions that a fresh process has."""
    atexit._clear()
    finalize: Any = weakref.finalize
    with contextlib.suppress(AttributeError):  # private, Python 3.10-3.13
        for info in finalize._registry.values():
            info.atexit = False
        finalize._registered_with_atexit = False  # the snippet's first one registers it again
    # These modules register a function when they are imported, which has happened already.
    known: list[Any] = list(getattr(logging, "_handlerList", ()))
    atexit.register(_shut_logging, known)
    if "multiprocessing.util" in sys.modules:
        processes: Any = sys.modules["multiprocessing.util"]
        atexit.register(processes._exit_function)


def end_script() -> None:
    """Wait for threads, then run the ``atexit`` functions, as Python does.

    The threads have been waited for, unless the snippet raised: its error is shown at once.
    """
    wait_for_threads()
    atexit._run_exitfuncs()
    _drop_names()
    _allow_more()


def _shut_logging(known: list[Any]) -> None:
    logging.shutdown([ref for ref in getattr(logging, "_handlerList", ()) if ref not in known])


def wait_for_threads() -> None:
    """Wait until the threads that are no daemons have ended."""
    # Threads of an executor wait for work until they are called off, as in threading._shutdown().
    for call_off in reversed(getattr(threading, "_threading_atexits", ())):
        call_off()
    me = threading.current_thread()
    while left := [
        thread for thread in threading.enumerate() if thread is not me and not thread.daemon
    ]:
        for thread in left:
            thread.join()


def _drop_names() -> None:
    """Free what the snippet's names hold, where that can be seen.

    Looking for garbage takes long after a run that left many objects.
    """
    for name in _LAST.intersection(vars(sys)):
        setattr(sys, name, None)
    main: Any = sys.modules.get("__main__")
    if main is not None and any(_is_seen_to_end(value) for value in vars(main).values()):
        place = id(vars(main))
        sys.modules["__main__"] = types.ModuleType("__main__")
        del main
        gc.collect()
        _drop_held(place)


def _drop_held(place: int) -> None:
    """Free what can be seen to end of the names at this address, if something holds them still
    that Python ends, as a signal handler does by its globals, or that a plain run does not have.
    Functions that are asked later what their gradient is need the others.
    """
    found = next((known for known in gc.get_objects() if id(known) == place), None)
    if type(found) is not dict or found.get("__name__") != "__main__" or _is_registered(found):
        return
    for name in list(found):
        kind = type(found[name])
        has_end = any("__del__" in _own_names(base) for base in type.mro(kind))
        if has_end or issubclass(kind, types.GeneratorType):
            found[name] = None


def _is_registered(names: dict[str, Any]) -> bool:
    """Whether a library that outlives the modules holds a function with these globals, as
    TensorFlow does that of a ``tf.py_function``: then Python never frees them."""
    spaces = {
        id(vars(module)): name.partition(".")[0]
        for name, module in list(sys.modules.items())
        if isinstance(module, types.ModuleType)
    }
    known, layer = {id(names), id(spaces), id(sys.modules)}, list[Any]([names])
    for _ in range(_LONGEST_CHAIN):
        known.add(id(layer))
        found = _referrers(layer)
        known.add(id(found))
        layer = [each for each in found if id(each) not in known and not _is_of_kernel(each)]
        known.update(map(id, layer))
        if any(spaces.get(id(each)) in _LASTING for each in layer):
            return True
        layer = [each for each in layer if id(each) not in spaces]  # Python empties those
        if not layer:
            return False
    return False


def _referrers(layer: list[Any]) -> list[Any]:
    """``gc.get_referrers``, which compares each reference with each of the objects; of many in time
    that does not grow with their number."""
    if len(layer) < _MANY:
        return gc.get_referrers(*layer)
    wanted = set(map(id, layer))
    referents = ((each, gc.get_referents(each)) for each in gc.get_objects())
    return [each for each, own in referents if not wanted.isdisjoint(map(id, own))]


_MANY, _LONGEST_CHAIN = 200, 12
_LASTING = frozenset({"tensorflow", "keras", "tf_keras", "numpy", "logging", "sys"})
"""Python's C code, or theirs, holds functions of these until the process ends."""
_OF_KERNEL = {"_tapeviz_inside", "_tapeviz_recorder", "_tapeviz_fork_server"}
_OF_KERNEL |= {"IPython", "ipykernel", "jupyter_client", "tornado", "traitlets", "zmq", "comm"}


def _is_of_kernel(each: object) -> bool:
    kind = type(each)
    if kind in (types.FrameType, weakref.ref):
        return True
    owner = each.__module__ if isinstance(each, types.FunctionType) else kind.__module__
    return str(owner).partition(".")[0] in _OF_KERNEL


def _is_seen_to_end(value: Any) -> bool:
    """Whether code may run when ``value`` is freed: a ``__del__``, the rest of a generator, a
    callback, or what TensorFlow says of values that a checkpoint had and nobody took."""
    kind = type(value)
    if issubclass(kind, type):
        return "__del__" in _own_names(value)
    if issubclass(kind, types.GeneratorType):
        return value.gi_frame is not None
    if issubclass(kind, weakref.ref):
        return value.__callback__ is not None
    return str(_own_names(kind).get("__module__", "")).startswith(_CHECKPOINTS)


def _own_names(kind: type) -> Mapping[str, Any]:
    """The names of a class, past what its metaclass makes of a look at them."""
    names: Mapping[str, Any] = type.__getattribute__(kind, "__dict__")
    return names


def _allow_more() -> None:
    """Let executors and finalizers be used again: the process lives on to answer questions."""
    finalize: Any = weakref.finalize
    finalize._shutdown = False
    pools: Any = sys.modules.get("concurrent.futures.thread")
    if pools is not None:
        pools._shutdown = False
    pools = sys.modules.get("concurrent.futures.process")
    if pools is not None:
        pools._global_shutdown = False
