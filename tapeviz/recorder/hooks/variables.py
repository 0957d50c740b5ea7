"""Record ``tf.Variable`` objects as they are made; none of them is held."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

from .. import private
from ..installed import Installed
from ..recording import RecordingContext, caller

_FRAMES_TO_KERAS = 16


def install(recording: RecordingContext, installed: Installed) -> None:
    installed.replace(private.BaseVariable, "__init__", lambda init: _making(recording, init))


def _making(recording: RecordingContext, init: Callable[..., Any]) -> Callable[..., Any]:
    @recording.guarded
    def made(variable: Any, frame: FrameType) -> None:
        handle, about, initial = private.new_variable(variable)
        if handle is None:
            return
        fields = {
            "e": "variable",
            "id": recording.id(handle),
            **about,
            "site": recording.here(frame),
            "path": _keras_path(frame),
        }
        if _is_of_metric(frame):
            fields["owner"] = "metric"
        if initial is not None:
            fields["initial"] = recording.id(initial)
            recording.emit(fields, [handle, initial])
        else:
            recording.emit(fields, [handle])

    def __init__(self: Any, *args: Any, **named: Any) -> None:
        init(self, *args, **named)
        if not recording.local.hidden:
            made(self, caller())

    return __init__


def _keras_path(frame: FrameType | None) -> str:
    """The path of the Keras 3 variable (``dense/kernel``) that is making this one, if one is."""
    for _ in range(_FRAMES_TO_KERAS):
        if frame is None:
            return ""
        if frame.f_code.co_name == "_initialize" and "keras" in frame.f_code.co_filename:
            return str(getattr(private.locals_of(frame).get("self"), "_path", ""))
        frame = frame.f_back
    return ""


def _is_of_metric(frame: FrameType | None) -> bool:
    """Whether a Keras metric is making the variable, to keep its state in."""
    for _ in range(_FRAMES_TO_KERAS):
        if frame is None:
            return False
        path = frame.f_code.co_filename.replace("\\", "/")
        if "/metrics/" in path and "keras" in path:
            return True
        frame = frame.f_back
    return False
