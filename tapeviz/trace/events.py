"""The raw events that the recorder sends: a frozen struct for each kind of JSON line.

An event is written once, in the order in which things happened, and holds nothing that can be
derived from the others. Tensors are named by TensorFlow's own ``EagerTensor._id`` (never reused
within a process); symbolic tensors of a graph get negative ids from the recorder. A variable is
named by the id of its handle tensor. ``-1``/``0`` in an id field is documented at the field.

Array values travel beside the events in one blob of raw bytes; :class:`TensorSeen` says where.
"""

from __future__ import annotations

from typing import Any

import msgspec

from .body_events import BodiesRun as BodiesRun
from .body_events import BodyTraced as BodyTraced
from .body_events import Derived as Derived
from .body_events import InsideComputed as InsideComputed
from .body_events import JsonEvent as _Event
from .body_events import TracedEvent as _TracedEvent

FORMAT_VERSION = 1

NONE = 0
"""In a list of tensor ids: there is no tensor here (TensorFlow gave ``None``)."""


class Begin(_Event, frozen=True, tag="begin"):
    """The first event of a recording.

    ``seed``: what NumPy, Python and TensorFlow drew their numbers from, unless the snippet set its
    own (0: unknown).
    """

    format: int
    tensorflow: str
    python: str
    executable: str = ""
    seed: int = 0


class SiteSeen(_Event, frozen=True, tag="site"):
    """A place in the snippet, sent before the first event that names it.

    ``frames``: the snippet's own frames, innermost first, each
    ``[function, line, column, end_line, end_column]``; line 1-based, columns 0-based in characters,
    ``-1`` where Python does not say (before 3.11). The frames of site ``caller``, sent before,
    follow them. Site ``0`` is "no snippet frame".
    """

    id: int
    frames: list[tuple[str, int, int, int, int]]
    caller: int = 0


class TensorSeen(_Event, frozen=True, tag="tensor"):
    """A tensor that any event of this recording names.

    ``shape``: null when the rank is unknown, null in it for an unknown dimension.
    ``at``: offset in the blob of ``nbytes`` raw bytes, C order, little endian, of ``dtype``
    (bool: one byte, bfloat16: two); ``-1``: it did not travel.
    ``kept``: it can be asked for.
    ``text``: the elements of a string tensor, in place of ``at``.
    ``stats``: ``[min, max, mean, l2norm, nan_count, inf_count]`` over the finite elements in
    float64, for numeric tensors whose value did not travel. Null in it: no finite element, or,
    where the norm is there, not looked at. ``estimated``: that norm is one of a sample.
    ``sample``: offset in the blob, rows and columns of evenly spaced elements of a numeric tensor
    whose value did not travel, of ``dtype`` too: a picture of it, of an image its first channels'.
    ``handle``: it is a variable's resource handle.
    """

    id: int
    dtype: str
    shape: list[int | None] | None = None
    at: int = -1
    nbytes: int = 0
    text: list[str] | None = None
    stats: list[float | None] | None = None
    estimated: bool = False
    sample: tuple[int, int, int] | None = None
    kept: bool = False
    handle: bool = False


class OpRan(_TracedEvent, frozen=True, tag="op"):
    """TensorFlow ran an op (or put one into a graph).

    ``id``: counts up from 1 over :class:`OpRan` and :class:`OperationRecorded` together, in order.
    ``call``: it ran inside that ``gradient``/``jacobian``/… call (0: forward).
    ``paused``: recording was stopped on this thread (``tape.stop_recording``'s global sibling,
    custom_gradient bodies, …). ``graph``: number of the graph that it was put into
    (0: ran eagerly).
    ``attrs``: those that matter to a reader, JSON values, dtypes by name. ``thread``: the number of
    the thread that it ran on (0: the first one). ``name``, ``scope``: its own name, and the name
    scope around it. ``error``: the words of the exception that it raised.
    """

    id: int
    type: str
    inputs: list[int]
    outputs: list[int]
    attrs: dict[str, Any] = {}
    site: int = 0
    scope: str = ""
    call: int = 0
    paused: bool = False
    graph: int = 0
    thread: int = 0
    name: str = ""
    error: str = ""


