"""The events of compiled functions: their graphs as they are traced, run, and computed again."""

from __future__ import annotations

import msgspec


class JsonEvent(msgspec.Struct, frozen=True, tag_field="e", omit_defaults=True):
    """One line of a recording."""


class TracedEvent(JsonEvent, frozen=True, kw_only=True):
    """An event that can belong to a graph which is being traced.

    ``tracer``: the number of the thread on which it happened (0: the first one); events of several
    threads are interleaved.
    """

    tracer: int = 0


class BodyTraced(TracedEvent, frozen=True, tag="body"):
    """TensorFlow began to make the graph of a function, a branch or a loop, or ended it.

    What comes between belongs to that graph, and happens each time when it runs. ``graph``: its
    number (0: it was not completed). ``inputs``, ``outputs``: its own tensors, in the order of
    those of an op that runs it (a branch's captured inputs go by the ids of the outer tensors).
    ``function``: the Python name of a function, empty for a branch or loop; ``line``: where it is
    defined in the snippet (0: elsewhere).
    """

    on: bool
    graph: int = 0
    inputs: list[int] = []
    outputs: list[int] = []
    function: str = ""
    line: int = 0
    site: int = 0


class BodiesRun(TracedEvent, frozen=True, tag="runs"):
    """The next op, eager or put into the graph ``into``, runs graphs that were traced.

    ``call``: of an eager call its number among those of the graph, from 1. ``condition``: of a loop
    the graph that says whether another turn runs. ``given``: of a loop over a dataset, whose op
    takes the dataset, the tensor for each input of the graph, 0 for what an element gives.
    """

    graphs: list[int]
    into: int = 0
    call: int = 0
    condition: int = 0
    given: list[int] = []


InsidePath = list[str | int]


class InsideComputed(JsonEvent, frozen=True, tag="inside"):
    """A call of a function was looked into after the snippet: it ran again, compiled.

    ``op``: the eager op that was the call, number ``call`` of ``of`` calls of ``graph``.
    ``values``: ``(path, symbol, tensor, word)``. ``path``: from the function's graph to the one
    that holds the symbol, op and turn in alternation: ``["while", 3, "cond", 0]``; turns count from
    0, and are 0 where it is no loop. ``symbol``: the id that the graph's tensor has in the tracing;
    ``tensor``: the one with its value, 0 if that is unknown. ``word``: ``exact`` if TensorFlow
    computed that very value, ``beside`` if it merged the step with others and the value was
    computed separately, ``unknown``.
    ``branches``: ``(path, op name, which)`` of the conditionals; ``turns``: ``(path, op name, how
    many)`` of the loops, of which the first and the last turns are recorded, and those asked for.
    ``ops``: ``(path, op name, number)``: what a replay calls each op of this call; of a conditional
    one for each output.
    ``state``: ``equal`` if the results are those of the call bit for bit, ``differs``,
    ``unchecked``; ``why`` says it in words. ``ran``: it did run again.
    ``raised``: the op that did, as in the call, or the loop or call it is in; the values are those
    up to there.
    ``whole``: all its ops have values, and each could be differentiated by itself; ``turned``: the
    latter holds, and there are loops, of which every turn has its ops in the kernel.
    ``adds``: it has the ``values`` of further turns of loops, besides those of the event before it
    about the same call, and nothing else.
    """

    op: int = 0
    graph: int = 0
    whole: bool = False
    turned: bool = False
    raised: str = ""
    call: int = 1
    of: int = 1
    values: list[tuple[InsidePath, int, int, str]] = []
    branches: list[tuple[InsidePath, str, int]] = []
    turns: list[tuple[InsidePath, str, int]] = []
    ops: list[tuple[InsidePath, str, int]] = []
    state: str = "unchecked"
    why: str = ""
    ran: bool = False
    adds: bool = False


class Derived(JsonEvent, frozen=True, tag="derived"):
    """TensorFlow called the gradient function of a graph's op, to make a backward graph.

    ``given``: for each input whether it gave a gradient. ``op``: an ``OpRan`` or
    ``OperationRecorded``.
    """

    op: int
    given: list[bool]
