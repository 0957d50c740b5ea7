"""Record values that the snippet takes out of TensorFlow, as ``left`` events.

What NumPy takes through the buffer protocol (``np.sin(tensor)``) passes by unseen here; such calls
are found in the snippet's text (see ``instrument``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

from .. import private
from ..installed import Installed, is_ours
from ..recording import RecordingContext, caller
from ..weak_keys import WeakKeys
from .instrument import CONVERTING

_WAYS = {
    "numpy": "numpy",
    "__float__": "float",
    "__int__": "int",
    "__complex__": "complex",
    "__bool__": "bool",
    "__index__": "index",
    "__array__": "array",
    "__format__": "format",
    "item": "item",
    "tolist": "tolist",
}
# A variable gives its value by methods of the same names, which ask its tensor in turn.
_RELAYS = frozenset((*_WAYS, *CONVERTING, "_numpy"))
_PREDICT = "predict"
# Methods of Keras and of ragged tensors that give the snippet arrays and numbers; some take tensors
# apart, too. Then what asks a tensor where a conditional or a loop of TensorFlow's runs eagerly
# (cond.py, control_flow_switch_case.py and while_loop.py in tensorflow/python/ops, 2.15-2.21).
_HANDING_OUT = {
    "get_weights": "get_weights",
    "predict_on_batch": "predict_on_batch",
    "evaluate": "evaluate",
    "test_on_batch": "test_on_batch",
    "train_on_batch": "train_on_batch",
    "to_list": "to_list",
    "_eager_cond_implementation": "cond",
    "_indexed_case_helper": "cond",
    "while_loop": "while_loop",
}
# Functions that others have, too, with the module of TensorFlow. Where a ``tf.TensorArray`` runs
# eagerly it is a list of Python's, whose index is a number (``_EagerTensorArray``, 2.15-2.21).
# Keras pickles a model by a method of the same name as a tensor's, and saves its variables there.
_HANDING_OUT_IN = {
    **dict.fromkeys(
        [(name, private.TENSOR_ARRAYS) for name in ("read", "write", "gather")], "index"
    ),
    ("to_numpy", private.DATASETS): "as_numpy_iterator",
    ("__reduce__", private.TENSORS): "pickle",
}
_TAKING_IN = (_PREDICT, "evaluate")
_FRAMES_TO_SNIPPET = 8


def install(recording: RecordingContext, installed: Installed) -> None:
    for name, how in _WAYS.items():
        if hasattr(private.EagerMethods, name):

            def wrap(take: Callable[..., Any], how: str = how) -> Callable[..., Any]:
                return _leaving(recording, take, how)

            installed.replace(private.EagerMethods, name, wrap)
    if hasattr(private.EagerMethods, _INNER):
        installed.replace(
            private.EagerMethods, _INNER, lambda take: _leaving_inside(recording, take)
        )
    installed.replace(
        private.script_functions, private.NUMPY_FUNCTION, lambda run: _handing_over(recording, run)
    )
    backend = private.keras_backend()
    if backend is not None:
        installed.replace(
            backend, "convert_to_numpy", lambda convert: _converting(recording, convert)
        )
    model = private.keras_model()
    if model is not None:
        predicted: list[Any] = []
        installed.replace(
            private.owner_of(model, "predict_step"),
            "predict_step",
            lambda step: private.run_as_it_is(_remembering(predicted, step)),
        )
        for method in _TAKING_IN:
            answer = partial(_answering, recording, predicted, method)
            installed.replace(private.owner_of(model, method), method, answer)


def log_left(
    recording: RecordingContext, tensor: Any, how: str, frame: FrameType, value: Any
) -> None:
    """A tensor's value became the Python object ``value``."""
    site = recording.here(frame) or recording.here_when_called(frame)
    fields = {"e": "left", "tensor": recording.id(tensor), "how": how, "site": site}
    recording.emit({**fields, "object": id(value)}, [tensor])


def _leaving(recording: RecordingContext, take: Callable[..., Any], how: str) -> Callable[..., Any]:
    @recording.guarded
    def left(tensor: Any, value: Any) -> None:
        frame, asked = _taker(caller(2), how)
        if frame is None:
            return
        if not _is_framework(frame):
            log_left(recording, tensor, asked, frame, value)
        elif (method := _handing_out(recording, frame)) is not None:
            log_left(recording, tensor, method, frame, value)

    def leave(self: Any, *args: Any, **named: Any) -> Any:
        value = take(self, *args, **named)
        if not recording.local.hidden:
            left(self, value)
        return value

    return leave