class OperationRecorded(_TracedEvent, frozen=True, tag="record"):
    """``record_operation`` put an entry of its own on the tapes: a custom_gradient, a function.

    ``first``: the id of the first op that ran inside it (its body: ops ``first`` … ``id - 1``).
    ``function``: the Python name where TensorFlow knows one. ``line``: where that function is
    defined in the snippet (0: elsewhere).
    """

    id: int
    type: str
    inputs: list[int]
    outputs: list[int]
    first: int = 0
    site: int = 0
    scope: str = ""
    call: int = 0
    function: str = ""
    line: int = 0


class VariableMade(_Event, frozen=True, tag="variable"):
    """A ``tf.Variable`` (also one inside a Keras variable); ``id``: its handle tensor's id.

    ``initial``: the tensor that it was made from (0 unknown). ``path``: Keras's path of the weight.
    ``owner``: ``metric`` for the state of a metric.
    """

    id: int
    name: str
    dtype: str
    shape: list[int | None] | None
    trainable: bool = True
    initial: int = 0
    site: int = 0
    path: str = ""
    owner: str = ""


class TapeOpened(_TracedEvent, frozen=True, tag="tape"):
    """``tf.GradientTape(...)`` was made (method ``jvp``: a ForwardAccumulator)."""

    id: int
    persistent: bool = False
    watches_variables: bool = True
    site: int = 0
    kind: str = "gradient"


class TapeTurned(_TracedEvent, frozen=True, tag="recording"):
    """A tape began or ceased to record.

    ``why``: ``enter``, ``exit``, ``stop_recording`` (off, then on), ``reset`` (what was recorded is
    forgotten), ``gradient`` (a non-persistent tape's call inside its own block), ``internal``.
    ``thread``: the one that it records on (``OpRan.thread``).
    """

    tape: int
    on: bool
    why: str
    site: int = 0
    thread: int = 0


class Watched(_TracedEvent, frozen=True, tag="watch"):
    """``tape.watch``; ``tensors``: ids, of variables their handles'. ``tangents``: of a
    ForwardAccumulator, which watches its primals, those given with them (0: unknown)."""

    tape: int
    tensors: list[int]
    site: int = 0
    tangents: list[int] = []


