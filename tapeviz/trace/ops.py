"""The nouns for operations and tensors, of which a recording has hundreds of thousands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import structs

from .compiled.model import RerunOutcome
from .ids import CallId, OpId, TapeId, TensorId
from .sites import Site

Shape = tuple[int | None, ...] | None
"""``None``: of unknown rank; a dimension that is ``None`` is unknown."""


class Tensor(msgspec.Struct, frozen=True, gc=False):
    """A tensor without its id, which the trace knows it by: those that are alike are one object.

    ``form``: dtype and shape; ``kept``: the process of the run has its value. Its value:
    :meth:`Trace.value`.
    """

    form: tuple[str, Shape]
    kept: bool = False
    is_handle: bool = False

    @property
    def dtype(self) -> str:
        return self.form[0]

    @property
    def shape(self) -> Shape:
        return self.form[1]

    @property
    def size(self) -> int | None:
        """Number of elements; ``None`` when a dimension is unknown."""
        size = 1
        for dimension in self.shape if self.shape is not None else (None,):
            if dimension is None:
                return None
            size *= dimension
        return size


class OpDescription(msgspec.Struct, frozen=True, gc=False):
    """The fields that an op shares with others of the same place in the program, which all refer to
    one object. :class:`Op` explains them, and gives each as a property."""

    attrs: Mapping[str, Any]
    site: Site
    scope: str = ""
    paused: bool = False
    graph: int = 0
    is_recorded_operation: bool = False
    body: tuple[OpId, ...] = ()
    function: str = ""
    function_line: int = 0
    name: str = ""
    error: str = ""
    within: OpId | None = None
    traced: int = 0
    runs: int = 0
    round: int = 0
    ran_as: OpId | None = None
    inside: RerunOutcome | None = None
    is_open: bool = False
    derived: tuple[bool, ...] | None = None
    thread: int = 0


class Op(msgspec.Struct, frozen=True, gc=False):
    """An operation, each time TensorFlow ran it. ``tapes``: those that recorded it.

    ``call``: the gradient call that it ran inside of, ``None`` for a forward op.
    ``graph``: number of the graph that it was put into; 0: it ran eagerly.
    ``body``: for an entry of ``record_operation`` (custom_gradient, function) and for an opened
    call of a compiled function its inside. ``when``: position in the order of events.

    An eager call of a compiled function, or the tape's entry for it: ``runs`` is the key of its
    function in :attr:`Trace.functions`, ``round`` counts its calls from 1, ``ran_as`` is the number
    that the recorder knows the call by (what :attr:`inside` is asked for with), ``inside`` says
    what came of running it again. ``is_open``: each op of its inside has values and can be
    differentiated by itself.

    An op inside of such a call: ``within`` is that call; ``traced``: the graph that it was traced
    in, and ``name`` its name there; ``derived``: for each input whether TensorFlow found a gradient
    for it when it made the graph of the backward pass (None: that did not come to this op).

    It takes 80 bytes, and is not looked at by Python's collector of cyclic garbage: values that do
    not change make no cycles.
    """

    id: OpId
    type: str
    inputs: tuple[TensorId, ...]
    outputs: tuple[TensorId, ...]
    when: int
    call: CallId | None
    tapes: frozenset[TapeId]
    description: OpDescription

    def having(self, **changes: Any) -> Op:
        """The op with other values in these fields, of its own or of its description."""
        own = {name: changes.pop(name) for name in self.__struct_fields__ if name in changes}
        if changes:
            own["description"] = structs.replace(self.description, **changes)
        return structs.replace(self, **own)

    @property
    def attrs(self) -> Mapping[str, Any]:
        return self.description.attrs

    @property
    def site(self) -> Site:
        return self.description.site

    @property
    def line(self) -> int:
        return self.description.site.line

    @property
    def scope(self) -> str:
        return self.description.scope

    @property
    def paused(self) -> bool:
        return self.description.paused

    @property
    def thread(self) -> int:
        return self.description.thread

    @property
    def graph(self) -> int:
        return self.description.graph

    @property
    def is_recorded_operation(self) -> bool:
        return self.description.is_recorded_operation

    @property
    def body(self) -> tuple[OpId, ...]:
        return self.description.body

    @property
    def function(self) -> str:
        return self.description.function

    @property
    def function_line(self) -> int:
        return self.description.function_line

    @property
    def name(self) -> str:
        return self.description.name

    @property
    def error(self) -> str:
        return self.description.error

    @property
    def within(self) -> OpId | None:
        return self.description.within

    @property
    def traced(self) -> int:
        return self.description.traced

    @property
    def runs(self) -> int:
        return self.description.runs

    @property
    def round(self) -> int:
        return self.description.round

    @property
    def ran_as(self) -> OpId | None:
        return self.description.ran_as

    @property
    def inside(self) -> RerunOutcome | None:
        return self.description.inside

    @property
    def is_open(self) -> bool:
        return self.description.is_open

    @property
    def derived(self) -> tuple[bool, ...] | None:
        return self.description.derived

    @property
    def is_custom_gradient(self) -> bool:
        """Whether it is the tape's entry for a function with a gradient function of its own."""
        described = self.description
        return (
            described.is_recorded_operation
            and bool(described.function)
            and not self.is_compiled_call
        )

    @property
    def is_compiled_call(self) -> bool:
        """Whether it is the call, or the tape's entry for one, of a function that was compiled."""
        return self.type.startswith(("__inference_", "__forward_"))