_INNER = "_numpy"
_ASKING_INNER = ("to_numpy", "__reduce__")
"""The methods that ask a tensor by that method: ``as_numpy_iterator`` (``to_numpy`` in
dataset_ops.py, 2.15-2.21) and what pickles it. The methods of :data:`_WAYS` call it, too, and
report the value themselves."""


def _leaving_inside(recording: RecordingContext, take: Callable[..., Any]) -> Callable[..., Any]:
    leave = _leaving(recording, take, "numpy")

    def taken(self: Any) -> Any:
        frame = caller()
        is_asked = frame is not None and frame.f_code.co_name in _ASKING_INNER
        return leave(self) if is_asked else take(self)

    return taken


def _taker(frame: FrameType | None, how: str) -> tuple[FrameType | None, str]:
    """The frame that took the value, and how: past a variable's methods, which ask its tensor in
    turn, and past what AutoGraph calls in the place of the snippet."""
    while frame is not None and _is_framework(frame):
        called = frame.f_code.co_name
        if called in _RELAYS:
            how = called if called in CONVERTING else _WAYS.get(called, how)
        elif frame.f_globals.get("__name__") != private.AUTOGRAPH_CALLS:
            break
        frame = frame.f_back
    return frame, how


def _is_framework(frame: FrameType) -> bool:
    """Whether code of TensorFlow, Keras or ours runs, not the snippet's, a module of the user's or
    another library, such as NumPy."""
    name = frame.f_globals.get("__name__") or ""
    return is_ours(name) or name.startswith(("tensorflow.", "keras.", "tf_keras."))


def _handing_out(recording: RecordingContext, frame: FrameType | None) -> str | None:
    """How what the snippet called takes a value, if this is inside one of those."""
    for _ in range(_FRAMES_TO_SNIPPET):
        if frame is None or recording.is_snippet(frame):
            return None
        name = frame.f_code.co_name
        how = _HANDING_OUT.get(name)
        how = how or _HANDING_OUT_IN.get((name, frame.f_globals.get("__name__") or ""))
        if how is not None:
            return how
        frame = frame.f_back
    return None


def _converting(recording: RecordingContext, convert: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the function by which Keras makes arrays for methods that hand them out: ``np.array``
    takes numbers through the buffer protocol (``pythonify_logs`` of ``test_on_batch``, 3.15)."""

    @recording.guarded
    def left(tensor: Any, value: Any, frame: FrameType) -> None:
        method = _handing_out(recording, frame)
        if method is not None:
            log_left(recording, tensor, method, frame, value)

    def convert_to_numpy(x: Any) -> Any:
        value = convert(x)
        if not recording.local.hidden and isinstance(x, private.EagerTensor):
            left(x, value, caller())
        return value

    return convert_to_numpy


def _handing_over(recording: RecordingContext, run: Callable[..., Any]) -> Callable[..., Any]:
    """``tf.numpy_function``: its Python function gets arrays, TensorFlow what that returns."""

    @recording.guarded
    def left(inputs: Any, value: Any, frame: FrameType) -> None:
        for _, item in private.flatten_with_paths(inputs):
            tensor = recording.tensor_of(item)
            if isinstance(tensor, private.EagerTensor):
                log_left(recording, tensor, "numpy_function", frame, value)

    def handing_over(func: Any, inp: Any, *args: Any, **named: Any) -> Any:
        value = run(func, inp, *args, **named)
        if not recording.local.hidden:
            left(inp, value, caller())
        return value

    return handing_over


def _remembering(predicted: list[Any], step: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``predict_step`` and keep its results, the tensors that ``predict`` makes arrays of."""

    def predict_step(*args: Any, **named: Any) -> Any:
        result = step(*args, **named)
        predicted.append(result)
        return result

    return predict_step


def _answering(
    recording: RecordingContext, predicted: list[Any], method: str, run: Callable[..., Any]
) -> Callable[..., Any]:
    """``predict`` and ``evaluate``: they make arrays of what they get, and of what they give."""
    traced: WeakKeys[list[Any]] = WeakKeys()

    @recording.guarded
    def left(given: Any, value: Any, frame: FrameType) -> None:
        for _, item in private.flatten_with_paths(given):
            tensor = recording.tensor_of(item)
            if tensor is not None:
                log_left(recording, tensor, method, frame, value)

    def answering(self: Any, *args: Any, **named: Any) -> Any:
        predicted.clear()
        value = run(self, *args, **named)
        # The step is compiled: later calls come from the same tensors of its graph.
        results = predicted[:] or traced.get(self) or []
        if not recording.local.hidden and recording.is_snippet(caller()):
            left([list(args), *named.values(), *results], value, caller())
        traced[self] = results
        predicted.clear()
        return value

    return answering