class RawOperand(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One target, source or output gradient of a call, in flat order.

    ``tensor``: its id (a variable's handle id; 0: not a tensor or None). ``kind``: ``tensor``,
    ``variable``, ``other`` (e.g. a NumPy array, a float; ``type`` then says what).
    ``keys``: where it stood in the structure given, e.g. ``[0]``, ``["w"]``.
    ``name``: the variable's own name, where it is one; of a target in library code the name there.
    """

    tensor: int
    kind: str = "tensor"
    keys: tuple[int | str, ...] = ()
    type: str = ""
    name: str = ""


class CallBegan(_TracedEvent, frozen=True, tag="call"):
    """``gradient``, ``jacobian``, ``batch_jacobian``, ``tf.gradients`` or ``jvp`` was called.

    ``direct``: the snippet called it itself (not Keras's trainer, an optimizer, …).
    ``stops``: the tensors that ``tf.gradients`` was given as ``stop_gradients``.
    """

    id: int
    method: str
    tape: int
    targets: list[RawOperand]
    sources: list[RawOperand]
    output_gradients: list[RawOperand] = []
    stops: list[int] = []
    unconnected: str = "none"
    site: int = 0
    direct: bool = True


class CallEnded(_TracedEvent, frozen=True, tag="result"):
    """The call came back: a tensor id for each source in flat order (NONE for None), or it raised.

    IndexedSlices: ``results`` names the dense tensor, ``sparse`` the indices of such results.
    In a graph ``results`` names their values; ``slices``: index of such a result, the tensor of its
    row numbers, and the rows of the dense tensor.
    """

    call: int
    results: list[int] = []
    sparse: list[int] = []
    slices: list[tuple[int, int, int]] = []
    error: str = ""


class StepRan(_TracedEvent, frozen=True, tag="step"):
    """TensorFlow called the gradient function of one recorded op.

    ``op``: id of the :class:`OpRan` or :class:`OperationRecorded` (0: not found). ``upstream``: a
    gradient for each output, ``downstream``: what came back for each input, both with NONE.
    ``first``: op id at its start: ops ``first`` … (until the next step) ran inside it.
    """

    call: int
    op: int
    type: str
    upstream: list[int]
    downstream: list[int]
    first: int = 0


class ReplayRan(_Event, frozen=True, tag="replay"):
    """The answer to a replay that was asked for after the run (see ``recorder.answer``).

    The backward pass for ``call`` over the recording, across state and tapes: ``steps`` as in
    :class:`StepRan` with an ``error`` in words where TensorFlow has no gradient to give;
    ``results``: a tensor for each tensor wanted. ``how``: ``beyond`` what stops gradients on
    purpose, or ``estimate``: also through what has no slope. ``share``: which target alone it
    started from, by its place, and which element of it (-1: all of it); empty: from all targets.
    ``within``: of a gradient call in a compiled function the eager op that was the call replayed.
    ``inner``: it went through the inside of one op alone, which is this step (from 0) of the call's
    own pass; -1: it went through all. Its steps name ops as the kernel's rerun of them does.
    """

    call: int
    steps: list[ReplayStep]
    results: dict[str, int]
    how: str = ""
    share: list[int] = []
    within: int = 0
    inner: int = -1


class ReplayStep(msgspec.Struct, frozen=True, omit_defaults=True):
    op: int
    upstream: list[int]
    downstream: list[int]
    error: str = ""


class Checked(_Event, frozen=True, tag="check"):
    """A replayed gradient against central finite differences of the recorded ops, run again.

    ``source``: the tensor or handle that it is a gradient of. ``error``: the largest difference,
    relative to the largest derivative; ``agrees``: it is within what the dtypes allow.
    ``words``: why there is no error. ``op``: the custom gradient that gave it, if it is not
    that of a whole call. ``within``: as in :class:`ReplayRan`.
    """

    call: int
    source: int
    op: int | None = None
    error: float | None = None
    agrees: bool = False
    words: str = ""
    within: int = 0


class NameBound(_TracedEvent, frozen=True, tag="bind"):
    """A Python name of the snippet was bound.

    ``tensors``: ids with the keys under which they stand in the value: ``[[id, []]]`` for a tensor,
    ``[[5, [0]], [6, [1]]]`` for a list, ``[[5, ["w"]]]`` for a dict (variables: handle ids).
    ``value``: for anything else, and for ragged and sparse tensors, of which ``tensors`` has the
    numbers, its type's name; ``object``: Python's ``id`` of it, so that a
    NumPy array or float can be followed; ``shape``, ``dtype``: those of a NumPy array. ``tape``:
    id, where the value is a tape.
    """

    name: str
    site: int = 0
    tensors: list[tuple[int, list[int | str]]] = []
    value: str = ""
    object: int = 0
    tape: int = 0
    shape: list[int] | None = None
    dtype: str = ""


class ValueLeft(_TracedEvent, frozen=True, tag="left"):
    """A tensor's value left TensorFlow.

    ``how``: ``numpy``, ``float``, ``int``, ``bool``, ``index``, ``array``, ``item``, ``tolist``,
    ``predict``, …; ``object``: Python's ``id`` of what came out.
    """

    tensor: int
    how: str
    site: int = 0
    object: int = 0


class Caught(_TracedEvent, frozen=True, tag="caught"):
    """An ``except`` of the snippet, or its ``contextlib.suppress``, caught an exception.

    ``site``: the first statement in the ``except``, or the ``with`` statement. ``lines``: the
    snippet's lines in the traceback, outermost first: the one in the block that raised first.
    ``message``: empty where Python of the snippet's words it.
    """

    type: str
    message: str = ""
    lines: list[int] = []
    site: int = 0


class SessionFetched(_Event, frozen=True, tag="fetch"):
    """``Session.run`` computed symbolic tensors: ``pairs`` of (symbolic id, id of the value)."""

    pairs: list[tuple[int, int]]
    site: int = 0


class Printed(_Event, frozen=True, tag="output"):
    """Output of the snippet; ``stream``: ``stdout`` or ``stderr``."""

    stream: str
    text: str


class HeldValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """A name of the frame that raised (``batch``, ``self.layers``, ``parts['a']``), and its value.

    ``type``: the name of its class; ``value``: of None, a bool, a number, a short text or array;
    ``shape`` (None: of unknown rank) and ``dtype``: of a tensor, a variable or an array; ``size``:
    the elements of a list, tuple or dict, else -1; ``keys``: of a dict, or the attributes of
    another object, the first of them; ``kinds``: of a list, tuple or dict the different classes,
    and shapes, of the first elements or values. ``tensor``: the id of an eager tensor, or of a
    variable's handle; else 0. ``takes``: of a function or what else can be called its parameters,
    with 0 for each default: ``(x, /, axis=0)``; ``defaults``: those of its defaults that are whole
    numbers; ``says``: of one on the line that raised what its docstring says of its parameters.
    """

    name: str
    type: str
    value: str = ""
    tensor: int = 0
    shape: list[int | None] | None = None
    dtype: str = ""
    size: int = -1
    keys: list[str] = []
    takes: str = ""
    defaults: dict[str, int] = {}
    kinds: list[str] = []
    says: str = ""


class Raised(_Event, frozen=True, tag="error"):
    """The snippet ended by an exception; ``line``: innermost line of the snippet, 0 none.

    ``frames``: the snippet's lines in the traceback, outermost first. ``folder``: where a file or
    a module was looked for that is not there; ``python``: the path of the interpreter that lacks
    a module; ``is_saved``: false if the snippet is no file and ran in an empty folder of its own.
    ``held``: what the names of the snippet's innermost frame meant, or of what AutoGraph made of
    the snippet; ``span``: the expression in there that raised (its line, column, last line, and the
    column behind it; columns in characters, -1 unknown).
    """

    type: str
    message: str
    line: int = 0
    traceback: str = ""
    frames: list[int] = []
    folder: str = ""
    python: str = ""
    is_saved: bool = True
    held: list[HeldValue] = []
    span: tuple[int, int, int, int] = (0, -1, -1, -1)


class Noted(_Event, frozen=True, tag="note"):
    """The recorder's own trouble, in words; the snippet went on."""

    message: str
    op: int = 0
    site: int = 0


class Ended(_Event, frozen=True, tag="end"):
    """The snippet is over (finished, raised, exit, interrupted, died, timeout, stopped).

    ``error``: the KeyboardInterrupt that ended an interrupted one, which only the other side can
    tell from Stop.
    """

    how: str
    seconds: float = 0.0
    detail: str = ""
    error: Raised | None = None


Event = (
    Begin
    | SiteSeen
    | TensorSeen
    | OpRan
    | OperationRecorded
    | BodyTraced
    | BodiesRun
    | InsideComputed
    | Derived
    | VariableMade
    | TapeOpened
    | TapeTurned
    | Watched
    | CallBegan
    | CallEnded
    | StepRan
    | ReplayRan
    | Checked
    | NameBound
    | ValueLeft
    | Caught
    | SessionFetched
    | Printed
    | Raised
    | Noted
    | Ended
)

_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
_encoder = msgspec.json.Encoder()


def decode(line: bytes | str) -> Event:
    """One JSON line as an event. Raises ``msgspec.MsgspecError`` on anything else."""
    return _decoder.decode(line)


def encode(event: Event) -> bytes:
    """The JSON line of an event, without a line end."""
    return _encoder.encode(event)
