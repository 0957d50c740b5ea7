"""Values taken out of TensorFlow by the snippet in, ``left`` events out.

What NumPy takes through the buffer protocol (``np.sin(tensor)``) passes by unseen here; calls that
stand in the snippet's text are caught by its instrumentation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import private
from .installed import Installed
from .recording import Recording, caller

_WAYS = {
    "numpy": "numpy",
    "__float__": "float",
    "__int__": "int",
    "__complex__": "complex",
    "__bool__": "bool",
    "__index__": "index",
    "__array__": "array",
    "item": "item",
    "tolist": "tolist",
}


def install(recording: Recording, installed: Installed) -> None:
    for name, how in _WAYS.items():
        if hasattr(private.EagerMethods, name):

            def wrap(take: Callable[..., Any], how: str = how) -> Callable[..., Any]:
                return _leaving(recording, take, how)

            installed.replace(private.EagerMethods, name, wrap)


def _leaving(recording: Recording, take: Callable[..., Any], how: str) -> Callable[..., Any]:
    @recording.guarded
    def left(tensor: Any, value: Any) -> None:
        frame = caller(2)
        if recording.is_snippet(frame) or frame.f_globals.get("__name__", "").startswith("numpy"):
            fields = {"e": "left", "tensor": tensor._id, "how": how, "site": recording.here(frame)}
            recording.tell({**fields, "object": id(value)}, [tensor])

    def leave(self: Any, *args: Any, **named: Any) -> Any:
        value = take(self, *args, **named)
        if not recording.local.hidden:
            left(self, value)
        return value

    return leave
